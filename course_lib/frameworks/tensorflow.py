"""TensorFlow: the same few functions as every framework module. Nothing here trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

Array = NDArray[Any]


def versions() -> dict[str, str]:
    """Version of each package that this track computes with; the optimizers are Keras'."""
    return {"tensorflow": tf.__version__, "keras": tf.keras.__version__}


def devices() -> list[str]:
    """What the framework can compute on, as plain strings: cpu, gpu."""
    return ["cpu", "gpu"] if tf.config.list_physical_devices("GPU") else ["cpu"]


def seed(value: int) -> None:
    """Fix the framework's random state on all devices."""
    tf.random.set_seed(value)


def tolerance() -> float:
    """Relative tolerance that fits the device: a GPU may multiply float32 in TF32, with 10 bits of mantissa."""
    return 1e-4 if devices() == ["cpu"] else 5e-3


def is_native(value: Any) -> bool:
    """Whether `value` is a tensor or variable with values; a symbolic tensor, leaked from a trace, has none."""
    return isinstance(value, (tf.Tensor, tf.Variable)) and hasattr(value, "numpy")


def from_numpy(array: Array) -> tf.Tensor:
    """A tensor with a copy of the array's values and dtype."""
    return tf.constant(array)


def to_numpy(value: tf.Tensor) -> Array:
    """A tensor's values as an array on the host."""
    return np.asarray(tf.cast(value, tf.float32).numpy() if value.dtype == tf.bfloat16 else value.numpy())


def wait(value: Any) -> Any:
    """Return `value` once it is computed: a GPU works behind Python's back."""
    if tf.config.list_physical_devices("GPU"):
        tf.test.experimental.sync_devices()
    return value


def parameters_in(model: tf.Module, parameters: Mapping[str, Array]) -> None:
    """Copy neutral parameters into the variables that are the module's attributes of the same names."""
    for name, value in parameters.items():
        getattr(model, name).assign(value)


def parameters_out(model: tf.Module) -> dict[str, Array]:
    """The module's trainable variables by attribute name, weights as (inputs, outputs), as copies."""
    return {
        name: np.array(to_numpy(value), copy=True)
        for name, value in vars(model).items()
        if isinstance(value, tf.Variable) and value.trainable
    }
