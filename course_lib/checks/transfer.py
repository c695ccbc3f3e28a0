"""How the exercises in NumPy of lesson 04_transfer are judged; the frameworks' idioms are in `transfer_idiom`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import transfer_idiom as transfer_idiom
from course_lib.expect import expect, expect_array, expect_unchanged
from course_lib.kinds import Function, describe
from course_lib.transfer import few_rows, pictures
from course_lib.verdict import exercise_check

Array = NDArray[Any]


@exercise_check(
    "transfer/n_trained",
    hints=(
        "Count the parameters of each of the two layers by itself, weights and biases.",
        "A layer from a to b has a × b weights and b biases. Which of the two layers is the body?",
        "When the body is frozen, only the layer from n_hidden to n_classes is left to train.",
    ),
)
def n_trained(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Weights and biases of the layers that train, for several sizes, the body frozen or not."""
    sizes = [(64, 32, 10), *(tuple(int(v) for v in rng.integers(1, 200, 3)) for _ in range(4))]
    for n_inputs, n_hidden, n_classes in sizes:
        for frozen in (True, False):
            value = answer.call(n_inputs, n_hidden, n_classes, frozen).value
            whole = isinstance(value, int) and not isinstance(value, bool)
            whole = whole or (isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iu")
            expect(whole, f"`n_trained` should return a whole number; received {describe(value)}.")
            head = n_hidden * n_classes + n_classes
            want = head if frozen else head + n_inputs * n_hidden + n_hidden
            state = "a frozen body" if frozen else "a body that trains, too"
            expect(
                int(value) == want,
                f"{n_inputs} inputs, {n_hidden} hidden values and {n_classes} classes have {want} parameters to train "
                f"with {state}; received {int(value)}.",
            )


def overlap(train: Array, test: Array, size: int) -> bool:
    """Whether a square of `size` at a corner of `train` shares a pixel with one of `test`; corners are (n, 2)."""
    apart = np.abs(train[:, None, :] - test[None, :, :])
    return bool((apart < size).all(axis=2).any())


@exercise_check(
    "transfer/leaks",
    hints=(
        "Two squares share a pixel when they overlap in rows and in columns. One of the two is not enough.",
        "Two stretches of the same length overlap when their beginnings are nearer than that length.",
        "`abs(train[:, None] - test[None])` has all differences, (n, m, 2): `< size` in both places, for any pair.",
    ),
)
def leaks(answer: Function, rng: np.random.Generator, track: str) -> None:
    """True when some pair shares a pixel: also by one row, also at a corner; False when they only touch."""
    size = int(rng.integers(5, 40))
    moves = [
        ((0, 0), "the same square twice"),
        ((0, size), "squares side by side that touch without a common pixel"),
        ((size - 1, 0), "squares with one row in common"),
        ((size - 1, 1 - size), "squares with one corner pixel in common"),
        ((0, 3 * size), "squares in the same rows, far apart"),
        ((3 * size, 0), "squares in the same columns, far apart"),
        ((size, size), "squares that touch at a corner"),
    ]
    here = np.array([[200, 200]])
    cases = [(here, here + np.array([move]), what) for move, what in moves]
    for _ in range(6):
        train, test = rng.integers(0, 12 * size, (int(rng.integers(1, 9)), 2)), rng.integers(0, 12 * size, (5, 2))
        cases.append((train, test, f"{len(train)} training squares and 5 test squares at random places"))
    for train, test, what in cases:
        reply = answer.call(train, test, size)
        expect_unchanged(reply, ("train_corners", "test_corners", "size"))
        value = reply.value
        truth = isinstance(value, bool) or (isinstance(value, np.ndarray) and value.shape == () and value.dtype == bool)
        expect(truth, f"`leaks` should return True or False; received {describe(value)}.")
        want = overlap(train, test, size)
        expect(bool(value) == want, f"{what}, of {size} pixels: the answer is {want}; received {bool(value)}.")


@exercise_check(
    "transfer/geometric_rates",
    hints=(
        "Each rate is the one before it times the same factor.",
        "From low to high are n − 1 factors, so one factor is (high / low) to the power of 1 / (n − 1).",
        "In logarithms the rates are evenly spaced; `np.geomspace` and `np.logspace` know that.",
    ),
)
def geometric_rates(answer: Function, rng: np.random.Generator, track: str) -> None:
    """n rates from low to high, both included, with one factor between neighbours."""
    for n in (2, 3, int(rng.integers(4, 80))):
        low = float(10 ** rng.uniform(-6, -2))
        high = low * float(10 ** rng.uniform(0.5, 5))
        reply = answer.call(low, high, n)
        rates = expect_array(reply.value, "rates", (n,))
        want = low * (high / low) ** (np.arange(n) / (n - 1))
        for place in (0, n - 1, n // 2):
            near = math.isclose(float(rates[place]), float(want[place]), rel_tol=1e-4)
            expect(
                near,
                f"for {n} rates from {low:.3g} to {high:.3g}, number {place + 1} should be {want[place]:.4g}; "
                f"received {float(rates[place]):.4g}.",
            )
        expect(bool(np.allclose(rates, want, rtol=1e-4)), "neighbouring rates should all have the same ratio.")


# Student's t for a two-sided 95 % interval, by the number of differences. Source: any table of the t distribution.
T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}


@exercise_check(
    "transfer/paired_interval",
    hints=(
        "First subtract, draw by draw; then mean and spread are those of the differences.",
        "The standard error is the standard deviation, with n − 1 below it (`ddof=1`), over the square root of n.",
        "The interval reaches from the mean by T_95[n] standard errors to both sides.",
    ),
)
def paired_interval(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Mean difference and the ends of its interval, where both scores swing together from draw to draw."""
    for n in (2, 5, int(rng.integers(3, 9))):
        common = rng.normal(0.8, 0.05, n)
        first, second = common + rng.normal(0, 0.01, n), common + rng.normal(0.03, 0.01, n)
        reply = answer.call(first, second)
        expect_unchanged(reply, ("scratch", "transferred"))
        difference = second - first
        reach = T_95[n] * difference.std(ddof=1) / math.sqrt(n)
        want = (difference.mean(), difference.mean() - reach, difference.mean() + reach)
        value = reply.value
        three = len(value) == 3 if isinstance(value, tuple) else isinstance(value, np.ndarray) and value.shape == (3,)
        expect(three, f"`paired_interval` should return mean, low and high; received {describe(value)}.")
        for got, wanted, name in zip(value, want, ("mean", "low", "high"), strict=True):
            number = float(expect_array(got, name, ()))
            expect(
                abs(number - wanted) < 1e-4,
                f"`{name}` of {n} paired differences should be {wanted:.4f}; received {number:.4f}.",
            )


@exercise_check(
    "transfer/same_padding",
    hints=(
        'With padding "SAME" the output has size / stride places, rounded up.',
        "So many places need (places − 1) × stride + kernel pixels. How many are missing? Never fewer than none.",
        "Half of the missing ones, rounded down, go before; the rest goes after.",
    ),
)
def same_padding(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Zeros before and after, for odd and even sizes, strides of 1 to 3 and kernels of 1 to 7."""
    cases = [(64, 3, 2), (64, 3, 1), (64, 5, 2), (5, 3, 2), (4, 1, 2), (32, 1, 1), (7, 2, 1)]
    cases += [(int(rng.integers(8, 100)), int(rng.integers(1, 8)), int(rng.integers(1, 4))) for _ in range(8)]
    for size, kernel, stride in cases:
        value = answer.call(size, kernel, stride).value
        pair = expect_array(value, "before and after", (2,), kind="i")
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        want = (total // 2, total - total // 2)
        got = (int(pair[0]), int(pair[1]))
        expect(
            got == want,
            f"a kernel of {kernel} with stride {stride} on {size} pixels needs {want[0]} before and {want[1]} after; "
            f"received {got[0]} and {got[1]}.",
        )


# One draw of fifty pictures can be unlucky; five together are not.
N_DRAWS, N_TEST = 5, 500


@exercise_check(
    "transfer/challenge",
    hints=(
        "Compare pictures by something that changes less than pixels do when a stroke moves a little.",
        "Blurring, shifting the few pictures about, or the directions of edges counted in small squares all help.",
        "A body that was trained on the 2,500 pictures of 0 to 4 is such a thing; so are edges found by hand.",
    ),
)
def challenge(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Over five fresh draws, at most three quarters of the errors of the nearest picture.

    Which number stands for which of the five new digits is dealt anew in each draw: only the few labels tell. Where
    other digits stand in for MNIST's, the nearest picture is a strong opponent, and nine tenths of its errors will do.
    """
    digits = pictures()
    rows, cut = digits.images.reshape(len(digits), -1), digits.n_train
    source, x = rows[:cut], rows[cut:]
    missed = allowed = 0
    for _ in range(N_DRAWS):
        labels = 5 + rng.permutation(5)[digits.labels[cut:] - 5]
        few = few_rows(rng, labels - 5, 10)
        test = rng.permutation(np.setdiff1d(np.arange(len(x)), few))[:N_TEST]
        reply = answer.call(source, digits.labels[:cut], x[few], labels[few], x[test])
        expect_unchanged(reply, ("x_source", "y_source", "x_few", "y_few", "x_test"))
        given = expect_array(reply.value, "labels", (N_TEST,), kind="i")
        outside = np.setdiff1d(given, np.arange(5, 10))
        expect(not len(outside), f"`labels` should be 5 to 9; received {int(outside.min(initial=0))}.")
        nearest = ((x[few] ** 2).sum(axis=1) - 2 * x[test] @ x[few].T).argmin(axis=1)
        missed += int((given != labels[test]).sum())
        allowed += int((labels[few][nearest] != labels[test]).sum())
    budget = int(allowed * (0.75 if digits.name == "mnist" else 0.9))
    expect(
        missed <= budget,
        f"the nearest picture misses {allowed} of {N_DRAWS * N_TEST} digits, so at most {budget} may be missed; "
        f"your function missed {missed}.",
    )
