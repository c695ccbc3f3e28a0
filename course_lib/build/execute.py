"""Runs a solution notebook from top to bottom in a fresh kernel and keeps what it showed."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from course_lib.build.notebook import Notebook, to_text
from course_lib.errors import CourseError
from course_lib.warm.wanted import TRACK, track_in

CELL_SECONDS = 180
# What only this machine's front end can use: a widget's model is gone with its kernel.
LIVE_ONLY = "application/vnd.jupyter.widget-view+json"


def execute(notebook: Notebook, name: str) -> Notebook:
    """The notebook with its outputs. Runs in a temporary folder with an empty learner's home.

    Raises CourseError, naming the cell and its error, when a cell fails that is not tagged `raises-exception`.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    node = nbformat.reads(to_text(notebook), as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            node, timeout=CELL_SECONDS, kernel_name="python3", store_widget_state=False, record_timing=False,
            # The kernel listens on this machine only; its warning about encryption is for others.
            extra_arguments=["--IPKernelApp.log_level=40"],
            resources={"metadata": {"path": folder}},
        )  # fmt: skip
        own = {"COURSE_HOME": os.path.join(folder, "home"), "PYTHONHASHSEED": "0", TRACK: track_in(notebook)}
        try:
            client.execute(env={**os.environ, **own})
        except CellExecutionError as error:
            raise CourseError(f"{name}: a cell failed.\n{error}", action="Mend the lesson's source.") from error
    executed: Notebook = node
    for cell in executed["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
        if cell["cell_type"] == "code":
            cell["outputs"] = [_clean(output) for output in cell["outputs"]]
    executed["metadata"] = notebook["metadata"]
    return executed


def _clean(output: Any) -> Any:
    if output["output_type"] in ("display_data", "execute_result"):
        output["data"].pop(LIVE_ONLY, None)
        for kind, value in output["data"].items():
            if isinstance(value, str) and "\n" in value:
                output["data"][kind] = value.splitlines(keepends=True)
    if output["output_type"] == "stream":
        output["text"] = output["text"].splitlines(keepends=True)
    return output
