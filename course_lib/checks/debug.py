"""How the exercises of lesson 02_debug are judged."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import reference
from course_lib.checks.clinic import ILLNESSES, fresh_batches, patient, plain_errors
from course_lib.expect import expect, expect_array, expect_close, expect_native, expect_unchanged
from course_lib.kinds import Function, Loop, describe
from course_lib.verdict import exercise_check

Array = NDArray[Any]
N_DRAWS = 5


@exercise_check(
    "debug/majority_error",
    hints=(
        "Which class is the most common one among the *training* labels? Validation labels must not decide it.",
        "`np.bincount(labels)` counts each class; its `argmax` is the most common one.",
        "The error is the share of validation labels that are something else, from 0 to 1.",
    ),
)
def majority_error(answer: Function, rng: np.random.Generator, track: str) -> None:
    """The training labels choose the class, the validation labels judge it."""
    for _ in range(4):
        n_classes = int(rng.integers(3, 7))
        # The two sides have different favourites, so that peeking shows.
        favourite, other = (int(v) for v in rng.choice(n_classes, 2, replace=False))
        train = rng.permutation(np.r_[rng.integers(0, n_classes, 20), np.full(25, favourite)])
        validation = rng.permutation(np.r_[rng.integers(0, n_classes, 10), np.full(12, other)])
        reply = answer.call(train, validation)
        expect_unchanged(reply, ("train_labels", "validation_labels"))
        want = float((validation != np.bincount(train).argmax()).mean())
        expect_close(reply.value, want, "majority_error", tolerance=1e-6, where=f"for {n_classes} classes")


@exercise_check(
    "debug/constant_guess",
    hints=(
        "Try it on the targets 1, 2 and 6: which constant c makes (1 − c)² + (2 − c)² + (6 − c)² smallest?",
        "The derivative of the mean of (target − c)² is zero where c is the mean of the targets.",
        "What is left, the mean squared distance from the mean, has a name of its own and a function in NumPy.",
    ),
)
def constant_guess(answer: Function, rng: np.random.Generator, track: str) -> None:
    """The mean, and the variance around it."""
    for n in (3, 10, 200):
        targets = rng.gamma(2.0, float(rng.uniform(0.5, 3)), n)
        value = answer.call(targets).value
        pair = value if isinstance(value, tuple) and len(value) == 2 else None
        expect(
            pair is not None, f"`constant_guess` should return two numbers, guess and loss; received {describe(value)}."
        )
        assert pair is not None
        expect_close(pair[0], float(targets.mean()), "guess", tolerance=1e-5, where=f"for {n} targets")
        expect_close(pair[1], float(targets.var()), "loss", tolerance=1e-5, where=f"for {n} targets")


@exercise_check(
    "debug/largest_rate",
    hints=(
        "One step takes w to w − rate × curvature × w. By what factor is w multiplied?",
        "The factor is 1 − rate × curvature. The steps get smaller as long as it lies between −1 and 1.",
        "Set the factor to −1: there the steps jump from side to side for ever.",
    ),
)
def largest_rate(answer: Function, rng: np.random.Generator, track: str) -> None:
    """2 / curvature."""
    for curvature in (1.0, float(rng.uniform(0.1, 0.9)), float(rng.uniform(3, 50))):
        got = answer.call(curvature).value
        expect_close(got, 2 / curvature, "largest_rate", tolerance=1e-6, where=f"for the curvature {curvature:.3g}")


@exercise_check(
    "debug/interval",
    hints=(
        "The middle is the mean of the scores; the interval is as wide to its left as to its right.",
        "The standard deviation is the spread of *single* runs. The mean of n runs is surer, by the square root of n.",
        "From n runs the standard deviation is estimated with n − 1 in the denominator: `ddof=1`.",
    ),
)
def interval(answer: Function, rng: np.random.Generator, track: str) -> None:
    """mean ± t · s / √n, with s from n - 1."""
    for n, t in ((5, 2.776), (5, 2.776), (3, 4.303), (10, 2.262)):
        scores = rng.normal(rng.uniform(0.4, 0.8), rng.uniform(0.02, 0.1), n)
        value = answer.call(scores, t).value
        pair = value if isinstance(value, tuple) and len(value) == 2 else None
        expect(pair is not None, f"`interval` should return two numbers, low and high; received {describe(value)}.")
        assert pair is not None
        half = t * scores.std(ddof=1) / np.sqrt(n)
        for got, want, name in ((pair[0], scores.mean() - half, "low"), (pair[1], scores.mean() + half, "high")):
            expect_close(got, float(want), name, tolerance=1e-5, where=f"for {n} scores")


@exercise_check(
    "debug/diagnose",
    hints=(
        "Begin with the signs that only one illness has: is every loss a finite number? Is the model repeatable?",
        "Three illnesses send the loss up or to infinity. What tells them apart is *when*: compare the second loss, "
        "and the largest finite one, with the first.",
        "Two illnesses have quiet losses and no skill on new rows. One of them has learned its training rows by heart; "
        "the other's loss has stopped at the best constant guess.",
    ),
)
def diagnose(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Two fresh patients of each illness, and two healthy ones, in random order; all must be named rightly."""
    for illness in rng.permutation(np.repeat(ILLNESSES, 2)).tolist():
        symptoms = patient(illness, rng)
        got = answer.call(*astuple(symptoms)).value
        known = isinstance(got, str) and got in ILLNESSES
        expect(known, f"`diagnose` should return one of {', '.join(map(repr, ILLNESSES))}; received {describe(got)}.")
        losses = symptoms.losses
        shown = ", ".join(f"{v:.3g}" for v in (*losses[:3], losses[50], losses[-1]))
        expect(
            got == illness,
            f"a patient with {illness!r} was called {got!r}. Losses 1, 2, 3, 51 and the last: {shown}; best "
            f"constant guess {symptoms.baseline_loss:.3g}; skill {symptoms.train_skill:.2f} on training rows and "
            f"{symptoms.validation_skill:.2f} on new ones; repeatable: {symptoms.repeatable}.",
        )


