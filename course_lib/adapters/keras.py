"""Native answers of the Keras track, on whichever backend Keras runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from course_lib.adapters.base import (
    FunctionAnswer,
    HandledAnswer,
    LoopAnswer,
    ModelAnswer,
    NativeAnswer,
    natively,
    reply,
    type_name,
)
from course_lib.adapters.network.keras import Network
from course_lib.frameworks import keras as framework
from course_lib.kinds import Handle, Reply, Sent, Unfit, answering

Array = NDArray[Any]
Scalar = Callable[[Any], Any]


def _jax_gradient(function: Scalar, value: Any) -> Any:
    import jax

    return jax.grad(function)(value)


def _torch_gradient(function: Scalar, value: Any) -> Any:
    value.requires_grad_(True)
    result = function(value)
    if not getattr(result, "requires_grad", False):
        raise Unfit("the result does not require a gradient: something cut it off from the graph")
    result.backward()
    return value.grad


def _tensorflow_gradient(function: Scalar, value: Any) -> Any:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(value)
        result = function(value)
    gradient = tape.gradient(result, value)
    if gradient is None:
        raise Unfit("the result has no gradient for this argument: something cut it off from the tape")
    return gradient


def _jit(function: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    compiled: Callable[..., Any] = jax.jit(function)
    return compiled


def _tf_function(function: Callable[..., Any]) -> Callable[..., Any]:
    import tensorflow as tf

    compiled: Callable[..., Any] = tf.function(function)
    return compiled


# The only place here that knows backends: the gradient, and what Keras compiles a training step with (torch: nothing).
GRADIENT = {"jax": _jax_gradient, "torch": _torch_gradient, "tensorflow": _tensorflow_gradient}
COMPILER = {"jax": _jit, "tensorflow": _tf_function}


class Function(FunctionAnswer):
    """A function of the backend's tensors, seen also by its gradient and its compiler."""

    framework = framework

    def gradient(self, argnum: int, *arguments: Sent) -> Reply | None:
        sent = [natively(framework, a) for a in arguments]

        def of_one(value: Any) -> Any:
            return self._answer(*sent[:argnum], value, *sent[argnum + 1 :])

        with answering(f"taking its gradient on the {framework.backend()} backend"):
            gradient = GRADIENT[framework.backend()](of_one, sent[argnum])
        return reply(framework, gradient)

    def traced(self, *arguments: Sent) -> Reply | None:
        compiler = COMPILER.get(framework.backend())
        if compiler is None:
            return None
        sent = [natively(framework, a) for a in arguments]
        with answering(f"compiling it as Keras does on the {framework.backend()} backend"):
            value = compiler(self._answer)(*sent)
        return reply(framework, value)


def probe(parameters: Mapping[str, Array]) -> keras.Model:
    """A right two-layer network of the checker's own, for answers that are given one. Not compiled."""
    n_inputs, n_hidden = parameters["hidden_weight"].shape
    layers = [
        keras.Input((n_inputs,)),
        keras.layers.Dense(n_hidden, activation="relu", name="hidden"),
        keras.layers.Dense(len(parameters["output_bias"]), name="output"),
    ]
    model = keras.Sequential(layers)
    framework.parameters_in(model, parameters)
    return model


def compiled_probe(parameters: Mapping[str, Array], learning_rate: float) -> keras.Model:
    """The probe with plain SGD and cross-entropy on logits."""
    model = probe(parameters)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.SGD(learning_rate), loss=loss)
    return model


class Model(ModelAnswer):
    """The answer is `build_model(n_inputs, n_hidden, n_classes)`: a built keras.Model with layers hidden and output."""

    framework = framework

    def build(self, **sizes: int) -> Handle:
        with answering(f"building the model with {sizes}"):
            model = self._answer(**sizes)
            if not isinstance(model, keras.Model):
                raise Unfit(f"build_model should return a keras.Model; it returned a {type_name(model)}")
            if not model.built:
                raise Unfit("the model has no weights yet: tell Keras its input with keras.Input((n_inputs,))")
            if frozen := [variable.path for variable in model.non_trainable_weights]:
                raise Unfit(f"every weight should be trainable; {', '.join(frozen)} is not")
        return self.new(model)

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        model = self[handle]
        with answering(f"calling the model on x of shape {x.shape}"):
            logits = model(framework.from_numpy(x), training=train)
        # A single row may leave every hidden unit at zero, and then a gradient is rightly zero.
        if len(x) > 1 and framework.is_native(logits):
            _expect_gradient(model, framework.from_numpy(x))
        return reply(framework, logits)


