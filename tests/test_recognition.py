"""A notebook is known by what it says it is, by its code where that says nothing or lies, and the odd is said."""

from __future__ import annotations

import copy
import time
from pathlib import PurePath
from typing import Any

import pytest

from course_lib.answer import exercise_of
from course_lib.answer_sheet import collect, recognise, recognise_with_note
from course_lib.lessons import lesson, lessons
from course_lib.notebook import BadNotebook, code_cells, parse_bytes, read_notebook
from course_lib.recognition import UnknownNotebook
from course_lib.shipped import shipped

PATH = PurePath("submission.ipynb")
EVERY = [(each.name, track) for each in lessons() for track in each.notebooks]


def solved(name: str, track: str) -> dict[str, Any]:
    return read_notebook(shipped("solutions") / lesson(name).notebook(track))


def bare(name: str, track: str) -> dict[str, Any]:
    """A solved notebook without its metadata and its set-up cell."""
    notebook = solved(name, track)
    notebook["metadata"] = {}
    notebook["cells"] = [cell for cell in notebook["cells"] if "begin(" not in cell["source"]]
    return notebook


@pytest.mark.parametrize(("name", "track"), EVERY)
def test_every_notebook_is_known_by_its_code_alone(name: str, track: str) -> None:
    found, its_track, note = recognise_with_note(bare(name, track), PATH)
    assert (found.name, its_track) == (name, track)
    assert f"known as {name}/{track} by its code" in note


@pytest.mark.parametrize(("name", "track"), EVERY)
def test_nothing_is_said_of_a_notebook_as_it_was_given_out(name: str, track: str) -> None:
    found, its_track, note = recognise_with_note(
        read_notebook(shipped("notebooks") / lesson(name).notebook(track)), PATH
    )
    assert (found.name, its_track, note) == (name, track, "")


@pytest.mark.parametrize(("name", "track"), [each for each in EVERY if each[1] != "compare"])
def test_answers_alone_are_enough(name: str, track: str) -> None:
    notebook = bare(name, track)
    notebook["cells"] = [cell for cell in code_cells(notebook) if exercise_of(cell["source"])]
    assert recognise(notebook, PATH) == (lesson(name), track)


def test_a_formatter_and_a_note_in_each_cell_change_nothing() -> None:
    notebook = bare("digits", "torch")
    for cell in code_cells(notebook):
        cell["source"] = cell["source"].replace('"', "'").replace(", ", ",").replace("    ", "  ") + "\n# a note"
    assert recognise_with_note(notebook, PATH) == recognise_with_note(bare("digits", "torch"), PATH)


def test_false_metadata_are_overruled_and_this_is_said() -> None:
    notebook = bare("digits", "torch")
    notebook["metadata"] = {"course": {"lesson": "01_digits", "track": "jax"}}
    found, track, note = recognise_with_note(notebook, PATH)
    assert (found.name, track) == ("01_digits", "torch")
    assert "It says that it is 01_digits/jax, but its code is that of 01_digits/torch" in note
    notebook["metadata"] = {"course": {"lesson": "00_start", "track": "numpy"}}
    assert recognise(notebook, PATH) == (found, "torch")


def test_cells_of_another_track_beside_ones_own_overrule_nothing() -> None:
    notebook = solved("digits", "torch")
    notebook["cells"] += solved("digits", "jax")["cells"][10:]
    assert recognise_with_note(notebook, PATH)[1:] == ("torch", "")


def test_unknown_names_in_the_metadata_are_passed_over() -> None:
    notebook = bare("digits", "keras")
    for course in ({"lesson": "99_none", "track": "keras"}, {"lesson": 3, "track": []}, [], "x", None):
        notebook["metadata"] = {"course": course}
        assert recognise(notebook, PATH)[1] == "keras"
    notebook["metadata"] = ["course"]
    assert recognise(notebook, PATH)[1] == "keras"


def test_common_lines_are_no_evidence() -> None:
    sources = [
        "import numpy as np",
        "import torch\nfrom torch import nn",
        "import matplotlib.pyplot as plt",
        "def f(): ...",
    ]
    notebook = {"cells": [{"cell_type": "code", "source": source} for source in sources], "metadata": {}}
    with pytest.raises(UnknownNotebook, match=r"cannot be recognised.*no answer cell"):
        recognise(notebook, PATH)


def test_a_core_answer_alone_fits_every_track_and_is_not_guessed() -> None:
    course = code_cells(bare("digits", "numpy"))
    only = [cell for cell in course if exercise_of(cell["source"]) == "digits/split"]
    notebook = {"cells": only, "metadata": {}}
    with pytest.raises(BadNotebook, match="equally well") as caught:
        recognise(notebook, PATH)
    assert "digits_torch.ipynb" in caught.value.action
    assert recognise(notebook, PurePath("my digits_jax (2).ipynb"))[1] == "jax"


def test_recognising_and_collecting_take_less_than_ten_milliseconds() -> None:
    given = read_notebook(shipped("notebooks") / lesson("digits").notebook("torch"))
    exercises = [each.id for each in lesson("digits").exercises_of("torch")]
    data = (shipped("solutions") / lesson("digits").notebook("torch")).read_bytes()
    times = []
    for _ in range(6):
        notebook = parse_bytes(data, PATH)
        start = time.process_time()
        recognise(notebook, PATH)
        collect(notebook, copy.deepcopy(given), exercises)
        times.append(time.process_time() - start)
    assert min(times[1:]) < 0.010