@exercise_check(
    "debug/squared_error",
    hints=(
        "Print the shape of the difference. How many numbers should it hold?",
        "(n, 1) and (n,) are stretched to (n, n): each prediction meets every target.",
        "Bring both to one shape before you subtract: take the predictions' only column, or give the targets one.",
    ),
)
def squared_error(answer: Function, rng: np.random.Generator, track: str) -> None:
    """The mean of n squares, not of n × n; its gradient; the framework's own type."""
    for n in (1, 6, 40):
        predictions = rng.normal(size=(n, 1)).astype(np.float32)
        targets = rng.normal(1.0, 2.0, n).astype(np.float32)
        wrong = predictions[:, 0].astype(np.float64) - targets
        want, slope = float((wrong**2).mean()), (2 * wrong / n)[:, None]
        _expect_loss(answer, track, (predictions, targets), want, slope, f"for {n} rows")


@exercise_check(
    "debug/log_loss",
    hints=(
        "Put in the logits 200 and −200: which probability becomes exactly 0 or 1, and what is the logarithm then?",
        "Clipping the probability only hides it: where it is clipped, the gradient is zero and nothing is learned.",
        "Do the algebra before the exponential: −log p is log(1 + exp(−z)), and −log(1 − p) is that plus z. "
        "Frameworks have log(1 + exp(z)) under the name softplus.",
    ),
)
def log_loss(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Right at small logits and at huge ones, in value and gradient."""
    for n, size in ((7, 1.0), (9, 2.0), (8, 300.0)):
        logits = (rng.normal(size=n) * size).astype(np.float32)
        labels = np.arange(n) % 2
        rng.shuffle(labels)
        z, y = logits.astype(np.float64), labels.astype(np.float32)
        want = float((np.logaddexp(0, z) - y * z).mean())
        slope = (0.5 * (1 + np.tanh(z / 2)) - y) / n
        where = f"for logits up to {np.abs(logits).max():.0f}"
        _expect_loss(answer, track, (logits, y), want, slope, where)


def _expect_loss(
    answer: Function, track: str, arguments: tuple[Array, Array], want: float, slope: Array, where: str
) -> None:
    """Value, type and gradient of a loss of two arrays, also under the framework's transformation."""
    reply = answer.call(*arguments)
    expect_close(reply.value, want, "loss", tolerance=answer.tolerance, where=where)
    expect_native(reply, "loss", track)
    expect_unchanged(reply, ("the first argument", "the second argument"))
    gradient = answer.gradient(0, *arguments)
    if gradient is not None:
        expect_close(gradient.value, slope, "the gradient", tolerance=answer.tolerance, where=where)
    traced = answer.traced(*arguments)
    if traced is not None:
        name = "loss under the framework's transformation"
        expect_close(traced.value, want, name, tolerance=answer.tolerance, where=where)


_GUARD_HINTS = (
    "Look at the inputs of a batch before you use them: is every one of them a finite number?",
    "Infinity is as bad as NaN. Ask for finite, not for `isnan`.",
    "A bad batch takes no step and gives no loss; the next one goes on from the same parameters.",
)


@exercise_check(
    "debug/guarded_train",
    hints=_GUARD_HINTS,
    hints_by_track={
        "fastai": (
            "A callback can look at `self.x` in `before_batch`, and `CancelBatchException` leaves out the batch.",
            "Infinity is as bad as NaN. Ask for finite, not for `isnan`.",
            "`after_batch` is called for a batch that was left out, too: keep losses where only a good batch comes.",
        ),
    },
)
def guarded_train(answer: Loop, rng: np.random.Generator, track: str) -> None:
    """Bad batches, wherever they stand, leave no trace: losses and parameters are those of the good ones."""
    for number, value in enumerate((np.nan, np.inf, -np.inf)):
        parameters, batches = reference.probe(rng, n_batches=6)
        # The first batch is bad once, so that nothing may depend on a batch before it.
        bad = sorted({0 if number == 0 else 2, int(rng.integers(3, 6))})
        for place in bad:
            x = batches[place][0].copy()
            x[rng.integers(len(x)), rng.integers(x.shape[1])] = value
            batches[place] = (x, batches[place][1])
        good = [batch for place, batch in enumerate(batches) if place not in bad]
        rate = float(rng.uniform(0.1, 0.4))
        losses, want = reference.train(parameters, good, rate)
        reply, final = answer.run(parameters, batches, rate)
        got = reply.value if isinstance(reply.value, (tuple, np.ndarray)) else ()
        found = f"{len(got)}" if len(np.shape(got)) == 1 else describe(reply.value)
        expect(
            found == str(len(good)),
            f"of 6 batches {len(bad)} hold a {value} and should be left out, which leaves {len(good)} losses; "
            f"received {found}.",
        )
        expect_close(reply.value, losses, "losses", tolerance=answer.tolerance, where="of the good batches")
        for name, array in want.items():
            expect(name in final, f"after training the parameter `{name}` is gone.")
            expect_close(final[name], array, name, tolerance=answer.tolerance, where="after the good batches")


@exercise_check(
    "debug/challenge",
    hints=(
        "Which batches are sick? Train on all of them, then ask of each batch how many of its labels the model reads.",
        "A model that has seen each batch only a few times has not learned the wrong labels yet. Sort the batches by "
        "its accuracy: there is a gap.",
        "Leave the sick batches out, start anew, and go through the healthy ones more than once.",
    ),
)
def challenge(answer: Function, rng: np.random.Generator, track: str) -> None:
    """At most 65 % of the errors of plain SGD on all batches, five draws together."""
    errors = allowed = n_test = 0
    for _ in range(N_DRAWS):
        batches, x_test, y_test = fresh_batches(rng)
        reply = answer.call(batches, x_test)
        tones = expect_array(reply.value, "tones", y_test.shape, kind="i")
        errors += int((tones != y_test).sum())
        allowed += plain_errors(batches, x_test, y_test) * 65 // 100
        n_test += len(y_test)
    expect(
        errors <= allowed,
        f"at most {allowed} of {n_test} new recordings, in {N_DRAWS} draws, may be wrong: 65 % of what plain SGD "
        f"misses; yours misses {errors}.",
    )
