"""What every test gets: a course home of its own, so that no test touches the learner's."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from course_lib.warm import switch

# Set before anything is collected: notebooks and subprocesses inherit it.
os.environ["COURSE_HOME"] = tempfile.mkdtemp(prefix="course-home-")
atexit.register(shutil.rmtree, os.environ["COURSE_HOME"], ignore_errors=True)
# Notebooks run in kernels that are forked from processes of this run; COURSE_WARM=0 runs without them.
switch.turn_on(os.environ, batch=True)

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def repository() -> Path:
    """The root of the clone."""
    return REPOSITORY


@pytest.fixture(autouse=True)
def course_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh COURSE_HOME for this test alone (the folder does not exist yet)."""
    home = tmp_path / "course-home"
    monkeypatch.setenv("COURSE_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the clone as it is now, built without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*.whl"))
