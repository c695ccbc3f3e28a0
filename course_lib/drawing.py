"""Small pictures drawn by hand: as text, as an array, in words, and as a pad that keeps one and has it read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import BadInput

Picture = NDArray[np.float32]
INK, BLANK = "#", "."
BLANKS = " .·-_0"


def parse(text: str, size: int = 8) -> Picture:
    """A drawing as (size, size) float32: 1 for ink, 0 for paper.

    Each line is a row; spaces and the characters . · - _ 0 are paper, any other is ink. Short lines and missing rows
    are filled up with paper, empty lines before and after the drawing are dropped when there are too many. Raises
    BadInput for more than `size` rows or columns.
    """
    rows = [line.rstrip() for line in text.splitlines()]
    while len(rows) > size and not rows[0]:
        rows.pop(0)
    while len(rows) > size and not rows[-1]:
        rows.pop()
    widest = max((len(row) for row in rows), default=0)
    if len(rows) > size or widest > size:
        raise BadInput(
            f"A drawing should have at most {size} rows of {size} characters; "
            f"received {len(rows)} rows, the longest with {widest} characters.",
            action=f"Use {INK} for ink and {BLANK} for paper, and take away what is too much.",
        )
    picture = np.zeros((size, size), np.float32)
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            picture[y, x] = character not in BLANKS
    return picture


def to_text(picture: Picture) -> str:
    """The drawing as lines of # and ., the reverse of `parse`."""
    return "\n".join("".join(INK if cell else BLANK for cell in row) for row in picture)


def describe(picture: Picture) -> str:
    """The drawing in words: how many cells are inked, and within which rows and columns (counted from 1)."""
    rows, columns = np.nonzero(picture)
    if not len(rows):
        return "The pad is empty."
    height, width = picture.shape
    return (
        f"{len(rows)} of {height * width} cells are inked, "
        f"in rows {rows.min() + 1} to {rows.max() + 1} and columns {columns.min() + 1} to {columns.max() + 1}."
    )


class Pad:
    """A drawing and the function that reads it; it works without any widget.

    `on_read` gets the picture, (size, size) float32 of 0 and 1, and returns what is to be shown. What it raises, `read`
    raises. `course_lib.widgets` puts buttons on top by overriding `changed`.
    """

    def __init__(self, on_read: Callable[[Picture], Any], *, start: str = "", size: int = 8) -> None:
        self._on_read = on_read
        self._picture = parse(start, size)
        self.reading = ""

    @property
    def picture(self) -> Picture:
        """A copy of the drawing, (size, size) float32 of 0 and 1."""
        return self._picture.copy()

    @property
    def size(self) -> int:
        return len(self._picture)

    @property
    def text(self) -> str:
        return to_text(self._picture)

    def draw(self, text: str) -> None:
        """Replace the drawing by one in text. Raises BadInput, the old drawing staying, when it does not fit."""
        self._picture = parse(text, self.size)
        self.reading = ""
        self.changed()

    def toggle(self, row: int, column: int) -> None:
        """Ink the cell, or take its ink away; row and column count from 0."""
        self._picture[row, column] = 1 - self._picture[row, column]
        self.reading = ""
        self.changed()

    def clear(self) -> None:
        self._picture = np.zeros_like(self._picture)
        self.reading = ""
        self.changed()

    def read(self) -> str:
        """Have the drawing read; returns what `on_read` said and keeps it in `reading` until the drawing changes."""
        self.reading = str(self._on_read(self.picture))
        self.changed()
        return self.reading

    def changed(self) -> None:
        """Called after every change; a view overrides it."""

    def __repr__(self) -> str:
        lines = [self.text, describe(self._picture)]
        return "\n".join(lines + ([self.reading] if self.reading else []))
