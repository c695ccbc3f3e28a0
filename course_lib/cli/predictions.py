"""`course predictions`: what this learner guessed, what was measured, and how well both agree."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from course_lib.cli.console import console, print_json, say, table


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("predictions")(show)


def show(
    lesson: Annotated[
        str | None, typer.Argument(help="A lesson like 01_digits; all when left out.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Your predictions beside what was measured: how close they are, and whether you lean to one side.

    A prediction counts once: after the measurement it no longer changes. For those of yes or no, the Brier score says
    how well you judge your own sureness.

    **Examples**

    - `course predictions`
    - `course predictions 01_digits`
    - `course predictions --json`
    """
    from course_lib.calibration import calibration
    from course_lib.lessons import lesson as find_lesson
    from course_lib.prediction import predictions

    slug = find_lesson(lesson).slug if lesson is not None else ""
    kept = {name: entry for name, entry in predictions().items() if name.startswith(f"{slug}/" if slug else "")}
    found = calibration(kept)
    if as_json:
        print_json({"predictions": [{"name": name, **entry} for name, entry in kept.items()], **found.to_dict()})
        return
    if kept:
        _show(kept)
        say()
    say(repr(found))


def _show(kept: dict[str, dict[str, Any]]) -> None:
    made = table("prediction", "guessed", "measured", "on", right=("guessed", "measured"))
    for name, entry in sorted(kept.items(), key=lambda item: float(item[1].get("guessed_at", 0.0))):
        guessed = _word(entry["guess"])
        if (sure := entry.get("confidence")) is not None:
            guessed += f" ({sure:.0%} sure)"
        day = datetime.fromtimestamp(float(entry.get("guessed_at", 0.0))).date().isoformat()
        made.add_row(name, guessed, _word(entry["measured"]) if "measured" in entry else "not yet", day)
    console().print(made)


def _word(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:,.6g}"
