"""`course check`: a learner's notebook, marked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.console import console, print_json, progress, say, table

if TYPE_CHECKING:
    from course_lib.mark import Marks


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("check")(check_notebook)


def check_notebook(
    notebook: Annotated[Path, typer.Argument(help="A notebook of the course, solved or not, under whatever name.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
    timeout_seconds: Annotated[int, typer.Option("--timeout", min=1, help="Seconds that one cell may take.")] = 120,
) -> None:
    """Mark a notebook: run its answers among the course's own cells, and list each exercise's verdict and marks.

    Only the answer cells are taken from the notebook, by their first line (`# exercise: digits/step`). Nothing in the
    file or in your progress is changed. The answers run on this machine, as in Jupyter: check only what you trust.

    Exit code 0: every exercise passed; 1: not every one; 2 and more: the notebook could not be marked.

    **Examples**

    - `course check ~/every-framework/notebooks/01_digits/digits_torch.ipynb`
    - `course check digits_torch.ipynb --json`
    """
    from course_lib.mark import mark_notebook
    from course_lib.warm import switch

    switch.turn_on(os.environ, batch=True)
    with progress("Marking") as part:
        marks = mark_notebook(notebook, timeout_seconds=timeout_seconds, on_progress=part)
    if as_json:
        print_json(marks.to_dict())
    else:
        _show(marks)
    raise typer.Exit(0 if marks.passed else 1)


def _show(marks: Marks) -> None:
    rows = table("exercise", "verdict", "mark", "max_mark", "what was found", right=("mark", "max_mark"))
    for each in marks.exercises:
        first = each.message.strip().splitlines()[:1]
        verdict = "passed" if each.passed else each.reason
        rows.add_row(each.exercise, verdict, f"{each.mark:g}", f"{each.max_mark:g}", *(first or [""]))
    rows.add_section()
    rows.add_row("total", "", f"{marks.mark:g}", f"{marks.max_mark:g}", "")
    say(f"{marks.path}: lesson {marks.lesson}, track {marks.track}")
    console().print(rows)
    for line in marks.notes:
        say(f"Note: {line}")
