"""What every test gets: a course home of its own, so that no test touches the learner's."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

# Set before anything is collected: notebooks and subprocesses inherit it.
os.environ["COURSE_HOME"] = tempfile.mkdtemp(prefix="course-home-")

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
