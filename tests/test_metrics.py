"""The common ruler: right at any size of logits, and clear about input that it cannot measure."""

import doctest

import numpy as np
import pytest

from course_lib import metrics
from course_lib.checks import reference
from course_lib.errors import BadInput


def test_doctests_hold() -> None:
    assert doctest.testmod(metrics).failed == 0


def test_cross_entropy_survives_huge_logits() -> None:
    assert metrics.cross_entropy([[1e6, 0.0]], [0]) == 0.0
    assert metrics.cross_entropy([[1e6, 0.0]], [1]) == 1e6


def test_cross_entropy_equals_the_definition_at_ordinary_logits() -> None:
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(9, 4)), rng.integers(0, 4, 9)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert metrics.cross_entropy(logits, labels) == pytest.approx(-np.log(p[np.arange(9), labels]).mean())


@pytest.mark.parametrize(
    ("logits", "labels", "words"),
    [
        (np.zeros((3, 2)), np.zeros((3, 1), int), r"\(3, 1\)"),
        (np.zeros((3, 2)), np.zeros(2, int), r"\(2,\)"),
        (np.zeros((0, 2)), np.zeros(0, int), "received none"),
        (np.zeros((2, 2)), np.array([0.0, 1.0]), "float64"),
        (np.zeros((2, 2)), np.array([0, 2]), r"0…2"),
        (np.zeros((2, 2)), np.array([-1, 0]), r"-1…0"),
    ],
)
def test_input_that_cannot_be_measured_is_named(logits: np.ndarray, labels: np.ndarray, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        metrics.accuracy(logits, labels)


def test_the_reference_gradient_equals_a_nudge() -> None:
    rng = np.random.default_rng(1)
    parameters, [(x, y), *_] = reference.probe(rng)
    _, gradient = reference.gradients(parameters, x, y)
    for name, value in parameters.items():
        place = tuple(int(rng.integers(n)) for n in value.shape)
        loss = []
        for nudge in (1e-6, -1e-6):
            moved = {k: v.astype(np.float64) for k, v in parameters.items()}
            moved[name][place] += nudge
            loss.append(metrics.cross_entropy(metrics.forward(moved, x), y))
        assert gradient[name][place] == pytest.approx((loss[0] - loss[1]) / 2e-6, abs=1e-8)


def test_loss_difference_looks_at_the_common_steps_only() -> None:
    assert metrics.max_loss_difference([1.0, 2.0, 9.0], [1.0, 2.5]) == 0.5
    with pytest.raises(BadInput, match="empty"):
        metrics.max_loss_difference([], [1.0])


def test_an_interval_needs_a_share() -> None:
    with pytest.raises(BadInput, match="93"):
        metrics.accuracy_interval(93, 100)
