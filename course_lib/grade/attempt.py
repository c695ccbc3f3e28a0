"""What a student handed in for a lesson: which of the attempts count, with the marks that the class gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from course_lib.errors import NotFound
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.lateness import Lateness, lateness, submitted
from course_lib.grade.record import ExerciseResult, GradeRecord
from course_lib.grade.text import number
from course_lib.lessons import Exercise
from course_lib.lessons import lesson as find_lesson


@dataclass(frozen=True)
class CountedResult:
    """One exercise that counts: its result with the marks after the class's weights, before any penalty."""

    track: str
    core: bool
    result: ExerciseResult

    @property
    def pending(self) -> float:
        """The marks that are open until somebody has looked; 0 where it is decided."""
        return self.result.max_mark - self.result.mark if self.result.state == "needs review" else 0.0


@dataclass(frozen=True)
class SetAside:
    """A record that does not count, and why: one sentence."""

    record: GradeRecord
    why: str


@dataclass(frozen=True)
class Attempt:
    """One notebook that may count: its results after weights and selection, and how late it came."""

    record: GradeRecord
    late: Lateness
    results: tuple[CountedResult, ...]

    @property
    def mark(self) -> float:
        """The marks after weights and penalty."""
        return self.late.factor * math.fsum(counted.result.mark for counted in self.results)

    @property
    def max_mark(self) -> float:
        return math.fsum(counted.result.max_mark for counted in self.results)

    @property
    def share(self) -> float:
        """The mark as a part of what could be earned, from 0 to 1."""
        return self.mark / self.max_mark if self.max_mark else 0.0

    @property
    def best_share(self) -> float:
        """The share, were everything that is open decided in the student's favour."""
        pending = self.late.factor * math.fsum(counted.pending for counted in self.results)
        return (self.mark + pending) / self.max_mark if self.max_mark else 0.0


Choice = tuple[Attempt, list[SetAside], list[str]]


def attempt(record: GradeRecord, settings: ClassSettings) -> Attempt:
    """A record as an attempt of its class; what should have a result and has none waits for review."""
    late = lateness(record, settings.of(record.lesson))
    results = {result.exercise: result for result in record.exercises}
    wanted = _wanted(record, settings)
    if wanted is None:
        return Attempt(record, late, tuple(CountedResult(record.track, False, result) for result in record.exercises))
    counted = (_weighted(results.get(exercise.id), exercise, record) for exercise in wanted)
    return Attempt(record, late, tuple(counted))


def _wanted(record: GradeRecord, settings: ClassSettings) -> tuple[Exercise, ...] | None:
    """The exercises that count, None where this version of the course does not know the lesson or the track."""
    try:
        known = record.track in find_lesson(record.lesson).tracks
    except NotFound:
        known = False
    return settings.exercises_of(record.lesson, record.track) if known else None


def _weighted(result: ExerciseResult | None, exercise: Exercise, record: GradeRecord) -> CountedResult:
    if result is None:
        why = f"{record.file} has no result for it: grade it again."
        result = ExerciseResult(exercise.id, exercise.title, "needs review", "not reached", 0.0, exercise.marks, why)
    if result.max_mark != exercise.marks:
        part = result.mark / result.max_mark if result.max_mark else float(result.state == "passed")
        result = replace(result, mark=part * exercise.marks, max_mark=float(exercise.marks))
    return CountedResult(record.track, exercise.core, result)


def choose_attempt(attempts: Sequence[Attempt]) -> Choice:
    """Of the attempts in one track the one that was handed in last; one that came too late replaces none in time.

    Returns it, the others with the reason, and what a person has to decide.
    """
    in_time = [each for each in attempts if not each.late.too_late] or list(attempts)
    times = {id(each): moment for each in in_time if (moment := submitted(each.record)) is not None}
    doubts: list[str] = []
    if len(times) == len(in_time):
        chosen = max(in_time, key=lambda each: (times[id(each)], each.record.file))
    else:
        chosen = max(in_time, key=lambda each: (each.share, each.record.file))
        if any(each.share != chosen.share or each.best_share != chosen.best_share for each in in_time):
            names = ", ".join(sorted(each.record.file for each in in_time))
            doubts = [f"Which of {names} is the newest is not known: the best, {chosen.record.file}, has been counted."]
    aside = []
    for each in attempts:
        if each is not chosen:
            too_late = each.late.too_late and not chosen.late.too_late
            aside.append(SetAside(each.record, each.late.note if too_late else f"{chosen.record.file} counts instead."))
    return chosen, aside, doubts


def choose_track(attempts: Sequence[Attempt]) -> Choice:
    """Of the attempts in several tracks the one with the greatest share of its marks; returns as choose_attempt."""
    best = max(attempts, key=lambda each: (each.share, each.mark))
    aside: list[SetAside] = []
    doubts: list[str] = []
    for each in attempts:
        if each is not best:
            won = f"{number(best.mark)} of {number(best.max_mark)} marks"
            aside.append(SetAside(each.record, f"The {best.record.track} track counts instead, with {won}."))
            if each.best_share > best.share:
                doubts.append(f"{each.record.file} may count for more, once its open exercises have been looked at.")
    return best, aside, doubts
