"""How the idiom exercises of lesson 01_digits are judged: each framework's own way, one check for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import reference
from course_lib.expect import Mismatch, expect, expect_array, expect_close, expect_native, expect_unchanged
from course_lib.kinds import Function, Loop, Model, Observer, Reply, Step
from course_lib.metrics import forward
from course_lib.verdict import exercise_check

Array = NDArray[Any]
SIZES = {"n_inputs": 5, "n_hidden": 7, "n_classes": 3}


@exercise_check(
    "digits/cross_entropy",
    hints=(
        "Work with logarithms from the start: the exponential of a large logit is infinite.",
        "The log-probability of a class is its logit minus the log-sum-exp of its row.",
        "Subtract the row's maximum, or use the framework's log-softmax; then pick the label's column and average.",
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
        # A model without Dropout computes the same while it trains.
        for x, train in ((batches[0][0], False), (batches[1][0][:1], True)):
            reply = answer.call(handle, x, train=train)
            logits = forward(parameters, x)
            expect_array(reply.value, "logits", logits.shape)
            _not_softmax(reply, logits)
            where = f"for x of shape {x.shape}{' while training' if train else ''}"
            expect_close(reply.value, logits, "logits", tolerance=answer.tolerance, where=where)
            expect_native(reply, "logits", track)


def _not_softmax(reply: Reply, logits: Array) -> None:
    value = np.asarray(reply.value, dtype=np.float64)
    looks = bool((value >= 0).all()) and bool(np.allclose(value.sum(axis=1), 1.0, atol=1e-3))
    expect(
        not looks,
        "your model returns probabilities (each row adds up to 1); return the logits and leave softmax to the loss.",
    )


def _drive(answer: Step, rng: np.random.Generator) -> int | None:
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


@exercise_check(
    "digits/step",
    hints=_STEP_HINTS,
    hints_by_track={
        "tensorflow": (
            _STEP_HINTS[0],
            "Where does `@tf.function` stand, and how often does that line run? Once is enough for all batches.",
            "What the tape has not seen has no gradient: compute the loss inside its `with` block.",
        ),
        "jax": (
            _STEP_HINTS[0],
            "`jax.value_and_grad` gives the loss and the gradients; `optimizer.update` turns them into updates.",
            "Where does `jax.jit` stand, and how often does that line run? What the step needs comes in as arguments.",
        ),
    },
)
def step(answer: Step, rng: np.random.Generator, track: str) -> None:
    """Five steps of plain SGD equal the reference; in compiling tracks the Python code runs at most twice."""
    retraces = _drive(answer, rng)
    given = {"jax": "loss", "tensorflow": "model"}.get(track, "model")
    expect(retraces != 0, f"your step never called the `{given}` that it was given; compute the loss with it.")
    _expect_compiled(retraces)


@exercise_check(
    "digits/repair",
    hints=(
        "Run it on a few batches and print the loss and one parameter after each: which does not move as it should?",
        "There is one fault, and the code around it is right. Compare each line with your own step.",
        "Ask of each value in the faulty line: is it of this batch, of this step, and of the right shape?",
    ),
    hints_by_track={
        "keras": (
            "Compare the first loss with that of a model that knows nothing. What could make it so different?",
            "The gradient is right for the loss that is computed here. Is it the loss that you mean?",
            "Does this loss expect probabilities or logits, and which of them does the model return?",
        ),
        "jax": (
            "Print a parameter and the loss: which of them moves, and which should?",
            "Does the same code train under `jax.disable_jit()`? Then what did the compiled function keep?",
            "What does the compiled function get as an argument, and what does it read from outside?",
        ),
        "tensorflow": (
            "Look at the parameters one by one: which of them do not move at all?",
            "What has no gradient is left out with a warning. Read the warning.",
            "Which operations did the tape see, and which came before it?",
        ),
    },
)
def repair(answer: Step, rng: np.random.Generator, track: str) -> None:
    """The repaired step equals the reference over several steps, and is still compiled where it was."""
    _expect_compiled(_drive(answer, rng))


def _expect_compiled(retraces: int | None) -> None:
    if retraces is not None and retraces > 2:
        raise Mismatch(
            f"five batches of one shape ran your step's Python code {retraces} times; compile it once and reuse it."
        )


@exercise_check(
    "digits/train",
    hints=(
        "Go through the batches once, in their order, one step each.",
        "Keep each step's loss as a plain number, so that the list has one float per batch.",
        "What a step returns must be what the next step starts from.",
    ),
    hints_by_track={
        "keras": (
            "Go through the batches once and keep each one's loss as a plain number.",
            "What Keras reports is the mean since the last reset of its metrics, not the loss of this batch.",
            "`model.reset_metrics()` before each `train_on_batch` makes the mean that of one batch.",
        ),
        "fastai": (
            "Give `opt_func` and the learning rate yourself, and call `fit`: `fit_one_cycle` changes the rate.",
            "The recorder's losses are a smoothed mean; let a callback keep `self.loss.item()` in `after_batch`.",
            "`after_batch` also comes while validating: ask `self.training`.",
        ),
    },
)
def train(answer: Loop, rng: np.random.Generator, track: str) -> None:
    """One loss per batch, and the final parameters, equal to the reference's."""
    _drive_loop(answer, rng)


@exercise_check(
    "digits/repair_learner",
    hints=(
        "Compare the losses with plain SGD's: which is the first that is wrong, and by what factor does each shrink?",
        "The callback computes the right number. Does the Learner, which goes backwards, ever see it?",
        "Reading `self.name` in a callback reaches the Learner; assigning to it makes an attribute that hides its own.",
    ),
)
def repair_learner(answer: Loop, rng: np.random.Generator, track: str) -> None:
    """The repaired loop's losses and parameters equal plain SGD's."""
    _drive_loop(answer, rng)


def _drive_loop(answer: Loop, rng: np.random.Generator) -> None:
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
    hints_by_track={
        "keras": (
            "Keras calls `on_train_batch_end(self, batch, logs)`. What does the loss in `logs` hold later on?",
            "A mean times its number of batches is a sum, and two sums in a row differ by one batch's loss.",
            "At the limit, set `self.model.stop_training = True`; a new epoch starts a new mean.",
        ),
    },
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
