"""Native answers of the NumPy track, and the core exercises of every track."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.adapters.base import FunctionAnswer, HandledAnswer, LoopAnswer, ModelAnswer, reply, same
from course_lib.frameworks import numpy as framework
from course_lib.kinds import Handle, Reply, answering

Array = NDArray[Any]


class Function(FunctionAnswer):
    """A plain function of arrays."""

    framework = framework


class Model(ModelAnswer):
    """The answer is `forward(parameters, x) -> logits`; the model itself is the dict of parameters."""

    framework = framework

    def build(self, **sizes: int) -> Handle:
        i, h, c = sizes["n_inputs"], sizes["n_hidden"], sizes["n_classes"]
        shapes = {"hidden_weight": (i, h), "hidden_bias": (h,), "output_weight": (h, c), "output_bias": (c,)}
        return self.new({name: np.zeros(shape, np.float32) for name, shape in shapes.items()})

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        with answering(f"calling it on x of shape {x.shape}"):
            return reply(framework, self._answer(self[handle], framework.from_numpy(x)))


class Step(HandledAnswer):
    """The answer is `step(parameters, x, y, learning_rate) -> (loss, parameters)`; the old parameters stay."""

    framework = framework

    def start(self, parameters: Mapping[str, Array], learning_rate: float) -> Handle:
        return self.new((framework.parameters_out(parameters), learning_rate))

    def step(self, handle: Handle, x: Array, y: Array) -> Reply:
        parameters, learning_rate = self[handle]
        with answering(f"taking a step on x of shape {x.shape}"):
            given = framework.parameters_out(parameters)
            loss, moved = self._answer(given, framework.from_numpy(x), framework.from_numpy(y), learning_rate)
            moved = framework.parameters_out({str(k): np.asarray(v) for k, v in moved.items()})
        changed = (0,) if any(not same(value, given.get(name)) for name, value in parameters.items()) else ()
        self[handle] = (moved, learning_rate)
        return reply(framework, loss, changed)

    def read(self, handle: Handle) -> dict[str, Array]:
        return framework.parameters_out(self[handle][0])

    def retraces(self, handle: Handle) -> int | None:
        return None


# Small enough that its square vanishes beside every number here.
NUDGE = 1e-30j


def _loss(parameters: Mapping[str, Array], x: Array, y: Array) -> Any:
    """Mean cross-entropy of the two-layer network, also for complex parameters."""
    hidden = x @ parameters["hidden_weight"] + parameters["hidden_bias"]
    hidden = np.where(hidden.real > 0, hidden, 0.0)
    logits = hidden @ parameters["output_weight"] + parameters["output_bias"]
    logits = logits - logits.real.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(y)), y].mean()


def probe_step(
    parameters: Mapping[str, Array], x: Array, y: Array, learning_rate: float
) -> tuple[float, dict[str, Array]]:
    """A right step of the checker's own, for answers that are given one.

    Each slope is the imaginary part of the loss at a parameter nudged along the imaginary axis, so that no backward
    pass, which is an exercise's answer, lies in a learner's process. Source: Squire and Trapp 1998, "Using complex
    variables to estimate derivatives of real functions", SIAM Review 40(1).
    """
    exact = {name: np.asarray(value, np.float64) for name, value in parameters.items()}
    moved: dict[str, Array] = {}
    for name, value in exact.items():
        slope = np.empty(value.shape)
        for place in np.ndindex(value.shape):
            nudged = value.astype(np.complex128)
            nudged[place] += NUDGE
            slope[place] = _loss({**exact, name: nudged}, x, y).imag / NUDGE.imag
        moved[name] = value - learning_rate * slope
    return float(_loss(exact, x, y).real), moved


class Loop(LoopAnswer):
    """The answer is `train(step, parameters, batches, learning_rate) -> (losses, parameters)`; the step is a probe."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        with answering(f"training on {len(batches)} batches"):
            losses, end = self._answer(probe_step, framework.parameters_out(parameters), list(batches), learning_rate)
            final = {str(k): np.asarray(v) for k, v in end.items()}
        return self.trained(losses, final)


ADAPTERS = {"function": Function, "model": Model, "step": Step, "loop": Loop}
