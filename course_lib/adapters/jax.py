"""Native answers of the JAX track: pure functions, seen also by the transformations grad and jit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from numpy.typing import NDArray

from course_lib.adapters.base import (
    FunctionAnswer,
    HandledAnswer,
    LoopAnswer,
    ModelAnswer,
    natively,
    plain,
    reply,
    type_name,
)
from course_lib.adapters.network.jax import Network
from course_lib.frameworks import jax as framework
from course_lib.kinds import Handle, Reply, Sent, Unfit, answering, describe

Array = NDArray[Any]
Parameters = dict[str, jax.Array]


class Function(FunctionAnswer):
    """A function of arrays, seen also by jax.grad and jax.jit."""

    framework = framework

    def gradient(self, argnum: int, *arguments: Sent) -> Reply | None:
        sent = [natively(framework, a) for a in arguments]
        with answering("differentiating it with jax.grad"):
            value = jax.grad(self._answer, argnums=argnum)(*sent)
        return reply(framework, value)

    def traced(self, *arguments: Sent) -> Reply | None:
        sent = [natively(framework, a) for a in arguments]
        with answering("compiling it with jax.jit"):
            value = jax.jit(self._answer)(*sent)
        return reply(framework, value)


class Model(ModelAnswer):
    """The answer is a pure function `forward(parameters, x) -> logits`; the model itself is the dict of parameters."""

    framework = framework

    def build(self, **sizes: int) -> Handle:
        i, h, c = sizes["n_inputs"], sizes["n_hidden"], sizes["n_classes"]
        shapes = {"hidden_weight": (i, h), "hidden_bias": (h,), "output_weight": (h, c), "output_bias": (c,)}
        return self.new({name: jnp.zeros(shape) for name, shape in shapes.items()})

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        native, given = framework.from_numpy(x), dict(self[handle])
        with answering(f"calling it on x of shape {x.shape}"):
            logits = self._answer(given, native)
        if given.keys() != self[handle].keys() or any(given[k] is not v for k, v in self[handle].items()):
            raise Unfit("forward changed the dict of parameters that it was given; a pure function leaves it as it was")
        # A trace on shapes alone costs no compilation, and shows NumPy or a Python `if` inside the function.
        with answering("tracing it as jax.jit and jax.grad do"):
            jax.eval_shape(self._answer, dict(self[handle]), native)
        # A single row may leave every hidden unit at zero, and then a gradient is rightly zero.
        if len(x) > 1 and framework.is_native(logits) and bool(jnp.isfinite(logits).all()):
            self._expect_gradients(dict(self[handle]), native)
        return reply(framework, logits)

    def _expect_gradients(self, parameters: Parameters, x: jax.Array) -> None:
        with answering("asking for its gradient with jax.grad"):
            gradient = jax.grad(lambda p: jnp.square(self._answer(p, x)).sum())(parameters)
        for name, value in gradient.items():
            if not value.any():
                raise Unfit(f"no gradient reaches `{name}`: forward does not use it, or cuts it off on the way")


class Count(NamedTuple):
    """The probe optimizer's state: how many updates it has made."""

    n_updates: jax.Array


def probe_optimizer(learning_rate: float) -> optax.GradientTransformation:
    """Plain SGD that counts its updates in its state, so that a state which is not handed on shows."""

    def update(gradient: Any, state: Count, parameters: Any = None) -> tuple[Any, Count]:
        if not isinstance(state, Count):
            raise Unfit("optimizer.update should be given the opt_state that belongs to this optimizer, as it came in")
        return jax.tree.map(lambda g: -learning_rate * g, gradient), Count(state.n_updates + 1)

    return optax.GradientTransformation(lambda parameters: Count(jnp.zeros((), jnp.int32)), update)


class ProbeLoss:
    """`loss(parameters, x, y)` of a two-layer network; it counts how often its Python code ran."""

    def __init__(self) -> None:
        self.n_runs = 0

    def __call__(self, parameters: Parameters, x: jax.Array, y: jax.Array) -> jax.Array:
        self.n_runs += 1
        hidden = jax.nn.relu(x @ parameters["hidden_weight"] + parameters["hidden_bias"])
        logits = hidden @ parameters["output_weight"] + parameters["output_bias"]
        loss: jax.Array = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
        return loss


@dataclass
class Training:
    """A step that the answer made, and what it starts from next."""

    step: Callable[..., Any]
    loss: ProbeLoss
    parameters: Parameters
    state: Any
    n_steps: int = 0


