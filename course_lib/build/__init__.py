"""Builds both notebooks of every track from a lesson's source: one-way, repeatable, and no oftener than needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from course_lib import lessons as registry
from course_lib.build.execute import execute
from course_lib.build.notebook import Notebook, make_notebook, to_text, without_outputs
from course_lib.errors import NotFound
from course_lib.home import write_text_atomically
from course_lib.lessons import COMPARE, Lesson
from course_lib.shipped import clone_root


@dataclass
class BuildReport:
    """What a build did, as paths relative to the clone. `stale` is filled by a check only."""

    written: list[str] = field(default_factory=list)
    executed: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)


def build_lessons(
    names: list[str] | None = None, *, check: bool = False, force: bool = False,
    tracks: list[str] | None = None, on_progress: Callable[[str], None] = lambda text: None,
) -> BuildReport:  # fmt: skip
    """Build the lessons of these names (None: all). With `check`, write nothing and report what is stale.

    A solution runs again only when its own cells changed, or with `force`. Raises BadSource for a source that must not
    be built, NotFound outside a clone, CourseError when a solution's cell fails.
    """
    root = clone_root()
    if root is None:
        raise NotFound(
            "Lessons are built in a clone of the course; this is an installed package.", action="Clone it first."
        )
    report = BuildReport()
    for lesson in [registry.lesson(name) for name in names] if names else registry.lessons():
        for track in tracks or lesson.notebooks:
            lesson.require_track(track)
            on_progress(f"{lesson.name}: {track}")
            _build_learner(root, lesson, track, check, report)
            _build_solution(root, lesson, track, check, force, report)
    return report


def _build_learner(root: Path, lesson: Lesson, track: str, check: bool, report: BuildReport) -> None:
    relative = f"notebooks/{lesson.notebook(track)}"
    text = to_text(make_notebook(lesson, track, "learner"))
    path = root / relative
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    if check:
        report.stale.append(relative)
        return
    write_text_atomically(path, text)
    report.written.append(relative)


def _build_solution(root: Path, lesson: Lesson, track: str, check: bool, force: bool, report: BuildReport) -> None:
    relative = f"solutions/{lesson.notebook(track)}"
    notebook = make_notebook(lesson, track, "solution")
    path = root / relative
    if not force and is_current(path, notebook) and not (track == COMPARE and _records_changed(report, lesson)):
        return
    if check:
        report.stale.append(relative)
        return
    write_text_atomically(path, to_text(execute(notebook, relative)))
    report.written.append(relative)
    report.executed.append(relative)
    if track != COMPARE and _has_task(lesson, track):
        report.written.append(_write_reference(root, lesson, track))


def is_current(path: Path, notebook: Notebook) -> bool:
    """Whether the solution in this file was made from these cells: the same inputs, ids and metadata."""
    if not path.is_file():
        return False
    try:
        built = without_outputs(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError):
        return False
    return to_text(built) == to_text(notebook)


def _records_changed(report: BuildReport, lesson: Lesson) -> bool:
    return any(name.startswith(f"solutions/{lesson.name}/records/") for name in report.written)


def _has_task(lesson: Lesson, track: str) -> bool:
    from course_lib.build.source import task_source

    try:
        return bool(task_source(lesson, track))
    except NotFound:
        return False


def _write_reference(root: Path, lesson: Lesson, track: str) -> str:
    """Run the task once more on its own, as `course run` does, and keep its record as the course's reference."""
    from course_lib.record import save
    from course_lib.run import run_track

    path = save(run_track(lesson, track).with_(origin="reference"), root / "solutions" / lesson.name / "records")
    return path.relative_to(root).as_posix()
