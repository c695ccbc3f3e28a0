"""How the exercises of lesson 01_digits are judged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import reference
from course_lib.expect import (
    Mismatch,
    expect,
    expect_array,
    expect_close,
    expect_indices,
    expect_native,
    expect_unchanged,
)
from course_lib.kinds import Function, Loop, Model, Observer, Reply, Step
from course_lib.verdict import exercise_check

Array = NDArray[Any]
SIZES = {"n_inputs": 5, "n_hidden": 7, "n_classes": 3}


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
    held_out = set()
    for seed in range(4):
        n_validation = int(rng.integers(2, 6))
        train, validation = _split_of(answer, groups, n_validation, seed)
        inside = set(groups[validation].tolist())
        both = inside & set(groups[train].tolist())
        expect(
            not both,
            f"group {min(both, default=0)} has rows on both sides: the model would be tested on writers it has seen.",
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
        held_out |= {frozenset(_split_of(answer, groups, 3, s)[1].tolist()) for s in (seed, seed + 100)}
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
        "`logits.argmax(axis=1)` has shape (n,). With `keepdims=True` it is (n, 1), and comparing that with (n,) gives (n, n).",
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
    "digits/cross_entropy",
    hints=(
        "Work with logarithms from the start: the exponential of a large logit is infinite.",
        "The log-probability of a class is its logit minus the log-sum-exp of its row.",
        "Subtract the row's maximum first, or use the framework's log-softmax; then pick the label's column and average.",
    ),
)
def cross_entropy(answer: Function, rng: np.random.Generator, track: str) -> None:
    """The value, at ordinary and at huge logits; the type; the gradient; the framework's transformation."""
    for n, classes, size in ((8, 10, 1.0), (1, 3, 5.0), (6, 6, 3000.0)):
        logits = (rng.normal(size=(n, classes)) * size).astype(np.float32)
        labels = rng.integers(0, classes, n)
        want, slope = reference.cross_entropy_and_gradient(logits, labels)
        reply = answer.call(logits, labels)
        where = f"for logits of shape {logits.shape} up to {np.abs(logits).max():.0f}"
        expect_close(reply.value, want, "loss", tolerance=answer.tolerance, where=where)
        expect_native(reply, "loss", track)
        expect_unchanged(reply, ("logits", "labels"))
        gradient = answer.gradient(0, logits, labels)
        if gradient is not None:
            expect_close(gradient.value, slope, "the gradient for the logits", tolerance=answer.tolerance, where=where)
        traced = answer.traced(logits, labels)
        if traced is not None:
            expect_close(
                traced.value, want, "loss under the framework's transformation", tolerance=answer.tolerance, where=where
            )


@exercise_check(
    "digits/model",
    hints=(
        "Two layers with a ReLU between them, and nothing after the second: the loss wants logits.",
        "The layers are called `hidden` and `output`, so that anyone can find their parameters.",
        "Each layer computes x @ weight + bias. Check it on a batch of one, and on one of nine.",
    ),
)
def model(answer: Model, rng: np.random.Generator, track: str) -> None:
    """Sizes, names, and the logits for loaded parameters, for a batch of one and of nine."""
    handle = answer.build(**SIZES)
    want = {k: tuple(v.shape) for k, v in reference.probe(rng)[0].items()}
    got = answer.shapes(handle)
    for name, shape in want.items():
        expect(name in got, f"the model should have a parameter `{name}`; it has {', '.join(got) or 'none'}.")
        expect(got[name] == shape, f"`{name}` should be {shape} as (inputs, outputs); received {got[name]}.")
    extra = sorted(set(got) - set(want))
    expect(not extra, f"the model should have just the parameters of two layers; it also has {', '.join(extra)}.")
    for _ in range(2):
        parameters, batches = reference.probe(rng, batch_size=9)
        answer.load(handle, parameters)
        for x in (batches[0][0], batches[1][0][:1]):
            reply = answer.call(handle, x)
            logits = reference_logits(parameters, x)
            expect_array(reply.value, "logits", logits.shape)
            _not_softmax(reply, logits)
            expect_close(reply.value, logits, "logits", tolerance=answer.tolerance, where=f"for x of shape {x.shape}")
            expect_native(reply, "logits", track)


def reference_logits(parameters: dict[str, Array], x: Array) -> Array:
    """Logits (n, classes) of the two-layer network."""
    from course_lib.metrics import forward

    return forward(parameters, x)


def _not_softmax(reply: Reply, logits: Array) -> None:
    value = np.asarray(reply.value, dtype=np.float64)
    looks = bool((value >= 0).all()) and bool(np.allclose(value.sum(axis=1), 1.0, atol=1e-3))
    expect(
        not looks,
        "your model returns probabilities (each row adds up to 1); return the logits and leave softmax to the loss.",
    )


