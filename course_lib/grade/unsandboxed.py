"""What `--unsafe` gives instead of a sandbox: a folder of its own for each child, and nothing that stops it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from course_lib.grade.sandbox import Layer


class Unsandboxed:
    """Has the methods of Sandbox. For submissions that are trusted, and for the course's own solutions."""

    layers: tuple[Layer, ...] = ()

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="course-unsafe-"))

    def enter(self, keep_fds: Sequence[int]) -> Path:
        """In the child: a fresh working folder, which is its home, too."""
        os.chdir(self._folder)
        os.environ.update({"HOME": str(self._folder), "TMPDIR": str(self._folder)})
        tempfile.tempdir = None
        return self._folder

    def folder_bytes(self) -> int:
        """Nothing is counted."""
        return 0

    def n_killed_for_memory(self) -> int:
        """None: nothing is bounded."""
        return 0

    def end(self, root_pid: int) -> None:
        """After a child: an empty folder for the next one."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(exist_ok=True)

    def close(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self._folder, ignore_errors=True)
