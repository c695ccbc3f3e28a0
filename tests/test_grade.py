"""`course grade` from a folder to marks: a small class, then one with checks and settings of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import BadInput, BadSource, CheckCrashed
from course_lib.grade.grading import GradeOptions, NotIsolated, grade
from course_lib.grade.record import GradeRecord
from hostile.sheet import code_cell, learners_notebook, marked, notebook_with, right_answers, submission, to_bytes

pytest.importorskip("pyseccomp")

PRIVATE = """
from course_lib.expect import expect_close
from course_lib.verdict import exercise_check, private_case


@exercise_check("digits/temperature", hints=("Divide before you take the exponential.",))
def temperature(answer, rng, track):
    logits = rng.normal(size=(4, 3))
    expect_close(answer.call(logits, 2.0).value, logits / 2.0, "softened", tolerance=1e-6)


@private_case("digits/untrained_loss")
def only_two_classes(answer, rng, track):
    expect_close(answer.call(1).value, 0.0, "untrained_loss", tolerance=1e-6, where="for a single class")
"""
SETTINGS = """
name = "Spring"
[weights]
"digits/split" = 5
[[exercise]]
id = "digits/temperature"
title = "Softer"
kind = "function"
answer = "temperature"
core = true
marks = 2
lesson = "01_digits"
tracks = ["numpy"]
"""


def without_isolation(**more: Any) -> GradeOptions:
    """What is tested here is not the walls; they have tests of their own."""
    return GradeOptions(**{"unsafe": True, "jobs": 2, "timeout_seconds": 5.0, **more})


def marks(record: GradeRecord) -> dict[str, tuple[str, float]]:
    return {each.exercise.partition("/")[2]: (each.reason, each.mark) for each in record.exercises}


@pytest.fixture(scope="module")
def a_class(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, GradeRecord]]:
    """Five notebooks, graded once; the output folder, and the records by file."""
    folder, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out") / "marks"
    right = right_answers()
    (folder / "right.ipynb").write_bytes(submission(right))
    (folder / "untouched.ipynb").write_bytes(to_bytes(learners_notebook()))
    wrong = marked("digits/accuracy", "def accuracy(logits, labels):\n    return 0.125")
    helped = marked("digits/n_parameters", "def n_parameters(i, h, c):\n    return layer(i, h) + layer(h, c)")
    mixed = notebook_with({**right, "digits/accuracy": wrong, "digits/n_parameters": helped})
    mixed["cells"].insert(0, code_cell("def layer(a, b):\n    return a * b + b"))
    (folder / "mixed.ipynb").write_bytes(to_bytes(mixed))
    less = notebook_with(right)
    less["cells"] = [cell for cell in less["cells"] if "# exercise: digits/model" not in cell["source"]]
    (folder / "less.ipynb").write_bytes(to_bytes(less))
    (folder / "note.ipynb").write_text("Dear professor,")
    records = grade(folder, out, without_isolation())
    return out, {record.file: record for record in records}


def test_a_right_notebook_gets_full_marks_and_an_untouched_one_none(a_class: Any) -> None:
    _, records = a_class
    assert records["right.ipynb"].mark == records["right.ipynb"].max_mark == 13
    assert records["untouched.ipynb"].mark == 0
    assert marks(records["untouched.ipynb"])["split"] == ("unanswered", 0)


def test_each_exercise_is_judged_by_itself(a_class: Any) -> None:
    found = a_class[1]["mixed.ipynb"]
    assert marks(found)["accuracy"] == ("wrong", 0)
    assert marks(found)["n_parameters"] == ("error", 0)
    assert found.mark == 11
    by_id = {each.exercise: each for each in found.exercises}
    assert "Hint 1 of" in by_id["digits/accuracy"].hint
    assert "Another cell of yours defines `layer`" in by_id["digits/n_parameters"].message


def test_a_missing_answer_is_said_and_so_is_what_needs_it(a_class: Any) -> None:
    found = {each.exercise: each for each in a_class[1]["less.ipynb"].exercises}
    assert found["digits/model"].reason == "not handed in"
    assert "your answer to digits/model, which is not there" in found["digits/step"].message


def test_what_is_no_notebook_needs_review_and_is_never_a_silent_zero(a_class: Any) -> None:
    found = a_class[1]["note.ipynb"]
    assert found.needs_review
    assert found.review[0].startswith("not a notebook")


def test_everything_that_is_promised_is_in_the_folder(a_class: Any) -> None:
    out, _ = a_class
    for name in ("records.jsonl", "run.json", "grades.csv", "marks.csv", "junit.xml", "class.html"):
        assert (out / name).stat().st_size > 100, name
    assert (out / "feedback" / "mixed.html").is_file()
    assert json.loads((out / "gradescope" / "right" / "results.json").read_text())["score"] == 13
    assert json.loads((out / "prairielearn" / "right" / "results.json").read_text())["score"] == 1


def test_a_second_run_into_the_same_folder_is_refused_unless_it_resumes(a_class: Any, tmp_path: Path) -> None:
    out, _ = a_class
    (tmp_path / "right.ipynb").write_bytes(submission(right_answers()))
    with pytest.raises(BadInput, match="earlier run"):
        grade(tmp_path, out, without_isolation())


def test_a_notebook_that_vanishes_during_the_run_costs_nobody_else(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in "abcdef":
        (folder / f"{name}.ipynb").write_bytes(submission(right_answers()))

    def vanish(what: str, n: int, of: int) -> None:
        if n == 1:
            (folder / "e.ipynb").unlink()

    records = {each.file: each for each in grade(folder, out, without_isolation(jobs=1), on_progress=vanish)}
    assert sorted(records) == [f"{name}.ipynb" for name in "abcdef"]
    assert records["e.ipynb"].review[0].startswith("unreadable: ")
    assert all(record.mark == record.max_mark > 0 for file, record in records.items() if file != "e.ipynb")


def test_resuming_grades_nothing_twice_and_what_is_new_once(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.ipynb").write_bytes(submission(right_answers()))
    grade(folder, out, without_isolation())
    seed = json.loads((out / "run.json").read_text())["seed"]
    (folder / "b.ipynb").write_bytes(to_bytes(learners_notebook()))
    records = grade(folder, out, without_isolation(resume=True))
    assert [record.file for record in records] == ["a.ipynb", "b.ipynb"]
    assert len((out / "records.jsonl").read_text().splitlines()) == 2
    assert json.loads((out / "run.json").read_text())["seed"] == seed


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., list[GradeRecord]]:
    """Grade one notebook with the class's own checks."""
    checks = tmp_path / "checks"
    checks.mkdir()
    (checks / "more.py").write_text(PRIVATE)
    (checks / "class.toml").write_text(SETTINGS)

    def graded(*cells: str, private: str = PRIVATE, **answers: str) -> list[GradeRecord]:
        (checks / "more.py").write_text(private)
        notebook = notebook_with(right_answers() | {f"digits/{name}": text for name, text in answers.items()})
        notebook["cells"] += [code_cell(source) for source in cells]
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "a.ipynb").write_bytes(to_bytes(notebook))
        return grade(tmp_path / "in", tmp_path / "out", without_isolation(checks=checks))

    return graded


