"""How the exercises in NumPy of lesson 01_digits are judged; the frameworks' idioms are in `digits_idiom`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import digits_idiom as digits_idiom
from course_lib.checks import reference
from course_lib.checks.challenge import N_DRAWS, baseline_errors, fresh_data
from course_lib.expect import expect, expect_array, expect_close, expect_indices, expect_unchanged
from course_lib.kinds import Function, describe
from course_lib.verdict import exercise_check

Array = NDArray[Any]


@exercise_check(
    "digits/split",
    hints=(
        "First choose which groups go to validation; only then look at single rows.",
        "`np.unique(groups)` lists the groups, and a generator made from `seed` can choose among them without repeats.",
        "`np.isin(groups, chosen)` marks the rows of the chosen groups; `np.flatnonzero` turns marks into row numbers.",
    ),
)
def split(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Groups stay whole, every row is used once, and the seed decides which groups are held out."""
    names = rng.choice(1000, size=12, replace=False)
    groups = rng.permutation(np.repeat(names, rng.integers(2, 6, size=len(names))))
    held_out: set[frozenset[int]] = set()
    for seed in range(4):
        n_validation = int(rng.integers(2, 6))
        train, validation = _split_of(answer, groups, n_validation, seed)
        inside = set(groups[validation].tolist())
        both = inside & set(groups[train].tolist())
        expect(
            not both,
            f"group {min(both, default=0)} has rows on both sides: the model would be tested on hands it has seen.",
        )
        missing = len(groups) - len(train) - len(validation)
        side = "left out" if missing > 0 else "on both"
        expect(missing == 0, f"every row should be on just one side; {abs(missing)} of {len(groups)} are {side}.")
        expect(len(inside) == n_validation, f"validation should hold {n_validation} groups; it holds {len(inside)}.")
        again = _split_of(answer, groups, n_validation, seed)
        expect(
            set(again[1].tolist()) == set(validation.tolist()),
            "the same seed should give the same split; two calls differ.",
        )
        for other in (seed, seed + 100):
            if len(held_out) < 2:
                held_out.add(frozenset(_split_of(answer, groups, 3, other)[1].tolist()))
    expect(len(held_out) > 1, "another seed should hold out other groups; eight seeds all gave the same ones.")


def _split_of(answer: Function, groups: Array, n_validation: int, seed: int) -> tuple[Array, Array]:
    reply = answer.call(groups, n_validation, seed)
    ok = isinstance(reply.value, tuple) and len(reply.value) == 2
    expect(ok, f"`split` should return two arrays of row numbers, train and validation; received {reply.type_name}.")
    expect_unchanged(reply, ("groups", "n_validation_groups", "seed"))
    train, validation = (
        expect_indices(v, name, len(groups)) for v, name in zip(reply.value, ("train", "validation"), strict=True)
    )
    return train, validation


@exercise_check(
    "digits/accuracy",
    hints=(
        "The predicted class of a row is the column of its largest logit.",
        "Compare two arrays of the same shape, (n,) with (n,); the mean of the comparison is the share that is right.",
        "`logits.argmax(axis=1)` has shape (n,); with `keepdims=True` it is (n, 1), and with (n,) that gives (n, n).",
    ),
)
def accuracy(answer: Function, rng: np.random.Generator, track: str) -> None:
    """The share of right predictions, for several n, also where n equals the number of classes."""
    for n, classes in ((1, 3), (6, 6), (40, 5), (9, 2)):
        logits = rng.normal(size=(n, classes)).astype(np.float32) - 3
        labels = np.where(rng.random(n) < 0.6, logits.argmax(axis=1), rng.integers(0, classes, n))
        reply = answer.call(logits, labels)
        expect_unchanged(reply, ("logits", "labels"))
        want = float((logits.argmax(axis=1) == labels).mean())
        expect_close(reply.value, want, "accuracy", tolerance=1e-6, where=f"for {n} rows and {classes} classes")


@exercise_check(
    "digits/n_parameters",
    hints=(
        "Each layer has a weight matrix and a bias vector; the ReLU between them has nothing to learn.",
        "A layer from a inputs to b outputs has a × b weights and b biases.",
        "Add the two layers: inputs to hidden, and hidden to classes.",
    ),
)
def n_parameters(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Weights and biases of both layers, counted."""
    for _ in range(3):
        i, h, c = (int(v) for v in rng.integers(2, 90, 3))
        got = expect_array(answer.call(i, h, c).value, "n_parameters", (), kind="i")
        want = i * h + h + h * c + c
        expect(int(got) == want, f"a network {i} → {h} → {c} has {want} parameters; received {int(got)}.")


@exercise_check(
    "digits/untrained_loss",
    hints=(
        "A model that knows nothing gives every class the same probability.",
        "With C classes, what probability does the right one get, and what is the negative logarithm of that?",
        "The natural logarithm: `math.log`. For two classes the result is about 0.69.",
    ),
)
def untrained_loss(answer: Function, rng: np.random.Generator, track: str) -> None:
    """ln C, the loss of a uniform guess."""
    for classes in (2, 10, int(rng.integers(20, 2000))):
        expect_close(
            answer.call(classes).value,
            math.log(classes),
            "untrained_loss",
            tolerance=1e-6,
            where=f"for {classes} classes",
        )


@exercise_check(
    "digits/gradients",
    hints=(
        "Write the shape of each array beside it: the gradient for a parameter has that parameter's shape.",
        "Output layer first: its input is `hidden`, and the `d` for its output is given.",
        "Then pass on: `d @ output_weight.T` is what reaches `hidden`. Then the ReLU's mask, then the first layer.",
    ),
)
def gradients(answer: Function, rng: np.random.Generator, track: str) -> None:
    """The gradient for each parameter, for a batch of one and of several; the inputs stay as they are."""
    parameters, batches = reference.probe(rng, batch_size=6)
    for x, y in (batches[0], (batches[1][0][:1], batches[1][1][:1])):
        _, want = reference.gradients(parameters, x, y)
        reply = answer.call(parameters, x, y)
        got = reply.value
        expect(isinstance(got, dict), f"`gradients` should return a dict of four arrays; received {describe(got)}.")
        for name, value in want.items():
            expect(name in got, f"`gradients` should have the name `{name}`; it has {', '.join(got) or 'none'}.")
            expect_close(got[name], value, f"the gradient for {name}", tolerance=answer.tolerance)
        expect_unchanged(reply, ("parameters", "x", "y"))


@exercise_check(
    "digits/challenge",
    hints=(
        "Look at what plain SGD reaches with these batches, then change one thing at a time.",
        "A larger learning rate, momentum, or a wider hidden layer each buy some of the distance.",
        "The batches may be used in any way, but there are no others. What else do they allow than one step each?",
    ),
)
def challenge(answer: Function, rng: np.random.Generator, track: str) -> None:
    """On held-out forms at most half the errors of plain SGD on the same batches, three draws together."""
    errors = allowed = n_test = 0
    for _ in range(N_DRAWS):
        batches, x_test, y_test = fresh_data(rng)
        reply = answer.call(batches, x_test)
        labels = expect_array(reply.value, "labels", y_test.shape, kind="i")
        errors += int((labels != y_test).sum())
        allowed += baseline_errors(batches, x_test, y_test) // 2
        n_test += len(y_test)
    expect(
        errors <= allowed,
        f"at most {allowed} of {n_test} test digits, in {N_DRAWS} draws of three forms, may be wrong: half of what "
        f"plain SGD misses; yours misses {errors}.",
    )
