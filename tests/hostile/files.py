"""Files that are no notebook, hardly one, or one of another time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hostile.kind import Hostile, Scene, full_marks, no_marks
from hostile.sheet import Notebook, edited, learners_notebook, notebook_with, right_answers, to_bytes


def no_notebook(name: str, build: Callable[[Scene], bytes], **more: Any) -> Hostile:
    """Nothing can be judged, and somebody is asked to look."""
    given = {"review": True, **more}
    return Hostile(name, build, no_marks(), **given)


def constant(data: bytes) -> Callable[[Scene], bytes]:
    return lambda _: data


def as_folder(path: Path, data: bytes) -> None:
    path.mkdir()
    path.joinpath("inside.txt").write_bytes(data)


def as_link_to_passwd(path: Path, _: bytes) -> None:
    path.symlink_to("/etc/passwd")


def as_link_to_nothing(path: Path, _: bytes) -> None:
    path.symlink_to(path.with_name("there is no such file"))


def as_link_to_itself(path: Path, _: bytes) -> None:
    path.symlink_to(path)


def as_link_to_parent(path: Path, _: bytes) -> None:
    """A way around in circles for whoever follows links."""
    path.symlink_to(path.parent, target_is_directory=True)


def as_pipe(path: Path, _: bytes) -> None:
    """Opening it waits for a writer that never comes."""
    os.mkfifo(path)


def without_rights(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0)


def right_bytes(_: Scene) -> bytes:
    return to_bytes(notebook_with(right_answers()))


def with_bom(scene: Scene) -> bytes:
    return b"\xef\xbb\xbf" + right_bytes(scene)


def in_utf16(scene: Scene) -> bytes:
    return right_bytes(scene).decode().encode("utf-16")


def cut_off(scene: Scene) -> bytes:
    """An upload that broke off."""
    data = right_bytes(scene)
    return data[: len(data) * 2 // 3]


def version_3(_: Scene) -> bytes:
    """nbformat 3 keeps its cells in worksheets, and the text of a code cell as `input`."""
    cells = notebook_with(right_answers())["cells"]
    for cell in cells:
        cell.pop("id")
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
            cell["prompt_number"] = cell.pop("execution_count")
    worksheets = [{"cells": cells, "metadata": {}}]
    metadata = {"name": "", "course": {"lesson": "01_digits", "track": "numpy"}}
    return json.dumps({"metadata": metadata, "nbformat": 3, "nbformat_minor": 0, "worksheets": worksheets}).encode()


def version_4_0(notebook: Notebook) -> None:
    """nbformat 4.0 has no cell ids."""
    notebook["nbformat_minor"] = 0
    for cell in notebook["cells"]:
        del cell["id"]


def version_9(notebook: Notebook) -> None:
    notebook["nbformat"] = 9


def fifty_megabytes(notebook: Notebook) -> None:
    """Outputs of 50 MB, of a cell that printed in a loop."""
    text = "0.123456789 " * 43_000
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [text] * 2}]


def many_cells(notebook: Notebook) -> None:
    spare = {"cell_type": "code", "metadata": {}, "source": "x = 1", "outputs": [], "execution_count": None}
    notebook["cells"] += [spare] * 50_000


def deep_metadata(scene: Scene) -> bytes:
    """Metadata nested 100,000 deep in an otherwise right notebook."""
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    return right_bytes(scene).replace(b'"metadata": {', b'"metadata": {"deep": ' + deep + b", ", 1)


def huge_number(scene: Scene) -> bytes:
    """Python refuses to read a number of more than 4,300 digits."""
    return right_bytes(scene).replace(b'"nbformat": 4', b'"nbformat": 4, "x": ' + b"7" * 5000, 1)


def odd_cells(notebook: Notebook) -> None:
    notebook["cells"] += [
        {"cell_type": "code", "source": {"text": "no list, no text"}},
        {"cell_type": ["code"], "source": [1, None, {}]},
        {"source": "x"},
        {"cell_type": "code", "metadata": None, "outputs": None, "source": None},
    ]


def null_bytes(scene: Scene) -> bytes:
    """The file begins as a notebook and goes on in zeros, as after a crash while saving."""
    return right_bytes(scene)[:4000] + bytes(4096)


KINDS = [
    no_notebook("an empty file", constant(b"")),
    no_notebook("not JSON", constant(b"def split(groups, n_validation_groups, seed): ...")),
    no_notebook("a PDF by the name of a notebook", constant(b"%PDF-1.7\n\xe2\xe3\xcf\xd3\n")),
    no_notebook("JSON that is no notebook", constant(b'[{"cells": []}]')),
    no_notebook("cells that are no cells", constant(b'{"cells": [1, "two", null], "nbformat": 4, "metadata": {}}')),
    no_notebook("a notebook without cells", constant(b'{"cells": [], "metadata": {}, "nbformat": 4}')),
    no_notebook("zeros at the end", null_bytes),
    no_notebook("a file that was cut off", cut_off),
    no_notebook("metadata nested 100,000 deep", deep_metadata),
    no_notebook("a number of 5,000 digits", huge_number),
    no_notebook("a folder by the name of a notebook", constant(b"x"), place=as_folder, review=None),
    no_notebook("a link to /etc/passwd", constant(b""), place=as_link_to_passwd),
    no_notebook("a link to nothing", constant(b""), place=as_link_to_nothing),
    no_notebook("a link to itself", constant(b""), place=as_link_to_itself),
    no_notebook("a link to its own folder", constant(b""), place=as_link_to_parent, review=None),
    no_notebook("a named pipe", constant(b""), place=as_pipe),
    no_notebook("a file without rights", right_bytes, place=without_rights),
    Hostile("a byte order mark", with_bom, full_marks()),
    Hostile("UTF-16", in_utf16, full_marks()),
    Hostile("nbformat 3", version_3, full_marks(), review=None),
    edited("nbformat 4.0", version_4_0),
    edited("nbformat 9", version_9, review=None),
    edited("50 MB of outputs", fifty_megabytes, heavy=True),
    edited("50,000 cells", many_cells, heavy=True),
    edited("cells of odd types", odd_cells),
    Hostile(
        "nothing answered",
        lambda _: to_bytes(learners_notebook()),
        no_marks(),
        # The cell of the bug to be found is a whole function: nothing shows that it was not touched.
        dict.fromkeys(full_marks(), "unanswered") | {"digits/repair": "wrong"},
    ),
]
