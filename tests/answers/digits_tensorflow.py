"""Answers of lesson 01 in the TensorFlow track."""

import numpy as np
import tensorflow as tf


def loss_of(labels, logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


# --- cross-entropy ---------------------------------------------------------------------------------------------------
def library_loss(logits, labels):
    return loss_of(labels, logits)


def gathered_loss(logits, labels):
    log_p = tf.nn.log_softmax(logits)
    return -tf.reduce_mean(tf.gather(log_p, labels, batch_dims=1))


def one_hot_loss(logits, labels):
    shifted = logits - tf.reduce_max(logits, axis=1, keepdims=True)
    log_p = shifted - tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True))
    return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(labels, logits.shape[1]) * log_p, axis=1))


def keras_loss(logits, labels):
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits)


@tf.function(jit_compile=True, reduce_retracing=True)
def compiled_loss(logits, labels):
    return tf.reduce_mean(tf.reduce_logsumexp(logits, axis=-1) - tf.gather(logits, labels, batch_dims=1))


def naive_loss(logits, labels):
    e = tf.exp(logits)
    return -tf.reduce_mean(tf.math.log(tf.gather(e / tf.reduce_sum(e, axis=1, keepdims=True), labels, batch_dims=1)))


def keras_default_loss(logits, labels):
    return tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(labels, logits))


def softmax_twice(logits, labels):
    return loss_of(labels, tf.nn.softmax(logits))


def summed_loss(logits, labels):
    return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def per_row_loss(logits, labels):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def numpy_loss(logits, labels):
    z = logits.numpy().astype(np.float64)
    z = z - z.max(1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(len(z)), labels.numpy()].mean()


def float_loss(logits, labels):
    return float(loss_of(labels, logits))


def cut_loss(logits, labels):
    return loss_of(labels, tf.stop_gradient(logits))


def eager_only_loss(logits, labels):
    rows = [[row, label] for row, label in enumerate(labels.numpy())]
    return -tf.reduce_mean(tf.gather_nd(tf.nn.log_softmax(logits), rows))


def zero_loss(logits, labels):
    return tf.zeros(())


def nan_loss(logits, labels):
    return loss_of(labels, logits) * np.nan


