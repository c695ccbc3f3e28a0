"""The errors that the course raises on purpose.

Each one teaches: what was expected, what came, where, and one thing to do. A message is written for a learner who has
never read this code, so it is made of whole sentences and ends in `action`.
"""

from __future__ import annotations


class CourseError(Exception):
    """An error whose message is meant for the person at the keyboard.

    `message` says what was expected, what came and where; `action` is the one thing to do about it, or "".
    """

    exit_code = 1

    def __init__(self, message: str, *, action: str = "") -> None:
        self.message = message
        self.action = action
        super().__init__(f"{message} {action}".strip())


class BadInput(CourseError, ValueError):
    """An argument has the wrong type, shape, dtype or value."""


class NotFound(CourseError, LookupError):
    """A lesson, track, exercise, data set or file with this name does not exist."""

    exit_code = 2


class CannotSave(CourseError, OSError):
    """Something of the learner's could not be written; what was there before is untouched."""

    exit_code = 3


class FrameworkMissing(CourseError, ImportError):
    """The framework is not installed: it has no distribution metadata."""

    exit_code = 4


class FrameworkBroken(CourseError, ImportError):
    """The framework is installed, but importing it fails; `__cause__` holds the reason."""

    exit_code = 5


class HardwareMismatch(CourseError, RuntimeError):
    """The machine has an accelerator that the framework does not use, or the reverse."""

    exit_code = 6


class TooLate(CourseError, RuntimeError):
    """A setting that is read at import time was changed in a kernel that has imported already."""


class BadSource(CourseError, ValueError):
    """A lesson source holds something that the build would get wrong without a word."""

    exit_code = 7


class CheckFailed(CourseError, AssertionError):
    """The answer to an exercise was judged wrong; `verdict` says how."""

    def __init__(self, message: str, *, action: str = "", verdict: object = None) -> None:
        super().__init__(message, action=action)
        self.verdict = verdict


class CheckCrashed(CourseError, RuntimeError):
    """The checker itself broke: neither a pass nor a fail. Please report it."""

    exit_code = 8
