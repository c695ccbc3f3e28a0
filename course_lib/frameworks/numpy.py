"""NumPy as a track: the same few functions as every framework module, so that a gap shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def versions() -> dict[str, str]:
    """Version of each package that this track computes with."""
    return {"numpy": np.__version__}


def devices() -> list[str]:
    """What the framework can compute on, as plain strings."""
    return ["cpu"]


def seed(value: int) -> None:
    """Fix NumPy's global random state. The course's own code passes generators instead."""
    np.random.seed(value)


def tolerance() -> float:
    """Relative tolerance that fits the device: float32 arithmetic in another order."""
    return 1e-4


def is_native(value: Any) -> bool:
    """Whether `value` is this track's own type; a NumPy scalar and a Python number are as good as an array."""
    return isinstance(value, (np.ndarray, np.generic, float, int)) and not isinstance(value, bool)


def from_numpy(array: Array) -> Array:
    """A writeable copy of `array`."""
    return np.array(array, copy=True)


def to_numpy(value: Any) -> Array:
    """`value` as an array."""
    return np.asarray(value)


def wait(value: Any) -> Any:
    """Return `value` once it is computed; NumPy never computes later."""
    return value


def parameters_in(model: dict[str, Array], parameters: Mapping[str, Array]) -> None:
    """Copy neutral parameters into a model; here a model is a dict of arrays."""
    model.update({name: from_numpy(value) for name, value in parameters.items()})


def parameters_out(model: Mapping[str, Array]) -> dict[str, Array]:
    """The model's parameters under their neutral names, as copies."""
    return {name: from_numpy(value) for name, value in model.items()}
