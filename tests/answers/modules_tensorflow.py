"""Answers of lesson 03 in the TensorFlow track."""

import numpy as np
import tensorflow as tf


# --- network ---------------------------------------------------------------------------------------------------------
class Plain(tf.Module):
    share, epsilon = 0.1, 1e-5

    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__()
        self.rate, self.random = dropout, tf.random.Generator.from_seed(1)
        self.hidden_weight = tf.Variable(tf.random.normal((n_inputs, n_hidden)))
        self.norm_scale, self.norm_shift = tf.Variable(tf.ones(n_hidden)), tf.Variable(tf.zeros(n_hidden))
        self.norm_mean = tf.Variable(tf.zeros(n_hidden), trainable=False)
        self.norm_variance = tf.Variable(tf.ones(n_hidden), trainable=False)
        self.output_weight = tf.Variable(tf.random.normal((n_hidden, n_classes)))
        self.output_bias = tf.Variable(tf.zeros(n_classes))

    def normed(self, hidden, training):
        mean, variance = self.norm_mean, self.norm_variance
        if training:
            mean, variance = tf.nn.moments(hidden, axes=[0])
            self.norm_mean.assign_add(self.share * (mean - self.norm_mean))
            self.norm_variance.assign_add(self.share * (variance - self.norm_variance))
        return tf.nn.batch_normalization(hidden, mean, variance, self.norm_shift, self.norm_scale, self.epsilon)

    def drop(self, hidden, training):
        if not training:
            return hidden
        return tf.nn.experimental.stateless_dropout(hidden, self.rate, self.random.make_seeds(1)[:, 0])

    def __call__(self, x, training):
        hidden = self.drop(tf.nn.relu(self.normed(x @ self.hidden_weight, training)), training)
        return hidden @ self.output_weight + self.output_bias


class ByFormula(Plain):
    def normed(self, hidden, training):
        mean, variance = self.norm_mean.read_value(), self.norm_variance.read_value()
        if training:
            mean = tf.reduce_mean(hidden, axis=0)
            variance = tf.reduce_mean((hidden - mean) ** 2, axis=0)
            self.norm_mean.assign(0.9 * self.norm_mean + 0.1 * mean)
            self.norm_variance.assign(0.9 * self.norm_variance + 0.1 * variance)
        return (hidden - mean) / tf.sqrt(variance + 1e-5) * self.norm_scale + self.norm_shift

    def drop(self, hidden, training):
        return tf.nn.dropout(hidden, self.rate) if training else hidden


class TrainableMemory(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes, dropout)
        self.norm_mean = tf.Variable(tf.zeros(n_hidden))


class WithBias(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes, dropout)
        self.hidden_bias = tf.Variable(tf.zeros(n_hidden))


class NeverMoving(Plain):
    share = 0.0


class MovingTooFast(Plain):
    share = 0.9


class LargeEpsilon(Plain):
    epsilon = 1e-2


class NeverDropping(Plain):
    def drop(self, hidden, training):
        return hidden


class AlwaysDropping(Plain):
    def drop(self, hidden, training):
        return super().drop(hidden, True)


class OneMask(Plain):
    def drop(self, hidden, training):
        return tf.nn.experimental.stateless_dropout(hidden, self.rate, seed=[0, 0]) if training else hidden


class FixedRate(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes)


class NumpyInside(Plain):
    def __call__(self, x, training):
        return super().__call__(x, training).numpy()


# --- masks -----------------------------------------------------------------------------------------------------------
def stateless(n_steps, n_units, rate, seed):
    rows = [tf.random.stateless_uniform((n_units,), seed=[seed, step]) >= rate for step in range(n_steps)]
    return tf.cast(tf.stack(rows), tf.float32)


def one_generator(n_steps, n_units, rate, seed):
    generator = tf.random.Generator.from_seed(seed)
    return tf.stack([tf.cast(generator.uniform((n_units,)) >= rate, tf.float32) for _ in range(n_steps)])


def one_seed(n_steps, n_units, rate, seed):
    rows = [tf.random.stateless_uniform((n_units,), seed=[seed, 0]) >= rate for _ in range(n_steps)]
    return tf.cast(tf.stack(rows), tf.float32)


def seed_plus_step(n_steps, n_units, rate, seed):
    rows = [tf.random.stateless_uniform((n_units,), seed=[seed + step, 0]) >= rate for step in range(n_steps)]
    return tf.cast(tf.stack(rows), tf.float32)


def seed_forgotten(n_steps, n_units, rate, seed):
    return stateless(n_steps, n_units, rate, 0)


def rate_kept(n_steps, n_units, rate, seed):
    return 1 - stateless(n_steps, n_units, rate, seed)


def numpy_masks(n_steps, n_units, rate, seed):
    return (np.random.default_rng(seed).random((n_steps, n_units)) >= rate).astype(np.float32)


# --- freeze ----------------------------------------------------------------------------------------------------------
def step_for(model, optimizer, variables):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return step


def leaving_out(model, optimizer):
    return step_for(model, optimizer, [model.output_weight, model.output_bias])


