"""`course warm`: any command whose notebooks shall start without waiting for imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.console import note
from course_lib.errors import NotFound


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(warm)


def warm(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND", help="What to run, with its arguments.")],
    preload: Annotated[
        str,
        typer.Option(help="Packages or tracks to import ahead, separated by commas.", show_default="by notebook"),
    ] = "",
) -> None:
    """Run a command whose Jupyter kernels are warm: forked from a process that has imported their packages already.

    Works for JupyterLab, Notebook, nbclient, nbconvert, nbval and papermill of this environment, with your own
    notebooks. Without --preload it looks at each notebook: one of the course's says what it needs, any other gets the
    framework that it imports. What it cannot do is in docs/warm_kernels.md.

    **Examples**

    - `course warm -- jupyter lab`
    - `course warm --preload torch,pandas -- jupyter lab`
    - `course warm --preload jax -- jupyter nbconvert --execute mine.ipynb --to html`
    """
    from course_lib.warm import switch
    from course_lib.warm.early import start_early
    from course_lib.warm.wanted import PRELOAD

    program = shutil.which(command[0])
    if program is None:
        raise NotFound(f"There is no command {command[0]!r} here.", action="Is its environment active?")
    if reason := switch.turn_on(os.environ):
        note(f"Kernels start as ordinary ones. {reason}")
    else:
        if Path(program).parent != Path(sys.executable).parent:
            note(f"{program} is not of this environment: if it knows no provisioner course-warm, install the course.")
        if preload:
            os.environ[PRELOAD] = preload
            start_early(None, os.environ)
    _become(program, command)


def _become(program: str, command: list[str]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform == "win32":
        raise typer.Exit(subprocess.call([program, *command[1:]]))
    os.execv(program, command)
