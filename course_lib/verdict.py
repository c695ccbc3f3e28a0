"""A verdict: one value with three faces. The notebook shows it, pytest asserts it, the grader sums its marks."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from course_lib.adapters import adapt
from course_lib.errors import CheckCrashed, CourseError, NotFound
from course_lib.expect import Mismatch
from course_lib.kinds import AnswerError, Unanswered, Unfit
from course_lib.lessons import Exercise

Reason = Literal["passed", "wrong", "error", "unanswered", "foreign name", "not reached"]


@dataclass(frozen=True)
class Verdict:
    """What a check found. `mark` is `max_mark` when passed, else 0; `hint` is filled in where attempts are counted."""

    exercise: str
    track: str
    passed: bool
    mark: float
    max_mark: float
    reason: Reason
    message: str
    hint: str = ""
    seconds: float = 0.0

    def with_hint(self, hint: str) -> Verdict:
        """The same verdict with a hint below its message."""
        return replace(self, hint=hint)

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    def _ipython_display_(self) -> None:
        """Show nothing: `check` has printed the verdict already, and its seconds differ from run to run."""

    def __str__(self) -> str:
        unit = "mark" if self.max_mark == 1 else "marks"
        if self.passed:
            marks = f"{self.mark:g} of {self.max_mark:g} {unit}"
            return f"✓ {self.exercise}: public checks passed, {marks}; the grader uses fresh inputs."
        text = f"✗ {self.exercise}: {self.message}"
        return f"{text}\n  {self.hint}" if self.hint else text


CheckFunction = Callable[..., None]


@dataclass(frozen=True)
class Check:
    """How one exercise is judged: the function that drives the kind, and the hints in the order they are given."""

    exercise: str
    judge: CheckFunction
    hints: tuple[str, ...]
    hints_by_track: Mapping[str, tuple[str, ...]]

    def hint(self, attempts: int, track: str) -> str:
        """The hint for the n-th failed attempt (1 for the first); after the last one it stays at the last."""
        hints = self.hints_by_track.get(track, self.hints)
        if attempts < 1 or not hints:
            return ""
        place = min(attempts, len(hints))
        return f"Hint {place} of {len(hints)}: {hints[place - 1]}"


_CHECKS: dict[str, Check] = {}
_PRIVATE_CASES: dict[str, list[CheckFunction]] = {}
MISSING_ANSWER = "which is not there"


def exercise_check(
    exercise: str, *, hints: tuple[str, ...], hints_by_track: Mapping[str, tuple[str, ...]] | None = None
) -> Callable[[CheckFunction], CheckFunction]:
    """Register the check of an exercise. The function gets (answer of the kind, rng, track) and raises Mismatch."""

    def register(function: CheckFunction) -> CheckFunction:
        _CHECKS[exercise] = Check(exercise, function, hints, hints_by_track or {})
        return function

    return register


def find_check(exercise: str) -> Check:
    """The check of an exercise, from `course_lib.checks.<slug>`. Raises NotFound when there is none."""
    slug = exercise.split("/")[0]
    if exercise not in _CHECKS:
        try:
            importlib.import_module(f"course_lib.checks.{slug}")
        except ModuleNotFoundError as error:
            if error.name != f"course_lib.checks.{slug}":
                raise
    if exercise not in _CHECKS:
        raise NotFound(f"There is no check for {exercise!r}.", action="Compare the name with the line `# exercise:`.")
    return _CHECKS[exercise]


def private_case(exercise: str) -> Callable[[CheckFunction], CheckFunction]:
    """Register a case of a class's own for an exercise of the course; it is judged after the exercise's check.

    The function gets what the check gets, and raises Mismatch.
    """

    def register(function: CheckFunction) -> CheckFunction:
        _PRIVATE_CASES.setdefault(exercise, []).append(function)
        return function

    return register


def exercises_with_private_cases() -> list[str]:
    """The exercises for which a class has registered cases of its own."""
    return sorted(_PRIVATE_CASES)


def judge(exercise: Exercise, answer: Any, track: str, *, seed: int | None = None) -> Verdict:
    """Judge an answer on fresh inputs drawn from `seed` (None: from the operating system).

    Raises CheckCrashed when the checker itself breaks; whatever the answer does wrong is in the verdict.
    """
    adapter = "numpy" if exercise.core else track
    return judge_kind(exercise, lambda: adapt(adapter, exercise.kind, answer), track, np.random.default_rng(seed))


def _unanswered(exercise_id: str, hole: str) -> str:
    """What to say of a hole that was reached: it may be that of another exercise, whose answer this one calls."""
    other = hole.partition(":")[0]
    if other != exercise_id and "/" in other:
        return f"your answer calls your answer to {other}, {MISSING_ANSWER}: answer that one first."
    return "not answered yet: replace the line `raise NotImplementedError` by your own code."


def judge_kind(exercise: Exercise, kind: Callable[[], Any], track: str, rng: np.random.Generator) -> Verdict:
    """Judge the answer that `kind` makes an object of the exercise's kind from, here or on the other side of a pipe.

    Raises CheckCrashed as `judge` does. What is no Exception, such as the end of the other side, passes through.
    """
    check = find_check(exercise.id)
    start = time.perf_counter()
    reason: Reason = "passed"
    message = ""
    try:
        answer = kind()
        for function in (check.judge, *_PRIVATE_CASES.get(exercise.id, ())):
            function(answer, rng, track)
    except Mismatch as mismatch:
        reason, message = "wrong", str(mismatch)
    except Unfit as unfit:
        reason, message = "wrong", f"{unfit}."
    except Unanswered as hole:
        reason, message = "unanswered", _unanswered(exercise.id, str(hole))
    except AnswerError as error:
        line = f" at `{error.line}`" if error.line else ""
        reason, message = "error", f"your code raised {error}{line} while {error.doing}."
    except CourseError:
        raise
    except Exception as error:
        raise CheckCrashed(
            f"The checker of {exercise.id} itself broke ({type(error).__name__}: {error}); your answer was not judged.",
            action="Please report it with the cell that you checked.",
        ) from error
    passed = reason == "passed"
    mark = float(exercise.marks) if passed else 0.0
    seconds = time.perf_counter() - start
    return Verdict(exercise.id, track, passed, mark, float(exercise.marks), reason, message, seconds=seconds)
