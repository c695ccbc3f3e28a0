"""Keras, on the backend that the course chooses: the same few functions as every framework module."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.frameworks import keras_backend

# Keras reads this once, at its import, and would otherwise take TensorFlow, installed or not.
os.environ.setdefault("KERAS_BACKEND", keras_backend())

import keras

Array = NDArray[Any]

# Keras calls a Dense layer's weight matrix its kernel; it is stored as (inputs, outputs), as the course's is.
NEUTRAL = {"kernel": "weight", "bias": "bias"}


def backend() -> str:
    """The backend that Keras runs on in this process: "jax", "torch" or "tensorflow"."""
    return str(keras.backend.backend())


def versions() -> dict[str, str]:
    """Version of Keras and of the backend that computes for it."""
    return {"keras": keras.__version__, backend(): importlib.import_module(backend()).__version__}


def devices() -> list[str]:
    """What the backend can compute on, as plain strings: cpu, gpu, tpu, mps."""
    library = importlib.import_module(backend())
    if backend() == "torch":
        others = {"gpu": library.cuda.is_available(), "mps": library.backends.mps.is_available()}
        return ["cpu", *(name for name, there in others.items() if there)]
    if backend() == "jax":
        return sorted({"cpu", *("gpu" if d.platform in ("cuda", "rocm") else d.platform for d in library.devices())})
    return sorted({d.device_type.lower() for d in library.config.list_physical_devices()})


def seed(value: int) -> None:
    """Fix the random state of Python, NumPy, Keras and the backend. Keras imports TensorFlow for it if it can."""
    keras.utils.set_random_seed(value)


def tolerance() -> float:
    """Relative tolerance that fits the device: a TPU multiplies float32 in bf16, a GPU may use TF32."""
    found = devices()
    if "tpu" in found:
        return 3e-2
    return 1e-4 if found == ["cpu"] else 5e-3


def is_native(value: Any) -> bool:
    """Whether `value` is a tensor of the backend: jax.Array, torch.Tensor or tf.Tensor."""
    return bool(keras.ops.is_tensor(value))


def from_numpy(array: Array) -> Any:
    """A tensor of the backend with a copy of the array's values; JAX keeps whole numbers as int32."""
    return keras.ops.convert_to_tensor(np.array(array, copy=True))


def to_numpy(value: Any) -> Array:
    """A tensor's values as an array on the host, cut off from any graph."""
    return np.asarray(keras.ops.convert_to_numpy(value))


def wait(value: Any) -> Any:
    """Return `value` once it is computed: JAX, and every backend on an accelerator, work behind Python's back."""
    for leaf in keras.tree.flatten(value):
        if is_native(leaf):
            # Reading a value waits for it, on every backend.
            keras.ops.convert_to_numpy(leaf)
    return value


def parameters_in(model: keras.Model, parameters: Mapping[str, Array]) -> None:
    """Copy neutral parameters into a model: `hidden_weight` goes to the kernel of the layer named hidden."""
    variables = _variables(model)
    for name, value in parameters.items():
        variables[name].assign(value)


def parameters_out(model: keras.Model) -> dict[str, Array]:
    """The model's parameters under their neutral names, weights as (inputs, outputs), as copies."""
    return {name: np.array(to_numpy(variable), copy=True) for name, variable in _variables(model).items()}


def _variables(model: keras.Model) -> dict[str, Any]:
    """A path such as sequential/hidden/kernel becomes hidden_weight."""
    named = {}
    for variable in model.weights:
        path, _, own = str(variable.path).rpartition("/")
        named[f"{path.rpartition('/')[2]}_{NEUTRAL.get(own, own)}"] = variable
    return named
