"""Answers of lesson 01 in the JAX track."""

import functools

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
    "digits/cross_entropy": [log_softmax_loss, logsumexp_loss, one_hot_loss, library_loss],
    "digits/model": [relu_forward, unpacking_forward, row_by_row_forward],
    "digits/step": [usual_make_step, donating_make_step, compiled_gradient_make_step, loss_and_grad_make_step],
    "digits/repair": [compiled_gradient_make_step, usual_make_step, donating_make_step],
    "digits/train": [usual_train, waiting_once_train],
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
        (biasless_forward, "logits"),
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
    ],
    "digits/repair": [
        (frozen_parameters_make_step, "step 2"),
        (frozen_batch_make_step, "step 2"),
        (stale_state_make_step, "opt_state has seen 0 updates"),
        (unmoved_make_step, "step 2"),
    ],
    "digits/train": [
        (same_parameters_train, "losses"),
        (same_state_train, "state"),
        (first_parameters_train, "after training"),
        (short_train, "losses"),
        (losses_only_train, "(losses, parameters)"),
        (mean_train, "losses"),
        (zeros_train, "losses"),
    ],
}
