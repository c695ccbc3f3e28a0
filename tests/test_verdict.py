"""A verdict has three faces, and a checker's crash is none of them."""

from typing import Any

import numpy as np
import pytest

from answers import digits_numpy as answers
from course_lib import verdict as verdicts
from course_lib.errors import CheckCrashed, NotFound
from course_lib.lessons import Exercise, exercise
from course_lib.verdict import Verdict, exercise_check, find_check, judge


def test_a_right_answer_earns_its_marks_and_says_so() -> None:
    found = judge(exercise("digits/challenge"), answers.nearest_picture, "numpy", seed=0)
    assert found.passed
    assert (found.mark, found.max_mark, found.reason) == (2.0, 2.0, "passed")
    assert "2 of 2 marks" in str(found)


def test_a_wrong_answer_earns_nothing_and_is_told_why() -> None:
    found = judge(exercise("digits/accuracy"), answers.accuracy_in_per_cent, "numpy", seed=0)
    assert (found.passed, found.mark, found.reason) == (False, 0.0, "wrong")
    assert "accuracy" in found.message


def test_a_hole_is_unanswered_and_an_exception_names_the_learners_line() -> None:
    def hole(logits: Any, labels: Any) -> float:
        raise NotImplementedError("digits/accuracy: write your own code here")

    def raising(logits: Any, labels: Any) -> float:
        return {}["nothing"]  # the learner's line

    assert judge(exercise("digits/accuracy"), hole, "numpy").reason == "unanswered"
    found = judge(exercise("digits/accuracy"), raising, "numpy")
    assert found.reason == "error"
    assert "KeyError" in found.message
    assert "the learner's line" in found.message


def test_a_frameworks_own_not_implemented_is_an_error_of_the_answer() -> None:
    def unsupported(logits: Any, labels: Any) -> float:
        raise NotImplementedError("Differentiation rule for 'foo' not implemented")

    found = judge(exercise("digits/accuracy"), unsupported, "numpy")
    assert found.reason == "error"
    assert "Differentiation rule" in found.message


def test_leaving_python_is_a_wrong_answer() -> None:
    def leaving(logits: Any, labels: Any) -> float:
        raise SystemExit(0)

    assert judge(exercise("digits/accuracy"), leaving, "numpy").reason == "error"


def test_something_else_than_a_function_is_an_error_of_the_answer() -> None:
    assert judge(exercise("digits/accuracy"), 0.93, "numpy").reason == "error"


def test_a_broken_checker_is_neither_a_pass_nor_a_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    @exercise_check("digits/broken", hints=())
    def broken(answer: Any, rng: np.random.Generator, track: str) -> None:
        raise ZeroDivisionError

    made = Exercise("digits/broken", "", "function", 1.0, True, ("numpy",))
    with pytest.raises(CheckCrashed, match="not judged"):
        judge(made, answers.accuracy_mean, "numpy")
    monkeypatch.delitem(verdicts._CHECKS, "digits/broken")


def test_inputs_are_fresh_unless_a_seed_is_given() -> None:
    seen: list[bytes] = []

    def spy(logits: Any, labels: Any) -> float:
        seen.append(logits.tobytes())
        return answers.accuracy_mean(logits, labels)

    for seed in (None, None, 7, 7):
        judge(exercise("digits/accuracy"), spy, "numpy", seed=seed)
    first, second, third, fourth = (seen[i * 4] for i in range(4))
    assert first != second
    assert third == fourth


def test_every_exercise_of_every_lesson_has_a_check_with_three_hints() -> None:
    from course_lib.lessons import lessons

    for lesson in lessons():
        for each in lesson.exercises:
            hints = find_check(each.id).hints
            assert len(hints) >= 3, each.id
            assert len(set(hints)) == len(hints)


def test_an_unknown_exercise_is_not_found() -> None:
    with pytest.raises(NotFound, match="digits/accuracy"):
        exercise("digits/acuracy")
    with pytest.raises(NotFound, match="no check"):
        find_check("nothing/here")


def test_hints_come_in_order_and_stay_at_the_last() -> None:
    check = find_check("digits/step")
    given = [check.hint(n, "numpy") for n in range(5)]
    assert given[0] == ""
    assert len(set(given[1:4])) == 3
    assert given[4] == given[3]


def test_a_verdict_is_json() -> None:
    made = Verdict("a/b", "numpy", False, 0.0, 1.0, "wrong", "m").with_hint("h")
    assert made.to_dict()["hint"] == "h"
    assert str(made) == "✗ a/b: m\n  h"
