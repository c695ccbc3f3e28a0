"""Answers are found however they were handed in, and whatever was odd about it is said."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from course_lib.answer_sheet import MAX_ANSWER_BYTES, MAX_PARSED_BYTES, AnswerSheet, collect

FIRST, SECOND = "# exercise: toy/first\ndef first():\n    {}", "# exercise: toy/n_second\nclass Second:\n    {}"
HOLE = 'raise NotImplementedError("yours")'
EXERCISES = ["toy/first", "toy/n_second"]
ANSWER, OTHER = FIRST.format("return 1"), SECOND.format("pass")


def notebook(*cells: str | tuple[str, str]) -> dict[str, Any]:
    """A notebook of code cells; a pair is a cell of another type and its text."""
    pairs = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
    return {"cells": [{"cell_type": kind, "source": source} for kind, source in pairs]}


COURSE = notebook("import numpy", FIRST.format(HOLE), "check(first)", "def first_aid(): ...", SECOND.format(HOLE))


def sheet(*cells: str | tuple[str, str]) -> AnswerSheet:
    return collect(notebook(*cells), COURSE, EXERCISES)


def test_plain_answers_are_taken_as_they_are_and_nothing_is_said() -> None:
    found = sheet("import os", OTHER, "check = print", ANSWER)
    assert found == AnswerSheet({"toy/first": ANSWER, "toy/n_second": OTHER}, ())


@pytest.mark.parametrize(
    "marker",
    [
        "# Exercise: Toy/First",
        "##  EXERCISE :  toy / first  ",
        "# exercise toy/first",
        "# exercise: toy/first  # my answer",
        "# ехercise: tоy/first",  # Cyrillic е, х and о
        "\ufeff# exer\u200bcise: toy/first\r",
        "＃ ｅxercise： toy/first",
        "# exercise: toy∕first",
    ],
)
def test_a_marker_in_another_spelling_is_read_as_meant_and_said(marker: str) -> None:
    found = sheet(ANSWER.replace("# exercise: toy/first", marker), OTHER)
    assert found.answers["toy/first"] == ANSWER
    assert len(found.notes) == 1
    assert found.notes[0].startswith("toy/first: its first line was read as meant")


@pytest.mark.parametrize("marker", ["#exercise:toy/first", "#\u00a0exercise:\u00a0toy/first  "])
def test_spaces_in_a_marker_are_nothing_to_speak_of(marker: str) -> None:
    answer = ANSWER.replace("# exercise: toy/first", marker)
    assert sheet(answer, OTHER) == AnswerSheet({"toy/first": answer, "toy/n_second": OTHER}, ())


@pytest.mark.parametrize("marker", ["# exercise: toy/firs", "# exercise: toy/first/second", "# my exercise: toy/first"])
def test_a_line_that_means_no_exercise_is_no_marker(marker: str) -> None:
    found = sheet(ANSWER.replace("# exercise: toy/first", marker), OTHER)
    assert found.answers["toy/first"].startswith(f"# exercise: toy/first\n{marker}\n")
    assert "found again by `first`" in found.notes[0]


def test_an_underline_may_be_a_dash_or_a_space() -> None:
    for spelling in ("toy/n-second", "toy/n second", "toy/N_Second"):
        assert sheet(ANSWER, OTHER.replace("toy/n_second", spelling)).answers["toy/n_second"] == OTHER


def test_a_marker_below_comments_and_magics_counts_and_a_cell_magic_is_left_out() -> None:
    found = sheet(f"%%time\n# mine\n\n{ANSWER}", f"%matplotlib inline\n{OTHER}")
    assert found.answers["toy/first"] == "# exercise: toy/first\n# mine\n\ndef first():\n    return 1"
    assert found.answers["toy/n_second"] == "# exercise: toy/n_second\n%matplotlib inline\nclass Second:\n    pass"
    assert found.notes[0].endswith("Its line %%time was left out.")
    assert "left out" not in found.notes[1]


def test_a_marker_below_code_does_not_count() -> None:
    assert "toy/first" not in sheet(f"x = 1\n{ANSWER}".replace("def first", "def last")).answers


def test_a_removed_marker_is_found_again_by_the_name_that_the_cell_defines() -> None:
    found = sheet(
        "first = 3", "%%capture\ndef first():\n    return 1", "def first_aid(): ...", "class Second:\n    pass"
    )
    assert found.answers == {"toy/first": ANSWER, "toy/n_second": OTHER}
    assert "again by `first`. Its line %%capture was left out." in found.notes[0]
    assert "again by `Second`" in found.notes[1]


def test_an_unmarked_cell_with_a_syntax_error_is_still_the_answer() -> None:
    assert sheet("def first(:\n    return", OTHER).answers["toy/first"].endswith("def first(:\n    return")


def test_a_cell_of_the_courses_own_is_never_taken_for_an_answer() -> None:
    course = notebook(*(cell["source"] for cell in COURSE["cells"]), "def first():\n    return 'shown'")
    found = collect(notebook("def first():\n    return  'shown'", OTHER), course, EXERCISES)
    assert found.notes == ("toy/first: its answer cell was removed.",)


def test_a_marker_alone_is_no_answer() -> None:
    found = sheet("# exercise: toy/first\n# todo", "def first():\n    return 1", OTHER)
    assert found.answers["toy/first"] == ANSWER
    assert "found again by `first`" in found.notes[0]


def test_of_several_the_last_counts_that_was_touched() -> None:
    found = sheet(FIRST.format("return 0"), ANSWER, FIRST.format(HOLE.replace('"', "'")), OTHER)
    assert found.answers["toy/first"] == ANSWER
    assert found.notes == ("toy/first: 3 cells answer it; the last one that is not the untouched hole counts.",)


def test_of_several_the_last_counts_that_defines_what_is_asked_for() -> None:
    found = sheet(ANSWER, "# exercise: toy/first\nprint(first())", OTHER)
    assert found.answers["toy/first"] == ANSWER
    assert found.notes == ("toy/first: 2 cells answer it; the last one that defines `first` counts.",)


def test_only_the_hole_is_an_untouched_answer() -> None:
    found = sheet(FIRST.format(HOLE), OTHER)
    assert found.untouched == {"toy/first"}
    assert found.answers["toy/first"] == FIRST.format(HOLE)


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_an_answer_that_is_no_code_is_not_run_and_said(kind: str) -> None:
    said = f"toy/first: its cell is of type {kind}: not code, so it was not run."
    assert sheet((kind, ANSWER), OTHER) == AnswerSheet({"toy/n_second": OTHER}, (said,))
    beside_the_hole = sheet((kind, ANSWER), FIRST.format(HOLE), OTHER)
    assert (beside_the_hole.untouched, beside_the_hole.notes) == ({"toy/first"}, (said,))
    assert sheet((kind, ANSWER), FIRST.format("return 2"), OTHER).notes == ()


def test_an_answer_that_is_too_long_is_left_out_and_said() -> None:
    long = ANSWER + "\n#" + "é" * (MAX_ANSWER_BYTES // 2)
    assert len(long) < MAX_ANSWER_BYTES
    found = sheet(long, OTHER)
    assert set(found.answers) == {"toy/n_second"}
    assert found.notes == ("toy/first: its cell holds 200 kB; an answer may hold 200 kB, so it was not run.",)
    assert sheet(ANSWER, long, OTHER).answers["toy/first"] == ANSWER


HOSTILE = {
    "brackets": "(" * 90_000,
    "minus": "-" * 90_000 + "1",
    "sum": "1+" * 50_000 + "1",
    "attributes": "a" + ".b" * 50_000,
    "calls": "f" + "()" * 50_000,
    "null": "\0",
    "surrogate": "'\udcff'",
    "conditions": "a if b else " * 9_000 + "c",
    "branches": "if a: pass\n" + "elif a: pass\n" * 8_000,
    "escape": "'\\d' is 1",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_never_crashes_and_never_warns(text: str) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        unmarked = sheet(f"def first(): ...\n{text}", OTHER)
        twice = sheet(f"{ANSWER}\n{text}", f"{ANSWER}\n{text}\n#", OTHER)
    assert not warned
    assert unmarked.answers["toy/first"].endswith(text)
    assert twice.answers["toy/first"].endswith("#")


def test_a_notebook_full_of_unmarked_code_takes_no_more_than_its_share_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr("course_lib.answer_sheet.defined_names", lambda source: parsed.append(len(source)) or set())
    cell = "first, Second = 1, 2\n" + "x = 1\n" * 20_000
    found = sheet(*(f"{cell}#{n}" for n in range(50)))
    assert sum(parsed) <= MAX_PARSED_BYTES + 1_000
    assert found.answers == {}
