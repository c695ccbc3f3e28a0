"""Answers are found by their marker, and what they use from the learner's other cells is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course_lib.answer import (
    bound_names,
    course_names,
    defined_names,
    exercise_of,
    foreign_names,
    last_cell,
    used_names,
)
from course_lib.errors import NotFound
from course_lib.notebook import BadNotebook, answer_cells, read_notebook


@pytest.mark.parametrize(
    "source", ["# exercise: digits/step\nx = 1", "#exercise:digits/step", "\n# exercise: digits/step  \n"]
)
def test_an_answer_is_known_by_its_first_line(source: str) -> None:
    assert exercise_of(source) == "digits/step"


@pytest.mark.parametrize("source", ["x = 1\n# exercise: digits/step", "", "# exercises: digits/step", "# exercise: "])
def test_other_cells_are_no_answers(source: str) -> None:
    assert exercise_of(source) is None


def test_the_cell_that_ran_last_is_the_answer() -> None:
    history = ["# exercise: a/b\n1", "# exercise: a/b\n2", "# exercise: a/c\n3"]
    assert last_cell("a/b", history) == "# exercise: a/b\n2"
    assert last_cell("a/d", history) is None


def test_names_that_a_cell_binds_and_uses() -> None:
    source = (
        "%time\nimport a.b\nfrom c import d as e\nx, (y, *z) = f(g)\ndef h(i):\n    j = k\n    return lambda l: l\n"
    )
    assert bound_names(source) == {"a", "e", "x", "y", "z", "h"}
    assert used_names(source) == {"f", "g", "k"}
    assert defined_names(source) == {"h"}
    assert bound_names("def (") == used_names("def (") == defined_names("def (") == set()


def test_a_name_from_another_cell_of_the_learners_is_foreign_unless_the_course_has_it() -> None:
    answer = "# exercise: a/b\ndef step(x):\n    return helper(np.sum(x)) + limit + len(x) + own\nown = 3\n"
    history = ["import numpy as np", "limit = 3\nx = 1\nown = 2\nlen = 1", "def helper(v): return v", answer]
    assert foreign_names(answer, history, frozenset({"np"})) == ["helper", "limit"]
    assert foreign_names(answer, history, frozenset({"np", "helper", "limit"})) == []


def test_course_names_are_read_from_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    cells = [
        {"cell_type": "code", "source": ["import numpy as np\n", "x = 1"]},
        {"cell_type": "markdown", "source": "y = 1"},
    ]
    path.write_text(json.dumps({"cells": cells}))
    assert course_names(path) == {"np", "x"}


def test_two_answers_to_one_exercise_stay_in_order(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    cells = [{"cell_type": "code", "source": f"# exercise: a/b\n{n}"} for n in (1, 2)]
    path.write_text(json.dumps({"cells": cells}))
    assert [c["source"][-1] for c in answer_cells(read_notebook(path))["a/b"]] == ["1", "2"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"# my notes", "not JSON"),
        (b'{"cells": [', "not JSON"),
        (b"[1]", "this is list"),
        (b'{"worksheets": []}', "without a list of cells"),
        (b'{"cells": [1]}', "without a list of cells"),
        (b"\xff\xfe\x00\x01", "not text"),
    ],
)
def test_what_is_no_notebook_is_a_teaching_error(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "n.ipynb"
    path.write_bytes(data)
    with pytest.raises(BadNotebook, match=why) as caught:
        read_notebook(path)
    assert caught.value.action
    assert caught.value.exit_code > 1
    assert path.read_bytes() == data


def test_a_folder_and_a_missing_file_are_teaching_errors(tmp_path: Path) -> None:
    with pytest.raises(BadNotebook, match="is a folder"):
        read_notebook(tmp_path)
    with pytest.raises(NotFound, match="no file"):
        read_notebook(tmp_path / "none.ipynb")
