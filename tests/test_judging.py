"""What a child says about itself: it gains no time by it, fills no memory, and the blame falls where it belongs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from course_lib.grade.guard import ChildEnded, Ended
from course_lib.grade.judging import Judge, Outcome, Paper
from course_lib.lessons import lesson

ENDED = Ended("", 0, 0.0, 0)
COURSE = (
    "# exercise: digits/accuracy\n...",
    "# exercise: digits/n_parameters\n...",
    'check("digits/accuracy", accuracy)',
)
ANSWERS = {
    "digits/accuracy": "# exercise: digits/accuracy\ndef accuracy(logits, labels):\n    return 1.0",
    "digits/n_parameters": "# exercise: digits/n_parameters\ndef n_parameters(i, h, c):\n    return 1",
}


class Scripted:
    """A guard whose first child says what it is told to say, and whose other children end at once."""

    def __init__(self, messages: Iterable[dict[str, Any] | BaseException]) -> None:
        self._messages = iter(messages)
        self.n_units, self.n_children, self.out_of_time = 0, 0, False

    def begin_submission(self) -> None: ...

    def start(self, lesson: str) -> None:
        self.n_children += 1
        self.n_units += 1

    def stop(self) -> Ended:
        return ENDED

    def begin_unit(self) -> None:
        self.n_units += 1

    def send(self, **message: Any) -> None: ...

    def receive(self) -> dict[str, Any]:
        message = next(self._messages, {"end": True})
        if isinstance(message, BaseException):
            raise message
        return message

    def call(self, method: str, *arguments: Any, **named: Any) -> dict[str, Any]:
        return self.receive()


def judged(*messages: dict[str, Any] | BaseException) -> tuple[Scripted, Outcome]:
    guard = Scripted(messages)
    exercises = tuple(each for each in lesson("01_digits").exercises if each.id in ANSWERS)
    paper = Paper("01_digits", "numpy", COURSE, exercises, ANSWERS, "salt")
    return guard, Judge(guard).judge(paper)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "message",
    [{"cell": 0}, {"failed": 2, "text": "x" * 400}, {"reached": "digits/nothing"}, {"cell": 99}, {"failed": -1}],
    ids=str,
)
def test_who_says_the_same_again_and_again_gets_no_more_time(message: dict[str, Any]) -> None:
    few, _ = judged(*[message] * 3)
    many, outcome = judged(*[message] * 3000)
    assert many.n_units == few.n_units
    assert sum(len(each.message) for each in outcome.results.values()) < 3000


def test_the_blame_falls_on_the_exercise_that_is_being_judged() -> None:
    crash = ChildEnded("crash", "Python crashed.")
    _, outcome = judged({"cell": 0}, {"cell": 1}, {"cell": 2}, {"reached": "digits/accuracy"}, crash)
    assert outcome.results["digits/accuracy"].reason == "crash"
    assert outcome.results["digits/n_parameters"].reason != "crash"
