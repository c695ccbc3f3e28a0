"""Answers of lesson 02 in the JAX track."""

import jax
import jax.numpy as jnp
import numpy as np
import optax


# --- squared error ---------------------------------------------------------------------------------------------------
def column_error(predictions, targets):
    return ((predictions[:, 0] - targets) ** 2).mean()


def library_error(predictions, targets):
    return optax.squared_error(predictions.squeeze(1), targets).mean()


def targets_as_column(predictions, targets):
    return jnp.mean(jnp.square(predictions - targets[:, None]))


def broadcast_error(predictions, targets):
    return ((predictions - targets) ** 2).mean()


def summed_error(predictions, targets):
    return ((predictions[:, 0] - targets) ** 2).sum()


def numpy_error(predictions, targets):
    return np.mean((np.asarray(predictions)[:, 0] - np.asarray(targets)) ** 2)


def stopped_error(predictions, targets):
    return column_error(jax.lax.stop_gradient(predictions), targets)


def error_per_row(predictions, targets):
    return (predictions[:, 0] - targets) ** 2


def python_error(predictions, targets):
    return float(column_error(predictions, targets))


def branching_error(predictions, targets):
    error = column_error(predictions, targets)
    return error if error > 0 else jnp.zeros(())


def zero_error(predictions, targets):
    return jnp.zeros(())


def nan_error(predictions, targets):
    return column_error(predictions, targets) * jnp.nan


# --- log loss --------------------------------------------------------------------------------------------------------
def softplus_loss(logits, labels):
    return (jax.nn.softplus(logits) - labels * logits).mean()


def library_log_loss(logits, labels):
    return optax.sigmoid_binary_cross_entropy(logits, labels).mean()


def log_sigmoid_loss(logits, labels):
    return -jnp.mean(labels * jax.nn.log_sigmoid(logits) + (1 - labels) * jax.nn.log_sigmoid(-logits))


def naive_log_loss(logits, labels):
    p = jax.nn.sigmoid(logits)
    return -(labels * jnp.log(p) + (1 - labels) * jnp.log(1 - p)).mean()


def clipped_log_loss(logits, labels):
    p = jnp.clip(jax.nn.sigmoid(logits), 1e-7, 1 - 1e-7)
    return -(labels * jnp.log(p) + (1 - labels) * jnp.log(1 - p)).mean()


def where_log_loss(logits, labels):
    p = jnp.where(labels > 0, jax.nn.sigmoid(logits), 1 - jax.nn.sigmoid(logits))
    return -jnp.where(p > 0, jnp.log(p), 0.0).mean()


def swapped_log_loss(logits, labels):
    return softplus_loss(logits, 1 - labels)


def summed_log_loss(logits, labels):
    return softplus_loss(logits, labels) * len(labels)


def numpy_log_loss(logits, labels):
    z = np.asarray(logits)
    return np.mean(np.logaddexp(0, z) - np.asarray(labels) * z)


# --- guarded train ---------------------------------------------------------------------------------------------------
def run(step, parameters, opt_state, batches, good):
    losses = []
    for x, y in batches:
        if good(x):
            parameters, opt_state, loss = step(parameters, opt_state, x, y)
            losses.append(float(loss))
    return losses, parameters


def skipping_train(step, parameters, opt_state, batches):
    return run(step, parameters, opt_state, batches, lambda x: jnp.isfinite(x).all())


def filtering_train(step, parameters, opt_state, batches):
    healthy = [(x, y) for x, y in batches if np.isfinite(np.asarray(x)).all()]
    return run(step, parameters, opt_state, healthy, lambda x: True)


def unguarded_train(step, parameters, opt_state, batches):
    return run(step, parameters, opt_state, batches, lambda x: True)


def only_nan_train(step, parameters, opt_state, batches):
    return run(step, parameters, opt_state, batches, lambda x: not jnp.isnan(x).any())


def too_late_train(step, parameters, opt_state, batches):
    losses, parameters = unguarded_train(step, parameters, opt_state, batches)
    return [loss for loss in losses if np.isfinite(loss)], parameters


def one_row_train(step, parameters, opt_state, batches):
    return run(step, parameters, opt_state, batches, lambda x: jnp.isfinite(x[0]).all())


def first_parameters_train(step, parameters, opt_state, batches):
    return skipping_train(step, parameters, opt_state, batches)[0], parameters


def losses_only_train(step, parameters, opt_state, batches):
    return skipping_train(step, parameters, opt_state, batches)[0]


def zeros_train(step, parameters, opt_state, batches):
    losses, parameters = skipping_train(step, parameters, opt_state, batches)
    return [0.0] * len(losses), parameters


RIGHT = {
    "debug/squared_error": [column_error, library_error, targets_as_column],
    "debug/log_loss": [softplus_loss, library_log_loss, log_sigmoid_loss],
    "debug/guarded_train": [skipping_train, filtering_train],
}
WRONG = {
    "debug/squared_error": [
        (broadcast_error, "should be"),
        (summed_error, "should be"),
        (numpy_error, "own type"),
        (stopped_error, "the gradient"),
        (error_per_row, "single"),
        (python_error, "own type"),
        (branching_error, "jax.jit"),
        (zero_error, "received 0"),
        (nan_error, "finite"),
    ],
    "debug/log_loss": [
        (naive_log_loss, "finite"),
        (clipped_log_loss, "should be"),
        (where_log_loss, "should be"),
        (swapped_log_loss, "should be"),
        (summed_log_loss, "should be"),
        (numpy_log_loss, "own type"),
    ],
    "debug/guarded_train": [
        (unguarded_train, "should be left out"),
        (only_nan_train, "hold a inf"),
        (too_late_train, "losses"),
        (one_row_train, "should be left out"),
        (first_parameters_train, "after the good batches"),
        (losses_only_train, "(losses, parameters)"),
        (zeros_train, "received 0"),
    ],
}
