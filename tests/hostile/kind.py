"""What a hostile submission is: how it is made, and what it must get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from course_lib.lessons import lesson

LESSON = "01_digits"


@dataclass(frozen=True)
class Scene:
    """What a thief may have heard about the machine: where things lie, and where somebody listens.

    `stamp` is a word of this run alone; whatever a submission leaves behind carries it.
    """

    submissions: Path
    out: Path
    canary: Path
    repository: Path
    port: int
    socket: str
    stamp: str


@dataclass(frozen=True)
class Hostile:
    """One hostile submission.

    `build` makes the notebook's bytes; `place` lays them down at a path (None: as a file), `file_name` is for names
    that are themselves the trouble. `marks` is the mark that each exercise must get, by id; `reasons` the reason codes
    that it may have, with `|` between them. `review` says whether somebody must be asked to look (None: either will
    do). `notes` are words that the record's notes must hold. `heavy` ones are only run with the slow tests.
    """

    name: str
    build: Callable[[Scene], bytes]
    marks: dict[str, float]
    reasons: dict[str, str] = field(default_factory=dict)
    review: bool | None = False
    notes: tuple[str, ...] = ()
    track: str = "numpy"
    place: Callable[[Path, bytes], None] | None = None
    file_name: str = ""
    heavy: bool = False


@cache
def full_marks(track: str = "numpy") -> dict[str, float]:
    """What a right submission of the lesson gets, by exercise."""
    return {each.id: float(each.marks) for each in lesson(LESSON).exercises_of(track)}


def without(*exercises: str, track: str = "numpy") -> dict[str, float]:
    """Full marks but for these exercises, which get nothing."""
    marks = full_marks(track)
    assert set(exercises) <= marks.keys(), exercises
    return {exercise: 0.0 if exercise in exercises else mark for exercise, mark in marks.items()}


def no_marks(track: str = "numpy") -> dict[str, float]:
    """Nothing for every exercise."""
    return dict.fromkeys(full_marks(track), 0.0)
