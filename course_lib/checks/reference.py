"""The references that checks judge against: independent of every framework, in NumPy and float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.metrics import log_softmax
from course_lib.task import Parameters, initial_parameters

Array = NDArray[Any]


def cross_entropy_and_gradient(logits: Array, labels: Array) -> tuple[float, Array]:
    """Mean cross-entropy and its gradient (n, classes): (softmax - one-hot) / n."""
    log_p = log_softmax(logits)
    rows = np.arange(len(labels))
    gradient = np.exp(log_p)
    gradient[rows, labels] -= 1.0
    return float(-log_p[rows, labels].mean()), gradient / len(labels)


def gradients(parameters: Mapping[str, Array], x: Array, y: Array) -> tuple[float, dict[str, Array]]:
    """Loss and the gradient for each parameter of the two-layer network, by the chain rule."""
    p = {name: np.asarray(value, np.float64) for name, value in parameters.items()}
    x = np.asarray(x, np.float64)
    before = x @ p["hidden_weight"] + p["hidden_bias"]
    hidden = np.maximum(before, 0.0)
    loss, d_logits = cross_entropy_and_gradient(hidden @ p["output_weight"] + p["output_bias"], np.asarray(y))
    d_before = (d_logits @ p["output_weight"].T) * (before > 0)
    return loss, {
        "hidden_weight": x.T @ d_before,
        "hidden_bias": d_before.sum(axis=0),
        "output_weight": hidden.T @ d_logits,
        "output_bias": d_logits.sum(axis=0),
    }


def sgd_step(
    parameters: Mapping[str, Array], x: Array, y: Array, learning_rate: float
) -> tuple[float, dict[str, Array]]:
    """The loss before one step of plain SGD, and the parameters after it."""
    loss, gradient = gradients(parameters, x, y)
    return loss, {k: (np.asarray(v, np.float64) - learning_rate * gradient[k]) for k, v in parameters.items()}


def probe(
    rng: np.random.Generator, *, n_batches: int = 5, batch_size: int = 8, sizes: tuple[int, int, int] = (5, 7, 3)
) -> tuple[Parameters, list[tuple[Array, Array]]]:
    """A small random network with non-zero biases, and random batches for it."""
    parameters = initial_parameters(rng, *sizes)
    for name in ("hidden_bias", "output_bias"):
        parameters[name] = rng.normal(scale=0.5, size=parameters[name].shape).astype(np.float32)
    batches = [
        (rng.normal(size=(batch_size, sizes[0])).astype(np.float32), rng.integers(0, sizes[2], batch_size))
        for _ in range(n_batches)
    ]
    return parameters, batches


def train(
    parameters: Mapping[str, Array], batches: list[tuple[Array, Array]], learning_rate: float
) -> tuple[list[float], dict[str, Array]]:
    """Losses and final parameters of plain SGD, one step per batch."""
    losses, current = [], {k: np.asarray(v, np.float64) for k, v in parameters.items()}
    for x, y in batches:
        loss, current = sgd_step(current, x, y, learning_rate)
        losses.append(loss)
    return losses, current
