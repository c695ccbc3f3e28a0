"""How the idiom exercises of lesson 03_modules are judged: each framework's own way, one check for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import modules_reference as reference
from course_lib.checks.reference import gradients, probe
from course_lib.expect import Mismatch, expect, expect_array, expect_close, expect_native
from course_lib.kinds import Function, Loop, Network, Reply, Step, describe
from course_lib.verdict import exercise_check

Array = NDArray[Any]
Batches = list[tuple[Array, Array]]


@exercise_check(
    "modules/network",
    hints=(
        "In order: hidden layer without bias, norm, ReLU, dropout, output layer. Look at the defaults of the norm.",
        "Momentum and epsilon of the norm: a new batch enters with a share of 0.1, and epsilon is 1e-5.",
        "The mode must reach both layers that have one: the norm and the dropout. The rate is the argument `dropout`.",
    ),
    hints_by_track={
        "tensorflow": (
            "In order: `x @ hidden_weight`, norm, ReLU, dropout, output. Mean and variance are variables with "
            "trainable=False.",
            "`tf.nn.moments(hidden, axes=[0])` gives both; `assign` writes 0.9 of the old and 0.1 of the new.",
            "`training` decides two things: which mean and variance the norm uses, and whether anything is dropped.",
        ),
    },
)
def network(answer: Network, rng: np.random.Generator, track: str) -> None:
    """Names and shapes, what is learned, the logits in evaluation, and in training the norm, the mask, the memory."""
    sizes = {"n_inputs": 5, "n_hidden": 7, "n_classes": 3}
    handle, arrays = answer.build(**sizes), reference.random_network(rng, **sizes)
    shapes, learned = answer.shapes(handle), answer.trainable(handle)
    for name, value in arrays.items():
        expect(shapes[name] == value.shape, f"`{name}` should be {value.shape}; yours is {shapes[name]}.")
        want = name in reference.LEARNED
        expect((name in learned) == want, f"`{name}` should {'' if want else 'not '}be trainable; it is the opposite.")
    answer.load(handle, arrays)
    _expect_evaluation(answer, handle, arrays, rng, track)
    _expect_training(answer, rng, track)
    _expect_no_dropout(answer, rng)


def _expect_evaluation(
    answer: Network, handle: int, arrays: dict[str, Array], rng: np.random.Generator, track: str
) -> None:
    for n in (9, 1):
        x = rng.normal(size=(n, 5)).astype(np.float32)
        first, second = (answer.call(handle, x, train=False) for _ in range(2))
        expect_native(first, "logits", track)
        got = expect_array(first.value, "logits", (n, 3))
        again = expect_array(second.value, "logits", (n, 3))
        expect(np.array_equal(got, again), "two evaluations of the same rows differ: is the dropout still on?")
        want = reference.logits(arrays, x)
        expect_close(got, want, "logits", tolerance=answer.tolerance, where=f"in evaluation, {n} rows")
    for name, value in answer.read(handle).items():
        expect_close(value, arrays[name], name, tolerance=1e-6, where="after an evaluation, unchanged,")


def _expect_training(answer: Network, rng: np.random.Generator, track: str) -> None:
    """With an output layer that hands the hidden values on, the mask can be seen."""
    handle, arrays = answer.build(n_inputs=5, n_hidden=12, n_classes=12), reference.random_network(rng, 5, 12, 12)
    arrays["norm.shift"] = np.full(12, 3.0, np.float32)
    arrays["output.weight"], arrays["output.bias"] = np.eye(12, dtype=np.float32), np.zeros(12, np.float32)
    answer.load(handle, arrays)
    x = rng.normal(size=(40, 5)).astype(np.float32)
    got = expect_array(answer.call(handle, x, train=True).value, "logits", (40, 12))
    hidden = reference.hidden_values(arrays, x, train=True)
    on, positive = got != 0, hidden > 1e-3
    share = float(on[positive].mean())
    expect(share < 1, "in training nothing was dropped; about half of the hidden values should be zero.")
    expect(0.3 < share < 0.7, f"in training about half of the hidden values should stay; {share:.0%} do.")
    want = np.where(on, 2 * hidden, 0.0)
    expect_close(got, want, "what the dropout lets through", tolerance=answer.tolerance, where="in training")
    state = answer.read(handle)
    mean, variance = reference.next_statistics(arrays, x, unbiased=track == "torch")
    expect_close(state["norm.mean"], mean, "norm.mean", tolerance=answer.tolerance, where="after a training batch")
    expect_close(
        state["norm.variance"], variance, "norm.variance", tolerance=answer.tolerance, where="after a training batch"
    )
    again = expect_array(answer.call(handle, x, train=True).value, "logits", (40, 12))
    expect(
        not np.array_equal(again != 0, on), "two training calls dropped the same values: each needs a mask of its own."
    )


def _expect_no_dropout(answer: Network, rng: np.random.Generator) -> None:
    """The rate is the caller's: the rest of the lesson builds its networks with a rate of zero."""
    handle, arrays = (
        answer.build(n_inputs=5, n_hidden=7, n_classes=3, dropout=0.0),
        reference.random_network(rng, 5, 7, 3),
    )
    answer.load(handle, arrays)
    x = rng.normal(size=(40, 5)).astype(np.float32)
    got = expect_array(answer.call(handle, x, train=True).value, "logits", (40, 3))
    want = reference.logits(arrays, x, train=True)
    where = "in training with dropout=0.0, where nothing is dropped,"
    expect_close(got, want, "logits", tolerance=answer.tolerance, where=where)


