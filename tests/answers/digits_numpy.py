"""Answers of lesson 01 in the NumPy track, and of its core exercises."""

import math

import numpy as np

from course_lib import data
from course_lib.checks.reference import gradients


# --- split -----------------------------------------------------------------------------------------------------------
def split_by_isin(groups, n_validation_groups, seed):
    chosen = np.random.default_rng(seed).choice(np.unique(groups), n_validation_groups, replace=False)
    held_out = np.isin(groups, chosen)
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def split_in_lists(groups, n_validation_groups, seed):
    order = np.random.RandomState(seed).permutation(sorted(set(groups.tolist())))
    chosen = set(order[:n_validation_groups].tolist())
    train = [i for i, g in enumerate(groups.tolist()) if g not in chosen]
    return train, [i for i, g in enumerate(groups.tolist()) if g in chosen]


def split_rows(groups, n_validation_groups, seed):
    rows = np.random.default_rng(seed).permutation(len(groups))
    return rows[10:], rows[:10]


def split_last_groups(groups, n_validation_groups, seed):
    held_out = np.isin(groups, np.unique(groups)[-n_validation_groups:])
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def split_unseeded(groups, n_validation_groups, seed):
    return split_by_isin(groups, n_validation_groups, None)


def split_masks(groups, n_validation_groups, seed):
    train, validation = split_by_isin(groups, n_validation_groups, seed)
    return np.isin(np.arange(len(groups)), train), np.isin(np.arange(len(groups)), validation)


def split_swapped(groups, n_validation_groups, seed):
    return split_by_isin(groups, n_validation_groups, seed)[::-1]


def split_with_replacement(groups, n_validation_groups, seed):
    chosen = np.random.default_rng(seed).choice(np.unique(groups)[:2], n_validation_groups)
    held_out = np.isin(groups, chosen)
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


# --- accuracy --------------------------------------------------------------------------------------------------------
def accuracy_mean(logits, labels):
    return (logits.argmax(axis=1) == labels).mean()


def accuracy_count(logits, labels):
    return sum(int(row.argmax() == label) for row, label in zip(logits, labels, strict=True)) / len(labels)


def accuracy_broadcast(logits, labels):
    return (logits.argmax(axis=1, keepdims=True) == labels).mean()


def accuracy_wrong_axis(logits, labels):
    return float(np.mean([c == y for c, y in zip(logits.argmax(axis=0), labels, strict=False)]))


def accuracy_in_per_cent(logits, labels):
    return 100 * accuracy_mean(logits, labels)


def accuracy_sum(logits, labels):
    return (logits.argmax(axis=1) == labels).sum()


def accuracy_per_row(logits, labels):
    return (logits.argmax(axis=1) == labels).astype(float)


# --- small questions -------------------------------------------------------------------------------------------------
def count_formula(n_inputs, n_hidden, n_classes):
    return (n_inputs + 1) * n_hidden + (n_hidden + 1) * n_classes


def count_arrays(n_inputs, n_hidden, n_classes):
    shapes = [(n_inputs, n_hidden), (n_hidden,), (n_hidden, n_classes), (n_classes,)]
    return int(sum(np.prod(shape) for shape in shapes))


def count_weights(n_inputs, n_hidden, n_classes):
    return n_inputs * n_hidden + n_hidden * n_classes


def count_of_this_net(n_inputs, n_hidden, n_classes):
    return 2410


def count_as_float(n_inputs, n_hidden, n_classes):
    return count_formula(n_inputs, n_hidden, n_classes) * 1.0


def log_classes(n_classes):
    return math.log(n_classes)


def minus_log_share(n_classes):
    return -np.log(1 / n_classes)


def log_two(n_classes):
    return math.log2(n_classes)


def log_of_ten(n_classes):
    return 2.302585


def one_over(n_classes):
    return 1 / n_classes


# --- cross-entropy ---------------------------------------------------------------------------------------------------
def shifted_loss(logits, labels):
    z = logits - logits.max(1, keepdims=True)
    return (np.log(np.exp(z).sum(1)) - z[np.arange(len(z)), labels]).mean()


def logaddexp_loss(logits, labels):
    lse = np.logaddexp.reduce(logits.astype(np.float64), axis=1)
    return float(np.mean(lse - np.take_along_axis(logits, labels[:, None], axis=1)[:, 0]))


def naive_loss(logits, labels):
    with np.errstate(all="ignore"):
        e = np.exp(logits)
        return -np.log((e / e.sum(1, keepdims=True))[np.arange(len(e)), labels]).mean()


def one_maximum_loss(logits, labels):
    with np.errstate(all="ignore"):
        e = np.exp(logits - logits.max())
        return -np.log((e / e.sum(1, keepdims=True))[np.arange(len(e)), labels]).mean()


def all_pairs_loss(logits, labels):
    z = logits - logits.max(1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(1, keepdims=True)))[:, labels].mean()


