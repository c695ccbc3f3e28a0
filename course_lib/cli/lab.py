"""`course lab` and `course new`: the learner's working copy, and JupyterLab in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.console import note, print_json, say
from course_lib.errors import FrameworkMissing, NotFound

FIRST_LESSON = "00_start"


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(lab)
    app.command()(new)


def lab(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LESSON JUPYTER_OPTIONS",
            help="A lesson like 01_digits or digits; then anything that JupyterLab understands.",
            show_default=False,
        ),
    ] = None,
    track: Annotated[
        str | None, typer.Option("--track", "-t", help="Open the lesson's notebook of this track.", show_default=False)
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
    port: Annotated[int | None, typer.Option(help="The port to serve on.", show_default="8888 or the next")] = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="Start ordinary kernels: nothing is imported ahead of the notebook.")
    ] = False,
) -> None:
    """Open JupyterLab on a lesson, in your own working copy of the notebooks.

    The copy lies in ~/every-framework/notebooks and is brought up to date first: notebooks that you have not edited are
    refreshed, an edited one is never overwritten (a newer release of it lands beside it).

    Without a lesson it opens the first, 00_start. Without --track it opens the lesson's first track whose framework is
    installed.

    On Linux a framework is imported while you read, once, and kernels then start within a second, restarts too.

    **Examples**

    - `course lab`
    - `course lab 01_digits --track jax`
    - `course lab digits --no-browser --port 9000 --ip 0.0.0.0`
    - `course lab 01_digits --cold`
    """
    name, *options = words if words and not words[0].startswith("-") else [FIRST_LESSON, *(words or [])]
    _need_jupyterlab()
    notebook = notebook_of(name, track)
    folder = _copy_to_home()
    command = jupyter_command(folder, notebook, browser=browser, port=port, options=options)
    _warm_up(folder / notebook, cold=cold)
    note(f"Opening {notebook}. Stop JupyterLab with Ctrl+C.")
    _become(command)


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to copy into; made when it is not there.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Copy all notebooks into a folder of your choice, or bring such a copy up to date.

    Nothing of yours is overwritten: a notebook that you have edited stays as it is, and a newer release of it lands
    beside it, as digits_torch.new.ipynb.

    [bold]Examples[/bold]

      course new ~/my-course

      course new . --json
    """
    from course_lib.workspace import copy_notebooks

    report = copy_notebooks(folder)
    if as_json:
        print_json(report.to_dict())
        return
    for line in report.lines():
        say(line)
    say(f'Open them with: jupyter lab "{report.folder}"')


def notebook_of(name: str, track: str | None) -> str:
    """The notebook to open, relative to the working copy.

    Raises NotFound for a lesson or track that does not exist, FrameworkMissing when a track was asked for by name and
    its framework is not installed.
    """
    from course_lib.frameworks import TABLE, missing_distributions, require
    from course_lib.lessons import lesson

    found = lesson(name)
    if track is not None:
        found.require_track(track)
        if track in TABLE:
            require(track, try_import=False)
        return found.notebook(track)
    installed = [each for each in found.tracks if not missing_distributions(each)]
    return found.notebook((installed or list(found.tracks))[0])


def jupyter_command(folder: Path, notebook: str, *, browser: bool, port: int | None, options: list[str]) -> list[str]:
    """The command that serves `folder` and opens `notebook`; `options` go to JupyterLab as they are."""
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}"]
    # A default address, not a file argument: the link that is printed then leads to the notebook too.
    command.append(f"--LabApp.default_url=/lab/tree/{notebook}")
    if not browser:
        command.append("--no-browser")
    if port is not None:
        command.append(f"--port={port}")
    if _is_root() and "--allow-root" not in options:
        note("You are root, as in a container: JupyterLab is started with --allow-root.")
        command.append("--allow-root")
    return command + options


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def quiet_environment() -> dict[str, str]:
    """Our environment, with JupyterLab's question about its news switched off: it needs the network."""
    from course_lib.home import home, write_json

    folder = home() / ".jupyter"
    write_json(
        folder / "labconfig/page_config.json",
        {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}},
    )
    others = os.environ.get("JUPYTER_CONFIG_PATH", "")
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(part for part in (str(folder), others) if part)}


def _warm_up(notebook: Path, *, cold: bool) -> None:
    """Begin to import what the notebook needs, and have JupyterLab's kernels come from there."""
    from course_lib.warm import switch
    from course_lib.warm.early import start_early

    if cold:
        os.environ[switch.OFF] = "0"
    elif reason := switch.turn_on(os.environ):
        if not switch.is_off():
            note(f"Kernels start as ordinary ones. {reason}")
    else:
        start_early(notebook, os.environ)


def _copy_to_home() -> Path:
    from course_lib.home import home
    from course_lib.workspace import copy_notebooks

    report = copy_notebooks(home() / "notebooks")
    for line in report.lines():
        note(line)
    return report.folder


def _need_jupyterlab() -> None:
    import importlib.util

    from course_lib.frameworks import install_command

    if importlib.util.find_spec("jupyterlab") is None:
        raise FrameworkMissing(
            "JupyterLab is not installed, and `course lab` opens the notebooks in it. It comes with the extra `lab`, "
            "and with that of every framework.",
            action=f"Install it: {install_command('lab')}",
        )


def _become(command: list[str]) -> None:
    """Hand this process over to JupyterLab; where the system cannot do that, wait for it."""
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform == "win32":
        raise typer.Exit(subprocess.call(command, env=quiet_environment()))
    try:
        os.execve(command[0], command, quiet_environment())
    except OSError as error:
        raise NotFound(
            f"{command[0]} could not be started ({error.strerror}).", action="Is Python installed?"
        ) from error
