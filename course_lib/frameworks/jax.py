"""JAX: the same few functions as every framework module. Nothing here trains."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Relative, per platform: a GPU may multiply float32 with 10 bits of mantissa, a TPU with the 7 of bfloat16.
_TOLERANCE = {"cpu": 1e-4, "gpu": 5e-3, "tpu": 3e-2}


def versions() -> dict[str, str]:
    """Version of each package that this track computes with."""
    return {name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "flax", "optax")}


def devices() -> list[str]:
    """What the framework can compute on, as plain strings: cpu, gpu, tpu."""
    found = {{"cuda": "gpu", "rocm": "gpu"}.get(device.platform, device.platform) for device in jax.devices()}
    return ["cpu", *sorted(found - {"cpu"})]


def seed(value: int) -> None:
    """Nothing: JAX has no global random state. Whoever draws passes a key, `jax.random.key(value)`."""


def tolerance() -> float:
    """Relative tolerance that fits the device."""
    return max(_TOLERANCE.get(device, max(_TOLERANCE.values())) for device in devices())


def is_native(value: Any) -> bool:
    """Whether `value` is a JAX array."""
    return isinstance(value, jax.Array)


def from_numpy(array: Array) -> jax.Array:
    """A JAX array with a copy of the array's values; 64-bit numbers become 32-bit unless JAX was told otherwise."""
    return jnp.array(array)


def to_numpy(value: jax.Array) -> Array:
    """A JAX array's values on the host; bfloat16, which NumPy does not know, as float32."""
    return np.asarray(value.astype(jnp.float32) if value.dtype == jnp.bfloat16 else value)


def wait(value: Any) -> Any:
    """Return `value`, an array or a pytree of arrays, once it is computed: JAX works behind Python's back."""
    return jax.tree.map(lambda leaf: leaf.block_until_ready() if is_native(leaf) else leaf, value)


def parameters_in(model: dict[str, jax.Array], parameters: Mapping[str, Array]) -> None:
    """Copy neutral parameters into a model; here a model is a dict of arrays."""
    model.update({name: from_numpy(value) for name, value in parameters.items()})


def parameters_out(model: Mapping[str, Any]) -> dict[str, Array]:
    """The model's parameters under their neutral names, as NumPy copies."""
    return {name: np.array(value, copy=True) for name, value in model.items()}