def in_place_loss(logits, labels):
    logits -= logits.max(1, keepdims=True)
    return shifted_loss(logits, labels)


# --- model -----------------------------------------------------------------------------------------------------------
def maximum_forward(parameters, x):
    hidden = np.maximum(0, x @ parameters["hidden_weight"] + parameters["hidden_bias"])
    return hidden @ parameters["output_weight"] + parameters["output_bias"]


def where_forward(parameters, x):
    before = np.einsum("ni,ih->nh", x, parameters["hidden_weight"]) + parameters["hidden_bias"]
    return np.where(before > 0, before, 0) @ parameters["output_weight"] + parameters["output_bias"]


def linear_forward(parameters, x):
    hidden = x @ parameters["hidden_weight"] + parameters["hidden_bias"]
    return hidden @ parameters["output_weight"] + parameters["output_bias"]


def softmax_forward(parameters, x):
    e = np.exp(maximum_forward(parameters, x))
    return e / e.sum(1, keepdims=True)


def squeezed_forward(parameters, x):
    return maximum_forward(parameters, x).squeeze()


def relu_on_logits(parameters, x):
    return np.maximum(0, maximum_forward(parameters, x))


# --- backward pass ---------------------------------------------------------------------------------------------------
def right_gradients(parameters, x, y):
    return gradients(parameters, x, y)[1]


def nudged_gradients(parameters, x, y):
    p = {k: v.astype(np.float64) for k, v in parameters.items()}
    found = {k: np.zeros_like(v) for k, v in p.items()}
    for name, value in p.items():
        for place in np.ndindex(value.shape):
            kept, sides = value[place], []
            for nudge in (1e-5, -1e-5):
                value[place] = kept + nudge
                sides.append(gradients(p, x, y)[0])
            value[place] = kept
            found[name][place] = (sides[0] - sides[1]) / 2e-5
    return found


def unmasked_gradients(parameters, x, y):
    found = right_gradients(parameters, x, y)
    opened = {**parameters, "hidden_bias": parameters["hidden_bias"] + 100}
    return {**found, "hidden_bias": right_gradients(opened, x, y)["hidden_bias"]}


def summed_gradients(parameters, x, y):
    return {k: v * len(y) for k, v in right_gradients(parameters, x, y).items()}


def transposed_gradients(parameters, x, y):
    return {k: v.T for k, v in right_gradients(parameters, x, y).items()}


def gradients_in_a_tuple(parameters, x, y):
    return tuple(right_gradients(parameters, x, y).values())


def gradients_of_zero(parameters, x, y):
    return {k: np.zeros_like(v) for k, v in parameters.items()}


# --- step and loop ---------------------------------------------------------------------------------------------------
def usual_step(parameters, x, y, learning_rate):
    loss, gradient = gradients(parameters, x, y)
    return loss, {k: v - learning_rate * gradient[k] for k, v in parameters.items()}


def copying_step(parameters, x, y, learning_rate):
    new = {k: v.astype(np.float64) for k, v in parameters.items()}
    loss, gradient = gradients(parameters, x, y)
    for name in new:
        new[name] -= learning_rate * gradient[name]
    return float(loss), new


def ascending_step(parameters, x, y, learning_rate):
    loss, gradient = gradients(parameters, x, y)
    return loss, {k: v + learning_rate * gradient[k] for k, v in parameters.items()}


def unmoved_step(parameters, x, y, learning_rate):
    return gradients(parameters, x, y)[0], parameters


def summed_step(parameters, x, y, learning_rate):
    return usual_step(parameters, x, y, learning_rate * len(y))[0], usual_step(
        parameters, x, y, learning_rate * len(y)
    )[1]


def biasless_step(parameters, x, y, learning_rate):
    loss, new = usual_step(parameters, x, y, learning_rate)
    return loss, {k: parameters[k] if k.endswith("bias") else v for k, v in new.items()}


def in_place_step(parameters, x, y, learning_rate):
    loss, gradient = gradients(parameters, x, y)
    for name in parameters:
        parameters[name] -= (learning_rate * gradient[name]).astype(parameters[name].dtype)
    return loss, parameters


def usual_train(step, parameters, batches, learning_rate):
    losses = []
    for x, y in batches:
        loss, parameters = step(parameters, x, y, learning_rate)
        losses.append(float(loss))
    return losses, parameters


def array_train(step, parameters, batches, learning_rate):
    losses = np.empty(len(batches))
    for i, (x, y) in enumerate(batches):
        losses[i], parameters = step(parameters, x, y, learning_rate)
    return losses, parameters


def forgetful_train(step, parameters, batches, learning_rate):
    return [float(step(parameters, x, y, learning_rate)[0]) for x, y in batches], parameters


def reversed_train(step, parameters, batches, learning_rate):
    return usual_train(step, parameters, batches[::-1], learning_rate)


