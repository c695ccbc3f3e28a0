"""A learner's notebook as data: read with teaching errors, its answer cells found by their marker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from course_lib.answer import exercise_of
from course_lib.errors import BadInput, NotFound


class BadNotebook(BadInput):
    """A file that should be a notebook of the course is something else."""

    exit_code = 9


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook as its JSON document, every cell's source joined to one string.

    Raises NotFound when there is no such file and BadNotebook when it is no notebook; the message says what it is.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", action="Check the path; File > Save writes a notebook.") from None
    except IsADirectoryError:
        raise BadNotebook(f"{path} is a folder.", action="Name one notebook in it, a file ending in .ipynb.") from None
    except UnicodeDecodeError as error:
        raise BadNotebook(f"{path} is no notebook: it is not text in UTF-8 ({error.reason}).", action=_SAVE) from None
    except OSError as error:
        raise BadNotebook(f"{path} could not be read ({error.strerror}).", action="Check its rights.") from error
    return parse_notebook(text, path)


_SAVE = "Open it in JupyterLab and save it again, or get a fresh copy with: course new FOLDER"


def parse_notebook(text: str, path: Path) -> dict[str, Any]:
    """As read_notebook, from the text of the file."""
    if not text.strip():
        raise BadNotebook(f"{path} is no notebook: the file is empty.", action=_SAVE)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "its nesting"
        raise BadNotebook(f"{path} is no notebook: it is not JSON (see {where}).", action=_SAVE) from None
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        kind = "an object without a list of cells" if isinstance(document, dict) else type(document).__name__
        raise BadNotebook(
            f"{path} is no notebook: a notebook is JSON with a list of cells; this is {kind}.", action=_SAVE
        )
    for cell in cells:
        source = cell.get("source", "")
        cell["source"] = "".join(map(str, source)) if isinstance(source, list) else str(source)
    found: dict[str, Any] = document
    return found


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The code cells, in their order."""
    return [cell for cell in notebook["cells"] if cell.get("cell_type") == "code"]


def answer_cells(notebook: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The answer cells of each exercise, in the notebook's order (a copied cell gives an exercise two)."""
    found: dict[str, list[dict[str, Any]]] = {}
    for cell in code_cells(notebook):
        exercise = exercise_of(cell["source"])
        if exercise is not None:
            found.setdefault(exercise, []).append(cell)
    return found
