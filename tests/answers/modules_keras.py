"""Answers of lesson 03 in the Keras track."""

import keras
import numpy as np
from keras import layers, ops


# --- network ---------------------------------------------------------------------------------------------------------
def build(n_inputs, n_hidden, n_classes, dropout=0.5, *, bias=False, momentum=0.9, epsilon=1e-5, relu_first=False):
    norm = layers.BatchNormalization(momentum=momentum, epsilon=epsilon, name="norm")
    middle = [layers.ReLU(), norm] if relu_first else [norm, layers.ReLU()]
    hidden = layers.Dense(n_hidden, use_bias=bias, name="hidden")
    stack = [hidden, *middle, layers.Dropout(dropout, seed=1), layers.Dense(n_classes, name="output")]
    return keras.Sequential([keras.Input((n_inputs,)), *stack])


def sequential(n_inputs, n_hidden, n_classes, dropout=0.5):
    return build(n_inputs, n_hidden, n_classes, dropout)


def functional(n_inputs, n_hidden, n_classes, dropout=0.5):
    pictures = keras.Input((n_inputs,))
    x = layers.Dense(n_hidden, use_bias=False, name="hidden")(pictures)
    x = layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name="norm")(x)
    x = layers.Dropout(dropout)(ops.relu(x))
    return keras.Model(pictures, layers.Dense(n_classes, name="output")(x))


def by_defaults(n_inputs, n_hidden, n_classes, dropout=0.5):
    return build(n_inputs, n_hidden, n_classes, dropout, momentum=0.99, epsilon=1e-3)


def torch_momentum(n_inputs, n_hidden, n_classes, dropout=0.5):
    return build(n_inputs, n_hidden, n_classes, dropout, momentum=0.1)


def with_bias(n_inputs, n_hidden, n_classes, dropout=0.5):
    return build(n_inputs, n_hidden, n_classes, dropout, bias=True)


def never_dropping(n_inputs, n_hidden, n_classes, dropout=0.5):
    return build(n_inputs, n_hidden, n_classes, 0.0)


def fixed_rate(n_inputs, n_hidden, n_classes, dropout=0.5):
    return build(n_inputs, n_hidden, n_classes)


def relu_first(n_inputs, n_hidden, n_classes, dropout=0.5):
    return build(n_inputs, n_hidden, n_classes, dropout, relu_first=True)


def not_built(n_inputs, n_hidden, n_classes, dropout=0.5):
    return keras.Sequential(build(n_inputs, n_hidden, n_classes, dropout).layers[:0])


def frozen_norm(n_inputs, n_hidden, n_classes, dropout=0.5):
    model = build(n_inputs, n_hidden, n_classes, dropout)
    model.get_layer("norm").trainable = False
    return model


# --- masks -----------------------------------------------------------------------------------------------------------
def one_generator(n_steps, n_units, rate, seed):
    generator = keras.random.SeedGenerator(seed)
    rows = [keras.random.uniform((n_units,), seed=generator) >= rate for _ in range(n_steps)]
    return ops.stack([ops.cast(row, "float32") for row in rows])


def all_at_once(n_steps, n_units, rate, seed):
    return ops.cast(keras.random.uniform((n_steps, n_units), seed=seed) >= rate, "float32")


def one_number(n_steps, n_units, rate, seed):
    rows = [keras.random.uniform((n_units,), seed=seed) >= rate for _ in range(n_steps)]
    return ops.stack([ops.cast(row, "float32") for row in rows])


def seed_forgotten(n_steps, n_units, rate, seed):
    return one_generator(n_steps, n_units, rate, 0)


def unseeded(n_steps, n_units, rate, seed):
    return ops.cast(keras.random.uniform((n_steps, n_units)) >= rate, "float32")


def rate_kept(n_steps, n_units, rate, seed):
    return 1 - one_generator(n_steps, n_units, rate, seed)


def numpy_masks(n_steps, n_units, rate, seed):
    return (np.random.default_rng(seed).random((n_steps, n_units)) >= rate).astype(np.float32)


# --- freeze ----------------------------------------------------------------------------------------------------------
def losses_of(model, batches):
    losses = []
    for x, y in batches:
        model.reset_metrics()
        losses.append(float(model.train_on_batch(x, y)))
    return losses


def by_flag(model, batches):
    model.get_layer("hidden").trainable = False
    return losses_of(model, batches)


