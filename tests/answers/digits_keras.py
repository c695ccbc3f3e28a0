"""Answers of lesson 01 in the Keras track, for whichever backend Keras runs on."""

import os

import numpy as np

from course_lib.frameworks import keras_backend

os.environ["KERAS_BACKEND"] = keras_backend()

import keras
from keras import layers, ops

BACKEND = keras.backend.backend()


# --- cross-entropy ---------------------------------------------------------------------------------------------------
def library_loss(logits, labels):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits)


def one_hot_loss(logits, labels):
    log_p = ops.log_softmax(logits, axis=-1)
    return -ops.mean(ops.sum(ops.one_hot(labels, ops.shape(logits)[-1]) * log_p, axis=-1))


def per_row_mean_loss(logits, labels):
    return ops.mean(ops.sparse_categorical_crossentropy(labels, logits, from_logits=True))


def shifted_loss(logits, labels):
    z = logits - ops.max(logits, axis=1, keepdims=True)
    log_p = z - ops.log(ops.sum(ops.exp(z), axis=1, keepdims=True))
    return -ops.mean(ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1))


def naive_loss(logits, labels):
    e = ops.exp(logits)
    p = e / ops.sum(e, axis=1, keepdims=True)
    return -ops.mean(ops.log(ops.take_along_axis(p, labels[:, None], axis=1)))


def probabilities_expected(logits, labels):
    return keras.losses.SparseCategoricalCrossentropy()(labels, logits)


def softmaxed_first(logits, labels):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, ops.softmax(logits))


def labels_last(logits, labels):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(logits, labels)


def per_row_loss(logits, labels):
    return keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)


def numpy_loss(logits, labels):
    z = ops.convert_to_numpy(logits).astype(np.float64)
    z = z - z.max(1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(len(z)), ops.convert_to_numpy(labels)].mean()


def cut_off_loss(logits, labels):
    return library_loss(ops.stop_gradient(logits), labels)


def zero_loss(logits, labels):
    return ops.zeros(())


# --- model -----------------------------------------------------------------------------------------------------------
def sequential(n_inputs, n_hidden, n_classes):
    hidden = layers.Dense(n_hidden, "relu", name="hidden")
    return keras.Sequential([layers.Input((n_inputs,)), hidden, layers.Dense(n_classes, name="output")])


def functional(n_inputs, n_hidden, n_classes):
    inputs = keras.Input((n_inputs,))
    hidden = layers.ReLU()(layers.Dense(n_hidden, name="hidden")(inputs))
    return keras.Model(inputs, layers.Dense(n_classes, name="output")(hidden))


class Subclassed(keras.Model):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.output_layer = layers.Dense(n_classes, name="output")
        self.hidden = layers.Dense(n_hidden, name="hidden")
        self(np.zeros((1, n_inputs), np.float32))

    def call(self, x):
        return self.output_layer(ops.relu(self.hidden(x)))


class WithBuild(keras.Model):
    def __init__(self, n_hidden, n_classes):
        super().__init__()
        self.hidden = layers.Dense(n_hidden, activation="relu", name="hidden")
        self.last = layers.Dense(n_classes, name="output")

    def build(self, input_shape):
        self.hidden.build(input_shape)
        self.last.build((input_shape[0], self.hidden.units))
        self.built = True

    def call(self, x):
        return self.last(self.hidden(x))


def built_by_shape(n_inputs, n_hidden, n_classes):
    model = WithBuild(n_hidden, n_classes)
    model.build((None, n_inputs))
    return model


def output_made_first(n_inputs, n_hidden, n_classes):
    output, hidden = layers.Dense(n_classes, name="output"), layers.Dense(n_hidden, "relu", name="hidden")
    output.build((None, n_hidden))
    inputs = keras.Input((n_inputs,))
    return keras.Model(inputs, output(hidden(inputs)))


def compiled(n_inputs, n_hidden, n_classes):
    model = sequential(n_inputs, n_hidden, n_classes)
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def frozen(n_inputs, n_hidden, n_classes):
    model = sequential(n_inputs, n_hidden, n_classes)
    model.get_layer("hidden").trainable = False
    return model


def with_dropout(n_inputs, n_hidden, n_classes):
    hidden = layers.Dense(n_hidden, "relu", name="hidden")
    output = layers.Dense(n_classes, name="output")
    return keras.Sequential([keras.Input((n_inputs,)), hidden, layers.Dropout(0.5), output])


class Cut(layers.Layer):
    def call(self, x):
        return ops.stop_gradient(x)


