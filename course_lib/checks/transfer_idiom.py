"""How the idiom exercises of lesson 04_transfer are judged: one reference for every framework's way to fine-tune."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import reference
from course_lib.expect import expect, expect_close
from course_lib.kinds import Finetune
from course_lib.verdict import exercise_check

Array = NDArray[Any]
BODY = ("hidden_weight", "hidden_bias")


def drive(answer: Finetune, rng: np.random.Generator, *, frozen: bool) -> None:
    """Train on a few batches beside the reference, which moves body and head by rates of their own."""
    parameters, batches = reference.probe(rng, n_batches=int(rng.integers(4, 8)))
    head_rate = float(rng.uniform(0.2, 0.4))
    body_rate = 0.0 if frozen else float(head_rate * rng.uniform(0.1, 0.4))
    want, losses = {k: np.asarray(v, np.float64) for k, v in parameters.items()}, []
    for x, y in batches:
        loss, gradient = reference.gradients(want, x, y)
        losses.append(loss)
        want = {k: v - (body_rate if k in BODY else head_rate) * gradient[k] for k, v in want.items()}
    reply, final = answer.run(parameters, batches, (head_rate,) if frozen else (body_rate, head_rate))
    for name in want:
        expect(name in final, f"after training the parameter `{name}` is gone; there is {', '.join(final)}.")
    if frozen:
        for name in BODY:
            moved = float(np.abs(np.asarray(final[name], np.float64) - parameters[name]).max())
            expect(
                final[name].shape == parameters[name].shape and moved == 0,
                f"the body should stay as it was to the last bit; `{name}` moved by up to {moved:.2g}.",
            )
    expect_close(reply.value, losses, "losses", tolerance=answer.tolerance, where=f"of {len(batches)} batches")
    for name, value in want.items():
        expect_close(final[name], value, name, tolerance=answer.tolerance, where="after training")


@exercise_check(
    "transfer/freeze",
    hints=(
        "Print a weight of the body before and after one batch: it has to be the same number.",
        "Say which parameters are to move before the optimizer, or the compiled step, is made.",
        "The head trains as always: every batch once, plain SGD, each loss kept as a number from before its step.",
    ),
    hints_by_track={
        "fastai": (
            "`freeze` freezes all parameter groups but the last. How many groups does your Learner have?",
            "A `splitter` is a function of the model that returns the lists of parameters: the body's, the head's.",
            "`learn.freeze()`, then `learn.fit(1, learning_rate)`; the callback keeps the loss of each batch.",
        ),
        "keras": (
            "A layer has the attribute `trainable`. Set it for the body before you compile.",
            "Print `model.trainable_variables` before training: it should list the head's two and no other.",
            "`model.reset_metrics()` before each `train_on_batch` makes the loss that of one batch.",
        ),
        "jax": (
            "`optax.multi_transform` takes optimizers by name and, for each parameter, the name of its own.",
            "`optax.set_to_zero()` is the optimizer of a parameter that is not to move.",
            "Compile one step with `jax.jit`, and give it parameters and state as arguments.",
        ),
        "tensorflow": (
            "A tape gives gradients for just the variables that you ask for.",
            "Ask for the head's weight and bias, and apply these two gradients to these two variables.",
            "Make the step once, with `@tf.function`, and call it for every batch.",
        ),
    },
)
def freeze(answer: Finetune, rng: np.random.Generator, track: str) -> None:
    """The head trains as the reference's, the body stays to the last bit."""
    drive(answer, rng, frozen=True)


@exercise_check(
    "transfer/two_rates",
    hints=(
        "Body and head take the same step, only with different rates: body_rate and head_rate, in this order.",
        "The framework's optimizer can hold two groups of parameters, each with a learning rate of its own.",
        "Both groups move in every step, and the loss is the one from before the step.",
    ),
    hints_by_track={
        "fastai": (
            "With a splitter the Learner has two groups; `fit` takes a rate for each.",
            "`slice(low, high)` spreads the rates over the groups: low for the first, high for the last.",
            "`learn.fit(1, slice(body_rate, head_rate))`, and nothing is frozen.",
        ),
        "keras": (
            "`share * f + (1 - share) * ops.stop_gradient(f)` has the value of f. And which gradient?",
            "With `head_rate` for all, the body's gradient must arrive body_rate / head_rate times as large.",
            "Call the two layers that you were given on the model's input: then the same weights train.",
        ),
        "jax": (
            "As for the frozen body, only that the body's optimizer is another SGD.",
            "The labels are a dict with the parameters' names; its values are the names of the optimizers.",
            "Compile one step with `jax.jit`, and give it parameters and state as arguments.",
        ),
        "tensorflow": (
            "Two optimizers, one for each group of variables.",
            "One call of `tape.gradient` may be asked for both groups at once, as a list of two lists.",
            "Make the step once, with `@tf.function`, and call it for every batch.",
        ),
    },
)
def two_rates(answer: Finetune, rng: np.random.Generator, track: str) -> None:
    """Body and head move by rates of their own."""
    drive(answer, rng, frozen=False)


@exercise_check(
    "transfer/repair",
    hints=(
        "The symptom is the body: does it move? Find the line that should have stopped it.",
        "Is the line wrong, or does it come too late, or does it say something else than it seems to?",
        "Ask the framework which parameters it is about to train, right before the first step.",
    ),
    hints_by_track={
        "torch": (
            "After the line that should freeze, print `requires_grad` of the body's weight.",
            "`requires_grad` belongs to a tensor. A layer is no tensor; what happens when you set it there?",
            "A module has a method that sets it for all of its parameters, and its name ends in an underscore.",
        ),
        "fastai": (
            "Print `len(learn.opt.param_lists)` after `freeze()`: how many groups are there?",
            "A Learner puts all parameters into one group unless told otherwise, and freezes all but the last.",
            "The Learner takes a `splitter`.",
        ),
        "keras": (
            "Print `model.trainable_variables` right before the first step.",
            "A model whose own `trainable` is False offers no variable for training, whatever its layers say.",
            "Freeze the layer, not the model.",
        ),
        "jax": (
            "Print the update that the optimizer returns for the body. Which number is it?",
            "`optax.masked` is for where the mask is True. Elsewhere the gradient passes through unchanged.",
            "What should be done with the body's gradient has to be said: `optax.set_to_zero()`.",
        ),
        "tensorflow": (
            "When does Python look at the flag: while the graph is made, or at every step?",
            "`get_concrete_function` traces. What the flag says at that moment is built into the graph.",
            "Set the flag before anything traces the step.",
        ),
    },
)
def repair(answer: Finetune, rng: np.random.Generator, track: str) -> None:
    """The repaired run equals the reference with a frozen body."""
    drive(answer, rng, frozen=True)
