"""Makes notebooks out of a source's cells: the learner's with holes, the solution's with answers; always the same."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from course_lib.build.source import Cell, read_cells, solution, with_hole
from course_lib.colab import TRACK_NAMES, colab_badge, setup_cell
from course_lib.lessons import COMPARE, Lesson

Form = Literal["learner", "solution"]
Notebook = dict[str, Any]

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
SETUP_ID = "set-up"


def make_notebook(lesson: Lesson, track: str, form: Form) -> Notebook:
    """One notebook as nbformat 4.5 JSON, without outputs. Raises BadSource for a source that must not be built."""
    cells = [_cell(cell, form, f"{lesson.name}, track {track}") for cell in read_cells(lesson, track)]
    _add_badge(cells[0], lesson, track)
    cells.insert(1, _setup(lesson, track))
    notebook: Notebook = {
        "cells": cells,
        "metadata": {
            **({"accelerator": lesson.runtime.upper()} if lesson.runtime != "cpu" else {}),
            "course": {"lesson": lesson.name, "track": track},
            "kernelspec": KERNELSPEC,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    if form == "solution":
        notebook["metadata"]["course"]["source"] = source_hash(cells)
    return notebook


def source_hash(cells: list[dict[str, Any]]) -> str:
    """A hash over everything in the cells that an author writes: not outputs, not counters."""
    written = [[c["cell_type"], c["id"], c["metadata"], c["source"]] for c in cells]
    return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()[:16]


def to_text(notebook: Notebook) -> str:
    """The notebook as it stands in its file: keys sorted, one space of indent, as Jupyter itself writes."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def without_outputs(notebook: Notebook) -> Notebook:
    """The notebook as it was before it ran."""
    bare = json.loads(json.dumps(notebook))
    for cell in bare["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return dict(bare)


def _cell(cell: Cell, form: Form, where: str) -> dict[str, Any]:
    metadata = {**cell.metadata, **({"tags": list(cell.tags)} if cell.tags else {})}
    if cell.kind == "markdown":
        return {"cell_type": "markdown", "id": cell.id, "metadata": metadata, "source": _lines(cell.source)}
    text = with_hole(cell.source, where) if form == "learner" else solution(cell.source)
    return _code(cell.id, metadata, text)


def _code(cell_id: str, metadata: dict[str, Any], text: str) -> dict[str, Any]:
    lines = _lines(text)
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": metadata,
        "outputs": [],
        "source": lines,
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _add_badge(first: dict[str, Any], lesson: Lesson, track: str) -> None:
    name = "**Comparison**" if track == COMPARE else f"**{TRACK_NAMES[track]}** · about {lesson.minutes} minutes"
    head, *rest = "".join(first["source"]).split("\n")
    line = f"{name} · {colab_badge(lesson, track)}"
    first["source"] = _lines("\n".join([head, "", line, *rest]))


def _setup(lesson: Lesson, track: str) -> dict[str, Any]:
    # Colab hides a form's code, JupyterLab a hidden source: nobody needs to read this cell to run it.
    metadata = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["nbval-ignore-output"]}
    return _code(SETUP_ID, metadata, setup_cell(lesson.name, track, lesson.extras.get(track, "")))
