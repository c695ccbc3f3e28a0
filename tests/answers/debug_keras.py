"""Answers of lesson 02 in the Keras track."""

import keras
import numpy as np
from keras import ops


# --- squared error ---------------------------------------------------------------------------------------------------
def column_error(predictions, targets):
    return ops.mean(ops.square(predictions[:, 0] - targets))


def library_error(predictions, targets):
    return keras.losses.MeanSquaredError()(targets, predictions)


def targets_as_column(predictions, targets):
    return ops.mean((predictions - ops.expand_dims(targets, 1)) ** 2)


def broadcast_error(predictions, targets):
    return ops.mean(ops.square(predictions - targets))


def summed_error(predictions, targets):
    return ops.sum(ops.square(predictions[:, 0] - targets))


def numpy_error(predictions, targets):
    return np.mean((ops.convert_to_numpy(predictions)[:, 0] - ops.convert_to_numpy(targets)) ** 2)


def stopped_error(predictions, targets):
    return column_error(ops.stop_gradient(predictions), targets)


def error_per_row(predictions, targets):
    return ops.square(predictions[:, 0] - targets)


def python_error(predictions, targets):
    return float(column_error(predictions, targets))


def zero_error(predictions, targets):
    return ops.zeros(())


def nan_error(predictions, targets):
    return column_error(predictions, targets) * float("nan")


# --- log loss --------------------------------------------------------------------------------------------------------
def softplus_loss(logits, labels):
    return ops.mean(ops.softplus(logits) - labels * logits)


def library_log_loss(logits, labels):
    return keras.losses.BinaryCrossentropy(from_logits=True)(labels[:, None], logits[:, None])


def log_sigmoid_loss(logits, labels):
    return -ops.mean(labels * ops.log_sigmoid(logits) + (1 - labels) * ops.log_sigmoid(-logits))


def naive_log_loss(logits, labels):
    p = ops.sigmoid(logits)
    return -ops.mean(labels * ops.log(p) + (1 - labels) * ops.log(1 - p))


def probabilities_log_loss(logits, labels):
    return keras.losses.BinaryCrossentropy()(labels[:, None], ops.sigmoid(logits)[:, None])


def clipped_log_loss(logits, labels):
    p = ops.clip(ops.sigmoid(logits), 1e-7, 1 - 1e-7)
    return -ops.mean(labels * ops.log(p) + (1 - labels) * ops.log(1 - p))


def swapped_log_loss(logits, labels):
    return softplus_loss(logits, 1 - labels)


def summed_log_loss(logits, labels):
    return softplus_loss(logits, labels) * len(labels)


def numpy_log_loss(logits, labels):
    z = ops.convert_to_numpy(logits)
    return np.mean(np.logaddexp(0, z) - ops.convert_to_numpy(labels) * z)


# --- guarded train ---------------------------------------------------------------------------------------------------
def step(model, x, y):
    model.reset_metrics()
    return float(model.train_on_batch(x, y))


def skipping_train(model, batches):
    return [step(model, x, y) for x, y in batches if np.isfinite(x).all()]


def with_ops_train(model, batches):
    losses = []
    for x, y in batches:
        if not bool(ops.all(ops.isfinite(x))):
            continue
        model.reset_metrics()
        logs = model.train_on_batch(x, y, return_dict=True)
        losses.append(float(logs["loss"]))
    return losses


def unguarded_train(model, batches):
    return [step(model, x, y) for x, y in batches]


def only_nan_train(model, batches):
    return [step(model, x, y) for x, y in batches if not np.isnan(x).any()]


def too_late_train(model, batches):
    return [loss for loss in unguarded_train(model, batches) if np.isfinite(loss)]


def cleaning_train(model, batches):
    return [step(model, np.nan_to_num(x), y) for x, y in batches]


def one_row_train(model, batches):
    return [step(model, x, y) for x, y in batches if np.isfinite(x[0]).all()]


def zeros_train(model, batches):
    return [0.0 * step(model, x, y) for x, y in batches if np.isfinite(x).all()]


def running_mean_train(model, batches):
    losses = []
    for x, y in batches:
        if np.isfinite(x).all():
            losses.append(step(model, x, y))
    return np.cumsum(losses) / (1 + np.arange(len(losses)))


RIGHT = {
    "debug/squared_error": [column_error, library_error, targets_as_column],
    "debug/log_loss": [softplus_loss, library_log_loss, log_sigmoid_loss],
    "debug/guarded_train": [skipping_train, with_ops_train],
}
WRONG = {
    "debug/squared_error": [
        (broadcast_error, "should be"),
        (summed_error, "should be"),
        (numpy_error, "own type"),
        (stopped_error, "gradient"),
        (error_per_row, "single"),
        (python_error, "own type"),
        (zero_error, "received 0"),
        (nan_error, "finite"),
    ],
    "debug/log_loss": [
        (naive_log_loss, "finite"),
        (probabilities_log_loss, "should be"),
        (clipped_log_loss, "should be"),
        (swapped_log_loss, "should be"),
        (summed_log_loss, "should be"),
        (numpy_log_loss, "own type"),
    ],
    "debug/guarded_train": [
        (unguarded_train, "should be left out"),
        (only_nan_train, "hold a inf"),
        (too_late_train, "losses"),
        (cleaning_train, "should be left out"),
        (one_row_train, "should be left out"),
        (zeros_train, "received 0"),
        (running_mean_train, "losses"),
    ],
}
