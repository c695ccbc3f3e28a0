"""A notebook run from top to bottom in a fresh kernel of this Python; an error, a hang or a crash ends as a value."""

from __future__ import annotations

import contextlib
import json
import logging
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.errors import CheckCrashed, FrameworkMissing
from course_lib.frameworks import install_command
from course_lib.warm.wanted import TRACK, track_in

# One endless cell is somebody's mistake; after the second there is no point in waiting for the rest.
MOST_TIMEOUTS = 2
# Between choosing its ports and taking them, another kernel may take one.
STARTS = 3


@dataclass(frozen=True)
class KernelRun:
    """How the run went: per code cell that failed, its number (0 for the first code cell) and its error in one line.

    `died_in` is the code cell in which the kernel ended, None when it lived; `stopped` says that too many cells took
    too long. In both cases the cells after that did not run.
    """

    errors: dict[int, str]
    died_in: int | None = None
    stopped: bool = False


class NotStarted(CheckCrashed):
    """The kernel ended before it answered for the first time."""


def run_notebook(
    notebook: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    timeout_seconds: int,
    on_cell: Callable[[int], None] = lambda _: None,
) -> KernelRun:
    """Run every code cell; a failing one does not stop the rest. The working folder is a temporary one.

    `notebook` is the JSON document of a notebook. Raises FrameworkMissing when nbclient or ipykernel is not installed,
    NotStarted when no kernel could be started.
    """
    try:
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
        import nbformat
    except ImportError as error:
        raise FrameworkMissing(
            f"Running a notebook needs {error.name}, which is not installed.",
            action=f"Install it: {install_command('lab')}",
        ) from error

    node = nbformat.reads(json.dumps(notebook), as_version=4)  # type: ignore[no-untyped-call]
    for _ in range(STARTS - 1):
        with contextlib.suppress(NotStarted):
            return _start_and_run(node, environ, timeout_seconds, on_cell)
    return _start_and_run(node, environ, timeout_seconds, on_cell)


def _start_and_run(
    node: Any, environ: Mapping[str, str], timeout_seconds: int, on_cell: Callable[[int], None]
) -> KernelRun:
    started = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, tempfile.TemporaryFile() as said:
        client = _client(node, folder, timeout_seconds)
        # Startup files of the learner's own IPython are no part of the notebook.
        own = {"IPYTHONDIR": folder, TRACK: track_in(node)}
        options = {"env": {**environ, **own}, "stdout": said, "stderr": said}
        try:
            with client.setup_kernel(cleanup_kc=True, **options):
                started = True
                return _run_cells(client, node, timeout_seconds, on_cell)
        except RuntimeError as error:
            if started:
                raise
            said.seek(0)
            last = said.read().decode("utf-8", errors="replace").strip().splitlines()[-8:]
            raise NotStarted(
                "No kernel could be started: " + " ".join(last or [str(error)]), action="See: course doctor"
            ) from error


def _client(node: Any, folder: str, timeout_seconds: int) -> Any:
    from nbclient import NotebookClient

    client = NotebookClient(
        node,
        km=_own_python(),
        timeout=timeout_seconds,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "Timeout", "evalue": "", "traceback": []},
        allow_errors=True,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": folder}},
    )
    client.log.setLevel(logging.CRITICAL)
    return client


def _run_cells(client: Any, node: Any, timeout_seconds: int, on_cell: Callable[[int], None]) -> KernelRun:
    from nbclient.exceptions import DeadKernelError

    errors: dict[int, str] = {}
    late = 0
    code = [(index, cell) for index, cell in enumerate(node.cells) if cell.cell_type == "code"]
    for number, (index, cell) in enumerate(code):
        on_cell(number)
        start = time.monotonic()
        try:
            client.execute_cell(cell, index)
        except DeadKernelError:
            return KernelRun(errors, died_in=number)
        if time.monotonic() - start >= timeout_seconds:
            errors[number] = f"it took longer than {timeout_seconds} seconds"
            late += 1
        elif failed := next((output for output in cell.outputs if output.output_type == "error"), None):
            errors[number] = f"{failed.ename}: {failed.evalue}".strip().splitlines()[0]
        if late >= MOST_TIMEOUTS:
            return KernelRun(errors, stopped=True)
    return KernelRun(errors)


def _own_python() -> Any:
    """A kernel manager for this very Python: the spec named python3 may belong to another one."""
    from ipykernel.kernelspec import get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class OwnPython(AsyncKernelManager):
        @property
        def kernel_spec(self) -> KernelSpec:
            return KernelSpec(**get_kernel_dict())

    return OwnPython()