def _drive(answer: Step, rng: np.random.Generator, *, name: str) -> int | None:
    """Take five steps beside the reference; the number of retraces, if the track counts them."""
    parameters, batches = reference.probe(rng)
    learning_rate = float(rng.uniform(0.1, 0.4))
    handle = answer.start(parameters, learning_rate)
    want: dict[str, Array] = dict(parameters)
    for number, (x, y) in enumerate(batches):
        loss, want = reference.sgd_step(want, x, y, learning_rate)
        got = answer.step(handle, x, y)
        expect_unchanged(got, ("parameters", "x", "y"))
        expect_close(got.value, loss, "loss", tolerance=answer.tolerance, where=f"of step {number + 1}")
    final = answer.read(handle)
    for key, value in want.items():
        expect(
            key in final, f"after the steps the parameter `{key}` is gone; there is {', '.join(final) or 'nothing'}."
        )
        expect_close(final[key], value, key, tolerance=answer.tolerance, where=f"after {len(batches)} steps")
    return answer.retraces(handle)


_STEP_HINTS = (
    "A step has three parts: the loss of this batch, its gradient for each parameter, the move against the gradient.",
    "The first step is often right and the second wrong: what is left over from the step before?",
    "Return the loss from *before* the parameters moved, and move each parameter by learning rate × gradient.",
)


@exercise_check("digits/step", hints=_STEP_HINTS)
def step(answer: Step, rng: np.random.Generator, track: str) -> None:
    """Five steps of plain SGD equal the reference; in compiling tracks the Python code runs at most twice."""
    retraces = _drive(answer, rng, name="step")
    if retraces is not None and retraces > 2:
        raise Mismatch(
            f"five batches of one shape ran your step's Python code {retraces} times; compile it once and reuse it."
        )


@exercise_check(
    "digits/repair",
    hints=(
        "Run it on a few batches and print the loss and one parameter after each: which does not move as it should?",
        "There is one fault, and the code around it is right. Compare each line with your own step.",
        "Ask of each value in the faulty line: is it of this batch, of this step, and of the right shape?",
    ),
)
def repair(answer: Step, rng: np.random.Generator, track: str) -> None:
    """The repaired step equals the reference over several steps."""
    _drive(answer, rng, name="repair")


@exercise_check(
    "digits/train",
    hints=(
        "Go through the batches once, in their order, one step each.",
        "Keep each step's loss as a plain number, so that the list has one float per batch.",
        "What a step returns must be what the next step starts from.",
    ),
)
def train(answer: Loop, rng: np.random.Generator, track: str) -> None:
    """One loss per batch, and the final parameters, equal to the reference's."""
    parameters, batches = reference.probe(rng, n_batches=int(rng.integers(4, 8)))
    learning_rate = float(rng.uniform(0.1, 0.4))
    losses, want = reference.train(parameters, batches, learning_rate)
    reply, final = answer.run(parameters, batches, learning_rate)
    expect_close(reply.value, losses, "losses", tolerance=answer.tolerance, where=f"of {len(batches)} batches")
    for name, value in want.items():
        expect(
            name in final, f"after training the parameter `{name}` is gone; there is {', '.join(final) or 'nothing'}."
        )
        expect_close(final[name], value, name, tolerance=answer.tolerance, where="after training")


@exercise_check(
    "digits/observer",
    hints=(
        "The framework calls a method of your callback after each batch; look up its name and what it can see.",
        "Record the loss of *this* batch as a plain number, and only while training, not while validating.",
        "When the number of recorded losses reaches the limit, tell the framework to stop in the way it provides.",
    ),
)
def observer(answer: Observer, rng: np.random.Generator, track: str) -> None:
    """The losses of the first `limit` batches, and no step after that."""
    for limit in (3, 5):
        parameters, batches = reference.probe(rng, n_batches=6)
        learning_rate = float(rng.uniform(0.1, 0.4))
        losses, _ = reference.train(parameters, batches, learning_rate)
        reply, n_steps = answer.run(parameters, batches, learning_rate, limit)
        got = reply.value if isinstance(reply.value, (tuple, np.ndarray)) else ()
        expect(len(got) == limit, f"the callback should record {limit} losses and stop; it recorded {len(got)}.")
        expect_close(reply.value, losses[:limit], "the recorded losses", tolerance=answer.tolerance)
        expect(n_steps == limit, f"training should stop after {limit} batches; it took {n_steps} steps.")


@exercise_check(
    "digits/challenge",
    hints=(
        "Look at what plain SGD reaches with these batches, then change one thing at a time.",
        "A larger learning rate, momentum, or a wider hidden layer each buy some of the distance.",
        "The batches may be used in any way, but there are no others. What else do they allow than one step each?",
    ),
)
def challenge(answer: Function, rng: np.random.Generator, track: str) -> None:
    """On writers that were held out, at most half the errors of plain SGD on the same batches."""
    from course_lib.checks.challenge import baseline_errors, fresh_data

    batches, x_test, y_test = fresh_data(rng)
    reply = answer.call(batches, x_test)
    labels = expect_array(reply.value, "labels", y_test.shape, kind="i")
    errors, limit = int((labels != y_test).sum()), baseline_errors(batches, x_test, y_test) // 2
    expect(
        errors <= limit,
        f"at most {limit} of {len(y_test)} test digits may be wrong, half of plain SGD's; yours misses {errors}.",
    )
