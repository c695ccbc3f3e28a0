"""One real training step per framework, from the same start: a linear softmax classifier, one batch, plain SGD.

`course doctor` runs each in a process of its own (`python -m course_lib.doctor_steps torch`) and compares the loss, the
weight and the bias after the step with NumPy's. Each module has one function `step` and imports its framework.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_EXAMPLES, N_INPUTS, N_CLASSES = 32, 64, 10


@dataclass(frozen=True)
class Start:
    """Where the step begins: x (32, 64) float32, y (32,) int64, weight (64, 10) float32, bias (10,) float32."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    learning_rate: float


@dataclass(frozen=True)
class Stepped:
    """Where it ends: the loss before the update, in nats; weight and bias after it; the device's own name."""

    loss: float
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    device: str

    def max_difference(self, other: Stepped) -> float:
        """The largest absolute difference between two results, in loss, weight or bias; NaN when anything is."""
        pairs = ((self.loss, other.loss), (self.weight, other.weight), (self.bias, other.bias))
        # Python's max would let a NaN pass, depending on where it stands.
        return float(np.max([np.max(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64))) for a, b in pairs]))


def start() -> Start:
    """The same start for every framework."""
    rng = np.random.default_rng(0)
    return Start(
        x=rng.random((N_EXAMPLES, N_INPUTS), np.float32),
        y=rng.integers(0, N_CLASSES, N_EXAMPLES),
        weight=(rng.standard_normal((N_INPUTS, N_CLASSES)) * 0.1).astype(np.float32),
        bias=np.zeros(N_CLASSES, np.float32),
        learning_rate=0.5,
    )