def _expect_gradient(model: keras.Model, x: Any) -> None:
    """From the logits a gradient must reach the model's input, through all its layers."""
    with answering(f"asking for its gradient on the {framework.backend()} backend"):
        gradient = GRADIENT[framework.backend()](lambda x: keras.ops.sum(keras.ops.square(model(x))), x)
    if gradient is None or not framework.to_numpy(gradient).any():
        raise Unfit("no gradient flows from the logits back through the model: something cuts it off on the way")


class Step(HandledAnswer):
    """The answer is `step(model, optimizer, x, y) -> loss`; x and y are NumPy arrays, as Keras takes them."""

    framework = framework

    def start(self, parameters: Mapping[str, Array], learning_rate: float) -> Handle:
        return self.new((probe(parameters), keras.optimizers.SGD(learning_rate)))

    def step(self, handle: Handle, x: Array, y: Array) -> Reply:
        model, optimizer = self[handle]
        sent = (x.copy(), y.copy())
        before = int(framework.to_numpy(optimizer.iterations))
        with answering(f"taking a step on x of shape {x.shape}"):
            loss = self._answer(model, optimizer, *sent)
        if (n_updates := int(framework.to_numpy(optimizer.iterations)) - before) != 1:
            raise Unfit(f"the optimizer applied gradients {n_updates} times in one step; it should do so once")
        # Positions as in the check's own list: parameters, x, y.
        changed = tuple(1 + i for i, (a, b) in enumerate(zip(sent, (x, y), strict=True)) if not np.array_equal(a, b))
        return reply(framework, loss, changed)

    def read(self, handle: Handle) -> dict[str, Array]:
        return framework.parameters_out(self[handle][0])

    def retraces(self, handle: Handle) -> int | None:
        return None


class Loop(LoopAnswer):
    """The answer is `train(model, batches) -> losses`, for a compiled model and batches of NumPy arrays."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        model = compiled_probe(parameters, learning_rate)
        with answering(f"training on {len(batches)} batches"):
            losses = self._answer(model, [(x.copy(), y.copy()) for x, y in batches])
        return self.trained(losses, model)


class Finetune(LoopAnswer):
    """The answer is `train(model, batches, *rates) -> losses`, for a model that is built and not compiled."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], rates: Sequence[float]
    ) -> tuple[Reply, dict[str, Array]]:
        model = probe(parameters)
        with answering(f"training on {len(batches)} batches"):
            losses = self._answer(model, [(x.copy(), y.copy()) for x, y in batches], *rates)
        return self.trained(losses, model)


class Observer(NativeAnswer):
    """The answer is a keras.callbacks.Callback class: `Watcher(limit)`, with what it recorded in `.losses`.

    `fit` goes through the batches in epochs of three. The steps are counted by the optimizer, not by the answer.
    """

    STEPS_PER_EPOCH = 3

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float, limit: int
    ) -> tuple[Reply, int]:
        model = compiled_probe(parameters, learning_rate)
        with answering(f"building it with a limit of {limit}"):
            watcher = self._answer(limit)
            if not isinstance(watcher, keras.callbacks.Callback):
                raise Unfit(
                    f"the answer should be a keras.callbacks.Callback class; Watcher(limit) is a {type_name(watcher)}"
                )
        epochs = len(batches) // self.STEPS_PER_EPOCH
        with answering("watching `fit`"):
            # Keras takes a generator, and no other iterator.
            stream = (batch for batch in batches)
            model.fit(
                stream,
                steps_per_epoch=self.STEPS_PER_EPOCH,
                epochs=epochs,
                shuffle=False,
                verbose=0,
                callbacks=[watcher],
            )
            losses = watcher.losses
        return reply(framework, losses), int(framework.to_numpy(model.optimizer.iterations))


ADAPTERS = {
    "function": Function,
    "model": Model,
    "step": Step,
    "loop": Loop,
    "observer": Observer,
    "network": Network,
    "finetune": Finetune,
}
