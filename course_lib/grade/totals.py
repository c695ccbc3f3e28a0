"""What a class's students get: of the records those that count, after weights, selection and lateness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from course_lib.errors import NotFound
from course_lib.grade.attempt import Attempt, CountedResult, SetAside, attempt, choose_attempt, choose_track
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.record import GradeRecord, newest
from course_lib.grade.roster import absent, merged
from course_lib.grade.student import Student


@dataclass(frozen=True)
class StudentTotal:
    """What one student has in one lesson; `lesson` is "" for notebooks that were not recognised.

    `mark` is what was earned, after weights, selection and `penalty`; where `needs_review`, it is the marks so far and
    up to `pending` more are open. `days_late` are begun days. `results` are the exercises that count, with the marks
    before the penalty. `counted` has one record, or one for each track where tracks are summed; none where nothing
    was handed in, or nothing that counts. `notes` and `review` are whole sentences.
    """

    student: Student
    lesson: str
    mark: float = 0.0
    max_mark: float = 0.0
    pending: float = 0.0
    penalty: float = 0.0
    days_late: int = 0
    handed_in: bool = False
    results: tuple[CountedResult, ...] = ()
    counted: tuple[GradeRecord, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = ()
    review: tuple[str, ...] = ()

    @property
    def needs_review(self) -> bool:
        """Whether a person should look before the mark is final; `review` says why."""
        return bool(self.review)

    @property
    def share(self) -> float:
        """The mark as a part of what could be earned, from 0 to 1; 0 where there is nothing to earn."""
        return self.mark / self.max_mark if self.max_mark else 0.0


def totals(
    records: Iterable[GradeRecord], settings: ClassSettings, others: Iterable[Student] = ()
) -> list[StudentTotal]:
    """One total for each student and lesson, sorted by name; a lesson counts where a record or the class has it.

    Of several records of one file the last counts, of several attempts in a track the one handed in last, of several
    tracks the best or their sum. Who is on the roster or among `others` and handed in nothing is there without marks.
    """
    kept: dict[str, list[GradeRecord]] = {}
    for record in newest(records):
        kept.setdefault(record.student.key, []).append(record)
    known = {one.key: one for one in others} | {key: own[0].student for key, own in kept.items()}
    everybody, unlisted = _everybody(list(known.values()), settings)
    lessons = sorted({record.lesson for own in kept.values() for record in own} | set(settings.lessons))
    made = []
    for student in sorted(everybody, key=lambda one: (one.name.casefold(), one.key)):
        own = kept.get(student.key, [])
        for lesson in lessons:
            attempts = [record for record in own if record.lesson == lesson]
            if lesson or attempts:
                total = _total(student, lesson, attempts, settings)
                doubts = [unlisted[student.key]] if student.key in unlisted else []
                doubts += [_unrecognised(record) for record in own if not record.lesson and not total.handed_in]
                made.append(replace(total, review=(*doubts, *total.review)))
    return made


def _everybody(students: Sequence[Student], settings: ClassSettings) -> tuple[list[Student], dict[str, str]]:
    """Those who handed in, under the names of the roster, then those who did not; and why some are not on it."""
    if settings.roster is None:
        return list(students), {}
    found, unlisted = settings.roster.match(students)
    there = [merged(one, found[one.key]) if one.key in found else one for one in students]
    return there + absent(settings.roster, found.values(), [one.key for one in students]), unlisted


def _total(student: Student, lesson: str, records: list[GradeRecord], settings: ClassSettings) -> StudentTotal:
    if not lesson:
        why = tuple(_unrecognised(record) for record in records)
        return StudentTotal(student, lesson, handed_in=True, counted=tuple(records), review=why)
    if not records:
        return StudentTotal(student, lesson, max_mark=_largest(lesson, settings), notes=("Not handed in.",))
    own = settings.of(lesson)
    foreign = [record for record in records if own.only_tracks is not None and record.track not in own.only_tracks]
    aside = [SetAside(record, f"The class counts {', '.join(own.only_tracks or ())} only.") for record in foreign]
    attempts: list[Attempt] = []
    doubts: list[str] = []
    for track in dict.fromkeys(record.track for record in records if record not in foreign):
        chosen, others, doubt = choose_attempt([attempt(r, settings) for r in records if r.track == track])
        attempts.append(chosen)
        aside += others
        doubts += doubt
    if not attempts:
        why = ("Something was handed in, but nothing in a track that the class counts.",)
        most = _largest(lesson, settings)
        return StudentTotal(student, lesson, max_mark=most, handed_in=True, set_aside=tuple(aside), review=why)
    if own.tracks == "best":
        best, others, doubt = choose_track(attempts)
        attempts, aside, doubts = [best], aside + others, doubts + doubt
    total = _sum(StudentTotal(student, lesson, handed_in=True), attempts)
    if own.tracks == "sum":
        total = replace(total, max_mark=_largest(lesson, settings))
    if not total.max_mark:
        doubts.append("None of the exercises that the class counts is in what was handed in.")
    return replace(total, set_aside=tuple(aside), review=(*total.review, *doubts))


def _sum(total: StudentTotal, attempts: Sequence[Attempt]) -> StudentTotal:
    """The attempts that count, together; a core exercise of several tracks counts once, where it brings most."""
    chosen: dict[tuple[str, str], tuple[float, float, CountedResult]] = {}
    for each in attempts:
        for counted in each.results:
            key = (counted.result.exercise, "" if counted.core else counted.track)
            factor = each.late.factor
            if key not in chosen or factor * counted.result.mark > chosen[key][0]:
                chosen[key] = (factor * counted.result.mark, factor, counted)
    kept = list(chosen.values())
    mark = math.fsum(worth for worth, _, _ in kept)
    undecided = [
        f"{counted.result.exercise} ({counted.track}) was not decided: {counted.result.reason}."
        for _, _, counted in kept
        if counted.result.state == "needs review"
    ]
    return replace(
        total,
        mark=mark,
        max_mark=math.fsum(counted.result.max_mark for _, _, counted in kept),
        pending=math.fsum(factor * counted.pending for _, factor, counted in kept),
        penalty=math.fsum(counted.result.mark for _, _, counted in kept) - mark,
        days_late=max(each.late.days for each in attempts),
        results=tuple(counted for _, _, counted in kept),
        counted=tuple(each.record for each in attempts),
        notes=tuple(each.late.note for each in attempts if each.late.note),
        review=(
            *(reason for each in attempts for reason in each.record.review),
            *undecided,
            *(each.late.review for each in attempts if each.late.review),
        ),
    )


def _unrecognised(record: GradeRecord) -> str:
    why = "; ".join(record.review) or "it was not recognised as a notebook of the course"
    return f"{record.file} could not be graded: {why.removesuffix('.')}."


def _largest(lesson: str, settings: ClassSettings) -> float:
    """What can be earned in a lesson: in all tracks together where they are summed, else in the richest of them."""
    try:
        if settings.of(lesson).tracks == "sum":
            return settings.max_mark_of_all(lesson)
        return max(settings.max_mark(lesson, track) for track in settings.tracks_of(lesson))
    except NotFound:
        return 0.0