class Step(HandledAnswer):
    """The answer is `make_step(loss, optimizer)`, which returns `step(parameters, opt_state, x, y)`.

    The step returns (parameters, opt_state, loss). The old arrays may be donated, so nothing here reads them again.
    """

    framework = framework

    def start(self, parameters: Mapping[str, Array], learning_rate: float) -> Handle:
        loss, optimizer, native = ProbeLoss(), probe_optimizer(learning_rate), natively(framework, dict(parameters))
        with answering("making the step with make_step(loss, optimizer)"):
            step = self._answer(loss, optimizer)
            if not callable(step):
                raise Unfit(f"make_step should return a function, the step; it returned a {type_name(step)}")
        return self.new(Training(step, loss, native, optimizer.init(native)))

    def step(self, handle: Handle, x: Array, y: Array) -> Reply:
        training: Training = self[handle]
        given = dict(training.parameters)
        with answering(f"taking a step on x of shape {x.shape}"):
            returned = training.step(given, training.state, framework.from_numpy(x), framework.from_numpy(y))
            parameters, state, loss = _three(returned)
        changed = (0,) if any(given.get(k) is not v for k, v in training.parameters.items()) else ()
        training.parameters, training.state = parameters, state
        training.n_steps += 1
        _expect_count(state, training.n_steps)
        return reply(framework, loss, changed)

    def read(self, handle: Handle) -> dict[str, Array]:
        return framework.parameters_out(self[handle].parameters)

    def retraces(self, handle: Handle) -> int | None:
        return int(self[handle].loss.n_runs)


def _three(returned: Any) -> tuple[Parameters, Any, Any]:
    """What a step returned, in its order and types."""
    if not isinstance(returned, (tuple, list)) or len(returned) != 3:
        seen = describe(plain(framework, returned))
        raise Unfit(f"a step should return (parameters, opt_state, loss); it returned {seen}")
    parameters, state, loss = returned
    if not isinstance(parameters, dict):
        raise Unfit(f"a step should return the parameters first, as a dict; it returned a {type_name(parameters)}")
    for name, value in parameters.items():
        if not framework.is_native(value):
            raise Unfit(f"the new `{name}` should be a JAX array; it is a {type_name(value)}")
    return parameters, state, loss


def _expect_count(state: Any, n_steps: int) -> None:
    """The optimizer's state must come from as many updates as there were steps."""
    if not isinstance(state, Count):
        message = f"opt_state should be what optimizer.update returned; it is a {type_name(state)}"
        raise Unfit(message)
    if int(state.n_updates) != n_steps:
        seen = int(state.n_updates)
        message = f"opt_state has seen {seen} updates, not {n_steps} (hand on the one that optimizer.update returned)"
        raise Unfit(message)


class Loop(LoopAnswer):
    """The answer is `train(step, parameters, opt_state, batches) -> (losses, parameters)`; the step is a probe."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        optimizer, native = probe_optimizer(learning_rate), natively(framework, dict(parameters))
        with answering(f"training on {len(batches)} batches"):
            returned = self._answer(
                probe_step(optimizer), native, optimizer.init(native), natively(framework, list(batches))
            )
            if not isinstance(returned, (tuple, list)) or len(returned) != 2 or not isinstance(returned[1], dict):
                seen = describe(plain(framework, returned))
                raise Unfit(f"train should return (losses, parameters); it returned {seen}")
        losses, final = returned
        return self.trained(losses, final)


def probe_step(optimizer: optax.GradientTransformation) -> Callable[..., tuple[Parameters, Any, jax.Array]]:
    """A right step of the checker's own; it raises when it is not given the state that it returned last."""
    n_steps = 0

    @jax.jit
    def compiled(parameters: Parameters, state: Any, x: jax.Array, y: jax.Array) -> tuple[Parameters, Any, jax.Array]:
        loss, gradient = jax.value_and_grad(ProbeLoss())(parameters, x, y)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, loss

    def step(parameters: Parameters, state: Any, x: jax.Array, y: jax.Array) -> tuple[Parameters, Any, jax.Array]:
        nonlocal n_steps
        # Inside jax.lax.scan the count has no value yet, and the scan itself hands the state on.
        traced = isinstance(state, Count) and isinstance(state.n_updates, jax.core.Tracer)
        if not traced and (not isinstance(state, Count) or int(state.n_updates) != n_steps):
            raise Unfit(f"step {n_steps + 1} was not given the optimizer's state that step {n_steps} returned")
        n_steps += 1
        moved: tuple[Parameters, Any, jax.Array] = compiled(parameters, state, x, y)
        return moved

    return step


class Finetune(LoopAnswer):
    """The answer is `train(loss, parameters, batches, *rates) -> (losses, parameters)`; the loss is a probe."""

    framework = framework
    # One run of the loss to compile it, and one to spare.
    MAX_RUNS = 2

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], rates: Sequence[float]
    ) -> tuple[Reply, dict[str, Array]]:
        loss, given = ProbeLoss(), natively(framework, dict(parameters))
        kept = dict(given)
        with answering(f"training on {len(batches)} batches"):
            returned = self._answer(loss, given, natively(framework, list(batches)), *rates)
            if not isinstance(returned, (tuple, list)) or len(returned) != 2 or not isinstance(returned[1], dict):
                seen = describe(plain(framework, returned))
                raise Unfit(f"it should return (losses, parameters); it returned {seen}")
        if given.keys() != kept.keys() or any(given[k] is not v for k, v in kept.items()):
            raise Unfit("it changed the dict of parameters that it was given; a pure function leaves it as it was")
        if loss.n_runs > self.MAX_RUNS:
            raise Unfit(
                f"{len(batches)} batches of one shape ran the loss's Python code {loss.n_runs} times; "
                "compile a step once, with jax.jit, and use it for all batches"
            )
        return self.trained(*returned)


ADAPTERS = {"function": Function, "model": Model, "step": Step, "loop": Loop, "network": Network, "finetune": Finetune}
