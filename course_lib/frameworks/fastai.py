"""fastai: it sits on PyTorch, so its tensors, devices and modules are PyTorch's, and so are these functions."""

from __future__ import annotations

from importlib import metadata

from course_lib.frameworks import torch as torch_framework
from course_lib.frameworks.torch import (
    devices,
    from_numpy,
    is_native,
    parameters_in,
    parameters_out,
    seed,
    to_numpy,
    tolerance,
    wait,
)

__all__ = [
    "devices",
    "from_numpy",
    "is_native",
    "parameters_in",
    "parameters_out",
    "seed",
    "to_numpy",
    "tolerance",
    "versions",
    "wait",
]


def versions() -> dict[str, str]:
    """Version of each package that this track computes with. Read from metadata: importing fastai takes 10 seconds."""
    return {"fastai": metadata.version("fastai"), **torch_framework.versions()}