def by_names(model, optimizer):
    chosen = [v for name, v in vars(model).items() if name.startswith("output") and isinstance(v, tf.Variable)]
    return step_for(model, optimizer, chosen)


def nothing_frozen(model, optimizer):
    return step_for(model, optimizer, list(model.trainable_variables))


def weight_frozen(model, optimizer):
    return step_for(model, optimizer, [model.hidden_bias, model.output_weight, model.output_bias])


def output_frozen(model, optimizer):
    return step_for(model, optimizer, [model.hidden_weight, model.hidden_bias])


def bias_forgotten(model, optimizer):
    return step_for(model, optimizer, [model.output_weight])


# --- resume ----------------------------------------------------------------------------------------------------------
NAMES = ("hidden.weight", "norm.scale", "norm.shift", "norm.mean", "norm.variance", "output.weight", "output.bias")


def part(state, batches, learning_rate, momentum):
    model = Plain(*state["hidden.weight"].shape, len(state["output.bias"]), dropout=0.0)
    variables = {name: getattr(model, name.replace(".", "_")) for name in NAMES}
    for name, variable in variables.items():
        variable.assign(state[name])
    sgd = tf.keras.optimizers.SGD(learning_rate, momentum=momentum)
    sgd.build(model.trainable_variables)
    for number, slot in enumerate(sgd.variables):
        if f"slot.{number}" in state:
            slot.assign(state[f"slot.{number}"])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True)))
        sgd.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    losses = [float(step(x, y)) for x, y in batches]
    arrays = {name: variable.numpy() for name, variable in variables.items()}
    return losses, {**arrays, **{f"slot.{i}": tf.convert_to_tensor(slot) for i, slot in enumerate(sgd.variables)}}


def resume_keras(state, batches, learning_rate, momentum):
    return part(state, batches, learning_rate, momentum)


def resume_by_hand(state, batches, learning_rate, momentum):
    a, losses = dict(state), []
    learned = [name for name in NAMES if name not in ("norm.mean", "norm.variance")]
    for x, y in batches:
        with tf.GradientTape() as tape:
            tape.watch([a[name] for name in learned])
            hidden = x @ a["hidden.weight"]
            mean, variance = tf.nn.moments(hidden, axes=[0])
            hidden = tf.nn.batch_normalization(hidden, mean, variance, a["norm.shift"], a["norm.scale"], 1e-5)
            logits = tf.nn.relu(hidden) @ a["output.weight"] + a["output.bias"]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        for name, gradient in zip(learned, tape.gradient(loss, [a[name] for name in learned]), strict=True):
            a[f"v.{name}"] = momentum * a.get(f"v.{name}", 0.0) + gradient
            a[name] = a[name] - learning_rate * a[f"v.{name}"]
        a["norm.mean"] = 0.9 * a["norm.mean"] + 0.1 * mean
        a["norm.variance"] = 0.9 * a["norm.variance"] + 0.1 * variance
        losses.append(float(loss))
    return losses, a


def resume_without_velocity(state, batches, learning_rate, momentum):
    losses, after = part(state, batches, learning_rate, momentum)
    return losses, {name: after[name] for name in NAMES}


def resume_plain_sgd(state, batches, learning_rate, momentum):
    return resume_by_hand(state, batches, learning_rate, 0.0)


def resume_from_the_start(state, batches, learning_rate, momentum):
    return resume_by_hand(state, batches, learning_rate, momentum)[0], dict(state)


def resume_nested(state, batches, learning_rate, momentum):
    losses, after = resume_by_hand(state, batches, learning_rate, momentum)
    return losses, {**after, "velocity": [after["v.hidden.weight"]]}


RIGHT = {
    "modules/network": [Plain, ByFormula],
    "modules/repair": [stateless, one_generator],
    "modules/freeze": [leaving_out, by_names],
    "modules/resume": [resume_keras, resume_by_hand],
}
WRONG = {
    "modules/network": [
        (TrainableMemory, "norm.mean"),
        (WithBias, "hidden_bias"),
        (NeverMoving, "norm.mean"),
        (MovingTooFast, "norm.mean"),
        (LargeEpsilon, "in evaluation"),
        (NeverDropping, "nothing was dropped"),
        (AlwaysDropping, "dropout still on"),
        (OneMask, "same values"),
        (NumpyInside, "own type"),
        (FixedRate, "dropout=0.0"),
    ],
    "modules/repair": [
        (one_seed, "yours have 1"),
        (seed_plus_step, "share a stream"),
        (seed_forgotten, "share a stream"),
        (rate_kept, "80%"),
        (numpy_masks, "own type"),
    ],
    "modules/freeze": [
        (nothing_frozen, "hidden"),
        (weight_frozen, "hidden_bias"),
        (output_frozen, "hidden"),
        (bias_forgotten, "output_bias"),
    ],
    "modules/resume": [
        (resume_without_velocity, "the velocity"),
        (resume_plain_sgd, "before the stop"),
        (resume_from_the_start, "in the state"),
        (resume_nested, "arrays only"),
    ],
}
