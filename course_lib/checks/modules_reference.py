"""The references of lesson 03_modules in NumPy and float64: a network with batch norm, and a scanner that has aged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import data
from course_lib.checks.reference import cross_entropy_and_gradient
from course_lib.tensors import shipped_model

Array = NDArray[Any]
Arrays = dict[str, Array]
Scanner = Callable[[Array], Array]

EPSILON = 1e-5
# How much of a new batch enters a running statistic.
SHARE = 0.1
LEARNED = ("hidden.weight", "norm.scale", "norm.shift", "output.weight", "output.bias")
N_SCANNERS = 3
N_BATCHES = 20
N_TEST = 256


def random_network(rng: np.random.Generator, n_inputs: int, n_hidden: int, n_classes: int) -> Arrays:
    """Random arrays of a network, none of them at its usual starting value."""
    arrays = {
        "hidden.weight": rng.normal(size=(n_inputs, n_hidden)),
        "norm.scale": rng.uniform(0.5, 1.5, n_hidden),
        "norm.shift": rng.normal(size=n_hidden) / 2,
        "norm.mean": rng.normal(size=n_hidden) / 2,
        "norm.variance": rng.uniform(0.5, 3.0, n_hidden),
        "output.weight": rng.normal(size=(n_hidden, n_classes)),
        "output.bias": rng.normal(size=n_classes) / 2,
    }
    return {name: np.asarray(value, np.float32) for name, value in arrays.items()}


def hidden_values(arrays: Mapping[str, Array], x: Array, *, train: bool) -> Array:
    """What enters the dropout, (n, n_hidden): normed by the batch while training, else by what is remembered."""
    a = {name: np.asarray(value, np.float64) for name, value in arrays.items()}
    before = np.asarray(x, np.float64) @ a["hidden.weight"]
    mean = before.mean(axis=0) if train else a["norm.mean"]
    variance = before.var(axis=0) if train else a["norm.variance"]
    normed = (before - mean) / np.sqrt(variance + EPSILON)
    return np.maximum(normed * a["norm.scale"] + a["norm.shift"], 0.0)


def logits(arrays: Mapping[str, Array], x: Array, *, train: bool = False) -> Array:
    """The logits without dropout, (n, n_classes): in evaluation, or normed by the batch as while training."""
    output = np.asarray(arrays["output.weight"], np.float64)
    return hidden_values(arrays, x, train=train) @ output + np.asarray(arrays["output.bias"], np.float64)


def next_statistics(arrays: Mapping[str, Array], x: Array, *, unbiased: bool) -> tuple[Array, Array]:
    """Running mean and variance after one training batch; PyTorch's variance is the unbiased one, n / (n - 1)."""
    before = np.asarray(x, np.float64) @ np.asarray(arrays["hidden.weight"], np.float64)
    variance = before.var(axis=0, ddof=1 if unbiased else 0)
    mean = (1 - SHARE) * np.asarray(arrays["norm.mean"], np.float64) + SHARE * before.mean(axis=0)
    return mean, (1 - SHARE) * np.asarray(arrays["norm.variance"], np.float64) + SHARE * variance


def loss_and_gradients(a: Mapping[str, Array], x: Array, y: Array) -> tuple[float, Arrays]:
    """Loss and gradients in training without dropout. Source: Ioffe and Szegedy 2015, arXiv 1502.03167, section 3."""
    before = x @ a["hidden.weight"]
    width = np.sqrt(before.var(axis=0) + EPSILON)
    normed = (before - before.mean(axis=0)) / width
    shifted = normed * a["norm.scale"] + a["norm.shift"]
    hidden = np.maximum(shifted, 0.0)
    loss, d_logits = cross_entropy_and_gradient(hidden @ a["output.weight"] + a["output.bias"], y)
    d_shifted = (d_logits @ a["output.weight"].T) * (shifted > 0)
    d = d_shifted * a["norm.scale"]
    d_before = (d - d.mean(axis=0) - normed * (d * normed).mean(axis=0)) / width
    return loss, {
        "hidden.weight": x.T @ d_before,
        "norm.scale": (d_shifted * normed).sum(axis=0),
        "norm.shift": d_shifted.sum(axis=0),
        "output.weight": hidden.T @ d_logits,
        "output.bias": d_logits.sum(axis=0),
    }


def train(
    arrays: Mapping[str, Array], batches: list[tuple[Array, Array]], learning_rate: float, momentum: float
) -> tuple[list[float], Arrays]:
    """Losses and final arrays of SGD with momentum, one step per batch; the variance kept is the biased one."""
    a = {name: np.asarray(value, np.float64) for name, value in arrays.items()}
    velocity = {name: np.zeros_like(a[name]) for name in LEARNED}
    losses = []
    for x, y in batches:
        x = np.asarray(x, np.float64)
        loss, gradient = loss_and_gradients(a, x, y)
        a["norm.mean"], a["norm.variance"] = next_statistics(a, x, unbiased=False)
        for name in LEARNED:
            velocity[name] = momentum * velocity[name] + gradient[name]
            a[name] = a[name] - learning_rate * velocity[name]
        losses.append(loss)
    return losses, a


def trained_arrays() -> Arrays:
    """The model that the lesson ships."""
    from safetensors.numpy import load_file

    arrays: Arrays = load_file(shipped_model("03_modules"))
    return arrays


def scanner(rng: np.random.Generator) -> Scanner:
    """A scanner that has aged: less contrast, a brighter ground, a shade across the picture, dust on each pixel."""
    rows, columns = np.mgrid[0:8, 0:8] / 3.5 - 1
    angle = rng.uniform(0, 2 * np.pi)
    shade = 0.1 * (rows * np.cos(angle) + columns * np.sin(angle)).ravel()
    ground = rng.uniform(0.3, 0.5) + shade + rng.uniform(-0.2, 0.2, 64)
    contrast = rng.uniform(0.3, 0.5)

    def scan(x: Array) -> Array:
        return np.asarray(contrast * x + ground + 0.02 * rng.normal(size=x.shape), np.float32)

    return scan


def scanned(rng: np.random.Generator) -> tuple[list[Array], Array, Array]:
    """20 batches of 64 unlabelled pictures from one aged scanner, and 256 test pictures of new hands with labels."""
    digits, scan = data.load("digits"), scanner(rng)
    x = digits.images.reshape(len(digits), -1)
    batches = [scan(x[rng.choice(digits.n_train, 64, replace=False)]) for _ in range(N_BATCHES)]
    test = rng.choice(np.arange(digits.n_train, len(digits)), N_TEST, replace=False)
    return batches, scan(x[test]), digits.labels[test]
