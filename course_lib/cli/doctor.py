"""`course doctor`: what works on this machine, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.console import console, number, print_json, progress, say, table

if TYPE_CHECKING:
    from course_lib.doctor import Diagnosis, FrameworkHealth


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(doctor)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Examine this machine: Python, hardware, and one real training step in every installed framework.

    Each framework takes the same step from the same numbers in a process of its own, and the result is compared with
    NumPy's. A framework that is not installed is told apart from one that is installed but broken.

    Takes up to a minute. Exit code 0: at least one framework works and none is broken; 3: your folder cannot be
    written; 4: no framework is installed; 5: one is broken.

    **Examples**

    - `course doctor`
    - `course doctor --json | python -m json.tool`
    """
    from course_lib.doctor import diagnose
    from course_lib.frameworks import TRACKS

    with progress("One training step in each framework", len(TRACKS)) as part:
        found = diagnose(on_progress=part)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)
    raise typer.Exit(found.exit_code)


def _show(found: Diagnosis) -> None:
    say(found.machine.report())
    say(f"  {'Threads':<12}{_threads(found)}")
    say(f"  {'Disk':<12}{found.disk_free_bytes / 2**30:.1f} GiB are free where your work is kept: {found.home}")
    say(f"  {'Notebooks':<12}{', '.join(f'{n} {v}' if v else f'{n} is missing' for n, v in found.lab.items())}")
    say()
    columns = ("framework", "version", "state", "difference from NumPy", "import s", "first step s", "step s", "device")
    rows = table(*columns, right=columns[3:7])
    for each in found.frameworks:
        rows.add_row(*_row(each))
    console().print(rows)
    for each in found.frameworks:
        if each.health == "broken":
            say(f"\n{each.track} is broken. {each.cause}")
    say("\nWhat to do next")
    for number_, step in enumerate(found.next_steps(), 1):
        say(f"  {number_}. {step}")


def _row(each: FrameworkHealth) -> tuple[str, ...]:
    state = each.health if each.health != "missing" else f"missing: {each.cause}"
    return (
        each.track,
        each.version or "",
        state,
        number(each.max_difference, ".1e"),
        number(each.import_seconds, ".1f"),
        number(each.first_step_seconds, ".2f"),
        number(each.step_seconds, ".4f"),
        each.device,
    )


def _threads(found: Diagnosis) -> str:
    started = ", ".join(f"{each.track} {each.threads}" for each in found.frameworks if each.threads)
    return f"{found.machine.cores} run at once; started for the step below: {started}"
