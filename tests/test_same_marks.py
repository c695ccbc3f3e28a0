"""A submission gets the same marks from `course check`, from the grader with one slot, and with four."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from course_lib.frameworks import TABLE
from course_lib.grade.grading import GradeOptions, grade
from course_lib.lessons import lesson
from course_lib.mark import mark_notebook
from hostile.kind import LESSON
from hostile.sheet import marked, right_answers, submission

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="students' code is isolated on Linux only")
# What a student of any track may get wrong, and how.
MISTAKES = {
    "digits/split": "def split(groups, n_validation_groups, seed):\n    return list(range(3, len(groups))), [0, 1, 2]",
    "digits/n_parameters": "def n_parameters(n_inputs, n_hidden, n_classes):\n    return n_inputs / 0",
    "digits/untrained_loss": "def untrained_loss(n_classes)\n    return 0.0",
    "digits/accuracy": "def accuracy(logits, labels):\n    return 0.125",
}
Marks = dict[str, tuple[float, float]]
TRACKS = [pytest.param(track, marks=[pytest.mark.slow] * (track != "numpy")) for track in lesson(LESSON).tracks]


def installed(track: str) -> bool:
    return track not in TABLE or all(importlib.util.find_spec(name) for name in TABLE[track].imports)


def graded(folder: Path, out: Path, n_slots: int) -> dict[str, Marks]:
    """The marks of each file, by exercise."""
    records = grade(folder, out, GradeOptions(jobs=n_slots, timeout_seconds=60))
    return {each.file: {one.exercise: (one.mark, one.max_mark) for one in each.exercises} for each in records}


@pytest.mark.parametrize("track", TRACKS)
def test_the_same_marks_from_check_and_from_one_slot_and_four(track: str, tmp_path: Path) -> None:
    if not installed(track):
        pytest.skip(f"{track} is not installed")
    right = right_answers(track)
    mixed = {**right, **{exercise: marked(exercise, text) for exercise, text in MISTAKES.items()}}
    del mixed["digits/challenge"]
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name, answers in (("right", right), ("mixed", mixed)):
        (folder / f"{name}.ipynb").write_bytes(submission(answers, track))
    checked = {}
    for path in sorted(folder.iterdir()):
        found = mark_notebook(path, timeout_seconds=300)
        checked[path.name] = {each.exercise: (each.mark, each.max_mark) for each in found.exercises}
    assert sum(mark for mark, _ in checked["right.ipynb"].values()) == sum(
        each.marks for each in lesson(LESSON).exercises_of(track)
    )
    lost = {exercise for exercise, (mark, _) in checked["mixed.ipynb"].items() if not mark}
    assert lost == {*MISTAKES, "digits/challenge"}
    assert graded(folder, tmp_path / "one", 1) == checked
    # Four slots have something to do each.
    for name in ("right", "mixed"):
        (folder / f"{name} again.ipynb").write_bytes((folder / f"{name}.ipynb").read_bytes())
    four = graded(folder, tmp_path / "four", 4)
    assert four == checked | {f"{name} again.ipynb": checked[f"{name}.ipynb"] for name in ("right", "mixed")}
