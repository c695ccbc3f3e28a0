"""How the exercises of lesson 00_start are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.expect import Mismatch, expect, expect_array, expect_unchanged
from course_lib.kinds import Function
from course_lib.verdict import exercise_check

Array = NDArray[Any]


@exercise_check(
    "start/binarize",
    hints=(
        "Comparing an array with a number gives an array of True and False, one for each pixel.",
        "`>=` counts a pixel that is exactly at the threshold as ink; `threshold` comes from the caller.",
        "`comparison.astype(np.float32)` turns True and False into 1.0 and 0.0.",
    ),
)
def binarize(answer: Function, rng: np.random.Generator, _track: str) -> None:
    """0.0 and 1.0 as floats, for one picture or many, at several thresholds, also for a pixel at the threshold."""
    for shape, sixteenths in (((8, 8), 8), ((5, 8, 8), 4), ((3, 2, 6), 12)):
        pictures = (rng.integers(0, 17, size=shape) / 16).astype(np.float32)
        threshold = sixteenths / 16
        pictures.flat[0], pictures.flat[1], pictures.flat[2] = threshold, 1.0, 0.0
        reply = answer.call(pictures, threshold)
        got = expect_array(reply.value, "binarize", shape)
        expect_unchanged(reply, ("pictures", "threshold"))
        want = (pictures >= threshold).astype(np.float64)
        wrong = np.argwhere(got != want)
        if len(wrong):
            place = tuple(int(i) for i in wrong[0])
            raise Mismatch(
                f"with the threshold {threshold:g}, a pixel of {pictures[place]:g} should become {want[place]:g}; "
                f"received {got[place]:g}. {len(wrong)} of {got.size} pixels differ."
            )


@exercise_check(
    "start/center",
    hints=(
        "Find the rows and the columns that hold any ink: `picture.any(axis=1)` marks the rows.",
        "Cut the box from the first to the last of them, and put it into a new picture of zeros.",
        "A box of `h` rows in a picture of `height` begins at row `(height - h) // 2`; columns likewise.",
    ),
)
def center(answer: Function, rng: np.random.Generator, _track: str) -> None:
    """The box around the ink comes to the middle, unchanged; either side may have the odd row or column."""
    for shape in ((8, 8), (8, 8), (6, 11), (7, 5)):
        picture, box, corner = _drawing(rng, shape)
        reply = answer.call(picture)
        got = expect_array(reply.value, "center", shape)
        expect_unchanged(reply, ("picture",))
        _expect_centered(got, box, corner)
    picture = np.zeros((9, 12), np.float32)
    # One faint pixel far from a heavy stroke: the box counts, not the weight of the ink.
    picture[4, 0], picture[2:7, 6] = 0.0625, rng.integers(8, 17, size=5) / 16
    got = expect_array(answer.call(picture).value, "center", picture.shape)
    _expect_centered(got, picture[2:7, :7], (2, 0))
    empty = np.zeros((8, 8), np.float32)
    got = expect_array(answer.call(empty).value, "center", (8, 8))
    expect(not got.any(), "an empty picture should stay empty; yours has ink.")


def _drawing(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Array, Array, tuple[int, int]]:
    """A picture, the box around its ink and the box's upper left corner: off the middle, with a blank row inside."""
    height, width = int(rng.integers(3, shape[0] - 1)), int(rng.integers(2, shape[1] - 1))
    box = (rng.integers(4, 17, size=(height, width)) / 16).astype(np.float32)
    box[1:-1, : width - 1] = 0.0
    box[height // 2] = 0.0
    top, left = (int(rng.choice([0, extra])) for extra in (shape[0] - height, shape[1] - width))
    picture = np.zeros(shape, np.float32)
    picture[top : top + height, left : left + width] = box
    return picture, box, (top, left)


def _expect_centered(got: Array, box: Array, corner: tuple[int, int]) -> None:
    rows, columns = np.flatnonzero(got.any(axis=1)), np.flatnonzero(got.any(axis=0))
    expect(len(rows) > 0, "the picture had ink, and what came back is empty.")
    top, bottom = int(rows[0]), int(got.shape[0] - 1 - rows[-1])
    left, right = int(columns[0]), int(got.shape[1] - 1 - columns[-1])
    ink = float(box.sum(dtype=np.float64))
    received = float(got.sum())
    expect(
        abs(ink - received) < 1e-3,
        f"all ink should still be there, {ink:.4g} in all; received {received:.4g}. Did a part fall off the edge?",
    )
    expect(
        abs(left - right) <= 1,
        f"as many empty columns should be left as right of the ink (one more at most); received {left} and {right}, "
        f"for a drawing that had {corner[1]} on its left.",
    )
    expect(
        abs(top - bottom) <= 1,
        f"as many empty rows should be above as below the ink (one more at most); received {top} and {bottom}, "
        f"for a drawing that had {corner[0]} above it.",
    )
    moved = got[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    expect(
        moved.shape == box.shape and np.allclose(moved, box, atol=1e-6),
        "the drawing itself should not change: the same pixels, in the same order, at another place.",
    )
