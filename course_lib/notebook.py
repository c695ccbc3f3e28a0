"""A learner's notebook as data: read with teaching errors, its answer cells found by their marker.

Whatever the bytes are, reading ends in a document with a list of cells, each a dict with a text as its source, or in
BadNotebook. nbformat 3 (worksheets, `input`) and 4.0 are read too, in the way of nbformat's own nbformat/v4/convert.py.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

from course_lib.answer import exercise_of
from course_lib.errors import BadInput, NotFound

MAX_BYTES = 200_000_000
# Each value costs some 60 bytes of memory: 200 MB of brackets would need 5 GB.
MAX_VALUES = 10_000_000

_SAVE = "Open it in JupyterLab and save it again, or get a fresh copy with: course new FOLDER"
_CLEAR = "Open it in JupyterLab, choose Edit > Clear Outputs of All Cells, and save it."


class BadNotebook(BadInput):
    """A file that should be a notebook of the course is something else."""

    exit_code = 9


class UnreadableNotebook(BadNotebook):
    """A notebook whose bytes could not be had: no right to read it, a damaged archive, more than MAX_BYTES."""


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook as its JSON document, every cell's source joined to one string.

    Raises NotFound when there is no such file, UnreadableNotebook when it could not be read or is over MAX_BYTES, and
    BadNotebook when it is no notebook; the message says what it is.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", action="Check the path; File > Save writes a notebook.") from None
    except IsADirectoryError:
        raise BadNotebook(f"{path} is a folder.", action="Name one notebook in it, a file ending in .ipynb.") from None
    except OSError as error:
        raise UnreadableNotebook(f"{path} could not be read ({error.strerror}).", action="Check its rights.") from error
    if len(data) > MAX_BYTES:
        raise too_large(path)
    return parse_bytes(data, path)


def too_large(path: PurePath | str) -> UnreadableNotebook:
    """The error for a notebook of more than MAX_BYTES."""
    return UnreadableNotebook(f"{path} is larger than {MAX_BYTES // 10**6} MB: it was not read.", action=_CLEAR)


def parse_bytes(data: bytes, path: PurePath) -> dict[str, Any]:
    """As read_notebook, from the bytes of the file; `path` stands in messages only."""
    return parse_notebook(_decode(data, path), path)


def parse_notebook(text: str, path: PurePath) -> dict[str, Any]:
    """As read_notebook, from the text of the file; `path` stands in messages only."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise BadNotebook(f"{path} is no notebook: the file is empty.", action=_SAVE)
    if sum(map(text.count, "{[,")) > MAX_VALUES:
        raise BadNotebook(f"{path} holds more than {MAX_VALUES // 10**6} million values.", action=_CLEAR)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        where = f"see line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "see its nesting and numbers"
        raise BadNotebook(f"{path} is no notebook: it is not JSON ({where}).", action=_SAVE) from None
    cells = _cells(document) if isinstance(document, dict) else None
    if cells is None:
        kind = "an object without a list of cells" if isinstance(document, dict) else type(document).__name__
        raise BadNotebook(
            f"{path} is no notebook: a notebook is JSON with a list of cells; this is {kind}.", action=_SAVE
        )
    for cell in cells:
        cell["source"] = _source(cell)
        if cell.get("cell_type") in ("heading", "html"):
            cell["cell_type"] = "markdown"
    found: dict[str, Any] = document
    found["cells"] = cells
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


def _decode(data: bytes, path: PurePath) -> str:
    """The text of a file that an editor may have saved in UTF-16 or UTF-32, or with a byte order mark."""
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadNotebook(f"{path} is no notebook: it is not text in UTF-8 ({error.reason}).", action=_SAVE) from None
    # Two zero bytes, or two that look like a mark, make UTF-16 of any file.
    if not encoding.startswith("utf-8") and not text.lstrip("\ufeff \t\r\n").startswith("{"):
        raise BadNotebook(f"{path} is no notebook: it is not text in UTF-8.", action=_SAVE)
    return text


def _cells(document: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The list of cells of nbformat 4, or of all worksheets of nbformat 3; None when there is none."""
    cells, worksheets = document.get("cells"), document.get("worksheets")
    if cells is None and isinstance(worksheets, list) and worksheets:
        sheets = [sheet.get("cells") if isinstance(sheet, dict) else None for sheet in worksheets]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return None
    return cells


def _source(cell: dict[str, Any]) -> str:
    """A cell's text: a string, a list of strings, or (nbformat 3) either under `input`; "" for other shapes."""
    source = cell.get("source", cell.get("input"))
    parts = source if isinstance(source, list) else [source]
    text = "".join(str(part) for part in parts if isinstance(part, (str, int, float)))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair is legal in JSON, and neither Python's parser nor a file takes it.
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
