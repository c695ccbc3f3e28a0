"""PyTorch: the same few functions as every framework module. Nothing here trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[Any]


def versions() -> dict[str, str]:
    """Version of each package that this track computes with."""
    return {"torch": torch.__version__}


def devices() -> list[str]:
    """What the framework can compute on, as plain strings: cpu, gpu, mps."""
    found = ["cpu"]
    if torch.cuda.is_available():
        found.append("gpu")
    if torch.backends.mps.is_available():
        found.append("mps")
    return found


def seed(value: int) -> None:
    """Fix the framework's random state on all devices."""
    torch.manual_seed(value)


def tolerance() -> float:
    """Relative tolerance that fits the device: a GPU may multiply float32 in TF32, with 10 bits of mantissa."""
    return 1e-4 if devices() == ["cpu"] else 5e-3


def is_native(value: Any) -> bool:
    """Whether `value` is a tensor."""
    return isinstance(value, torch.Tensor)


def from_numpy(array: Array) -> torch.Tensor:
    """A tensor with a copy of the array's values and dtype."""
    return torch.from_numpy(np.array(array, copy=True))


def to_numpy(value: torch.Tensor) -> Array:
    """A tensor's values as an array on the host, cut off from the graph."""
    detached = value.detach().cpu()
    return np.asarray(detached.float().numpy() if detached.dtype == torch.bfloat16 else detached.numpy())


def wait(value: Any) -> Any:
    """Return `value` once it is computed: a GPU works behind Python's back."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return value


def parameters_in(model: torch.nn.Module, parameters: Mapping[str, Array]) -> None:
    """Copy neutral parameters into a module: `hidden_weight` goes to `hidden.weight`, transposed for a Linear layer."""
    with torch.no_grad():
        for name, value in parameters.items():
            target = model.get_parameter(".".join(name.rsplit("_", 1)))
            target.copy_(from_numpy(value.T if value.ndim == 2 else value))


def parameters_out(model: torch.nn.Module) -> dict[str, Array]:
    """The module's parameters under their neutral names, weights as (inputs, outputs), as copies."""
    return {
        name.replace(".", "_"): np.array(to_numpy(value).T if value.ndim == 2 else to_numpy(value), copy=True)
        for name, value in model.named_parameters()
    }