def initial_train(step, parameters, batches, learning_rate):
    return usual_train(step, parameters, batches, learning_rate)[0], parameters


def short_train(step, parameters, batches, learning_rate):
    return usual_train(step, parameters, batches[:-1], learning_rate)


# --- challenge -------------------------------------------------------------------------------------------------------
def nearest_picture(batches, x_test):
    x, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return labels[((x**2).sum(1) - 2 * x_test @ x.T).argmin(1)]


def momentum_net(batches, x_test):
    rng = np.random.default_rng(0)
    p = {"hidden_weight": rng.normal(size=(64, 256)) * 0.18, "hidden_bias": np.zeros(256),
         "output_weight": rng.normal(size=(256, 10)) * 0.09, "output_bias": np.zeros(10)}  # fmt: skip
    velocity = dict.fromkeys(p, 0.0)
    for _ in range(20):
        for x, y in batches:
            for k, g in gradients(p, x, y)[1].items():
                velocity[k] = 0.9 * velocity[k] + g
                p[k] = p[k] - 0.1 * velocity[k]
    return maximum_forward(p, x_test).argmax(1)


def all_zeros(batches, x_test):
    return np.zeros(len(x_test), np.int64)


def plain_sgd(batches, x_test):
    rng = np.random.default_rng(1)
    p = {"hidden_weight": rng.normal(size=(64, 32)) * 0.18, "hidden_bias": np.zeros(32),
         "output_weight": rng.normal(size=(32, 10)) * 0.25, "output_bias": np.zeros(10)}  # fmt: skip
    for x, y in batches:
        p = usual_step(p, x, y, 0.1)[1]
    return maximum_forward(p, x_test).argmax(1)


def looked_up(batches, x_test):
    digits = data.load("digits")
    x = digits.images.reshape(len(digits), -1)
    return digits.labels[((x**2).sum(1) - 2 * x_test @ x.T).argmin(1)]


def logits_instead(batches, x_test):
    return np.zeros((len(x_test), 10))


RIGHT = {
    "digits/split": [split_by_isin, split_in_lists],
    "digits/accuracy": [accuracy_mean, accuracy_count],
    "digits/n_parameters": [count_formula, count_arrays],
    "digits/untrained_loss": [log_classes, minus_log_share],
    "digits/cross_entropy": [shifted_loss, logaddexp_loss],
    "digits/model": [maximum_forward, where_forward],
    "digits/gradients": [right_gradients, nudged_gradients],
    "digits/step": [usual_step, copying_step],
    "digits/repair": [usual_step, copying_step],
    "digits/train": [usual_train, array_train],
    "digits/challenge": [nearest_picture, momentum_net],
}
WRONG = {
    "digits/split": [
        (split_rows, "both sides"),
        (split_last_groups, "another seed"),
        (split_unseeded, "same seed"),
        (split_masks, "row numbers"),
        (split_swapped, "validation should hold"),
        (split_with_replacement, "validation should hold"),
    ],
    "digits/accuracy": [
        (accuracy_broadcast, "accuracy"),
        (accuracy_wrong_axis, "accuracy"),
        (accuracy_in_per_cent, "accuracy"),
        (accuracy_sum, "floating"),
        (accuracy_per_row, "single"),
    ],
    "digits/n_parameters": [(count_weights, "parameters"), (count_of_this_net, "2410"), (count_as_float, "whole")],
    "digits/untrained_loss": [(log_two, "for 2 classes"), (log_of_ten, "for 2 classes"), (one_over, "for 2 classes")],
    "digits/cross_entropy": [
        (naive_loss, "finite"),
        (one_maximum_loss, "finite"),
        (all_pairs_loss, "loss"),
        (in_place_loss, "in place"),
    ],
    "digits/model": [
        (linear_forward, "logits"),
        (softmax_forward, "probabilities"),
        (squeezed_forward, "(1, 3)"),
        (relu_on_logits, "logits"),
    ],
    "digits/gradients": [
        (unmasked_gradients, "hidden_bias"),
        (summed_gradients, "the gradient for"),
        (transposed_gradients, "hidden_weight"),
        (gradients_in_a_tuple, "dict"),
        (gradients_of_zero, "received 0"),
    ],
    "digits/step": [
        (ascending_step, "step 2"),
        (unmoved_step, "step 2"),
        (summed_step, "step 2"),
        (biasless_step, "step 2"),
        (in_place_step, "in place"),
    ],
    "digits/repair": [(ascending_step, "step"), (summed_step, "step"), (unmoved_step, "step")],
    "digits/train": [
        (forgetful_train, "losses"),
        (reversed_train, "losses"),
        (initial_train, "after training"),
        (short_train, "losses"),
    ],
    "digits/challenge": [
        (all_zeros, "test digits"),
        (plain_sgd, "test digits"),
        (looked_up, "test digits"),
        (logits_instead, "whole-number"),
    ],
}
