"""Native answers of the TensorFlow track."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from numpy.typing import NDArray

from course_lib.adapters.base import (
    FunctionAnswer,
    HandledAnswer,
    LoopAnswer,
    ModelAnswer,
    natively,
    reply,
)
from course_lib.adapters.network.tensorflow import Network
from course_lib.frameworks import tensorflow as framework
from course_lib.kinds import Handle, Reply, Sent, Unfit, answering

Array = NDArray[Any]
NativeStep = Callable[[tf.Tensor, tf.Tensor], Any]


@contextmanager
def quiet_tracing() -> Iterator[None]:
    """No warnings about frequent tracing: a check traces an answer anew each time, which is no fault of the answer."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


class Function(FunctionAnswer):
    """A function of tensors, seen also by GradientTape and by tf.function."""

    framework = framework

    def call(self, *arguments: Sent) -> Reply:
        with quiet_tracing():
            return super().call(*arguments)

    def gradient(self, argnum: int, *arguments: Sent) -> Reply | None:
        sent = [natively(framework, a) for a in arguments]
        with answering("asking for its gradient with tf.GradientTape"):
            with tf.GradientTape() as tape:
                tape.watch(sent[argnum])
                result = self._answer(*sent)
            found = tape.gradient(result, sent[argnum])
            if found is None:
                raise Unfit("the gradient is None: the tape saw no way from the argument to the result")
            # A gather hands its gradient back as IndexedSlices.
            return reply(framework, tf.convert_to_tensor(found))

    def traced(self, *arguments: Sent) -> Reply | None:
        sent = [natively(framework, a) for a in arguments]
        with answering("calling it through tf.function"), quiet_tracing():
            value = tf.function(self._answer)(*sent)
        return reply(framework, value)


class Probe(tf.Module):  # type: ignore[misc]
    """A right two-layer network of the checker's own, which counts how often its Python code runs."""

    def __init__(self, parameters: Mapping[str, Array]) -> None:
        super().__init__()
        self.hidden_weight = tf.Variable(parameters["hidden_weight"])
        self.hidden_bias = tf.Variable(parameters["hidden_bias"])
        self.output_weight = tf.Variable(parameters["output_weight"])
        self.output_bias = tf.Variable(parameters["output_bias"])
        self.python_runs = 0

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        self.python_runs += 1
        return tf.nn.relu(x @ self.hidden_weight + self.hidden_bias) @ self.output_weight + self.output_bias


def probe_step(model: Probe, learning_rate: float) -> NativeStep:
    """A right step of the checker's own, for answers that are given one."""

    @tf.function  # type: ignore[untyped-decorator]
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))
        for variable, slope in zip(
            model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=True
        ):
            variable.assign_sub(learning_rate * slope)
        return loss

    return step  # type: ignore[no-any-return]


class Model(ModelAnswer):
    """The answer is a tf.Module class, built by (n_inputs, n_hidden, n_classes), with variables under neutral names."""

    framework = framework

    def build(self, **sizes: int) -> Handle:
        with answering(f"building the model with {sizes}"):
            model = self._answer(**sizes)
            if not isinstance(model, tf.Module):
                raise Unfit(f"the model should be a tf.Module; it is a {type(model).__name__}")
        return self.new(model)

    def shapes(self, handle: Handle) -> dict[str, tuple[int, ...]]:
        found = framework.parameters_out(self[handle])
        if not found:
            raise Unfit("no tf.Variable is an attribute of the model itself, as self.hidden_weight should be")
        for name, value in found.items():
            if value.ndim > 1 and value.size > 1 and value.min() == value.max():
                raise Unfit(f"all values of `{name}` start equal, so its units would all learn the same; draw them")
        return {name: value.shape for name, value in found.items()}

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        model, native = self[handle], framework.from_numpy(x)
        with answering(f"calling the model on x of shape {x.shape}"), quiet_tracing():
            logits = model(native)
        # What is not a tensor of floats has its own message.
        if framework.is_native(logits) and logits.dtype.is_floating:
            _expect_gradients(model, native)
        return reply(framework, logits)


def _expect_gradients(model: tf.Module, x: tf.Tensor) -> None:
    """From the logits a gradient must reach every variable."""
    variables = {name: value for name, value in vars(model).items() if isinstance(value, tf.Variable)}
    with answering("asking for its gradient with tf.GradientTape"), quiet_tracing():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        gradients = tape.gradient(loss, variables)
    for name, gradient in gradients.items():
        if gradient is None:
            raise Unfit(f"the gradient for `{name}` is None: the model does not use it, or cuts it off from the tape")


class Step(HandledAnswer):
    """The answer is `make_step(model, optimizer)`, which returns the compiled `step(x, y) -> loss`."""

    framework = framework

    def start(self, parameters: Mapping[str, Array], learning_rate: float) -> Handle:
        model, optimizer = Probe(parameters), tf.keras.optimizers.SGD(learning_rate)
        with answering("making a step of a model and an optimizer"):
            step = self._answer(model, optimizer)
            if not callable(step):
                raise Unfit(f"it should return the function step(x, y); it returned a {type(step).__name__}")
        return self.new((model, step, optimizer))

    def step(self, handle: Handle, x: Array, y: Array) -> Reply:
        _, step, optimizer = self[handle]
        before = int(optimizer.iterations)
        with answering(f"taking a step on x of shape {x.shape}"), quiet_tracing():
            loss = step(framework.from_numpy(x), framework.from_numpy(y))
        if (n_updates := int(optimizer.iterations) - before) != 1:
            raise Unfit(f"the optimizer applied gradients {n_updates} times in one step; it should do so once")
        return reply(framework, loss)

    def read(self, handle: Handle) -> dict[str, Array]:
        return framework.parameters_out(self[handle][0])

    def retraces(self, handle: Handle) -> int | None:
        runs: int = self[handle][0].python_runs
        return runs


class Loop(LoopAnswer):
    """The answer is `train(step, batches) -> losses`, a list of plain numbers; the step is a probe."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        model = Probe(parameters)
        with answering(f"training on {len(batches)} batches"), quiet_tracing():
            losses = self._answer(probe_step(model, learning_rate), natively(framework, list(batches)))
        return self.trained(losses, model)


class Finetune(LoopAnswer):
    """The answer is `train(model, batches, *rates) -> losses`; it compiles a step of its own."""

    framework = framework
    # A step that makes its optimizer's variables is traced twice, and a loss looked at beforehand is one run more.
    MAX_RUNS = 3

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], rates: Sequence[float]
    ) -> tuple[Reply, dict[str, Array]]:
        model = Probe(parameters)
        with answering(f"training on {len(batches)} batches"), quiet_tracing():
            losses = self._answer(model, natively(framework, list(batches)), *rates)
        if model.python_runs > self.MAX_RUNS:
            raise Unfit(
                f"{len(batches)} batches of one shape ran the model's Python code {model.python_runs} times; "
                "make one step with @tf.function and use it for all batches"
            )
        return self.trained(losses, model)


ADAPTERS = {"function": Function, "model": Model, "step": Step, "loop": Loop, "network": Network, "finetune": Finetune}
