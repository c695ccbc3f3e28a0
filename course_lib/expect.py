"""What a check may expect of a reply. Each function raises Mismatch with the sentence that the learner reads.

They only look at plain NumPy values, so a clever object cannot compare itself equal to anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.kinds import Reply, describe

Array = NDArray[Any]


class Mismatch(Exception):
    """The answer's behaviour differs from what the exercise asks for."""


def expect(condition: bool, message: str) -> None:
    """Raise Mismatch with `message` unless `condition` holds."""
    if not condition:
        raise Mismatch(message)


def expect_native(reply: Reply, name: str, track: str) -> None:
    """The answer must return the track's own type: NumPy inside the torch notebook does not pass."""
    expect(
        reply.native,
        f"`{name}` should be the framework's own type in the {track} track; received {reply.type_name}. "
        "Compute it with the framework's operations, so that gradients and the accelerator reach it.",
    )


def expect_unchanged(reply: Reply, names: Sequence[str]) -> None:
    """The answer must leave its inputs as they were."""
    changed = [names[i] for i in reply.changed_inputs]
    expect(not changed, f"Your function changed its input `{'`, `'.join(changed)}` in place; work on a new array.")


def expect_array(value: Any, name: str, shape: tuple[int, ...], *, kind: str = "f") -> Array:
    """Return `value` as an array of `shape` whose dtype is of `kind` ("f" floats, "i" whole numbers); all finite."""
    array = _as_array(value)
    words = {"f": "floating-point", "i": "whole-number"}[kind]
    wanted = f"a single {words} number" if shape == () else f"{shape} {words}"
    expect(array is not None, f"`{name}` should be {wanted}; received {describe(value)}.")
    assert array is not None
    expect(array.shape == shape, f"`{name}` should be {wanted}; received {describe(array)}.")
    allowed = np.floating if kind == "f" else np.integer
    # Python's own numbers come as float64 and int64, bfloat16 of a TPU as a void-like extension type named "bfloat16".
    right = np.issubdtype(array.dtype, allowed) or (kind == "f" and array.dtype.name == "bfloat16")
    expect(right, f"`{name}` should hold {words} numbers; received {array.dtype}.")
    if kind == "f":
        array = array.astype(np.float64)
        bad = int((~np.isfinite(array)).sum())
        expect(not bad, f"`{name}` should be finite; {bad} of its {array.size} values are NaN or infinite.")
    return array


def _as_array(value: Any) -> Array | None:
    """`value` as an array of numbers, or None when it is something else or ragged."""
    if not isinstance(value, (int, float, np.generic, np.ndarray, tuple)):
        return None
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return None if array.dtype == object else array


def expect_close(value: Any, want: ArrayLike, name: str, *, tolerance: float, where: str = "") -> None:
    """`value` must have the shape of `want` and agree within `tolerance` (relative to the size of the numbers)."""
    target = np.asarray(want, dtype=np.float64)
    array = expect_array(value, name, target.shape)
    scale = max(1.0, float(np.abs(target).max(initial=0.0)))
    difference = np.abs(array - target)
    worst = float(difference.max(initial=0.0))
    if worst <= tolerance * scale:
        return
    place = np.unravel_index(int(difference.argmax()), difference.shape) if target.ndim else ()
    at = f" at {tuple(int(i) for i in place)}" if target.ndim else ""
    raise Mismatch(
        f"`{name}`{' ' + where if where else ''} should be {float(target[place]):.5g}{at}; "
        f"received {float(array[place]):.5g}."
    )


def expect_indices(value: Any, name: str, n: int) -> Array:
    """`value` must be a one-dimensional array of distinct row numbers in 0…n-1."""
    array = _as_array(value) if isinstance(value, (np.ndarray, tuple)) else None
    ok = array is not None and array.ndim == 1 and (np.issubdtype(array.dtype, np.integer) or array.size == 0)
    expect(ok, f"`{name}` should be a one-dimensional array of row numbers; received {describe(value)}.")
    assert array is not None
    array = array.astype(np.int64)
    inside = bool(((array >= 0) & (array < n)).all())
    expect(
        inside,
        f"`{name}` should hold row numbers in 0…{n - 1}; received {array.min(initial=0)}…{array.max(initial=0)}.",
    )
    expect(
        len(np.unique(array)) == len(array),
        f"`{name}` holds a row more than once: {len(array) - len(np.unique(array))} repeats.",
    )
    return array