def test_private_exercises_and_cases_count_like_the_course_s_own(own: Any, tmp_path: Path) -> None:
    answer = marked("digits/temperature", "def temperature(logits, t):\n    return logits / t")
    [record] = own(answer)
    assert marks(record)["temperature"] == ("passed", 2)
    assert record.mark == 15
    assert "digits/temperature" in (tmp_path / "out" / "marks.csv").read_text()
    assert "19" in (tmp_path / "out" / "class.html").read_text()


def test_a_private_case_can_fail_what_the_public_check_passes(own: Any) -> None:
    careless = "import math\n\ndef untrained_loss(n):\n    return math.log(n) if n > 1 else 7.0"
    [record] = own(untrained_loss=marked("digits/untrained_loss", careless))
    assert marks(record)["untrained_loss"] == ("wrong", 0)
    assert marks(record)["temperature"] == ("not handed in", 0)


def test_a_private_case_that_fails_the_course_s_own_solution_stops_the_run(own: Any) -> None:
    with pytest.raises(CheckCrashed, match="digits/untrained_loss"):
        own(private=PRIVATE.replace("answer.call(1).value, 0.0", "answer.call(1).value, 1.0"))


def test_private_checks_that_cannot_be_loaded_are_said_before_anything_is_graded(own: Any, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"more\.py"):
        own(private="import nowhere")
    with pytest.raises(BadSource, match="digits/temperature has no check"):
        own(private="")
    assert not (tmp_path / "out" / "records.jsonl").exists()


def test_without_isolation_nothing_runs_unless_one_insists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from course_lib.grade import grading
    from course_lib.grade.layers import Layer

    monkeypatch.setattr(grading, "probe", lambda: (Layer("Landlock", False, True, "this kernel has none"),))
    (tmp_path / "a.ipynb").write_bytes(submission(right_answers()))
    with pytest.raises(NotIsolated, match="this kernel has none"):
        grade(tmp_path, tmp_path / "out", GradeOptions())
