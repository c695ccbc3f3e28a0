"""nbval runs the solution notebooks with a course home of their own, and skips the tracks that are not installed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest

from course_lib.frameworks import TRACKS, install_command, missing_distributions

os.environ["COURSE_HOME"] = tempfile.mkdtemp(prefix="course-home-")
atexit.register(shutil.rmtree, os.environ["COURSE_HOME"], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    notebooks = [item for item in items if item.path.suffix == ".ipynb"]
    for item in notebooks:
        track = item.path.stem.rpartition("_")[2]
        if track in TRACKS and (missing := missing_distributions(track)):
            reason = f"{', '.join(missing)} not installed: {install_command(track)}"
            item.add_marker(pytest.mark.skip(reason=reason))