@exercise_check(
    "modules/repair",
    hints=(
        "Print the masks of the first steps for one seed. In what do they differ?",
        "The random numbers of a step must depend on the seed and on which step it is.",
        "Whoever draws twice from the same starting point draws the same. What moves on from step to step?",
    ),
    hints_by_track={
        "jax": (
            "Print the masks of the first steps for one seed. In what do they differ?",
            "A key that has been used gives the same numbers again. How does one get a new one from it?",
            "`jax.random.split(key)` gives two keys: one to use now, one to go on with.",
        ),
    },
)
def repair(answer: Function, rng: np.random.Generator, track: str) -> None:
    """One mask for each step from one seed: all different, repeatable, and of no other seed's."""
    n_steps, n_units, seed = 12, 40, int(rng.integers(1000))
    masks = _masks(answer, n_steps, n_units, 0.5, seed, track)
    expect(
        len(np.unique(masks, axis=0)) == n_steps,
        f"{n_steps} steps should have {n_steps} masks; yours have {len(np.unique(masks, axis=0))} that differ.",
    )
    again = _masks(answer, n_steps, n_units, 0.5, seed, track)
    expect(np.array_equal(masks, again), "the same seed should give the same masks; two calls differ.")
    # Keras itself shares the streams of neighbouring seeds on its PyTorch backend: it adds a state's two numbers.
    apart = 1000 if track == "keras" else 1
    other = _masks(answer, n_steps, n_units, 0.5, seed + apart, track)
    shared = {row.tobytes() for row in masks} & {row.tobytes() for row in other}
    expect(
        not shared, f"{len(shared)} masks of seed {seed} come again with seed {seed + apart}: the two share a stream."
    )
    share = float(_masks(answer, 60, 50, 0.2, seed, track).mean())
    expect(abs(share - 0.8) < 0.06, f"with the rate 0.2, about 80% of the units should stay on; {share:.0%} do.")


def _masks(answer: Function, n_steps: int, n_units: int, rate: float, seed: int, track: str) -> Array:
    reply = answer.call(n_steps, n_units, rate, seed)
    expect_native(reply, "unit_masks", track)
    masks = expect_array(reply.value, "unit_masks", (n_steps, n_units))
    expect(bool(((masks == 0) | (masks == 1)).all()), "a mask should hold 0.0 and 1.0 only.")
    return masks


FREEZE_HINTS = (
    "Run it and compare each parameter before and after: which moves, and should it?",
    "The loss is that of the whole network; only the update leaves the hidden layer out.",
    "Weight and bias both belong to the hidden layer.",
)


@exercise_check("modules/freeze", hints=FREEZE_HINTS)
def freeze(answer: Step, rng: np.random.Generator, track: str) -> None:
    """Four steps: the hidden layer stays to the last bit, the output layer moves as plain SGD moves it."""
    parameters, batches = probe(rng, n_batches=4)
    learning_rate = float(rng.uniform(0.1, 0.4))
    handle, want = answer.start(parameters, learning_rate), dict(parameters)
    for number, (x, y) in enumerate(batches, 1):
        loss, want = _frozen_step(want, x, y, learning_rate)
        reply = answer.step(handle, x, y)
        expect_close(reply.value, loss, "loss", tolerance=answer.tolerance, where=f"of step {number}")
        _expect_frozen(answer.read(handle), parameters, want, f"after step {number}", answer.tolerance)


