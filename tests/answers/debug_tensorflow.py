"""Answers of lesson 02 in the TensorFlow track."""

import numpy as np
import tensorflow as tf


# --- squared error ---------------------------------------------------------------------------------------------------
def column_error(predictions, targets):
    return tf.reduce_mean((predictions[:, 0] - targets) ** 2)


def library_error(predictions, targets):
    return tf.keras.losses.MeanSquaredError()(targets[:, None], predictions)


def squeezed_error(predictions, targets):
    return tf.reduce_mean(tf.math.squared_difference(tf.squeeze(predictions, axis=1), targets))


def broadcast_error(predictions, targets):
    return tf.reduce_mean((predictions - targets) ** 2)


def summed_error(predictions, targets):
    return tf.reduce_sum((predictions[:, 0] - targets) ** 2)


def numpy_error(predictions, targets):
    return np.mean((np.asarray(predictions)[:, 0] - np.asarray(targets)) ** 2)


def stopped_error(predictions, targets):
    return column_error(tf.stop_gradient(predictions), targets)


def error_per_row(predictions, targets):
    return (predictions[:, 0] - targets) ** 2


def python_error(predictions, targets):
    return float(column_error(predictions, targets))


def zero_error(predictions, targets):
    return tf.zeros(())


def nan_error(predictions, targets):
    return column_error(predictions, targets) * float("nan")


# --- log loss --------------------------------------------------------------------------------------------------------
def softplus_loss(logits, labels):
    return tf.reduce_mean(tf.nn.softplus(logits) - labels * logits)


def library_log_loss(logits, labels):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def log_sigmoid_loss(logits, labels):
    losses = labels * tf.math.log_sigmoid(logits) + (1 - labels) * tf.math.log_sigmoid(-logits)
    return -tf.reduce_mean(losses)


def naive_log_loss(logits, labels):
    p = tf.sigmoid(logits)
    return -tf.reduce_mean(labels * tf.math.log(p) + (1 - labels) * tf.math.log(1 - p))


def clipped_log_loss(logits, labels):
    p = tf.clip_by_value(tf.sigmoid(logits), 1e-7, 1 - 1e-7)
    return -tf.reduce_mean(labels * tf.math.log(p) + (1 - labels) * tf.math.log(1 - p))


def probabilities_log_loss(logits, labels):
    return tf.keras.losses.BinaryCrossentropy()(labels[:, None], tf.sigmoid(logits)[:, None])


def swapped_log_loss(logits, labels):
    return softplus_loss(logits, 1 - labels)


def summed_log_loss(logits, labels):
    return softplus_loss(logits, labels) * tf.cast(tf.size(labels), tf.float32)


def numpy_log_loss(logits, labels):
    z = np.asarray(logits)
    return np.mean(np.logaddexp(0, z) - np.asarray(labels) * z)


# --- guarded train ---------------------------------------------------------------------------------------------------
def skipping_train(step, batches):
    return [float(step(x, y)) for x, y in batches if tf.reduce_all(tf.math.is_finite(x))]


def with_numpy_train(step, batches):
    losses = []
    for x, y in batches:
        if np.isfinite(x.numpy()).all():
            losses.append(step(x, y).numpy().item())
    return losses


def unguarded_train(step, batches):
    return [float(step(x, y)) for x, y in batches]


def only_nan_train(step, batches):
    return [float(step(x, y)) for x, y in batches if not tf.reduce_any(tf.math.is_nan(x))]


def too_late_train(step, batches):
    return [loss for loss in unguarded_train(step, batches) if np.isfinite(loss)]


def one_row_train(step, batches):
    return [float(step(x, y)) for x, y in batches if tf.reduce_all(tf.math.is_finite(x[0]))]


def cleaning_train(step, batches):
    return [float(step(tf.where(tf.math.is_finite(x), x, 0.0), y)) for x, y in batches]


def zeros_train(step, batches):
    return [0.0 * loss for loss in skipping_train(step, batches)]


RIGHT = {
    "debug/squared_error": [column_error, library_error, squeezed_error],
    "debug/log_loss": [softplus_loss, library_log_loss, log_sigmoid_loss],
    "debug/guarded_train": [skipping_train, with_numpy_train],
}
WRONG = {
    "debug/squared_error": [
        (broadcast_error, "should be"),
        (summed_error, "should be"),
        (numpy_error, "own type"),
        (stopped_error, "gradient is None"),
        (error_per_row, "single"),
        (python_error, "own type"),
        (zero_error, "received 0"),
        (nan_error, "finite"),
    ],
    "debug/log_loss": [
        (naive_log_loss, "finite"),
        (clipped_log_loss, "should be"),
        (probabilities_log_loss, "should be"),
        (swapped_log_loss, "should be"),
        (summed_log_loss, "should be"),
        (numpy_log_loss, "own type"),
    ],
    "debug/guarded_train": [
        (unguarded_train, "should be left out"),
        (only_nan_train, "hold a inf"),
        (too_late_train, "losses"),
        (one_row_train, "should be left out"),
        (cleaning_train, "should be left out"),
        (zeros_train, "received 0"),
    ],
}