def by_compiling_again(model, batches):
    model.layers[0].trainable = False
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(float(ops.convert_to_numpy(model.optimizer.learning_rate))), loss)
    return losses_of(model, batches)


def nothing_frozen(model, batches):
    return losses_of(model, batches)


def all_frozen(model, batches):
    model.trainable = False
    return losses_of(model, batches)


def put_back(model, batches):
    before = model.get_layer("hidden").get_weights()
    losses = losses_of(model, batches)
    model.get_layer("hidden").set_weights(before)
    return losses


def means(model, batches):
    model.get_layer("hidden").trainable = False
    return list(np.cumsum(losses_of(model, batches)) / np.arange(1, len(batches) + 1))


# --- resume ----------------------------------------------------------------------------------------------------------
PLACES = {
    "hidden.weight": ("hidden", "kernel"),
    "norm.scale": ("norm", "gamma"),
    "norm.shift": ("norm", "beta"),
    "norm.mean": ("norm", "moving_mean"),
    "norm.variance": ("norm", "moving_variance"),
    "output.weight": ("output", "kernel"),
    "output.bias": ("output", "bias"),
}


def part(state, batches, learning_rate, momentum, *, name_of):
    model = build(*state["hidden.weight"].shape, len(state["output.bias"]), 0.0)
    variables = {name: getattr(model.get_layer(layer), own) for name, (layer, own) in PLACES.items()}
    for name, variable in variables.items():
        variable.assign(state[name])
    sgd = keras.optimizers.SGD(learning_rate, momentum=momentum)
    sgd.build(model.trainable_variables)
    slots = {name_of(i, variable): variable for i, variable in enumerate(sgd.variables)}
    for name, variable in slots.items():
        if name in state:
            variable.assign(state[name])
    model.compile(optimizer=sgd, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = losses_of(model, batches)
    after = {name: np.array(ops.convert_to_numpy(v)) for name, v in {**variables, **slots}.items()}
    return losses, after


def resume_numbered(state, batches, learning_rate, momentum):
    return part(state, batches, learning_rate, momentum, name_of=lambda i, v: f"optimizer.{i}")


def resume_velocities(state, batches, learning_rate, momentum):
    losses, after = part(state, batches, learning_rate, momentum, name_of=lambda i, v: f"slot {i}")
    return losses, {name: ops.convert_to_tensor(array) for name, array in after.items() if array.ndim}


def resume_without_velocity(state, batches, learning_rate, momentum):
    losses, after = part(state, batches, learning_rate, momentum, name_of=lambda i, v: f"optimizer.{i}")
    return losses, {name: after[name] for name in PLACES}


def resume_plain_sgd(state, batches, learning_rate, momentum):
    return part(state, batches, learning_rate, 0.0, name_of=lambda i, v: f"optimizer.{i}")


def resume_from_the_start(state, batches, learning_rate, momentum):
    before = {name: np.array(ops.convert_to_numpy(array)) for name, array in state.items()}
    return resume_numbered(state, batches, learning_rate, momentum)[0], before


def resume_objects(state, batches, learning_rate, momentum):
    losses, after = resume_numbered(state, batches, learning_rate, momentum)
    return losses, {**after, "optimizer": keras.optimizers.SGD(0.1)}


RIGHT = {
    "modules/network": [sequential, functional],
    "modules/repair": [one_generator, all_at_once],
    "modules/freeze_layer": [by_flag, by_compiling_again],
    "modules/resume": [resume_numbered, resume_velocities],
}
WRONG = {
    "modules/network": [
        (by_defaults, "should be"),
        (torch_momentum, "norm.mean"),
        (with_bias, "hidden/bias"),
        (never_dropping, "nothing was dropped"),
        (relu_first, "in evaluation"),
        (not_built, "no weights yet"),
        (frozen_norm, "trainable"),
        (fixed_rate, "dropout=0.0"),
    ],
    "modules/repair": [
        (one_number, "yours have 1"),
        (seed_forgotten, "share a stream"),
        (unseeded, "two calls differ"),
        (rate_kept, "80%"),
        (numpy_masks, "own type"),
    ],
    "modules/freeze_layer": [
        (nothing_frozen, "hidden"),
        (all_frozen, "output"),
        (put_back, "output"),
        (means, "losses"),
    ],
    "modules/resume": [
        (resume_without_velocity, "the velocity"),
        (resume_plain_sgd, "before the stop"),
        (resume_from_the_start, "in the state"),
        (resume_objects, "arrays only"),
    ],
}
