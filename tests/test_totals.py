"""What counts is counted exactly, what does not is set aside with a reason, and doubt is never a silent zero."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from course_lib.grade.class_settings import ClassSettings, LessonSettings
from course_lib.grade.record import GradeRecord
from course_lib.grade.roster import Roster
from course_lib.grade.student import Student
from course_lib.grade.totals import StudentTotal, totals
from grade_records import ADA, BOB, record, result

DEADLINE = datetime(2026, 12, 1, 23, 59, tzinfo=timezone(timedelta(hours=1)))
CORE = {"digits/split", "digits/n_parameters", "digits/untrained_loss", "digits/accuracy", "digits/challenge"}


def settings(weights: dict[str, float] | None = None, roster: Roster | None = None, **lesson: Any) -> ClassSettings:
    return ClassSettings(lessons={"01_digits": LessonSettings(**lesson)}, weights=weights or {}, roster=roster)


def only(records: list[GradeRecord], given: ClassSettings | None = None) -> StudentTotal:
    [total] = totals(records, given or ClassSettings())
    return total


def after(days: float = 0.0, **delta: float) -> str:
    return (DEADLINE + timedelta(days=days, **delta)).isoformat()


def test_all_marks_of_a_perfect_notebook_count() -> None:
    total = only([record(ADA, "torch")])
    assert (total.mark, total.max_mark, total.share, total.pending, total.penalty) == (11, 11, 1, 0, 0)
    assert (total.handed_in, total.needs_review, total.days_late) == (True, False, 0)
    assert [counted.result.exercise for counted in total.results] == [e.exercise for e in record(ADA).exercises]
    assert total.counted == (record(ADA),)


def test_no_records_and_no_class_give_no_totals() -> None:
    assert totals([], ClassSettings()) == []


def test_a_failed_exercise_costs_its_marks() -> None:
    assert only([record(ADA, states={"digits/challenge": "failed", "digits/step": "failed"})]).mark == 8


def test_weights_replace_the_lessons_marks() -> None:
    given = settings({"digits/step": 3.5, "digits/split": 0, "digits/challenge": 1})
    total = only([record(ADA, states={"digits/challenge": "failed"})], given)
    assert total.max_mark == 11 + 2.5 - 1 - 1
    assert total.mark == total.max_mark - 1
    marks = {counted.result.exercise: counted.result.mark for counted in total.results}
    assert (marks["digits/step"], marks["digits/split"], marks["digits/challenge"]) == (3.5, 0, 0)


def test_a_part_of_the_marks_is_the_same_part_of_the_weight() -> None:
    half = replace(record(ADA), exercises=(result("digits/challenge", "failed", max_mark=2, mark=0.5),))
    total = only([half], settings({"digits/challenge": 3.0}, exercises=("digits/challenge",)))
    assert total.mark == pytest.approx(0.75, abs=1e-9)
    worthless = replace(half, exercises=(result("digits/challenge", max_mark=0),))
    assert only([worthless], settings({"digits/challenge": 3.0}, exercises=("digits/challenge",))).mark == 3


def test_sums_are_exact() -> None:
    weights = {e.exercise: 0.1 for e in record(ADA, "torch").exercises}
    total = only([record(ADA, "torch")], settings(weights))
    assert abs(total.mark - 0.1 * 10) < 1e-12
    assert abs(total.max_mark - 1.0) < 1e-12
    assert total.penalty == 0


def test_only_what_the_class_selects_counts() -> None:
    given = settings(exercises=("digits/step", "digits/gradients"))
    total = only([record(ADA, "numpy", states={"digits/split": "failed"})], given)
    assert (total.mark, total.max_mark) == (3, 3)
    torch = only([record(ADA, "torch")], given)
    assert (torch.mark, torch.max_mark) == (1, 1), "torch has no exercise digits/gradients"
    nothing = only([record(ADA, "fastai")], given)
    assert (nothing.mark, nothing.max_mark, nothing.share) == (0, 0, 0)
    assert "None of the exercises that the class counts" in nothing.review[0]


def test_an_exercise_without_a_result_waits_for_review() -> None:
    short = replace(record(ADA), exercises=record(ADA).exercises[:-1])
    total = only([short])
    assert (total.mark, total.max_mark, total.pending, total.needs_review) == (9, 11, 2, True)
    assert "digits/challenge (torch) was not decided" in total.review[0]


def test_undecided_marks_are_open_and_flagged_not_lost() -> None:
    total = only([record(ADA, states={"digits/challenge": "needs review", "digits/step": "failed"})])
    assert (total.mark, total.pending, total.max_mark) == (8, 2, 11)
    assert total.review == ("digits/challenge (torch) was not decided: checker broke.",)
    not_selected = only(
        [record(ADA, states={"digits/challenge": "needs review"})], settings(exercises=("digits/step",))
    )
    assert not not_selected.needs_review


def test_a_doubt_about_the_record_is_carried() -> None:
    total = only([record(ADA, review=("Two students handed in this very file.",))])
    assert (total.mark, total.review) == (11, ("Two students handed in this very file.",))


def test_the_last_record_of_a_file_counts() -> None:
    worse, better = record(ADA, states={"digits/step": "failed"}), record(ADA)
    assert only([better, worse]).mark == 10
    assert only([worse, better]).mark == 11


def test_the_attempt_that_was_handed_in_last_counts_even_if_it_is_worse() -> None:
    first = record(ADA, file="a.ipynb", submitted_at="2026-11-30T23:00:00+00:00")
    last = record(ADA, file="b.ipynb", submitted_at="2026-12-01T00:30:00+01:00", states={"digits/step": "failed"})
    for order in ([first, last], [last, first]):
        total = only(order)
        assert total.mark == 10, "23:30 in Greenwich is later than 23:00"
        assert [(a.record.file, a.why) for a in total.set_aside] == [("a.ipynb", "b.ipynb counts instead.")]
        assert not total.needs_review


def test_of_attempts_without_a_time_the_best_counts_and_a_person_looks() -> None:
    good, bad = record(ADA, file="z.ipynb"), record(ADA, file="a.ipynb", states={"digits/step": "failed"})
    dated = record(ADA, file="m.ipynb", submitted_at="2026-12-01T00:30:00+01:00", states={"digits/split": "failed"})
    for order in ([good, bad, dated], [dated, bad, good]):
        total = only(order)
        assert (total.mark, total.counted, total.needs_review) == (11, (good,), True)
        assert "Which of a.ipynb, m.ipynb, z.ipynb is the newest is not known" in total.review[0]
    same = only([good, record(ADA, file="a.ipynb")])
    assert not same.needs_review, "where both have the same marks it does not matter which is newer"


def test_of_several_tracks_the_best_share_counts() -> None:
    torch = record(ADA, "torch", states={"digits/challenge": "failed"})
    numpy = record(ADA, "numpy", states={"digits/challenge": "failed"})
    for order in ([torch, numpy], [numpy, torch]):
        total = only(order)
        assert (total.mark, total.max_mark, total.counted) == (11, 13, (numpy,)), "11 of 13 is more than 9 of 11"
        assert "numpy track counts instead, with 11 of 13 marks" in total.set_aside[0].why
        assert not total.needs_review
    whole = only([record(ADA, "torch"), record(ADA, "numpy", states={"digits/step": "failed"})])
    assert (whole.mark, whole.max_mark) == (11, 11), "all of 11 is more than 12 of 13"


def test_a_track_that_may_become_the_best_is_looked_at() -> None:
    torch = record(ADA, "torch", states={"digits/challenge": "needs review"})
    numpy = record(ADA, "numpy", states={"digits/challenge": "failed"})
    total = only([torch, numpy])
    assert total.counted == (numpy,)
    assert "lovelace_ada/01_digits_torch.ipynb may count for more" in total.review[0]
    lost = {e.exercise: "failed" for e in record(ADA, "torch").exercises[2:-1]}
    hopeless = record(ADA, "torch", states={**lost, "digits/challenge": "needs review"})
    assert not only([hopeless, numpy]).needs_review


def test_tracks_may_be_summed_and_core_exercises_count_once() -> None:
    given = settings(tracks="sum", only_tracks=("torch", "jax"))
    core = sum(e.max_mark for e in record(ADA).exercises if e.exercise in CORE)
    both = [
        record(ADA, "torch", states={"digits/split": "failed"}),
        record(ADA, "jax", states={"digits/step": "failed"}),
    ]
    total = only(both, given)
    assert total.max_mark == 22 - core
    assert total.mark == total.max_mark - 1, "split is right in one of the two, and core"
    assert len(total.counted) == 2
    one = only(both[:1], given)
    assert (one.mark, one.max_mark) == (10, 22 - core), "the track that was not handed in is missing from the mark"
    assert given.points("01_digits") == total.max_mark


def test_tracks_that_do_not_count_are_set_aside_with_the_reason() -> None:
    given = settings(only_tracks=("torch",))
    total = only([record(ADA, "torch", states={"digits/step": "failed"}), record(ADA, "jax")], given)
    assert total.mark == 10
    assert [a.why for a in total.set_aside] == ["The class counts torch only."]
    nothing = only([record(ADA, "jax")], given)
    assert (nothing.mark, nothing.max_mark, nothing.handed_in, nothing.needs_review) == (0, 11, True, True)


@pytest.mark.parametrize(
    ("when", "days", "left"),
    [
        (after(-3), 0, 1.0),
        (after(), 0, 1.0),
        (after(microseconds=1), 1, 0.9),
        (after(1), 1, 0.9),
        (after(1, seconds=1), 2, 0.8),
        (after(2.5), 3, 0.7),
        (after(3), 3, 0.7),
        (after(3, microseconds=1), 4, 0.0),
        ((DEADLINE + timedelta(minutes=30)).astimezone(UTC).isoformat(), 1, 0.9),
        ((DEADLINE - timedelta(minutes=30)).astimezone(timezone(timedelta(hours=9))).isoformat(), 0, 1.0),
    ],
)
def test_each_begun_day_costs_its_percentage_until_nothing_counts(when: str, days: int, left: float) -> None:
    given = settings(deadline=DEADLINE, late_percent_per_day=10.0, late_days=3)
    total = only([record(ADA, submitted_at=when, states={"digits/step": "failed"})], given)
    assert total.days_late == days
    assert total.mark == pytest.approx(10 * left, abs=1e-9)
    assert total.penalty == pytest.approx(10 * (1 - left), abs=1e-9)
    assert total.max_mark == 11
    assert not total.needs_review
    assert bool(total.notes) == (days > 0)


def test_a_penalty_never_goes_below_zero_and_needs_no_limit() -> None:
    given = settings(deadline=DEADLINE, late_percent_per_day=30.0)
    assert only([record(ADA, submitted_at=after(40))], given).mark == 0
    free = only([record(ADA, submitted_at=after(40))], settings(deadline=DEADLINE))
    assert (free.mark, free.days_late, free.penalty) == (11, 40, 0)
    none = settings(deadline=DEADLINE, late_days=0)
    assert only([record(ADA, submitted_at=after(0.01))], none).mark == 0


def test_open_marks_are_late_too() -> None:
    given = settings(deadline=DEADLINE, late_percent_per_day=50.0)
    late = record(ADA, submitted_at=after(0.5), states={"digits/challenge": "needs review"})
    assert only([late], given).pending == 1


def test_an_attempt_that_came_too_late_does_not_replace_one_in_time() -> None:
    given = settings(deadline=DEADLINE, late_percent_per_day=10.0, late_days=3)
    in_time = record(ADA, file="a.ipynb", submitted_at=after(-1), states={"digits/step": "failed"})
    too_late = record(ADA, file="b.ipynb", submitted_at=after(9))
    total = only([in_time, too_late], given)
    assert (total.mark, total.days_late) == (10, 0)
    assert "day 9 after the deadline; after 3 days nothing counts" in total.set_aside[0].why
    late = record(ADA, file="b.ipynb", submitted_at=after(2.5))
    assert only([in_time, late], given).mark == pytest.approx(7.7), "a late one within the limit does"


def test_a_late_track_counts_where_it_is_still_the_best() -> None:
    given = settings(deadline=DEADLINE, late_percent_per_day=10.0)
    late = record(ADA, "jax", submitted_at=after(0.5))
    in_time = record(ADA, "torch", submitted_at=after(-1), states={"digits/challenge": "failed"})
    assert only([late, in_time], given).mark == pytest.approx(9.9)
    assert only([replace(late, submitted_at=after(4.5)), in_time], given).mark == 9


@pytest.mark.parametrize("when", [None, "", "yesterday", "2026-12-01T12:00:00"])
def test_late_without_a_time_is_for_a_person_and_costs_nothing_yet(when: str | None) -> None:
    given = settings(deadline=DEADLINE, late_percent_per_day=10.0)
    total = only([record(ADA, late=True, submitted_at=when)], given)
    assert (total.mark, total.penalty, total.needs_review) == (11, 0, True)
    assert "marked late, but not by how much" in total.review[0]
    unknown = only([record(ADA, late=None, submitted_at=when)], given)
    assert not unknown.needs_review
    assert "is not known" in unknown.notes[0]
    in_time = only([record(ADA, late=False, submitted_at=when)], given)
    assert (in_time.notes, in_time.needs_review) == ((), False)


def test_the_platforms_word_does_not_overrule_a_known_time() -> None:
    given = settings(deadline=DEADLINE, late_percent_per_day=10.0)
    assert only([record(ADA, late=False, submitted_at=after(0.5))], given).mark == pytest.approx(9.9)
    early = only([record(ADA, late=True, submitted_at=after(-0.5))], given)
    assert (early.mark, early.needs_review) == (11, False)
    assert "came before the deadline" in early.notes[0]
    no_deadline = only([record(ADA, late=True)])
    assert (no_deadline.mark, no_deadline.needs_review) == (11, False)
    assert "no deadline" in no_deadline.notes[0]


def test_students_are_sorted_by_name_and_never_mixed() -> None:
    zoe = Student("a_key", "Zoë", {})
    mixed = [record(zoe), record(BOB, states={"digits/step": "failed"}), record(ADA)]
    assert [(t.student.key, t.mark) for t in totals(mixed, ClassSettings())] == [
        ("lovelace_ada", 11),
        ("bob", 10),
        ("a_key", 11),
    ]
    namesakes = [record(Student("x", "Sam", {})), record(Student("y", "Sam", {}), states={"digits/step": "failed"})]
    assert [(t.student.key, t.mark) for t in totals(namesakes, ClassSettings())] == [("x", 11), ("y", 10)]


def test_whoever_handed_in_nothing_is_there_without_marks() -> None:
    roster = Roster("roster.csv", (Student("r1", "Lovelace, Ada", {"canvas_user_id": "101"}), Student("r2", "Eve", {})))
    ada, eve = sorted(totals([record(ADA)], settings(roster=roster)), key=lambda t: not t.handed_in)
    assert (ada.student.key, ada.student.name, ada.mark) == ("lovelace_ada", "Lovelace, Ada", 11)
    assert (eve.student.name, eve.mark, eve.max_mark, eve.handed_in, eve.needs_review) == ("Eve", 0, 13, False, False)
    assert (eve.notes, eve.counted) == (("Not handed in.",), ())


def test_others_of_the_collection_are_there_once() -> None:
    found = totals([record(ADA)], ClassSettings(), others=[BOB, ADA])
    assert [(t.student.key, t.handed_in) for t in found] == [("lovelace_ada", True), ("bob", False)]
    roster = Roster("roster.csv", (Student("r1", "Bob", {"canvas_user_id": "102"}),))
    assert len(totals([record(ADA)], settings(roster=roster), others=[BOB])) == 2


def test_who_is_not_on_the_roster_keeps_the_marks_and_is_flagged() -> None:
    roster = Roster("roster.csv", (Student("r1", "Eve", {}),))
    bob = next(t for t in totals([record(BOB)], settings(roster=roster)) if t.student.key == "bob")
    assert (bob.mark, bob.review) == (11, ("Bob is not found in roster.csv.",))


def test_a_lesson_that_somebody_handed_in_is_missing_for_the_others() -> None:
    found = totals([record(ADA), record(BOB, "numpy", lesson="00_start")], ClassSettings())
    assert [(t.student.key, t.lesson, t.handed_in) for t in found] == [
        ("lovelace_ada", "00_start", False),
        ("lovelace_ada", "01_digits", True),
        ("bob", "00_start", True),
        ("bob", "01_digits", False),
    ]


def test_a_notebook_that_was_not_recognised_is_never_a_silent_zero() -> None:
    lost = record(ADA, "", lesson="", file="x.ipynb", review=("not a notebook: it is a JPEG.",))
    unknown, missing = totals([lost, record(BOB)], ClassSettings())[:2]
    assert (unknown.lesson, unknown.needs_review, unknown.counted) == ("", True, (lost,))
    assert unknown.review == ("x.ipynb could not be graded: not a notebook: it is a JPEG.",)
    assert (missing.lesson, missing.handed_in, missing.needs_review) == ("01_digits", False, True)
    assert [t.needs_review for t in totals([lost, record(ADA)], ClassSettings())] == [True, False]


def test_a_lesson_of_another_version_of_the_course_counts_as_it_was_recorded() -> None:
    strange = replace(
        record(ADA), lesson="77_unheard_of", exercises=(result("u/a", max_mark=3), result("u/b", "failed"))
    )
    total = only([strange])
    assert (total.mark, total.max_mark) == (3, 4)
    no_track = replace(record(ADA), track="")
    assert only([no_track]).mark == 11