def cut_off(n_inputs, n_hidden, n_classes):
    hidden = layers.Dense(n_hidden, "relu", name="hidden")
    return keras.Sequential([keras.Input((n_inputs,)), hidden, Cut(), layers.Dense(n_classes, name="output")])


class NumpyInside(Subclassed):
    def call(self, x):
        hidden = np.maximum(ops.convert_to_numpy(self.hidden(x)), 0)
        return self.output_layer(ops.convert_to_tensor(hidden))


def sizes_ignored(n_inputs, n_hidden, n_classes):
    return sequential(64, 32, 10)


def without_input(n_inputs, n_hidden, n_classes):
    return keras.Sequential(
        [layers.Dense(n_hidden, activation="relu", name="hidden"), layers.Dense(n_classes, name="output")]
    )


def unnamed(n_inputs, n_hidden, n_classes):
    return keras.Sequential(
        [keras.Input((n_inputs,)), layers.Dense(n_hidden, activation="relu"), layers.Dense(n_classes)]
    )


def softmaxed(n_inputs, n_hidden, n_classes):
    model = sequential(n_inputs, n_hidden, n_classes)
    model.add(layers.Softmax())
    return model


def no_activation(n_inputs, n_hidden, n_classes):
    inputs = keras.Input((n_inputs,))
    return keras.Model(inputs, layers.Dense(n_classes, name="output")(layers.Dense(n_hidden, name="hidden")(inputs)))


def relu_last(n_inputs, n_hidden, n_classes):
    model = sequential(n_inputs, n_hidden, n_classes)
    model.add(layers.ReLU())
    return model


def no_bias(n_inputs, n_hidden, n_classes):
    hidden = layers.Dense(n_hidden, "relu", name="hidden")
    output = layers.Dense(n_classes, use_bias=False, name="output")
    return keras.Sequential([keras.Input((n_inputs,)), hidden, output])


def no_model(n_inputs, n_hidden, n_classes):
    return [layers.Dense(n_hidden, name="hidden"), layers.Dense(n_classes, name="output")]


# --- step ------------------------------------------------------------------------------------------------------------
def gradients_in_jax(model, loss_function, x, y):
    import jax

    def loss_of(weights):
        return loss_function(y, model.stateless_call(weights, model.non_trainable_variables, x)[0])

    return jax.value_and_grad(loss_of)([v.value for v in model.trainable_variables])


def gradients_in_torch(model, loss_function, x, y, clear=True):
    if clear:
        model.zero_grad()
    loss = loss_function(y, model(x))
    loss.backward()
    return loss.detach(), [v.value.grad for v in model.trainable_variables]


def gradients_in_tensorflow(model, loss_function, x, y):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = loss_function(y, model(x))
    return loss, tape.gradient(loss, model.trainable_variables)


