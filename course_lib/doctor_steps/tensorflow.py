"""The step in TensorFlow: variables, a tape, a graph function."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from course_lib.doctor_steps import Start, Stepped


def step(start: Start) -> Stepped:
    """One SGD step inside `tf.function`."""
    weight, bias = tf.Variable(start.weight), tf.Variable(start.bias)

    def train(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.matmul(x, weight) + bias
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        for variable, gradient in zip((weight, bias), tape.gradient(loss, (weight, bias)), strict=True):
            variable.assign_sub(start.learning_rate * gradient)
        return loss

    loss = tf.function(train)(tf.constant(start.x), tf.constant(start.y))
    return Stepped(float(loss), weight.numpy(), bias.numpy(), weight.device.rpartition("device:")[2] or "cpu")
