"""The common ruler: what every track's numbers are measured with, in NumPy and float64.

A framework's own loss or accuracy is never used to compare frameworks; its arrays come here first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.errors import BadInput

Array = NDArray[Any]


def _logits_and_labels(logits: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    z, y = np.asarray(logits, dtype=np.float64), np.asarray(labels)
    if z.ndim != 2 or y.ndim != 1 or len(z) != len(y):
        raise BadInput(
            f"`logits` should be (n, classes) and `labels` (n,) with the same n; received {z.shape} and {y.shape}.",
            action="Check which of the two has an axis too many or too few.",
        )
    if not len(y):
        raise BadInput("`labels` should hold at least one label; received none.", action="Pass the data that you have.")
    if not np.issubdtype(y.dtype, np.integer):
        raise BadInput(f"`labels` should be whole numbers; received {y.dtype}.", action="Pass the class indices.")
    if y.min() < 0 or y.max() >= z.shape[1]:
        raise BadInput(
            f"`labels` should lie in 0…{z.shape[1] - 1}, one per column of `logits`; received {y.min()}…{y.max()}.",
            action="Check the number of classes.",
        )
    return z, y.astype(np.int64)


def log_softmax(logits: ArrayLike) -> NDArray[np.float64]:
    """Logarithms of the class probabilities, (n, classes); finite for logits of any size."""
    z = np.asarray(logits, dtype=np.float64)
    z = z - z.max(axis=-1, keepdims=True)
    return np.asarray(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))


def cross_entropy(logits: ArrayLike, labels: ArrayLike) -> float:
    """Mean negative log-probability of the right class, in nats. `logits` (n, classes), `labels` (n,) int.

    Raises BadInput for wrong shapes, dtypes or labels out of range.

    >>> round(cross_entropy([[0.0, 0.0]], [1]), 4)
    0.6931
    """
    z, y = _logits_and_labels(logits, labels)
    return float(-log_softmax(z)[np.arange(len(y)), y].mean())


def accuracy(logits: ArrayLike, labels: ArrayLike) -> float:
    """Share of rows whose largest logit is at the label, 0…1. Raises BadInput as `cross_entropy` does.

    >>> accuracy([[2.0, 1.0], [2.0, 1.0]], [0, 1])
    0.5
    """
    z, y = _logits_and_labels(logits, labels)
    return float((z.argmax(axis=1) == y).mean())


def accuracy_interval(accuracy: float, n: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share that was measured on `n` examples.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".

    >>> [round(v, 3) for v in accuracy_interval(0.9, 100)]
    [0.826, 0.945]
    """
    if n < 1 or not 0 <= accuracy <= 1:
        raise BadInput(
            f"`accuracy` should lie in 0…1 and `n` be at least 1; received {accuracy} and {n}.",
            action="Pass a share, not per cent.",
        )
    z = 1.959963984540054
    centre = (accuracy + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(accuracy * (1 - accuracy) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def forward(parameters: Mapping[str, ArrayLike], x: ArrayLike) -> NDArray[np.float64]:
    """Logits (n, classes) of the two-layer network that lesson 01 trains, for `x` (n, inputs), in float64."""
    p = {name: np.asarray(value, dtype=np.float64) for name, value in parameters.items()}
    hidden = np.maximum(np.asarray(x, dtype=np.float64) @ p["hidden_weight"] + p["hidden_bias"], 0.0)
    return np.asarray(hidden @ p["output_weight"] + p["output_bias"])


def max_loss_difference(losses: ArrayLike, reference: ArrayLike) -> float:
    """Largest distance between two loss curves over the steps that both have.

    Raises BadInput when one of them is empty.
    """
    a, b = np.asarray(losses, dtype=np.float64).ravel(), np.asarray(reference, dtype=np.float64).ravel()
    n = min(len(a), len(b))
    if not n:
        raise BadInput("Two loss curves should have a step in common; one is empty.", action="Train at least one step.")
    return float(np.abs(a[:n] - b[:n]).max())
