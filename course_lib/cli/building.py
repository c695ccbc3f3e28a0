"""`course build`: both notebooks of every track, from the lesson's one source."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from course_lib.cli.console import note, print_json, progress, say


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(build)


def build(
    lesson: Annotated[
        str | None, typer.Argument(help="A lesson like 01_digits; all when left out.", show_default=False)
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when something is stale.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Build the notebooks from solutions/LESSON/lesson.md (for those who write lessons; needs a clone).

    Writes the learners' notebooks (holes instead of solutions) and the executed solutions; a solution runs again only
    when its own cells changed. With --check nothing is written, and exit code 1 means that something is stale.

    **Examples**

    - `course build 01_digits`
    - `course build --check`
    """
    from course_lib.build import build_lessons
    from course_lib.warm import switch

    switch.turn_on(os.environ, batch=True)
    with progress("Building") as part:
        report = build_lessons([lesson] if lesson else None, check=check, on_progress=part)
    if as_json:
        print_json({"written": report.written, "stale": report.stale, "executed": report.executed})
    else:
        for path in report.written:
            say(f"{'executed and written' if path in report.executed else 'written'}: {path}")
        for path in report.stale:
            note(f"stale: {path}")
        if report.stale:
            note("What to do: course build")
        elif not report.written:
            say("Everything is up to date.")
    if check and report.stale:
        raise typer.Exit(1)
