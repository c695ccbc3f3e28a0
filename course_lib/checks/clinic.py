"""The patients of lesson 02: small trainings in NumPy that are sick on purpose, and what can be seen of each.

Every patient is drawn afresh and is a textbook case: one whose symptoms are not clear is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import data
from course_lib.checks import reference
from course_lib.metrics import forward
from course_lib.task import batch_order, initial_parameters

Array = NDArray[Any]
N_STEPS, BATCH_SIZE, N_HIDDEN, N_VALIDATION = 200, 32, 32, 400
ILLNESSES = (
    "healthy",
    "rate too large",
    "gradients kept",
    "log of zero",
    "labels shuffled",
    "broadcasting",
    "evaluation mode forgotten",
)


@dataclass(frozen=True)
class Symptoms:
    """What an outsider sees of a training: its losses, the loss of the best constant guess, and how well it ends.

    Skill is 1 for a model without error and 0 for one that is as good as the best constant guess. `repeatable` says
    whether the trained model gives the same output for the same input twice.
    """

    losses: Array
    baseline_loss: float
    train_skill: float
    validation_skill: float
    repeatable: bool


def patient(illness: str, rng: np.random.Generator) -> Symptoms:
    """A fresh textbook case of one of the ILLNESSES."""
    for _ in range(50):
        with np.errstate(all="ignore"):
            symptoms = _regressor(rng) if illness == "broadcasting" else _classifier(illness, rng)
        if CLEAR[illness](symptoms):
            return symptoms
    raise RuntimeError(f"no clear case of {illness} in 50 draws")


def _classifier(illness: str, rng: np.random.Generator) -> Symptoms:
    # Few rows can be learned by heart, and only then do shuffled labels give a low training loss.
    n_train = 64 if illness == "labels shuffled" else 1600
    x, labels, _ = _recordings(n_train + N_VALIDATION, rng)
    x_train, y_train, x_new, y_new = x[:n_train], labels[:n_train], x[n_train:], labels[n_train:]
    if illness == "labels shuffled":
        y_train = rng.permutation(y_train)
    losses, parameters = _train(illness, x_train, y_train, rng)
    skills = [_skill(_forward(illness, parameters, x, rng), y) for x, y in ((x_train, y_train), (x_new, y_new))]
    return Symptoms(losses, float(np.log(4)), skills[0], skills[1], illness != "evaluation mode forgotten")


def _train(illness: str, x: Array, y: Array, rng: np.random.Generator) -> tuple[Array, dict[str, Array]]:
    parameters: dict[str, Array] = dict(initial_parameters(rng, x.shape[1], N_HIDDEN, 4))
    n_steps = 2 * N_STEPS if illness == "labels shuffled" else N_STEPS
    rate = rng.uniform(0.2, 0.4) * (100 if illness == "rate too large" else 1)
    kept = {name: np.zeros_like(value, dtype=np.float64) for name, value in parameters.items()}
    breaks_at = rng.integers(20, 150) if illness == "log of zero" else n_steps
    losses = []
    for number, rows in enumerate(batch_order(rng, len(y), n_steps=n_steps, batch_size=BATCH_SIZE)):
        inputs = x[rows]
        if illness == "evaluation mode forgotten":
            inputs = inputs * (rng.random(inputs.shape) > 0.3) / 0.7
        loss, gradient = reference.gradients(parameters, inputs, y[rows])
        if number >= breaks_at:
            # The probability of a right class became zero: its logarithm is infinite, and then nothing is a number.
            loss = np.inf if number == breaks_at else np.nan
            gradient = {name: np.full_like(value, np.nan) for name, value in gradient.items()}
        losses.append(loss)
        for name, value in gradient.items():
            kept[name] = value + (kept[name] if illness == "gradients kept" else 0.0)
            parameters[name] = parameters[name] - rate * kept[name]
    return np.asarray(losses), parameters


def _regressor(rng: np.random.Generator) -> Symptoms:
    """A network of one output whose (n, 1) predictions meet (n,) targets: of (n, n) differences only the mean fits."""
    x, _, cycles = _recordings(1600 + N_VALIDATION, rng)
    y = np.asarray(cycles, np.float64)
    parameters: dict[str, Array] = dict(initial_parameters(rng, x.shape[1], N_HIDDEN, 1))
    parameters["output_weight"] = parameters["output_weight"] * 0.3
    rate, losses = rng.uniform(0.05, 0.1), []
    for rows in batch_order(rng, 1600, n_steps=3 * N_STEPS, batch_size=BATCH_SIZE):
        before = x[rows] @ parameters["hidden_weight"] + parameters["hidden_bias"]
        hidden = np.maximum(before, 0)
        wrong = hidden @ parameters["output_weight"] + parameters["output_bias"] - y[rows]
        losses.append(float((wrong**2).mean()))
        d = 2 * wrong.mean(axis=1, keepdims=True) / len(rows)
        d_before = (d @ parameters["output_weight"].T) * (before > 0)
        moves = {"hidden_weight": x[rows].T @ d_before, "hidden_bias": d_before.sum(axis=0)}
        moves |= {"output_weight": hidden.T @ d, "output_bias": d.sum(axis=0)}
        parameters = {name: value - rate * moves[name] for name, value in parameters.items()}
    error = (forward(parameters, x)[:, 0] - y) ** 2
    skills = [float(1 - error[part].mean() / y[part].var()) for part in (slice(0, 1600), slice(1600, None))]
    return Symptoms(np.asarray(losses), float(y[:1600].var()), skills[0], skills[1], True)


def _recordings(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    recorded, tones, cycles = data.generator("waves")(n, int(rng.integers(2**31)))
    return recorded / 64.0, tones, cycles


def _forward(illness: str, parameters: dict[str, Array], x: Array, rng: np.random.Generator) -> Array:
    dropped = (rng.random(x.shape) > 0.3) / 0.7 if illness == "evaluation mode forgotten" else 1.0
    return np.nan_to_num(forward(parameters, x * dropped))


def _skill(logits: Array, labels: Array) -> float:
    """1 - error / error of always answering the most common class."""
    baseline = 1 - np.bincount(labels).max() / len(labels)
    return float(1 - (logits.argmax(axis=1) != labels).mean() / baseline)


def _falls(s: Symptoms) -> bool:
    return bool(np.isfinite(s.losses).all() and s.losses[-20:].mean() < 0.6 * s.losses[0] and _height(s) < 3)


def _height(s: Symptoms) -> float:
    """The highest finite loss, as a multiple of the first."""
    finite = s.losses[np.isfinite(s.losses)]
    return float(finite.max() / s.losses[0])


CLEAR: dict[str, Callable[[Symptoms], bool]] = {
    "healthy": lambda s: _falls(s) and min(s.train_skill, s.validation_skill) > 0.5,
    "rate too large": lambda s: bool(s.losses[1] > 5 * s.losses[0]) and _height(s) > 100,
    "gradients kept": lambda s: bool(s.losses[1:5].max() < 3 * s.losses[0]) and _height(s) > 100,
    "log of zero": lambda s: _height(s) < 3 and not np.isfinite(s.losses).all(),
    "labels shuffled": lambda s: _falls(s) and s.train_skill > 0.8 and abs(s.validation_skill) < 0.25,
    "broadcasting": lambda s: (
        bool(np.isfinite(s.losses).all())
        and _height(s) < 3
        and abs(s.losses[-50:].mean() / s.baseline_loss - 1) < 0.15
        and abs(s.train_skill) < 0.1
        and abs(s.validation_skill) < 0.1
    ),
    "evaluation mode forgotten": lambda s: _falls(s) and 0.2 < s.validation_skill < 0.9,
}


def fresh_batches(rng: np.random.Generator) -> tuple[list[tuple[Array, Array]], Array, Array]:
    """The challenge's data: 100 batches of 32 recordings, a fifth with shuffled labels; 600 others and their tones."""
    x, tones, _ = _recordings(3200 + 600, rng)
    x = x.astype(np.float32)
    sick = set(rng.choice(100, size=20, replace=False).tolist())
    batches = []
    for number in range(100):
        rows = slice(32 * number, 32 * (number + 1))
        labels = tones[rows]
        batches.append((x[rows], np.roll(labels, int(rng.integers(8, 24))) if number in sick else labels))
    return batches, x[3200:], tones[3200:]


def plain_errors(batches: list[tuple[Array, Array]], x_test: Array, y_test: Array) -> int:
    """Test recordings that plain SGD gets wrong which takes every batch once: 64 hidden values, rate 0.3."""
    parameters = initial_parameters(np.random.default_rng(0), x_test.shape[1], 64, 4)
    _, final = reference.train(parameters, batches, 0.3)
    return int((forward(final, x_test).argmax(axis=1) != y_test).sum())
