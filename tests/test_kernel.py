"""A notebook runs in a kernel of its own, and an error, a hang or a crash in it ends as a value."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from course_lib import kernel
from course_lib.kernel import NotStarted, run_notebook


def notebook(*sources: str) -> dict[str, Any]:
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": s, "outputs": [], "execution_count": None}
        for n, s in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_errors_hangs_and_what_comes_after_them(tmp_path: Path) -> None:
    written = tmp_path / "written"
    seen: list[int] = []
    ran = run_notebook(
        notebook(
            "1 / 0",
            "import time\ntime.sleep(600)",
            "import os, pathlib\nn = pathlib.Path(os.environ['WRITTEN']).write_text(os.getcwd())",
        ),
        {**os.environ, "WRITTEN": str(written)},
        timeout_seconds=2,
        on_cell=seen.append,
    )
    assert ran.errors == {0: "ZeroDivisionError: division by zero", 1: "it took longer than 2 seconds"}
    assert (ran.died_in, ran.stopped, seen) == (None, False, [0, 1, 2])
    assert Path(written.read_text()) != Path.cwd()


def test_after_two_hangs_the_rest_does_not_run() -> None:
    ran = run_notebook(notebook("while True: pass", "while True: pass", "1 / 0"), os.environ, timeout_seconds=1)
    assert ran.stopped
    assert set(ran.errors) == {0, 1}


def test_a_crash_is_placed(tmp_path: Path) -> None:
    ran = run_notebook(notebook("1", "import os\nos._exit(3)", "1 / 0"), os.environ, timeout_seconds=60)
    assert (ran.errors, ran.died_in) == ({}, 1)
    assert tmp_path.is_dir()


def test_a_kernel_that_does_not_start_is_a_teaching_error() -> None:
    with pytest.raises(NotStarted, match="No kernel could be started") as caught:
        run_notebook(notebook("1"), {**os.environ, "PYTHONHOME": "/nowhere"}, timeout_seconds=60)
    assert "encodings" in caught.value.message


def test_a_kernel_that_lost_a_port_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real, starts = kernel._start_and_run, list[int]()

    def lose_the_first(*arguments: Any) -> kernel.KernelRun:
        starts.append(1)
        if len(starts) == 1:
            raise NotStarted("Address already in use")
        return real(*arguments)

    monkeypatch.setattr(kernel, "_start_and_run", lose_the_first)
    assert run_notebook(notebook("1 / 0"), os.environ, timeout_seconds=60).errors
    assert len(starts) == 2
