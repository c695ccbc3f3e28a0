"""Starts a parent before the first kernel is asked for, while a server or a browser still starts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import MutableMapping
from pathlib import Path

from course_lib.warm import asking, folder
from course_lib.warm.keys import Command, key
from course_lib.warm.wanted import NOTEBOOK, wanted


def start_early(notebook: Path | None, environ: MutableMapping[str, str]) -> None:
    """Start importing what the kernels of this notebook, or with this environment, will need.

    `environ` must have warm kernels turned on. Nothing happens when there is no kernel to start here at all.
    """
    with contextlib.suppress(ImportError, OSError, asking.Cold):
        from ipykernel.kernelspec import make_ipkernel_cmd

        values = {**environ, **({NOTEBOOK: str(notebook)} if notebook is not None else {})}
        needed = wanted(values)
        values.update(needed.settings)
        command = Command.of([sys.executable, *make_ipkernel_cmd()[1:]])
        if command is not None:
            name = key(command, needed.packages, values)
            place = Path(environ[folder.FOLDER])
            if asking.state_of(place, name) == "none":
                asking.start(place, name, command, values, needed.packages)
