"""Builds both notebooks of every track from a lesson's source: one-way, repeatable, and no oftener than needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from course_lib import lessons as registry
from course_lib.build.execute import execute
from course_lib.build.glossary_page import glossary_page
from course_lib.build.notebook import Notebook, make_notebook, to_text, without_outputs
from course_lib.build.readme import SECTIONS, with_sections
from course_lib.build.warm_figures import warm_kernels
from course_lib.errors import CourseError, NotFound
from course_lib.home import write_text_atomically
from course_lib.lessons import COMPARE, Lesson
from course_lib.shipped import clone_root

# The sections of each page that are built.
PAGES = {"README.md": SECTIONS, "docs/warm_kernels.md": {"figures": warm_kernels}}


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
            if track == COMPARE and any(name in report.executed for name in _task_solutions(lesson)):
                report.written += _write_references(root, lesson)
            _build_solution(root, lesson, track, check, force, report)
    _build_pages(root, check, report)
    return report


def _build_pages(root: Path, check: bool, report: BuildReport) -> None:
    """The README's links, figures, code and messages are built too, the figures of warm kernels, and the glossary."""
    pages = {"docs/glossary.md": glossary_page()}
    for relative, sections in PAGES.items():
        pages[relative] = with_sections((root / relative).read_text(encoding="utf-8"), sections, relative)
    for relative, text in sorted(pages.items()):
        path = root / relative
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            report.stale.append(relative)
            continue
        write_text_atomically(path, text)
        report.written.append(relative)


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


def _task_solutions(lesson: Lesson) -> list[str]:
    return [f"solutions/{lesson.notebook(track)}" for track in lesson.tracks]


def _write_references(root: Path, lesson: Lesson) -> list[str]:
    """Run the task in all tracks, one after the other, and keep the records as the course's reference.

    All of them, also when one track changed: seconds of different runs must not be compared.
    """
    import tempfile

    from course_lib.record import save
    from course_lib.run import run_lesson

    with tempfile.TemporaryDirectory() as folder:
        runs = run_lesson(lesson.name, folder=Path(folder))
    if failed := [run for run in runs if run.state == "failed"]:
        raise CourseError(
            f"The task failed in the {failed[0].track} track.\n{failed[0].reason}", action="Mend its cells."
        )
    records = [run.record.with_(origin="reference") for run in runs if run.record is not None]
    paths = [save(record, root / "solutions" / lesson.name / "records") for record in records]
    return [path.relative_to(root).as_posix() for path in paths]
