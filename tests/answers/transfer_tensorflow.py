"""Answers of lesson 04 in the TensorFlow track."""

import tensorflow as tf


def head_of(model):
    return [model.output_weight, model.output_bias]


def body_of(model):
    return [model.hidden_weight, model.hidden_bias]


def loss_of(model, x, y):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))


def trained(model, batches, optimizer, variables):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return [float(step(x, y)) for x, y in batches]


# --- freeze ----------------------------------------------------------------------------------------------------------
def head_alone(model, batches, learning_rate):
    return trained(model, batches, tf.keras.optimizers.SGD(learning_rate), head_of(model))


def watched(model, batches, learning_rate):
    @tf.function
    def step(x, y):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(head_of(model))
            loss = loss_of(model, x, y)
        for variable, gradient in zip(head_of(model), tape.gradient(loss, head_of(model)), strict=True):
            variable.assign_sub(learning_rate * gradient)
        return loss

    return [float(step(x, y)) for x, y in batches]


def flag_set_first(model, batches, learning_rate):
    frozen = True

    @tf.function
    def step(x, y):
        variables = head_of(model) if frozen else body_of(model) + head_of(model)
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(learning_rate * gradient)
        return loss

    step.get_concrete_function(*batches[0])
    return [float(step(x, y)) for x, y in batches]


def all_free(model, batches, learning_rate):
    return trained(model, batches, tf.keras.optimizers.SGD(learning_rate), model.trainable_variables)


def flag_set_too_late(model, batches, learning_rate):
    frozen = False

    @tf.function
    def step(x, y):
        variables = head_of(model) if frozen else body_of(model) + head_of(model)
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(learning_rate * gradient)
        return loss

    step.get_concrete_function(*batches[0])
    frozen = True
    return [float(step(x, y)) for x, y in batches]


def body_instead(model, batches, learning_rate):
    return trained(model, batches, tf.keras.optimizers.SGD(learning_rate), body_of(model))


def weight_alone(model, batches, learning_rate):
    return trained(model, batches, tf.keras.optimizers.SGD(learning_rate), [model.output_weight])


def never_compiled(model, batches, learning_rate):
    optimizer, losses = tf.keras.optimizers.SGD(learning_rate), []
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        optimizer.apply(tape.gradient(loss, head_of(model)), head_of(model))
        losses.append(float(loss))
    return losses


def with_momentum(model, batches, learning_rate):
    return trained(model, batches, tf.keras.optimizers.SGD(learning_rate, momentum=0.9), head_of(model))


def nothing_trained(model, batches, learning_rate):
    compiled = tf.function(lambda x, y: loss_of(model, x, y))
    return [float(compiled(x, y)) for x, y in batches]


# --- two rates -------------------------------------------------------------------------------------------------------
def two_optimizers(model, batches, body_rate, head_rate):
    slow, fast = tf.keras.optimizers.SGD(body_rate), tf.keras.optimizers.SGD(head_rate)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        for_body, for_head = tape.gradient(loss, [body_of(model), head_of(model)])
        slow.apply(for_body, body_of(model))
        fast.apply(for_head, head_of(model))
        return loss

    return [float(step(x, y)) for x, y in batches]


def smaller_gradients(model, batches, body_rate, head_rate):
    optimizer, variables = tf.keras.optimizers.SGD(head_rate), body_of(model) + head_of(model)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(model, x, y)
        gradients = tape.gradient(loss, variables)
        gradients = [body_rate / head_rate * gradient for gradient in gradients[:2]] + gradients[2:]
        optimizer.apply(gradients, variables)
        return loss

    return [float(step(x, y)) for x, y in batches]


def one_rate(model, batches, body_rate, head_rate):
    return all_free(model, batches, head_rate)


def swapped(model, batches, body_rate, head_rate):
    return two_optimizers(model, batches, head_rate, body_rate)


def body_frozen(model, batches, body_rate, head_rate):
    return head_alone(model, batches, head_rate)


RIGHT = {
    "transfer/freeze": [head_alone, watched],
    "transfer/two_rates": [two_optimizers, smaller_gradients],
    "transfer/repair": [flag_set_first, head_alone],
}
WRONG = {
    "transfer/freeze": [
        (all_free, "to the last bit"),
        (body_instead, "to the last bit"),
        (weight_alone, "losses"),
        (never_compiled, "make one step with @tf.function"),
        (with_momentum, "losses"),
        (nothing_trained, "losses"),
    ],
    "transfer/two_rates": [(one_rate, "losses"), (swapped, "losses"), (body_frozen, "losses")],
    "transfer/repair": [
        (flag_set_too_late, "to the last bit"),
        (all_free, "to the last bit"),
        (nothing_trained, "losses"),
    ],
}
