"""Contracts over all notebooks: what nbval does not see."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from course_lib.answer import exercise_of
from course_lib.build.source import BEGIN, END, INSTEAD
from course_lib.lessons import COMPARE, lessons

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = [(each, track) for each in lessons() for track in each.notebooks]
EACH = pytest.mark.parametrize(("lesson", "track"), NOTEBOOKS, ids=[each.notebook(track) for each, track in NOTEBOOKS])
IGNORED = "nbval-ignore-output"
# A path, an address in memory or a temporary folder in an output would differ on the next machine.
OF_THIS_MACHINE = re.compile(r"0x[0-9a-f]{6,}|/tmp/|/home/|/root/|site-packages|ipykernel_\d+")


def load(form: str, lesson: Any, track: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / form / lesson.notebook(track)).read_text(encoding="utf-8"))
    return loaded


def code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def compared(cell: dict[str, Any]) -> bool:
    return IGNORED not in cell["metadata"].get("tags", [])


@EACH
def test_every_cell_of_a_solution_was_run(lesson: Any, track: str) -> None:
    unrun = [cell["id"] for cell in code(load("solutions", lesson, track)) if cell["execution_count"] is None]
    assert unrun == []


@EACH
def test_a_third_of_the_cells_with_output_are_compared(lesson: Any, track: str) -> None:
    with_output = [cell for cell in code(load("solutions", lesson, track)) if cell["outputs"]]
    assert sum(map(compared, with_output)) * 3 >= len(with_output)


@EACH
def test_compared_cells_show_nothing_of_this_machine_and_write_no_warnings(lesson: Any, track: str) -> None:
    for cell in code(load("solutions", lesson, track)):
        if compared(cell):
            shown = json.dumps(cell["outputs"])
            assert '"stderr"' not in shown, cell["id"]
            assert not OF_THIS_MACHINE.search(shown), cell["id"]


@EACH
def test_solutions_pass_every_exercise(lesson: Any, track: str) -> None:
    notebook = load("solutions", lesson, track)
    shown = "".join("".join(o.get("text", "")) for cell in code(notebook) for o in cell["outputs"])
    for exercise in lesson.exercises_of(track):
        assert f"✓ {exercise.id}: public checks passed" in shown
    assert not any(o["output_type"] == "error" for cell in code(notebook) for o in cell["outputs"])


@EACH
def test_learners_notebooks_hold_no_output_no_solution_and_valid_python(lesson: Any, track: str) -> None:
    from IPython.core.inputtransformer2 import TransformerManager

    learner, solved = load("notebooks", lesson, track), load("solutions", lesson, track)
    answers = {exercise_of(text(cell)): text(cell) for cell in code(solved) if exercise_of(text(cell))}
    for cell in code(learner):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        ast.parse(TransformerManager().transform_cell(text(cell)))
        assert not any(mark in text(cell) for mark in (BEGIN, END, INSTEAD))
        if name := exercise_of(text(cell)):
            assert text(cell) != answers.pop(name)
    assert answers == {}, "an exercise is missing in the learner's notebook"


@EACH
def test_metadata_hold_what_colab_and_the_grader_need_and_nothing_else(lesson: Any, track: str) -> None:
    for form in ("notebooks", "solutions"):
        notebook = load(form, lesson, track)
        metadata = notebook["metadata"]
        assert set(metadata) <= {"kernelspec", "language_info", "course", "accelerator", "colab"}
        assert metadata["kernelspec"]["name"] == "python3"
        assert metadata["course"]["lesson"] == lesson.name
        assert metadata["course"]["track"] == track
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in notebook["cells"]]
        assert len(set(ids)) == len(ids)
        assert all(set(cell["metadata"]) <= {"tags", "cellView", "colab", "jupyter"} for cell in notebook["cells"])


@EACH
def test_cells_are_short_and_pictures_have_a_text(lesson: Any, track: str) -> None:
    for cell in code(load("solutions", lesson, track)):
        if cell["id"] != "set-up":
            assert len(text(cell).splitlines()) <= 26, cell["id"]
        for output in cell["outputs"]:
            shown = "".join(output.get("data", {}).get("text/html", ""))
            assert "image/png" not in output.get("data", {}), f"{cell['id']}: show pictures with plot.show(…, alt=…)"
            assert all(re.search(r'alt="[^"]{20,}"', image) for image in re.findall(r"<img[^>]*>", shown))


def headings(notebook: dict[str, Any]) -> list[str]:
    lines = [line for cell in notebook["cells"] if cell["cell_type"] == "markdown" for line in text(cell).split("\n")]
    return [line for line in lines if re.match(r"#{1,2} ", line)]


@pytest.mark.parametrize("lesson", lessons(), ids=lambda each: each.name)
def test_headings_match_across_tracks(lesson: Any) -> None:
    found = {track: headings(load("notebooks", lesson, track)) for track in lesson.tracks}
    first = found[lesson.tracks[0]]
    assert len(first) >= 3
    for track, own in found.items():
        assert own == first, track


@pytest.mark.parametrize("lesson", [each for each in lessons() if each.compares], ids=lambda each: each.name)
def test_a_comparison_is_short_and_imports_no_framework(lesson: Any) -> None:
    cells = [text(cell) for cell in code(load("solutions", lesson, COMPARE)) if cell["id"] != "set-up"]
    assert len(cells) <= 12
    assert not re.search(r"^\s*(import|from) (torch|jax|keras|tensorflow|fastai|flax)", "\n".join(cells), re.MULTILINE)
