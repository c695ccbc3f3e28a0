"""Answers of lesson 01 in the JAX track."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax


# --- cross-entropy ---------------------------------------------------------------------------------------------------
def log_softmax_loss(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def logsumexp_loss(logits, labels):
    right = logits[jnp.arange(len(labels)), labels]
    return (jax.scipy.special.logsumexp(logits, axis=1) - right).mean()


def one_hot_loss(logits, labels):
    return -(jax.nn.one_hot(labels, logits.shape[1]) * jax.nn.log_softmax(logits)).sum(axis=1).mean()


@jax.jit
def library_loss(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def row_by_row_loss(logits, labels):
    return jax.vmap(lambda z, label: jax.nn.logsumexp(z) - z[label])(logits, labels).mean()


def naive_loss(logits, labels):
    e = jnp.exp(logits)
    return -jnp.log((e / e.sum(axis=1, keepdims=True))[jnp.arange(len(labels)), labels]).mean()


def clipped_loss(logits, labels):
    p = jax.nn.softmax(logits)[jnp.arange(len(labels)), labels]
    return -jnp.log(jnp.clip(p, 1e-7)).mean()


def summed_loss(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).sum()


def per_row_loss(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


def numpy_loss(logits, labels):
    z = np.asarray(logits, np.float64)
    z = z - z.max(axis=1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(axis=1, keepdims=True)))[np.arange(len(z)), np.asarray(labels)].mean()


def numpy_wrapped_loss(logits, labels):
    return jnp.asarray(numpy_loss(logits, labels), jnp.float32)


def stopped_loss(logits, labels):
    return log_softmax_loss(jax.lax.stop_gradient(logits), labels)


def python_number_loss(logits, labels):
    return float(log_softmax_loss(logits, labels))


def branching_loss(logits, labels):
    if logits.max() > 50:
        logits = logits - logits.max(axis=1, keepdims=True)
    return log_softmax_loss(logits, labels)


def zero_loss(logits, labels):
    return jnp.zeros(())


# --- model -----------------------------------------------------------------------------------------------------------
def relu_forward(parameters, x):
    hidden = jax.nn.relu(x @ parameters["hidden_weight"] + parameters["hidden_bias"])
    return hidden @ parameters["output_weight"] + parameters["output_bias"]


@jax.jit
def unpacking_forward(parameters, x):
    w1, b1, w2, b2 = (parameters[f"{layer}_{part}"] for layer in ("hidden", "output") for part in ("weight", "bias"))
    return jnp.dot(jnp.maximum(jnp.dot(x, w1) + b1, 0), w2) + b2


def row_by_row_forward(parameters, x):
    return jax.vmap(relu_forward, in_axes=(None, 0))(parameters, x)


def einsum_forward(parameters, x):
    hidden = jax.nn.relu(jnp.einsum("ni,ih->nh", x, parameters["hidden_weight"]) + parameters["hidden_bias"])
    return jnp.einsum("nh,hc->nc", hidden, parameters["output_weight"]) + parameters["output_bias"]


def stopped_forward(parameters, x):
    hidden = jax.nn.relu(x @ parameters["hidden_weight"] + parameters["hidden_bias"])
    return jax.lax.stop_gradient(hidden) @ parameters["output_weight"] + parameters["output_bias"]


def callback_forward(parameters, x):
    """NumPy on the host, which jit takes and grad does not."""

    def on_host(p, x):
        p, x = jax.tree.map(np.asarray, p), np.asarray(x)
        return np.maximum(x @ p["hidden_weight"] + p["hidden_bias"], 0) @ p["output_weight"] + p["output_bias"]

    shape = jax.ShapeDtypeStruct((x.shape[0], parameters["output_bias"].shape[0]), jnp.float32)
    return jax.pure_callback(on_host, shape, dict(parameters), x)


def writing_forward(parameters, x):
    parameters["hidden"] = jax.nn.relu(x @ parameters["hidden_weight"] + parameters["hidden_bias"])
    return parameters["hidden"] @ parameters["output_weight"] + parameters["output_bias"]


def linear_forward(parameters, x):
    hidden = x @ parameters["hidden_weight"] + parameters["hidden_bias"]
    return hidden @ parameters["output_weight"] + parameters["output_bias"]


def softmax_forward(parameters, x):
    return jax.nn.softmax(relu_forward(parameters, x))


def numpy_relu_forward(parameters, x):
    hidden = np.maximum(np.asarray(x @ parameters["hidden_weight"] + parameters["hidden_bias"]), 0)
    return hidden @ parameters["output_weight"] + parameters["output_bias"]


def python_if_forward(parameters, x):
    hidden = x @ parameters["hidden_weight"] + parameters["hidden_bias"]
    if hidden.min() < 0:
        hidden = jnp.where(hidden > 0, hidden, 0)
    return hidden @ parameters["output_weight"] + parameters["output_bias"]


def squeezed_forward(parameters, x):
    return relu_forward(parameters, x).squeeze()


def biasless_forward(parameters, x):
    return jax.nn.relu(x @ parameters["hidden_weight"]) @ parameters["output_weight"]


def nan_forward(parameters, x):
    return jnp.full_like(relu_forward(parameters, x), jnp.nan)


# --- step ------------------------------------------------------------------------------------------------------------
def usual_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def donating_make_step(loss, optimizer):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state)
        return jax.tree.map(jnp.add, parameters, updates), opt_state, value

    return step


def compiled_gradient_make_step(loss, optimizer):
    loss_and_gradient = jax.jit(jax.value_and_grad(loss))

    def step(parameters, opt_state, x, y):
        value, gradient = loss_and_gradient(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def loss_and_grad_make_step(loss, optimizer):
    def step(parameters, opt_state, x, y):
        value, gradient = loss(parameters, x, y), jax.grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return jax.jit(step)


class Stepped(NamedTuple):
    parameters: Any
    opt_state: Any
    loss: Any


def named_tuple_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return Stepped(optax.apply_updates(parameters, updates), opt_state, value)

    return step


def list_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)
    return lambda *arguments: list(usual(*arguments))


def static_loss_make_step(loss, optimizer):
    @functools.partial(jax.jit, static_argnames="loss")
    def step(parameters, opt_state, x, y, *, loss):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return functools.partial(step, loss=loss)


def ahead_of_time_make_step(loss, optimizer):
    usual, compiled = usual_make_step(loss, optimizer), []

    def step(*arguments):
        if not compiled:
            compiled.append(usual.lower(*arguments).compile())
        return compiled[0](*arguments)

    return step


def own_loss_make_step(loss, optimizer):
    """Eager, and out of sight of the loss that counts its runs."""

    def own(parameters, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(relu_forward(parameters, x), y).mean()

    return eager_make_step(own, optimizer)


def own_optimizer_make_step(loss, optimizer):
    return usual_make_step(loss, optax.sgd(0.1))


def chained_make_step(loss, optimizer):
    """Another optimizer than the one whose state comes in."""
    return usual_make_step(loss, optax.chain(optax.clip(1.0), optimizer))


def fixed_rate_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        _, opt_state = optimizer.update(gradient, opt_state, parameters)
        return jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradient), opt_state, value

    return step


def nested_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)

    def step(*arguments):
        parameters, opt_state, value = usual(*arguments)
        return (parameters, opt_state), value

    return step


def eager_make_step(loss, optimizer):
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def recompiling_make_step(loss, optimizer):
    def step(parameters, opt_state, x, y):
        value, gradient = jax.jit(lambda p: jax.value_and_grad(loss)(p, x, y))(parameters)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def stale_state_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, _ = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def fresh_state_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, optimizer.init(parameters), parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def unmoved_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        optax.apply_updates(parameters, updates)
        return parameters, opt_state, value

    return step


def ascending_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return jax.tree.map(jnp.subtract, parameters, updates), opt_state, value

    return step


def raw_gradient_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        _, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, gradient), opt_state, value

    return step


def loss_first_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)

    def step(parameters, opt_state, x, y):
        parameters, opt_state, value = usual(parameters, opt_state, x, y)
        return value, parameters, opt_state

    return step


def loss_only_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)
    return lambda parameters, opt_state, x, y: usual(parameters, opt_state, x, y)[2]


def late_loss_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)

    def step(parameters, opt_state, x, y):
        parameters, opt_state, _ = usual(parameters, opt_state, x, y)
        return parameters, opt_state, loss(parameters, x, y)

    return step


def in_place_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)

    def step(parameters, opt_state, x, y):
        moved, opt_state, value = usual(parameters, opt_state, x, y)
        parameters.update(moved)
        return parameters, opt_state, value

    return step


def numpy_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)

    def step(parameters, opt_state, x, y):
        parameters, opt_state, value = usual(parameters, opt_state, x, y)
        return {name: np.asarray(p) for name, p in parameters.items()}, opt_state, value

    return step


def value_in_jit_make_step(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, float(value)

    return step


def nothing_make_step(loss, optimizer):
    return None


def nan_make_step(loss, optimizer):
    usual = usual_make_step(loss, optimizer)
    return lambda parameters, opt_state, x, y: (*usual(parameters, opt_state, x, y)[:2], jnp.nan)


# --- repair ----------------------------------------------------------------------------------------------------------
def frozen_parameters_make_step(loss, optimizer):
    latest = {}
    loss_and_gradient = jax.jit(lambda x, y: jax.value_and_grad(loss)(latest["parameters"], x, y))

    def step(parameters, opt_state, x, y):
        latest["parameters"] = parameters
        value, gradient = loss_and_gradient(x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def frozen_batch_make_step(loss, optimizer):
    compiled = []

    def step(parameters, opt_state, x, y):
        if not compiled:
            compiled.append(jax.jit(jax.value_and_grad(lambda p: loss(p, x, y))))
        value, gradient = compiled[0](parameters)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def uncompiled_make_step(loss, optimizer):
    frozen = frozen_parameters_make_step(loss, optimizer)

    def step(*arguments):
        with jax.disable_jit():
            return frozen(*arguments)

    return step


# --- train -----------------------------------------------------------------------------------------------------------
def usual_train(step, parameters, opt_state, batches):
    losses = []
    for x, y in batches:
        parameters, opt_state, loss = step(parameters, opt_state, x, y)
        losses.append(float(loss))
    return losses, parameters


def waiting_once_train(step, parameters, opt_state, batches):
    losses = []
    for x, y in batches:
        parameters, opt_state, loss = step(parameters, opt_state, x, y)
        losses.append(loss)
    return np.asarray(jnp.stack(losses)), parameters


def converting_last_train(step, parameters, opt_state, batches):
    losses = []
    for batch in batches:
        parameters, opt_state, loss = step(parameters, opt_state, *batch)
        losses.append(loss)
    return [loss.item() for loss in losses], parameters


def scanning_train(step, parameters, opt_state, batches):
    def body(carry, batch):
        parameters, opt_state, loss = step(*carry, *batch)
        return (parameters, opt_state), loss

    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *batches)
    (parameters, _), losses = jax.lax.scan(body, (parameters, opt_state), stacked)
    return losses.tolist(), parameters


def swapped_train(step, parameters, opt_state, batches):
    losses, parameters = usual_train(step, parameters, opt_state, batches)
    return parameters, losses


def backwards_train(step, parameters, opt_state, batches):
    return usual_train(step, parameters, opt_state, batches[::-1])


def same_parameters_train(step, parameters, opt_state, batches):
    losses = []
    for x, y in batches:
        _, opt_state, loss = step(parameters, opt_state, x, y)
        losses.append(float(loss))
    return losses, parameters


def same_state_train(step, parameters, opt_state, batches):
    losses = []
    for x, y in batches:
        parameters, _, loss = step(parameters, opt_state, x, y)
        losses.append(float(loss))
    return losses, parameters


def first_parameters_train(step, parameters, opt_state, batches):
    return usual_train(step, parameters, opt_state, batches)[0], parameters


def short_train(step, parameters, opt_state, batches):
    return usual_train(step, parameters, opt_state, batches[:-1])


def losses_only_train(step, parameters, opt_state, batches):
    return usual_train(step, parameters, opt_state, batches)[0]


def mean_train(step, parameters, opt_state, batches):
    losses, parameters = usual_train(step, parameters, opt_state, batches)
    return float(np.mean(losses)), parameters


def zeros_train(step, parameters, opt_state, batches):
    return [0.0] * len(batches), usual_train(step, parameters, opt_state, batches)[1]


RIGHT = {
    "digits/cross_entropy": [log_softmax_loss, logsumexp_loss, one_hot_loss, library_loss, row_by_row_loss],
    "digits/model": [relu_forward, unpacking_forward, row_by_row_forward, einsum_forward],
    "digits/step": [
        usual_make_step,
        donating_make_step,
        compiled_gradient_make_step,
        loss_and_grad_make_step,
        named_tuple_make_step,
        list_make_step,
        static_loss_make_step,
        ahead_of_time_make_step,
    ],
    "digits/repair": [compiled_gradient_make_step, usual_make_step, donating_make_step],
    "digits/train": [usual_train, waiting_once_train, converting_last_train, scanning_train],
}
WRONG = {
    "digits/cross_entropy": [
        (naive_loss, "finite"),
        (clipped_loss, "loss"),
        (summed_loss, "should be"),
        (per_row_loss, "single"),
        (numpy_loss, "own type"),
        (numpy_wrapped_loss, "jax.grad"),
        (stopped_loss, "gradient"),
        (python_number_loss, "own type"),
        (branching_loss, "jax.jit"),
        (zero_loss, "received 0"),
    ],
    "digits/model": [
        (linear_forward, "logits"),
        (softmax_forward, "probabilities"),
        (numpy_relu_forward, "tracing it"),
        (python_if_forward, "tracing it"),
        (squeezed_forward, "(1, 3)"),
        (biasless_forward, "`hidden_bias`"),
        (stopped_forward, "no gradient reaches `hidden_bias`"),
        (callback_forward, "jax.grad"),
        (writing_forward, "changed the dict"),
        (nan_forward, "finite"),
    ],
    "digits/step": [
        (eager_make_step, "5 times"),
        (recompiling_make_step, "5 times"),
        (stale_state_make_step, "opt_state has seen 0 updates"),
        (fresh_state_make_step, "opt_state has seen 1 updates"),
        (unmoved_make_step, "step 2"),
        (ascending_make_step, "step 2"),
        (raw_gradient_make_step, "step 2"),
        (loss_first_make_step, "parameters first"),
        (loss_only_make_step, "(parameters, opt_state, loss)"),
        (late_loss_make_step, "step 1"),
        (in_place_make_step, "in place"),
        (numpy_make_step, "JAX array"),
        (value_in_jit_make_step, "float(value)"),
        (nothing_make_step, "return a function"),
        (nan_make_step, "finite"),
        (own_loss_make_step, "never called the `loss`"),
        (own_optimizer_make_step, "optimizer.update"),
        (chained_make_step, "optimizer.update"),
        (fixed_rate_make_step, "step 2"),
        (nested_make_step, "2 values"),
    ],
    "digits/repair": [
        (frozen_parameters_make_step, "step 2"),
        (frozen_batch_make_step, "step 2"),
        (stale_state_make_step, "opt_state has seen 0 updates"),
        (unmoved_make_step, "step 2"),
        (eager_make_step, "5 times"),
        (uncompiled_make_step, "5 times"),
    ],
    "digits/train": [
        (same_parameters_train, "losses"),
        (same_state_train, "state"),
        (first_parameters_train, "after training"),
        (short_train, "losses"),
        (losses_only_train, "(losses, parameters)"),
        (mean_train, "losses"),
        (swapped_train, "2 values (a dict with"),
        (backwards_train, "losses"),
        (zeros_train, "losses"),
    ],
}
