"""Marking takes only the answers from a learner's notebook, and says what was odd about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course_lib import answer_sheet, lessons, mark
from course_lib.errors import CheckCrashed, NotFound
from course_lib.lessons import Exercise, Lesson
from course_lib.mark import Marks, mark_notebook
from course_lib.notebook import BadNotebook

# The course's own `check` does much more; what marking needs of it is a line in the file that COURSE_VERDICTS names.
SET_UP = """import json, os
def check(exercise, answer):
    passed = answer() == 42
    verdict = {"exercise": exercise, "track": "numpy", "passed": passed, "mark": 2.0 * passed, "max_mark": 2.0,
               "reason": "passed" if passed else "wrong", "message": "" if passed else "should be 42"}
    with open(os.environ["COURSE_VERDICTS"], "a") as file:
        file.write(json.dumps(verdict) + "\\n")
    assert passed
"""
FIRST, SECOND = "# exercise: toy/first\ndef first():\n    {}", "# exercise: toy/second\ndef second():\n    {}"
HOLE = 'raise NotImplementedError("yours")'
CHECKS = ('check("toy/first", first)', 'check("toy/second", second)')


def notebook(*sources: str, **metadata: Any) -> str:
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": s, "outputs": [], "execution_count": None}
        for n, s in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def course(first: str = HOLE, second: str = HOLE, set_up: str = SET_UP) -> tuple[str, ...]:
    return (set_up, FIRST.format(first), CHECKS[0], SECOND.format(second), CHECKS[1])


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one lesson with two exercises, two marks each; returns its notebook."""
    exercises = tuple(Exercise(f"toy/{name}", name, "function", 2.0, False, ("numpy",)) for name in ("first", "second"))
    lesson = Lesson("90_toy", "toy", "Toy", ("numpy",), 1, 1, (), (), (), "cpu", exercises, tmp_path)
    for module in (lessons, answer_sheet):
        monkeypatch.setattr(module, "lessons", lambda: [lesson])
    monkeypatch.setattr(mark, "shipped", lambda _: tmp_path / "course")
    path = tmp_path / "course/90_toy/toy_numpy.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(notebook(*course(), course={"lesson": "90_toy", "track": "numpy"}))
    return path


@pytest.fixture
def marked(tmp_path: Path, toy: Path) -> Callable[..., Marks]:
    """Marks a learner's notebook made of these cells."""
    assert toy.is_file()

    def run(*sources: str, name: str = "mine.ipynb", timeout_seconds: int = 60, **metadata: Any) -> Marks:
        path = tmp_path / name
        path.write_text(notebook(*sources, **(metadata or {"course": {"lesson": "90_toy", "track": "numpy"}})))
        before = path.read_bytes()
        found = mark_notebook(path, timeout_seconds=timeout_seconds)
        assert path.read_bytes() == before
        return found

    return run


def test_right_and_wrong_answers_are_summed(marked: Callable[..., Marks], course_home: Path) -> None:
    found = marked(*course("return 42", "return 41"))
    assert [(e.exercise, e.passed, e.mark, e.max_mark, e.reason) for e in found.exercises] == [
        ("toy/first", True, 2.0, 2.0, "passed"),
        ("toy/second", False, 0.0, 2.0, "wrong"),
    ]
    assert found.exercises[1].message == "should be 42"
    assert (found.mark, found.max_mark, found.passed, found.notes) == (2.0, 4.0, False, ())
    assert found.to_dict()["mark"] == 2.0
    assert not course_home.exists()


def test_only_the_answers_are_taken(marked: Callable[..., Marks]) -> None:
    cheat = "def check(exercise, answer): pass\nhelper = 42"
    found = marked(cheat, *course("return helper", "return 42"), "raise SystemError")
    assert [e.passed for e in found.exercises] == [False, True]
    assert found.exercises[0].reason == "not reached"
    assert found.exercises[0].message == "NameError: name 'helper' is not defined"


def test_an_unsolved_notebook_gets_nothing_and_does_not_crash(marked: Callable[..., Marks]) -> None:
    found = marked(*course())
    assert (found.mark, found.max_mark, found.passed) == (0, 4.0, False)
    assert {e.reason for e in found.exercises} == {"not reached"}
    assert "NotImplementedError" in found.exercises[0].message