loss_and_gradients = {"jax": gradients_in_jax, "torch": gradients_in_torch, "tensorflow": gradients_in_tensorflow}[
    BACKEND
]
ON_LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def usual_step(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, ON_LOGITS, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


def zipped_step(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, lambda y, z: library_loss(z, ops.array(y)), x, y)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return float(loss)


def by_hand(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, ON_LOGITS, x, y)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        variable.assign(variable - optimizer.learning_rate * gradient)
    return loss


def through_compile(model, optimizer, x, y):
    if not model.compiled:
        model.compile(optimizer=optimizer, loss=ON_LOGITS)
    model.reset_metrics()
    return model.train_on_batch(x, y)


def stateless_step(model, optimizer, x, y):
    if not optimizer.built:
        optimizer.build(model.trainable_variables)
    loss, gradients = loss_and_gradients(model, ON_LOGITS, x, y)
    if BACKEND == "jax":
        own, weights = ([v.value for v in part] for part in (optimizer.variables, model.trainable_variables))
        moved, own = optimizer.stateless_apply(own, gradients, weights)
        for variable, value in zip(model.trainable_variables + optimizer.variables, moved + own, strict=True):
            variable.assign(value)
    else:
        optimizer.apply(gradients)
    return loss


def through_fit(model, optimizer, x, y):
    model.compile(optimizer=optimizer, loss=ON_LOGITS)
    return model.fit(x, y, batch_size=len(x), verbose=0).history["loss"][0]


def applied_twice(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, ON_LOGITS, x, y)
    for half in ([g / 2 for g in gradients],) * 2:
        optimizer.apply(half, model.trainable_variables)
    return loss


def fixed_rate(model, optimizer, x, y):
    return usual_step(model, keras.optimizers.SGD(0.3), x, y)


def no_move(model, optimizer, x, y):
    return loss_and_gradients(model, ON_LOGITS, x, y)[0]


def no_learning_rate(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, ON_LOGITS, x, y)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        variable.assign_sub(gradient)
    return loss


def uphill(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, ON_LOGITS, x, y)
    optimizer.apply([-gradient for gradient in gradients], model.trainable_variables)
    return loss


def probabilities_step(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, keras.losses.SparseCategoricalCrossentropy(), x, y)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


def softmax_step(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, lambda y, z: ON_LOGITS(y, ops.softmax(z)), x, y)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


def summed_step(model, optimizer, x, y):
    summed = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    loss, gradients = loss_and_gradients(model, summed, x, y)
    optimizer.apply(gradients, model.trainable_variables)
    return loss / len(y)


def late_loss(model, optimizer, x, y):
    usual_step(model, optimizer, x, y)
    return ON_LOGITS(y, model(x))


def no_return(model, optimizer, x, y):
    usual_step(model, optimizer, x, y)


def new_optimizer(model, optimizer, x, y):
    return usual_step(model, keras.optimizers.SGD(), x, y)


def swapped_arguments(model, optimizer, x, y):
    loss, gradients = loss_and_gradients(model, ON_LOGITS, x, y)
    optimizer.apply(model.trainable_variables, gradients)
    return loss


def never_cleared(model, optimizer, x, y):
    """On the torch backend only: gradients add up."""
    loss, gradients = gradients_in_torch(model, ON_LOGITS, x, y, clear=False)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


# --- train -----------------------------------------------------------------------------------------------------------
def usual_train(model, batches):
    losses = []
    for x, y in batches:
        model.reset_metrics()
        losses.append(float(model.train_on_batch(x, y)))
    return losses


def evaluating_train(model, batches):
    losses = []
    for x, y in batches:
        losses.append(model.evaluate(x, y, verbose=0))
        model.train_on_batch(x, y)
    return np.array(losses)


def dict_train(model, batches):
    losses = []
    for x, y in batches:
        model.reset_metrics()
        losses.append(model.train_on_batch(x, y, return_dict=True)["loss"])
    return losses


def fitting_train(model, batches):
    return [model.fit(x, y, batch_size=len(x), verbose=0).history["loss"][0] for x, y in batches]


def dict_returned(model, batches):
    return {"loss": usual_train(model, batches)}


def running_mean_train(model, batches):
    losses = usual_train(model, batches)
    return list(np.cumsum(losses) / np.arange(1, len(losses) + 1))


def fit_logs_train(model, batches):
    losses = []
    keep = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: losses.append(logs["loss"]))
    model.fit((batch for batch in batches), steps_per_epoch=len(batches), shuffle=False, verbose=0, callbacks=[keep])
    return losses


def fit_history_train(model, batches):
    x, y = (np.concatenate(part) for part in zip(*batches, strict=True))
    return model.fit(x, y, batch_size=len(batches[0][0]), shuffle=False, verbose=0).history["loss"]


def late_losses_train(model, batches):
    losses = []
    for x, y in batches:
        model.train_on_batch(x, y)
        losses.append(model.evaluate(x, y, verbose=0))
    return losses


def untrained_losses(model, batches):
    return [model.evaluate(x, y, verbose=0) for x, y in batches]


def recompiling_train(model, batches):
    model.compile(optimizer="sgd", loss=ON_LOGITS)
    return usual_train(model, batches)


def last_left_out(model, batches):
    return usual_train(model, batches[:-1])


# --- observer --------------------------------------------------------------------------------------------------------
class Undoing(keras.callbacks.Callback):
    def __init__(self, limit):
        super().__init__()
        self.limit, self.losses, self.sum = limit, [], 0.0

    def on_train_batch_end(self, batch, logs=None):
        before, self.sum = (self.sum if batch else 0.0), logs["loss"] * (batch + 1)
        self.losses.append(self.sum - before)
        self.model.stop_training = len(self.losses) == self.limit


class Resetting(keras.callbacks.Callback):
    def __init__(self, limit):
        super().__init__()
        self.limit, self.losses = limit, []

    def on_train_batch_begin(self, batch, logs=None):
        self.model.reset_metrics()

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(np.float32(logs["loss"]))
        if len(self.losses) >= self.limit:
            self.model.stop_training = True


class BeforeTheEpoch(keras.callbacks.Callback):
    """The sum starts anew where the epoch begins."""

    def __init__(self, limit):
        super().__init__()
        self.limit, self.losses, self.total = limit, [], 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self.total = 0.0

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(float(logs["loss"] * (batch + 1) - self.total))
        self.total += self.losses[-1]
        if len(self.losses) == self.limit:
            self.model.stop_training = True