@exercise_check(
    "modules/freeze_layer",
    hints=(
        *FREEZE_HINTS[:2],
        "A layer has the attribute `trainable`. Keras looks at it when it builds the step: set it before the first.",
    ),
)
def freeze_layer(answer: Loop, rng: np.random.Generator, track: str) -> None:
    """The same through a whole loop over a compiled model."""
    parameters, batches = probe(rng, n_batches=4)
    learning_rate, losses, want = float(rng.uniform(0.1, 0.4)), [], dict(parameters)
    for x, y in batches:
        loss, want = _frozen_step(want, x, y, learning_rate)
        losses.append(loss)
    reply, final = answer.run(parameters, batches, learning_rate)
    _expect_frozen(final, parameters, want, "after training", answer.tolerance)
    expect_close(reply.value, losses, "losses", tolerance=answer.tolerance)


def _frozen_step(p: dict[str, Array], x: Array, y: Array, learning_rate: float) -> tuple[float, dict[str, Array]]:
    loss, gradient = gradients(p, x, y)
    moved = {n: np.asarray(v, np.float64) - learning_rate * gradient[n] for n, v in p.items() if n.startswith("output")}
    return loss, {**p, **moved}


def _expect_frozen(
    got: dict[str, Array], start: dict[str, Array], want: dict[str, Array], where: str, tolerance: float
) -> None:
    for name, value in start.items():
        if name.startswith("hidden"):
            expect(np.array_equal(got[name], value), f"`{name}` should stay as it was; it has moved {where}.")
        else:
            expect_close(got[name], want[name], name, tolerance=tolerance, where=where)


@exercise_check(
    "modules/resume",
    hints=(
        "The second call gets what the first returned, and nothing else. What did the first know that it needs?",
        "Compare loss by loss: wrong at once means that arrays are missing, wrong from the second on, the velocity.",
        "The optimizer keeps one velocity for each learned array: hand it out under a name, and put it back.",
    ),
)
def resume(answer: Function, rng: np.random.Generator, track: str) -> None:
    """A training is stopped and, after another has run, resumed: its losses are those of never having stopped."""
    runs = [_run(rng) for _ in range(2)]
    states: list[dict[str, Any]] = []
    for arrays, batches, stop, rate, want in runs:
        losses, state = _part(answer, arrays, batches[:stop], rate)
        expect_close(losses, want[:stop], "the losses before the stop", tolerance=answer.tolerance)
        _expect_arrays(state, arrays, batches[:stop], rate, answer.tolerance)
        states.append(state)
    # The first goes on after the second has run, so what an answer keeps to itself is the second's by now.
    state, (_, batches, stop, rate, want) = states[0], runs[0]
    got = expect_array(_part(answer, state, batches[stop:], rate)[0], "losses", (len(batches) - stop,))
    for number, (mine, right) in enumerate(zip(got, want[stop:], strict=True), 1):
        lost = "the arrays" if number == 1 else "the velocity"
        expect(
            abs(mine - right) <= answer.tolerance * max(1.0, abs(right)) * 2,
            f"after the stop, loss {number} should be {right:.5g}, as if there had been none; received {mine:.5g}. "
            f"Does {lost} come back as it was?",
        )


def _run(rng: np.random.Generator) -> tuple[dict[str, Array], Batches, int, float, list[float]]:
    arrays = reference.random_network(rng, 5, 7, 3)
    batches = [(rng.normal(size=(16, 5)).astype(np.float32), rng.integers(0, 3, 16)) for _ in range(7)]
    rate, stop = float(rng.uniform(0.05, 0.15)), int(rng.integers(3, 5))
    return arrays, batches, stop, rate, reference.train(arrays, batches, rate, 0.9)[0]


def _part(answer: Function, state: dict[str, Any], batches: Batches, rate: float) -> tuple[Any, dict[str, Any]]:
    reply: Reply = answer.call(state, batches, rate, 0.9)
    ok = isinstance(reply.value, tuple) and len(reply.value) == 2 and isinstance(reply.value[1], dict)
    expect(ok, f"`resume` should return (losses, state); received {describe(reply.value)}.")
    losses, after = reply.value
    for name, value in after.items():
        if not isinstance(value, (np.ndarray, float, int)):
            raise Mismatch(f"the state should hold arrays only, as a file can; `{name}` is {describe(value)}.")
    return losses, after


def _expect_arrays(
    state: dict[str, Any], arrays: dict[str, Array], batches: Batches, rate: float, tolerance: float
) -> None:
    want = reference.train(arrays, batches, rate, 0.9)[1]
    for name, value in want.items():
        expect(name in state, f"the state should hold `{name}`; it holds {', '.join(state) or 'nothing'}.")
        # The running variance differs between frameworks, by n / (n - 1) of each batch.
        allowed = 0.1 if name == "norm.variance" else 5 * tolerance
        expect_close(state[name], value, name, tolerance=allowed, where="in the state")