def test_a_removed_marker_is_found_again_by_the_functions_name_and_said(marked: Callable[..., Marks]) -> None:
    unmarked = FIRST.format("return 42").partition("\n")[2]
    found = marked("first = None", unmarked, SECOND.format("return 42"))
    assert found.passed
    assert len(found.notes) == 1
    assert "toy/first" in found.notes[0]
    assert "`first`" in found.notes[0]


def test_the_last_of_two_answers_counts_and_this_is_said(marked: Callable[..., Marks]) -> None:
    found = marked(FIRST.format("return 41"), FIRST.format("return 42"), SECOND.format("return 42"))
    assert found.passed
    assert found.notes == ("toy/first: 2 cells answer it; the last one counts.",)


def test_a_removed_answer_cell_is_said(marked: Callable[..., Marks]) -> None:
    found = marked(SECOND.format("return 42"))
    assert [e.passed for e in found.exercises] == [False, True]
    assert found.notes == ("toy/first: its answer cell was removed.",)


def test_an_answer_that_is_no_python_costs_only_its_own_marks(marked: Callable[..., Marks]) -> None:
    found = marked(FIRST.format("return = 1"), SECOND.format("return 42"))
    assert [e.passed for e in found.exercises] == [False, True]
    assert "SyntaxError" in found.exercises[0].message


def test_an_answer_that_never_ends_costs_only_its_own_marks(marked: Callable[..., Marks]) -> None:
    found = marked(*course("while True: pass", "return 42"), timeout_seconds=2)
    assert [e.passed for e in found.exercises] == [False, True]
    assert found.exercises[0].message == "it took longer than 2 seconds"


def test_an_answer_that_kills_python_costs_only_its_own_marks(marked: Callable[..., Marks]) -> None:
    found = marked(*course("import os; os._exit(1)", "return 42"))
    assert [(e.passed, e.reason) for e in found.exercises] == [(False, "not reached"), (True, "passed")]
    assert "ended Python" in found.exercises[0].message
    assert "toy/first" in found.notes[0]


def test_a_mark_is_never_more_than_the_exercise_gives(marked: Callable[..., Marks], toy: Path) -> None:
    toy.write_text(notebook(*course(set_up=SET_UP.replace("2.0 * passed", "9.0"))))
    assert marked(*course("return 42", "return 42")).mark == 4.0


def test_a_failing_cell_of_the_courses_own_is_no_wrong_answer(marked: Callable[..., Marks], toy: Path) -> None:
    toy.write_text(notebook(*course(set_up="import nothing_like_this")))
    with pytest.raises(CheckCrashed, match="nothing_like_this"):
        marked(*course("return 42"))


@pytest.mark.parametrize(
    ("name", "metadata", "first"),
    [
        ("mine.ipynb", {"course": {"lesson": "90_toy", "track": "numpy"}}, ""),
        ("mine.ipynb", {"course": 3}, 'course_lib.begin("90_toy", "numpy")'),
        ("toy_numpy (1).ipynb", {"kernelspec": {}}, ""),
    ],
)
def test_lesson_and_track_come_from_metadata_or_set_up_or_name(
    tmp_path: Path, toy: Path, name: str, metadata: dict[str, Any], first: str
) -> None:
    assert toy.is_file()
    document = json.loads(notebook(first, *course()))
    document["metadata"] = metadata
    found = answer_sheet.recognise(document, tmp_path / name)
    assert (found[0].name, found[1]) == ("90_toy", "numpy")


def test_what_is_no_notebook_of_the_course_is_a_teaching_error(tmp_path: Path, toy: Path) -> None:
    assert toy.is_file()
    path = tmp_path / "mine.ipynb"
    with pytest.raises(NotFound):
        mark_notebook(path)
    path.write_text("def step(): ...")
    with pytest.raises(BadNotebook, match="not JSON"):
        mark_notebook(path)
    path.write_text(notebook("x = 1", FIRST.format("return 42")))
    with pytest.raises(BadNotebook, match=r"cannot be recognised.*exercises of toy"):
        mark_notebook(path)
    (tmp_path / "toy_numpy.ipynb").write_text(notebook("x = 1"))
    with pytest.raises(BadNotebook, match="no answer cell"):
        mark_notebook(tmp_path / "toy_numpy.ipynb")
