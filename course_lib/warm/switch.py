"""Turns warm kernels on for a process and all that it starts."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from collections.abc import Mapping, MutableMapping
from importlib.metadata import entry_points
from pathlib import Path

from course_lib.warm import folder

PROVISIONER = "course-warm"
GROUP = "jupyter_client.kernel_provisioners"
CHOSEN = "JUPYTER_DEFAULT_PROVISIONER_NAME"
OFF = "COURSE_WARM"
WAIT = "COURSE_WARM_WAIT_SECONDS"
# Whoever runs notebook after notebook gains by waiting for the first import; a learner does not.
BATCH_SECONDS = 300.0


def is_off(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether somebody asked for ordinary kernels: COURSE_WARM=0."""
    return environ.get(OFF, "1") == "0"


def why_not(environ: Mapping[str, str] = os.environ) -> str:
    """Why kernels stay cold here: one sentence, or "" when they can be warm."""
    if is_off(environ):
        return f"{OFF}=0 asks for ordinary kernels."
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return "Warm kernels need Linux: elsewhere a process that has imported frameworks cannot be forked safely."
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return "Warm kernels need Linux 5.3 or newer, and a container that allows pidfd_open."
    if environ.get(CHOSEN, PROVISIONER) != PROVISIONER:
        return f"{CHOSEN} names another way to start kernels."
    if not entry_points(group=GROUP, name=PROVISIONER):
        return "Warm kernels are not registered: install the course again (python -m pip install -e .)."
    return ""


def turn_on(environ: MutableMapping[str, str], *, batch: bool = False) -> str:
    """Have all kernels of this process, and of those that get `environ`, started warm; returns `why_not`.

    `batch` is for a process that runs many notebooks to their end: it waits for the imports. The parents end with this
    process, or, when there was a folder already, with the process that made it.
    """
    reason = why_not(environ)
    if reason:
        return reason
    if folder.inherited(environ) is None:
        try:
            made = folder.make(environ)
        except OSError as error:
            return f"Warm kernels need a folder of their own: {error}."
        environ[folder.FOLDER] = str(made)
        atexit.register(_remove, made, os.getpid())
    environ[CHOSEN] = PROVISIONER
    if batch:
        environ[WAIT] = str(BATCH_SECONDS)
    return ""


def _remove(made: Path, owner: int) -> None:
    # Children forked from this process run its exit handlers, too.
    if os.getpid() == owner:
        shutil.rmtree(made, ignore_errors=True)
