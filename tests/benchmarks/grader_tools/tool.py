"""What every grader is asked: to prepare an assignment, to grade a class of it, and which marks it gave."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from benchmarks.grader_tools.handins import Assignment
from benchmarks.grader_tools.stopwatch import Timing

Share = Literal["all", "half", "few", "fewer", "two"]
# By the number of the student, the mark for each exercise.
Marks = dict[int, dict[str, float]]


class Tool(Protocol):
    """A grader. `grade` may use the empty folder `work` as it likes, and times nothing but the grading itself.

    `share` is how much of the class it gets, since some are slow; `starts_anew`: it starts for each notebook.
    """

    name: str
    share: Share
    starts_anew: bool

    def grade(self, assignment: Assignment, n_students: int, work: Path) -> tuple[Timing, Marks]: ...


def student(number: int) -> str:
    """The key of a student."""
    return f"student-{number:04d}"


def number_of(key: str) -> int:
    """The number in a student's key."""
    return int(key.removeprefix("student-"))