class RunningMean(Resetting):
    def on_train_batch_begin(self, batch, logs=None):
        pass


class AcrossEpochs(Undoing):
    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(len(self.losses), logs)


class PerEpoch(Resetting):
    def on_train_batch_end(self, batch, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        super().on_train_batch_end(epoch, logs)


class NeverStops(Undoing):
    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        self.model.stop_training = False


class OneTooMany(Undoing):
    def __init__(self, limit):
        super().__init__(limit + 1)


class RecordsOnly(Undoing):
    """Stops recording, but not the training."""

    def on_train_batch_end(self, batch, logs=None):
        if len(self.losses) < self.limit:
            super().on_train_batch_end(batch, logs)
            self.model.stop_training = False


class OwnFlag(RecordsOnly):
    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        self.stop_training = True


class NoCallback:
    def __init__(self, limit):
        self.losses = []


class ZeroLosses(Undoing):
    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        self.losses[-1] = 0.0


RIGHT = {
    "digits/cross_entropy": [library_loss, one_hot_loss, shifted_loss, per_row_mean_loss],
    "digits/model": [sequential, functional, Subclassed, built_by_shape, output_made_first, compiled],
    "digits/step": [usual_step, zipped_step, stateless_step, through_compile, through_fit],
    "digits/repair": [usual_step, zipped_step],
    "digits/train": [usual_train, evaluating_train, dict_train, fitting_train],
    "digits/observer": [Undoing, Resetting, BeforeTheEpoch],
}
WRONG = {
    "digits/cross_entropy": [
        (naive_loss, "finite"),
        (probabilities_expected, "loss"),
        (labels_last, "your code raised"),
        (per_row_loss, "single"),
        (numpy_loss, "own type"),
        (cut_off_loss, "gradient"),
        (zero_loss, "received 0"),
    ],
    "digits/model": [
        (without_input, "keras.Input"),
        (unnamed, "hidden_weight"),
        (softmaxed, "probabilities"),
        (no_activation, "logits"),
        (relu_last, "logits"),
        (no_bias, "output_bias"),
        (no_model, "keras.Model"),
        (frozen, "trainable"),
        (with_dropout, "while training"),
        (cut_off, "no gradient"),
        (NumpyInside, "gradient"),
        (sizes_ignored, "(5, 7)"),
    ],
    "digits/step": [
        (no_move, "applied gradients 0 times"),
        (by_hand, "applied gradients 0 times"),
        (applied_twice, "applied gradients 2 times"),
        (no_learning_rate, "applied gradients 0 times"),
        (uphill, "step 2"),
        (probabilities_step, "step 1"),
        (summed_step, "step 2"),
        (late_loss, "step 1"),
        (no_return, "None"),
        (new_optimizer, "applied gradients 0 times"),
        (fixed_rate, "applied gradients 0 times"),
        (swapped_arguments, "your code raised"),
    ],
    "digits/repair": [(probabilities_step, "step 1"), (no_move, "0 times"), (late_loss, "step 1"), (uphill, "step 2")],
    "digits/train": [
        (running_mean_train, "losses"),
        (fit_logs_train, "losses"),
        (fit_history_train, "losses"),
        (late_losses_train, "losses"),
        (untrained_losses, "losses"),
        (recompiling_train, "losses"),
        (last_left_out, "losses"),
        (dict_returned, "losses"),
    ],
    "digits/observer": [
        (RunningMean, "recorded losses"),
        (AcrossEpochs, "recorded losses"),
        (PerEpoch, "it recorded"),
        (NeverStops, "it recorded 6"),
        (OneTooMany, "it recorded"),
        (RecordsOnly, "it took 6 steps"),
        (OwnFlag, "it took 6 steps"),
        (NoCallback, "keras.callbacks.Callback"),
        (ZeroLosses, "recorded losses"),
    ],
}
# The TensorFlow backend finds a softmax before its loss, takes it off and only warns; the others apply it.
SOFTMAXED = {
    "digits/cross_entropy": (softmaxed_first, "should be"),
    "digits/step": (softmax_step, "step 1"),
    "digits/repair": (softmax_step, "step 1"),
}
for exercise, (answer, words) in SOFTMAXED.items():
    if BACKEND == "tensorflow":
        RIGHT[exercise].append(answer)
    else:
        WRONG[exercise].append((answer, words))
if BACKEND == "torch":
    WRONG["digits/step"].append((never_cleared, "step 3"))