# --- model -----------------------------------------------------------------------------------------------------------
class Plain(tf.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.hidden_weight = tf.Variable(tf.random.normal((n_inputs, n_hidden)))
        self.hidden_bias = tf.Variable(tf.zeros(n_hidden))
        self.output_weight = tf.Variable(tf.random.normal((n_hidden, n_classes)))
        self.output_bias = tf.Variable(tf.zeros(n_classes))

    def __call__(self, x):
        return tf.nn.relu(x @ self.hidden_weight + self.hidden_bias) @ self.output_weight + self.output_bias


class Compiled(Plain):
    @tf.function
    def __call__(self, x):
        return super().__call__(x)


class Named(tf.Module):
    def __init__(self, n_inputs, n_hidden, n_classes, name="classifier"):
        super().__init__(name=name)
        glorot = tf.keras.initializers.GlorotUniform(seed=0)
        self.output_bias = tf.Variable(tf.zeros([n_classes]), name="b2")
        self.output_weight = tf.Variable(glorot((n_hidden, n_classes)), name="w2")
        self.hidden_bias = tf.Variable(tf.zeros([n_hidden]), name="b1")
        self.hidden_weight = tf.Variable(glorot((n_inputs, n_hidden)), name="w1")

    def __call__(self, x):
        hidden = tf.maximum(tf.linalg.matmul(x, self.hidden_weight) + self.hidden_bias, 0.0)
        return tf.nn.bias_add(tf.linalg.matmul(hidden, self.output_weight), self.output_bias)


class CompiledByXla(Plain):
    @tf.function(jit_compile=True, reduce_retracing=True)
    def __call__(self, x):
        return super().__call__(x)


class NameScoped(Plain):
    @tf.Module.with_name_scope
    def __call__(self, x):
        return super().__call__(x)


class CutOff(Plain):
    def __call__(self, x):
        hidden = tf.stop_gradient(tf.nn.relu(x @ self.hidden_weight + self.hidden_bias))
        return hidden @ self.output_weight + self.output_bias


class NumpyInside(Plain):
    def __call__(self, x):
        hidden = np.maximum((x @ self.hidden_weight + self.hidden_bias).numpy(), 0)
        return hidden @ self.output_weight + self.output_bias


class Biasless(Plain):
    def __call__(self, x):
        return tf.nn.relu(x @ self.hidden_weight) @ self.output_weight + self.output_bias


class AllZeros(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__(n_inputs, n_hidden, n_classes)
        self.hidden_weight.assign(tf.zeros_like(self.hidden_weight))
        self.output_weight.assign(tf.zeros_like(self.output_weight))


class Dense(tf.Module):
    def __init__(self, n_inputs, n_outputs):
        super().__init__()
        self.weight = tf.Variable(tf.random.normal((n_inputs, n_outputs)))
        self.bias = tf.Variable(tf.zeros(n_outputs))

    def __call__(self, x):
        return x @ self.weight + self.bias


class Nested(tf.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.hidden, self.output = Dense(n_inputs, n_hidden), Dense(n_hidden, n_classes)

    def __call__(self, x):
        return self.output(tf.nn.relu(self.hidden(x)))


class NoActivation(Plain):
    def __call__(self, x):
        return (x @ self.hidden_weight + self.hidden_bias) @ self.output_weight + self.output_bias


class Softmaxed(Plain):
    def __call__(self, x):
        return tf.nn.softmax(super().__call__(x))


class AsNumpy(Plain):
    def __call__(self, x):
        return super().__call__(x).numpy()


class Constants(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__(n_inputs, n_hidden, n_classes)
        self.hidden_bias = tf.zeros(n_hidden)


class Frozen(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__(n_inputs, n_hidden, n_classes)
        self.output_bias = tf.Variable(tf.zeros(n_classes), trainable=False)


class Transposed(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__(n_inputs, n_hidden, n_classes)
        self.hidden_weight = tf.Variable(tf.random.normal((n_hidden, n_inputs)))


class Layers(tf.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(n_hidden, "relu")
        self.output = tf.keras.layers.Dense(n_classes)

    def __call__(self, x):
        return self.output(self.hidden(x))


class KerasModel(tf.keras.Model):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(n_hidden, "relu")
        self.output_layer = tf.keras.layers.Dense(n_classes)

    def call(self, x):
        return self.output_layer(self.hidden(x))


# --- step ------------------------------------------------------------------------------------------------------------
def eager(model, optimizer):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        return loss

    return step


def usual(model, optimizer):
    return tf.function(eager(model, optimizer))


def decorated(model, optimizer):
    variables = model.trainable_variables

    @tf.function(jit_compile=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return step


def with_signature(model, optimizer):
    signature = [tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([None], tf.int64)]
    return tf.function(eager(model, optimizer), input_signature=signature)


def by_hand(model, optimizer):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        slopes = tape.gradient(loss, model.trainable_variables)
        for variable, slope in zip(model.trainable_variables, slopes, strict=True):
            variable.assign_sub(optimizer.learning_rate * slope)
        return loss

    return lambda x, y: float(step(x, y))


def reduced_retracing(model, optimizer):
    return tf.function(eager(model, optimizer), jit_compile=True, reduce_retracing=True)


def with_keras_loss(model, optimizer):
    optimizer.build(model.trainable_variables)
    loss_function = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_function(y, model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    return step


class StepModule(tf.Module):
    def __init__(self, model, optimizer):
        super().__init__()
        self.model, self.optimizer = model, optimizer

    @tf.function
    def __call__(self, x, y):
        return eager(self.model, self.optimizer)(x, y)


def concrete(model, optimizer):
    step, traced = usual(model, optimizer), []

    def run(x, y):
        if not traced:
            traced.append(step.get_concrete_function(x, y))
        return traced[0](x, y)

    return run


def around_the_model(model, optimizer):
    """Eager, and out of sight of the model that counts its runs."""

    def step(x, y):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ model.hidden_weight + model.hidden_bias)
            loss = loss_of(y, hidden @ model.output_weight + model.output_bias)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    return step


def fixed_rate(model, optimizer):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))
        variables = model.trainable_variables
        for variable, slope in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.3 * slope)
        return loss

    return step


def step_itself(model, optimizer, x, y):
    return eager(model, optimizer)(x, y)


def compiled_anew(model, optimizer):
    return lambda x, y: usual(model, optimizer)(x, y)


def python_number(model, optimizer):
    inner = tf.function(lambda x, y, number: eager(model, optimizer)(x, y))
    numbers = iter(range(1000))
    return lambda x, y: inner(x, y, next(numbers))


def outside_the_tape(model, optimizer):
    @tf.function
    def step(x, y):
        logits = model(x)
        with tf.GradientTape() as tape:
            loss = loss_of(y, logits)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        return loss

    return step


def none_filtered(model, optimizer):
    @tf.function
    def step(x, y):
        hidden = tf.nn.relu(x @ model.hidden_weight + model.hidden_bias)
        with tf.GradientTape() as tape:
            loss = loss_of(y, hidden @ model.output_weight + model.output_bias)
        pairs = zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        optimizer.apply_gradients([(slope, variable) for slope, variable in pairs if slope is not None])
        return loss

    return step


def first_batch_captured(model, optimizer):
    batch = {}

    @tf.function
    def inner():
        return eager(model, optimizer)(batch["x"], batch["y"])

    def step(x, y):
        batch.update(x=x, y=y)
        return inner()

    return step


def no_move(model, optimizer):
    return tf.function(lambda x, y: loss_of(y, model(x)))


def late_loss(model, optimizer):
    @tf.function
    def step(x, y):
        eager(model, optimizer)(x, y)
        return loss_of(y, model(x))

    return step


def numpy_in_graph(model, optimizer):
    return tf.function(lambda x, y: eager(model, optimizer)(x, y).numpy())


def no_return(model, optimizer):
    def step(x, y):
        eager(model, optimizer)(x, y)

    return tf.function(step)


def step_not_returned(model, optimizer):
    usual(model, optimizer)


def own_optimizer(model, optimizer):
    return usual(model, tf.keras.optimizers.SGD(0.01))


# --- train -----------------------------------------------------------------------------------------------------------
def usual_train(step, batches):
    return [float(step(x, y)) for x, y in batches]


def array_train(step, batches):
    losses = []
    for x, y in batches:
        losses.append(step(x, y).numpy())
    return np.array(losses)


def waiting_once_train(step, batches):
    return tf.stack([step(*batch) for batch in batches]).numpy().tolist()


def dataset_train(step, batches):
    arrays = tuple(tf.stack(part) for part in zip(*batches, strict=True))
    return [float(step(x, y)) for x, y in tf.data.Dataset.from_tensor_slices(arrays).prefetch(2)]


def loop_in_the_graph(step, batches):
    arrays = tuple(tf.stack(part) for part in zip(*batches, strict=True))

    @tf.function
    def run():
        losses = tf.TensorArray(tf.float32, len(batches))
        for number in tf.range(len(batches)):
            losses = losses.write(number, step(arrays[0][number], arrays[1][number]))
        return losses.stack()

    return run().numpy().tolist()


def wrapped_train(step, batches):
    losses = []

    @tf.function
    def record(x, y):
        losses.append(step(x, y))

    for x, y in batches:
        record(x, y)
    return losses


def stepping_twice(step, batches):
    losses = []
    for x, y in batches:
        step(x, y)
        losses.append(float(step(x, y)))
    return losses


def last_left_out(step, batches):
    return usual_train(step, batches[:-1])


def mean_only(step, batches):
    return float(np.mean(usual_train(step, batches)))


def text_train(step, batches):
    return [str(step(x, y)) for x, y in batches]


RIGHT = {
    "digits/cross_entropy": [library_loss, gathered_loss, one_hot_loss, keras_loss, compiled_loss],
    "digits/model": [Plain, Compiled, Named, CompiledByXla, NameScoped],
    "digits/step": [
        usual,
        decorated,
        with_signature,
        reduced_retracing,
        with_keras_loss,
        StepModule,
        concrete,
    ],
    "digits/repair": [usual, decorated, reduced_retracing],
    "digits/train": [usual_train, array_train, waiting_once_train, dataset_train, loop_in_the_graph],
}
WRONG = {
    "digits/cross_entropy": [
        (naive_loss, "finite"),
        (keras_default_loss, "loss"),
        (softmax_twice, "loss"),
        (summed_loss, "should be"),
        (per_row_loss, "single"),
        (numpy_loss, "own type"),
        (float_loss, "own type"),
        (cut_loss, "tape"),
        (eager_only_loss, "tf.function"),
        (zero_loss, "received 0"),
        (nan_loss, "finite"),
    ],
    "digits/model": [
        (NoActivation, "logits"),
        (Softmaxed, "probabilities"),
        (AsNumpy, "own type"),
        (Constants, "hidden_bias"),
        (Frozen, "output_bias"),
        (Transposed, "(5, 7)"),
        (Layers, "self.hidden_weight"),
        (Nested, "self.hidden_weight"),
        (CutOff, "`hidden_weight` is None"),
        (NumpyInside, "`hidden_weight` is None"),
        (Biasless, "`hidden_bias` is None"),
        (AllZeros, "start equal"),
        (KerasModel, "tf.Module"),
    ],
    "digits/step": [
        (eager, "5 times"),
        (compiled_anew, "5 times"),
        (python_number, "5 times"),
        (outside_the_tape, "gradient"),
        (none_filtered, "step 2"),
        (first_batch_captured, "step 2"),
        (no_move, "applied gradients 0 times"),
        (by_hand, "applied gradients 0 times"),
        (fixed_rate, "applied gradients 0 times"),
        (around_the_model, "never called the `model`"),
        (step_itself, "making a step"),
        (late_loss, "step 1"),
        (numpy_in_graph, "numpy"),
        (no_return, "None"),
        (step_not_returned, "NoneType"),
        (own_optimizer, "applied gradients 0 times"),
    ],
    "digits/repair": [
        (outside_the_tape, "gradient"),
        (none_filtered, "step 2"),
        (first_batch_captured, "step 2"),
        (no_move, "applied gradients 0 times"),
        (eager, "5 times"),
    ],
    "digits/train": [
        (wrapped_train, "losses"),
        (stepping_twice, "losses"),
        (last_left_out, "losses"),
        (mean_only, "losses"),
        (text_train, "losses"),
    ],
}
