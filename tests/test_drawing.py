"""A drawing is the same as text, as an array and in words; a pad needs no widget to have it read."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.drawing import Pad, Picture, describe, parse, to_text
from course_lib.errors import BadInput

SEVEN = """
........
..####..
.....#..
....#...
....#...
...#....
...#....
........
"""


def test_text_becomes_a_picture_and_text_again() -> None:
    picture = parse(SEVEN)
    assert picture.shape == (8, 8)
    assert picture.dtype == np.float32
    assert set(np.unique(picture)) == {0.0, 1.0}
    assert (picture[1, 2], picture[1, 6]) == (1.0, 0.0)
    assert to_text(picture) == SEVEN.strip()


def test_short_lines_and_missing_rows_are_paper() -> None:
    assert parse("..X").sum() == 1
    assert parse("..X")[0, 2] == 1
    assert parse("").sum() == 0


@pytest.mark.parametrize("text", ["#" * 9, "\n".join("#" * 9)])
def test_a_drawing_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="9"):
        parse(text)


def test_a_picture_in_words() -> None:
    assert describe(parse(SEVEN)) == "9 of 64 cells are inked, in rows 2 to 7 and columns 3 to 6."
    assert describe(parse("")) == "The pad is empty."


def test_the_pad_reads_what_was_drawn() -> None:
    seen: list[Picture] = []

    def read(picture: Picture) -> str:
        seen.append(picture)
        return f"{picture.sum():.0f} cells"

    pad = Pad(read, start=SEVEN)
    pad.toggle(0, 0)
    assert pad.read() == "10 cells"
    assert seen[0][0, 0] == 1
    assert "10 cells" in repr(pad)


def test_a_changed_drawing_forgets_its_reading() -> None:
    pad = Pad(lambda _: "a seven", start=SEVEN)
    for change in (lambda: pad.toggle(0, 0), pad.clear, lambda: pad.draw(SEVEN)):
        pad.read()
        change()
        assert pad.reading == ""
        assert "a seven" not in repr(pad)


def test_a_drawing_that_does_not_fit_leaves_the_old_one() -> None:
    pad = Pad(str, start=SEVEN)
    with pytest.raises(BadInput):
        pad.draw("#########")
    assert pad.text == SEVEN.strip()


def test_the_pads_picture_is_a_copy() -> None:
    pad = Pad(str, start=SEVEN)
    pad.picture[:] = 1
    assert pad.text == SEVEN.strip()


def test_an_error_of_the_reader_is_not_swallowed() -> None:
    def broken(_: Picture) -> str:
        raise ZeroDivisionError("model")

    with pytest.raises(ZeroDivisionError):
        Pad(broken).read()
