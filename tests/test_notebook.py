"""Whatever the bytes of a notebook are, reading ends in cells or in a teaching error."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

import pytest

from course_lib import notebook as module
from course_lib.notebook import (
    BadNotebook,
    UnreadableNotebook,
    answer_cells,
    code_cells,
    parse_bytes,
    parse_notebook,
    read_notebook,
)

PATH = PurePath("n.ipynb")
TEXT = json.dumps({"cells": [{"cell_type": "code", "source": "x = 'é'"}], "metadata": {}, "nbformat": 4})


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_text_in_any_unicode_encoding_is_read(encoding: str) -> None:
    text = TEXT.replace("\\u00e9", "é")
    assert code_cells(parse_bytes(text.encode(encoding), PATH))[0]["source"] == "x = 'é'"


def test_a_byte_order_mark_in_a_text_is_passed_over() -> None:
    assert parse_notebook("\ufeff" + TEXT, PATH)["cells"]


def test_worksheets_of_nbformat_3_become_cells() -> None:
    sheets = [
        {"cells": [{"cell_type": "heading", "level": 1, "source": "Title"}]},
        {
            "cells": [
                {"cell_type": "code", "language": "python", "input": ["# exercise: a/b\n", "x = 1"], "outputs": []}
            ]
        },
        "nonsense",
    ]
    document = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": sheets}
    found = parse_notebook(json.dumps(document), PATH)
    assert [cell["cell_type"] for cell in found["cells"]] == ["markdown", "code"]
    assert answer_cells(found)["a/b"][0]["source"] == "# exercise: a/b\nx = 1"


def test_nbformat_4_0_has_cells_without_ids() -> None:
    cells = [{"cell_type": "code", "metadata": {"collapsed": True}, "source": ["a\n", "b"], "execution_count": None}]
    found = parse_notebook(json.dumps({"nbformat": 4, "nbformat_minor": 0, "cells": cells}), PATH)
    assert found["cells"][0]["source"] == "a\nb"


@pytest.mark.parametrize(
    ("source", "text"),
    [(None, ""), (3, "3"), (["a", None, 1, ["b"], {}], "a1"), ({"a": 1}, ""), ([[[]]], ""), ("\ud800x", "?x")],
)
def test_a_source_of_another_shape_becomes_a_text(source: Any, text: str) -> None:
    document = {"cells": [{"cell_type": "code", "source": source, "metadata": []}], "metadata": []}
    found = parse_notebook(json.dumps(document), PATH)["cells"][0]["source"]
    assert found == text
    found.encode("utf-8")


def test_a_cell_without_source_or_type_is_tolerated() -> None:
    found = parse_notebook('{"cells": [{}, {"cell_type": []}, {"cell_type": null, "source": "x"}]}', PATH)
    assert [cell["source"] for cell in found["cells"]] == ["", "", "x"]
    assert code_cells(found) == []


@pytest.mark.parametrize("text", ['{"cells": [{"source": NaN}], "cells": [], "metadata": Infinity}', '{"cells": []}'])
def test_not_a_number_and_repeated_keys_are_tolerated(text: str) -> None:
    assert parse_notebook(text, PATH)["cells"] == []


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"cells": [], "x": ' + b"9" * 100_000 + b"}",
        b'{"cells": {}}',
        b'{"cells": null, "worksheets": {}}',
        b'{"worksheets": [{"cells": [3]}]}',
        b'{"cells": [[]]}',
        b"null",
        b"\xff\xfe",
        b"\x00\x00",
        b"\x00" * 1000,
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        b"PK\x03\x04" + bytes(range(256)),
        '{"cells": []}'.encode("utf-16")[:-1],
        b'{"cells": ["\x00"]}',
    ],
)
def test_hostile_bytes_end_in_a_teaching_error(data: bytes) -> None:
    with pytest.raises(BadNotebook, match=r"n\.ipynb is no notebook") as caught:
        parse_bytes(data, PATH)
    assert caught.value.action


def test_a_file_of_brackets_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_VALUES", 100)
    with pytest.raises(BadNotebook, match="million values"):
        parse_notebook('{"cells": [], "x": [' + "[],[]," * 50 + "[]]}", PATH)


def test_a_large_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    path = tmp_path / "n.ipynb"
    path.write_text(TEXT)
    with pytest.raises(UnreadableNotebook, match="larger than") as caught:
        read_notebook(path)
    assert "Clear Outputs" in caught.value.action
