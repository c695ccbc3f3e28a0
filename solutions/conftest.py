"""nbval runs the solution notebooks with a course home of their own, and skips the tracks that are not installed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.frameworks import TRACKS, install_command, missing_distributions
from course_lib.warm import switch
from course_lib.warm.early import start_early
from course_lib.warm.wanted import TRACK, track_of

os.environ["COURSE_HOME"] = tempfile.mkdtemp(prefix="course-home-")
atexit.register(shutil.rmtree, os.environ["COURSE_HOME"], ignore_errors=True)
# The workers of one run share the processes from which kernels are forked; COURSE_WARM=0 runs without them.
switch.turn_on(os.environ, batch=True)
_next: dict[Path, Path] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    notebooks = [item for item in items if item.path.suffix == ".ipynb"]
    for item in notebooks:
        track = item.path.stem.rpartition("_")[2]
        if track in TRACKS and (missing := missing_distributions(track)):
            reason = f"{', '.join(missing)} not installed: {install_command(track)}"
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note for each notebook which one comes next that needs other packages."""
    paths = list(dict.fromkeys(item.path for item in session.items if item.path.suffix == ".ipynb"))
    tracks = [path.stem.rpartition("_")[2] for path in paths]
    for at, path in enumerate(paths):
        later = (other for other, track in zip(paths[at:], tracks[at:], strict=True) if track != tracks[at])
        if (following := next(later, None)) is not None:
            _next[path] = following


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """nbval starts a notebook's kernel at the setup of its first cell, and does not say which notebook it is."""
    if item.path.suffix == ".ipynb":
        # What the next one needs is imported while this one runs.
        if (following := _next.pop(item.path, None)) is not None and not switch.why_not():
            start_early(following, os.environ)
        os.environ[TRACK] = track_of(item.path)
    try:
        return (yield)
    finally:
        os.environ.pop(TRACK, None)
