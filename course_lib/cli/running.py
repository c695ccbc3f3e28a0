"""`course run`: the lesson's task, trained in every track from the same start, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.console import console, mebibytes, note, number, print_json, progress, say, table
from course_lib.errors import FrameworkMissing

if TYPE_CHECKING:
    from course_lib.run import Run

COLUMNS = (
    "track",
    "steps",
    "final loss",
    "validation_accuracy",
    "max_loss_difference",
    "s/step after first",
    "first step s",
    "peak MiB",
)


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(run)


def run(
    lesson: Annotated[str, typer.Argument(help="A lesson like 01_digits or digits.")],
    track: Annotated[
        list[str] | None,
        typer.Option("--track", "-t", help="Only this track; give it again for more.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Train a lesson's task in every installed framework from the same start, and compare the numbers.

    Each track runs the lesson's own cells on the real data in a process of its own. max_loss_difference is the largest
    difference of a step's loss from the NumPy track; peak memory is the growth after the imports.

    A track whose framework is not installed is listed with the reason; that fails the command only when you named it
    with --track (exit code 4). A track that crashed gives exit code 1.

    **Examples**

    - `course run 01_digits`
    - `course run digits --track torch --track jax`
    - `course run 01_digits --json | python -m json.tool`
    """
    from course_lib.lessons import lesson as find_lesson
    from course_lib.run import run_lesson

    tracks = track or list(find_lesson(lesson).tracks)
    with progress("Training", len(tracks)) as part:
        runs = run_lesson(lesson, track, on_progress=part)
    if as_json:
        print_json({"lesson": find_lesson(lesson).name, "runs": [each.to_dict() for each in runs]})
    else:
        _show(runs)
    if any(each.state == "failed" for each in runs):
        raise typer.Exit(1)
    if track and any(each.state == "missing" for each in runs):
        raise typer.Exit(FrameworkMissing.exit_code)


def _show(runs: list[Run]) -> None:
    rows = table(*COLUMNS, right=COLUMNS[1:])
    for each in runs:
        record = each.record
        if record is None:
            continue
        rows.add_row(
            each.track,
            str(record.n_steps),
            number(record.final_loss, ".6f"),
            number(record.validation_accuracy, ".4f"),
            number(each.max_loss_difference, ".1e"),
            number(record.step_seconds, ".5f"),
            number(record.first_step_seconds, ".3f"),
            mebibytes(record.peak_bytes),
        )
    if rows.row_count:
        console().print(rows)
    for each in runs:
        if each.state == "missing":
            say(f"{each.track}: not run. {each.reason}")
        elif each.record is None:
            note(f"{each.track}: failed. {each.reason}")
