"""Pictures carry a text, close their figures, and refuse what they cannot draw."""

import numpy as np
import pytest
from matplotlib import pyplot

from course_lib import plot
from course_lib.errors import BadInput


def test_a_picture_shows_with_its_text_and_prints_as_it() -> None:
    made = plot.images(np.zeros((2, 8, 8)), ["a", "b"], alt='Two "empty" pictures.')
    assert 'alt="Two &quot;empty&quot; pictures."' in made._repr_html_()
    assert repr(made) == '[Picture: Two "empty" pictures.]'
    assert made.png[:4] == b"\x89PNG"
    assert pyplot.get_fignums() == []


def test_curves_are_told_apart_by_more_than_colour() -> None:
    assert len(set(plot.STYLES)) >= 6
    assert plot.losses({"a": [1.0, 0.5], "b": [1.0, 0.6]}, alt="Two falling curves.", log=True).png


@pytest.mark.parametrize(("shape", "titles"), [((2, 64), ["a", "b"]), ((2, 8, 8), ["a"])])
def test_pictures_and_titles_must_fit(shape: tuple[int, ...], titles: list[str]) -> None:
    with pytest.raises(BadInput, match="titles"):
        plot.images(np.zeros(shape), titles, alt="No picture.")


def test_a_picture_without_text_is_refused() -> None:
    with pytest.raises(BadInput, match="alt"):
        plot.images(np.zeros((1, 8, 8)), ["a"], alt=" ")
    pyplot.close("all")
