"""`course list`: lesson by track, with this learner's progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from course_lib.cli.console import console, note, print_json, say, table
from course_lib.errors import CannotSave

if TYPE_CHECKING:
    from course_lib.lessons import Lesson
    from course_lib.progress import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("list")(show)


def show(as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False) -> None:
    """List the lessons and tracks, and how many exercises you have solved in each.

    A core exercise is solved once per lesson and then counts in every track; an idiom exercise counts in its own.

    **Examples**

    - `course list`
    - `course list --json`
    """
    from course_lib.lessons import lessons
    from course_lib.progress import Progress

    progress = Progress.load()
    rows = [_row(lesson, progress) for lesson in lessons()]
    if as_json:
        print_json({"lessons": rows, "home": _home(), "problem": progress.damaged or ""})
    else:
        _show(rows)
    if progress.damaged is not None:
        raise typer.Exit(CannotSave.exit_code)


def _row(lesson: Lesson, progress: Progress) -> dict[str, Any]:
    tracks: dict[str, Any] = {}
    for track in lesson.tracks:
        exercises = lesson.exercises_of(track)
        solved = [
            each.id
            for each in exercises
            if (progress.passed_anywhere(each.id) if each.core else progress.passed(each.id, track))
        ]
        tracks[track] = {"solved": len(solved), "total": len(exercises), "solved_exercises": solved,
                         "notebook": lesson.notebook(track)}  # fmt: skip
    return {"name": lesson.name, "title": lesson.title, "minutes": lesson.minutes, "tracks": tracks}


def _show(rows: list[dict[str, Any]]) -> None:
    from course_lib.frameworks import TRACKS, missing_distributions

    shown = [track for track in TRACKS if any(track in row["tracks"] for row in rows)]
    made = table("lesson", "title", "minutes", *shown, right=("minutes", *shown))
    for row in rows:
        cells = [f"{t['solved']}/{t['total']}" if (t := row["tracks"].get(track)) else "" for track in shown]
        made.add_row(row["name"], row["title"], str(row["minutes"]), *cells)
    console().print(made)
    missing = [track for track in shown if missing_distributions(track)]
    say("\nsolved/exercises in each track. Open a lesson with: course lab LESSON --track TRACK")
    if missing:
        note(f"Not installed here: {', '.join(missing)} (see: course doctor)")


def _home() -> str:
    from course_lib.home import home_path

    return str(home_path())
