"""Answers of lesson 04 in the Keras track."""

import keras
from keras import ops


def trained(model, batches, optimizer):
    model.compile(optimizer=optimizer, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = []
    for x, y in batches:
        model.reset_metrics()
        losses.append(float(model.train_on_batch(x, y)))
    return losses


# --- freeze ----------------------------------------------------------------------------------------------------------
def frozen_layer(model, batches, learning_rate):
    model.get_layer("hidden").trainable = False
    return trained(model, batches, keras.optimizers.SGD(learning_rate))


def all_layers_but_the_last(model, batches, learning_rate):
    for layer in model.layers[:-1]:
        layer.trainable = False
    return trained(model, batches, keras.optimizers.SGD(learning_rate))


def stopped_gradient(model, batches, learning_rate):
    features = ops.stop_gradient(model.get_layer("hidden")(model.inputs[0]))
    other = keras.Model(model.inputs, model.get_layer("output")(features))
    return trained(other, batches, keras.optimizers.SGD(learning_rate))


def all_free(model, batches, learning_rate):
    return trained(model, batches, keras.optimizers.SGD(learning_rate))


def whole_model_frozen(model, batches, learning_rate):
    model.trainable = False
    model.get_layer("output").trainable = True
    return trained(model, batches, keras.optimizers.SGD(learning_rate))


def head_frozen(model, batches, learning_rate):
    model.get_layer("output").trainable = False
    return trained(model, batches, keras.optimizers.SGD(learning_rate))


def running_mean(model, batches, learning_rate):
    model.get_layer("hidden").trainable = False
    model.compile(
        optimizer=keras.optimizers.SGD(learning_rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    losses = []
    for x, y in batches:
        losses.append(float(model.train_on_batch(x, y)))
    return [sum(losses[: i + 1]) / (i + 1) for i in range(len(losses))]


def probabilities_expected(model, batches, learning_rate):
    model.get_layer("hidden").trainable = False
    model.compile(optimizer=keras.optimizers.SGD(learning_rate), loss=keras.losses.SparseCategoricalCrossentropy())
    return [float(model.train_on_batch(x, y)) for x, y in batches]


def adam_head(model, batches, learning_rate):
    model.get_layer("hidden").trainable = False
    return trained(model, batches, keras.optimizers.Adam(learning_rate))


def nothing_returned(model, batches, learning_rate):
    frozen_layer(model, batches, learning_rate)


# --- two rates -------------------------------------------------------------------------------------------------------
def scaled_gradient(model, batches, body_rate, head_rate):
    share, features = body_rate / head_rate, model.get_layer("hidden")(model.inputs[0])
    features = share * features + (1 - share) * ops.stop_gradient(features)
    other = keras.Model(model.inputs, model.get_layer("output")(features))
    return trained(other, batches, keras.optimizers.SGD(head_rate))


def scaled_the_other_way(model, batches, body_rate, head_rate):
    features = model.get_layer("hidden")(model.inputs[0])
    still = ops.stop_gradient(features)
    features = still + (features - still) * (body_rate / head_rate)
    other = keras.Model(model.inputs, model.get_layer("output")(features))
    return trained(other, batches, keras.optimizers.SGD(head_rate))


def an_optimizer_each(model, batches, body_rate, head_rate):
    slow, fast = keras.optimizers.SGD(body_rate), keras.optimizers.SGD(head_rate)
    both = keras.optimizers.MultiOptimizer(lambda variable: slow if "hidden" in variable.path else fast)
    return trained(model, batches, both)


def one_rate(model, batches, body_rate, head_rate):
    return trained(model, batches, keras.optimizers.SGD(head_rate))


def smaller_features(model, batches, body_rate, head_rate):
    features = model.get_layer("hidden")(model.inputs[0]) * (body_rate / head_rate)
    other = keras.Model(model.inputs, model.get_layer("output")(features))
    return trained(other, batches, keras.optimizers.SGD(head_rate))


def swapped(model, batches, body_rate, head_rate):
    return scaled_gradient(model, batches, head_rate, body_rate)


def body_frozen(model, batches, body_rate, head_rate):
    return frozen_layer(model, batches, head_rate)


RIGHT = {
    "transfer/freeze": [frozen_layer, all_layers_but_the_last, stopped_gradient],
    # Older versions of Keras have no MultiOptimizer.
    "transfer/two_rates": [
        scaled_gradient,
        scaled_the_other_way,
        *([an_optimizer_each] if hasattr(keras.optimizers, "MultiOptimizer") else []),
    ],
    "transfer/repair": [frozen_layer, all_layers_but_the_last],
}
WRONG = {
    "transfer/freeze": [
        (all_free, "to the last bit"),
        (head_frozen, "to the last bit"),
        (whole_model_frozen, "losses"),
        (running_mean, "losses"),
        (probabilities_expected, "losses"),
        (adam_head, "losses"),
        (nothing_returned, "losses"),
    ],
    "transfer/two_rates": [
        (one_rate, "losses"),
        (smaller_features, "losses"),
        (swapped, "losses"),
        (body_frozen, "losses"),
    ],
    "transfer/repair": [
        (whole_model_frozen, "losses"),
        (all_free, "to the last bit"),
        (head_frozen, "to the last bit"),
    ],
}
