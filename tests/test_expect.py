"""Expectations: nothing clever passes, and each message says what was expected and what came."""

from typing import Any

import numpy as np
import pytest

from course_lib.adapters.base import plain, reply
from course_lib.expect import Mismatch, expect_array, expect_close, expect_indices
from course_lib.frameworks import numpy as framework
from course_lib.kinds import Unreadable


class CloseToAnything(np.ndarray):
    """An array that claims to be equal and close to everything."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return np.zeros(1)

    def __eq__(self, other: object) -> Any:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros(3), "received 0"),
        (np.full(3, np.nan), "3 of its 3 values are NaN"),
        (np.array([1.0, np.inf, 3.0]), "1 of its 3"),
        (np.array([[1.0], [2.0], [3.0]]), r"shape \(3, 1\)"),
        (np.array(2.0), r"shape \(\)"),
        (np.array([1, 2, 3]), "int64"),
        (None, "forget `return`"),
        ("1 2 3", "str"),
        (Unreadable("torch.Tensor"), "a torch.Tensor"),
        ((1.0, (2.0,), 3.0), "3 values"),
        (np.array([1.0, 2.0, 3.2]), "should be 3 at"),
    ],
)
def test_a_wrong_value_never_passes_and_is_described(value: Any, words: str) -> None:
    with pytest.raises(Mismatch, match=words):
        expect_close(value, [1.0, 2.0, 3.0], "v", tolerance=1e-4)


def test_right_values_pass_in_any_container() -> None:
    for value in (np.array([1.0, 2.0, 3.0], np.float32), (1.0, 2.0, 3.0), np.array([1.0, 2.0, 3.0 + 1e-5])):
        expect_close(value, [1.0, 2.0, 3.0], "v", tolerance=1e-4)


def test_an_array_that_is_close_to_anything_is_seen_through() -> None:
    trick = np.array([7.0, 7.0, 7.0]).view(CloseToAnything)
    assert type(plain(framework, trick)) is np.ndarray
    with pytest.raises(Mismatch):
        expect_close(reply(framework, trick).value, [1.0, 2.0, 3.0], "v", tolerance=1e-4)


def test_an_object_of_an_unknown_type_keeps_none_of_its_methods() -> None:
    class Always:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    assert isinstance(plain(framework, Always()), Unreadable)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.array([0, 0]), "more than once"),
        (np.array([0, 5]), r"0…4"),
        (np.array([True, False]), "row numbers"),
        (np.array([[0]]), "one-dimensional"),
        (3, "one-dimensional"),
    ],
)
def test_row_numbers_are_distinct_whole_and_inside(value: Any, words: str) -> None:
    with pytest.raises(Mismatch, match=words):
        expect_indices(value, "rows", 5)


def test_whole_numbers_and_floats_are_told_apart() -> None:
    assert expect_array(3, "n", (), kind="i") == 3
    with pytest.raises(Mismatch, match="whole-number"):
        expect_array(3.0, "n", (), kind="i")
