"""Tables as CSV that a spreadsheet may open: no cell of a student's is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from course_lib.grade.text import one_line

MAX_CELL = 1000
# What makes a spreadsheet compute: also in the wide forms that an East Asian one takes for the same.
# Source: OWASP, "CSV Injection"; ASVS 5.0, 1.2.10.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def words(text: str) -> str:
    """Foreign text as a cell: clean, on one line, bounded, and with a ' before what would be a formula."""
    line = one_line(text, MAX_CELL)
    return f"'{line}" if line.startswith(FORMULA) else line


def exact(value: float) -> str:
    """A number as a cell: plain digits and a point, at most six decimals."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """The rows as CSV (RFC 4180): comma, double quotes where they are needed, each line ended by CR LF."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()
