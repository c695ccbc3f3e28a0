"""Pictures, each with a text for those who cannot see it."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from course_lib.errors import BadInput

# Wong's palette, told apart by people with any kind of colour vision; each line also has its own style and name.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1)), (0, (5, 1)), (0, (1, 1)))


class Picture:
    """A drawn figure: shows as an image with its alternative text, prints as that text."""

    def __init__(self, png: bytes, alt: str) -> None:
        self.png, self.alt = png, alt

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png).decode("ascii")
        return f'<img alt="{html.escape(self.alt, quote=True)}" src="data:image/png;base64,{data}">'

    def __repr__(self) -> str:
        return f"[Picture: {self.alt}]"


def show(figure: Any, *, alt: str) -> Picture:
    """Turn a matplotlib figure into a Picture and close it. Make it the last line of a cell.

    `alt` says in a sentence what the picture shows. Raises BadInput when it is empty.
    """
    if not alt.strip():
        raise BadInput("`alt` should say what the picture shows; it is empty.", action="Write one sentence.")
    from matplotlib import pyplot

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90, bbox_inches="tight")
    pyplot.close(figure)
    return Picture(buffer.getvalue(), alt)


def _figure(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(n_rows, n_columns, figsize=size, squeeze=False)
    return figure, axes


def images(pictures: ArrayLike, titles: Sequence[str], *, alt: str, columns: int = 8) -> Picture:
    """A grid of grey pictures, (n, height, width) in 0…1, each with its title."""
    array = np.asarray(pictures)
    if array.ndim != 3 or len(array) != len(titles):
        raise BadInput(
            f"`pictures` should be (n, height, width) with n titles; received {array.shape} and {len(titles)} titles.",
            action="Reshape the rows to pictures, for example x.reshape(-1, 8, 8).",
        )
    rows = -(-len(array) // columns)
    figure, axes = _figure(rows, columns, (columns * 1.1, rows * 1.35))
    for axis in axes.flat[len(array) :]:
        axis.axis("off")
    for axis, picture, title in zip(axes.flat, array, titles, strict=False):
        axis.imshow(picture, cmap="gray_r", vmin=0, vmax=1)
        axis.set_title(title, fontsize=9)
        # A thin frame shows where the picture ends, and so whether the ink is in its middle.
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set(color="0.8", linewidth=0.8)
    return show(figure, alt=alt)


def losses(curves: Mapping[str, ArrayLike], *, alt: str, log: bool = False, ylabel: str = "loss (nats)") -> Picture:
    """Curves over the steps, one line per name, told apart by colour and by line style."""
    figure, axes = _figure(1, 1, (6.4, 3.4))
    axis = axes[0, 0]
    for number, (name, values) in enumerate(curves.items()):
        curve = np.asarray(values, dtype=np.float64)
        style = {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)]}
        axis.plot(np.arange(1, len(curve) + 1), curve, label=name, linewidth=1.6, **style)
    axis.set(xlabel="step", ylabel=ylabel, yscale="log" if log else "linear")
    axis.grid(alpha=0.3)
    if len(curves) > 1:
        # Beside the curves: on top of them it would hide some.
        axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return show(figure, alt=alt)
