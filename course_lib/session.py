"""The notebook in front of the learner: which lesson and track it is."""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.errors import NotFound
from course_lib.lessons import COMPARE, Lesson, lesson


@dataclass(frozen=True)
class Session:
    """Which notebook is running. Its text is what the set-up cell shows."""

    lesson: Lesson
    track: str
    versions: dict[str, str]

    def __str__(self) -> str:
        packages = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"Lesson {self.lesson.name}, track {self.track}. Installed: {packages}."

    __repr__ = __str__


_current: list[Session] = []


def begin(lesson_name: str, track: str) -> Session:
    """Say which notebook this is; the generated first cell does so. `check` and `keep_record` read it.

    Raises NotFound for an unknown lesson or track, FrameworkMissing or FrameworkBroken when the track cannot run.
    """
    from course_lib.versions import installed_versions

    found = lesson(lesson_name)
    found.require_track(track)
    session = Session(found, track, installed_versions("numpy" if track == COMPARE else track))
    _current[:] = [session]
    return session


def current() -> Session:
    """The session that `begin` started. Raises NotFound when there is none."""
    if not _current:
        raise NotFound("No lesson has begun in this notebook.", action="Run its first code cell, the set-up cell.")
    return _current[0]
