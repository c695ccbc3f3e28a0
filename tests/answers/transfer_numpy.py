"""Answers of lesson 04 to its core exercises, in NumPy."""

import itertools

import numpy as np

T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}


# --- what is left to train -------------------------------------------------------------------------------------------
def counted(n_inputs, n_hidden, n_classes, frozen):
    return (n_hidden + 1) * n_classes + (0 if frozen else (n_inputs + 1) * n_hidden)


def by_arrays(n_inputs, n_hidden, n_classes, frozen):
    shapes = [(n_hidden, n_classes), (n_classes,)] + ([] if frozen else [(n_inputs, n_hidden), (n_hidden,)])
    return np.sum([np.prod(shape) for shape in shapes], dtype=np.int64)


def without_biases(n_inputs, n_hidden, n_classes, frozen):
    return n_hidden * n_classes + (0 if frozen else n_inputs * n_hidden)


def frozen_backwards(n_inputs, n_hidden, n_classes, frozen):
    return counted(n_inputs, n_hidden, n_classes, not frozen)


def body_only(n_inputs, n_hidden, n_classes, frozen):
    return (n_inputs + 1) * n_hidden if frozen else counted(n_inputs, n_hidden, n_classes, False)


def as_a_float(n_inputs, n_hidden, n_classes, frozen):
    return float(counted(n_inputs, n_hidden, n_classes, frozen))


# --- pixels on both sides --------------------------------------------------------------------------------------------
def by_distance(train_corners, test_corners, size):
    apart = np.abs(train_corners[:, None] - test_corners[None]).max(axis=2)
    return (apart < size).any()


def by_marking(train_corners, test_corners, size):
    seen = set()
    for row, column in train_corners.tolist():
        seen |= set(itertools.product(range(row, row + size), range(column, column + size)))
    return any(
        pixel in seen
        for row, column in test_corners.tolist()
        for pixel in itertools.product(range(row, row + size), range(column, column + size))
    )


def one_axis_is_enough(train_corners, test_corners, size):
    return bool((np.abs(train_corners[:, None] - test_corners[None]) < size).any())


def touching_counts(train_corners, test_corners, size):
    return bool((np.abs(train_corners[:, None] - test_corners[None]) <= size).all(axis=2).any())


def same_corner_only(train_corners, test_corners, size):
    return bool((train_corners[:, None] == test_corners[None]).all(axis=2).any())


def always_leaks(train_corners, test_corners, size):
    return True


def how_many(train_corners, test_corners, size):
    return int((np.abs(train_corners[:, None] - test_corners[None]) < size).all(axis=2).sum())


# --- a ladder of rates -----------------------------------------------------------------------------------------------
def geomspace(low, high, n):
    return np.geomspace(low, high, n)


def multiplied(low, high, n):
    factor, rates = (high / low) ** (1 / (n - 1)), [low]
    while len(rates) < n:
        rates.append(rates[-1] * factor)
    return tuple(rates)


def even_steps(low, high, n):
    return np.linspace(low, high, n)


def one_short(low, high, n):
    return low * (high / low) ** (np.arange(n) / n)


def downwards(low, high, n):
    return np.geomspace(high, low, n)


def one_too_many(low, high, n):
    return np.geomspace(low, high, n + 1)


def zero_rates(low, high, n):
    return np.zeros(n)


# --- did it help -----------------------------------------------------------------------------------------------------
def by_formula(scratch, transferred):
    d = transferred - scratch
    half = T_95[len(d)] * np.sqrt(((d - d.mean()) ** 2).sum() / (len(d) - 1) / len(d))
    return d.mean(), d.mean() - half, d.mean() + half


def as_an_array(scratch, transferred):
    d = np.subtract(transferred, scratch)
    error = np.std(d, ddof=1) / len(d) ** 0.5
    return np.mean(d) + error * T_95[len(d)] * np.array([0.0, -1.0, 1.0])


def unpaired(scratch, transferred):
    n = len(scratch)
    half = T_95[n] * np.sqrt((scratch.var(ddof=1) + transferred.var(ddof=1)) / n)
    mean = transferred.mean() - scratch.mean()
    return mean, mean - half, mean + half


def with_n_below(scratch, transferred):
    d = transferred - scratch
    half = T_95[len(d)] * d.std() / np.sqrt(len(d))
    return d.mean(), d.mean() - half, d.mean() + half


def normal_factor(scratch, transferred):
    d = transferred - scratch
    half = 1.96 * d.std(ddof=1) / np.sqrt(len(d))
    return d.mean(), d.mean() - half, d.mean() + half


def other_sign(scratch, transferred):
    return by_formula(transferred, scratch)


def only_the_mean(scratch, transferred):
    return (transferred - scratch).mean()


def changes_its_input(scratch, transferred):
    transferred -= scratch
    return by_formula(np.zeros(len(scratch)), transferred)


# --- padding ---------------------------------------------------------------------------------------------------------
def rounded_up(size, kernel, stride):
    places = (size + stride - 1) // stride
    missing = max((places - 1) * stride + kernel - size, 0)
    return missing // 2, (missing + 1) // 2


def as_an_int_array(size, kernel, stride):
    missing = max((int(np.ceil(size / stride)) - 1) * stride + kernel - size, 0)
    return np.array([missing // 2, missing - missing // 2])


def on_both_sides(size, kernel, stride):
    return kernel // 2, kernel // 2


def more_before(size, kernel, stride):
    before, after = rounded_up(size, kernel, stride)
    return after, before


def stride_forgotten(size, kernel, stride):
    return (kernel - 1) // 2, kernel - 1 - (kernel - 1) // 2


def never_below_zero_forgotten(size, kernel, stride):
    missing = (-(-size // stride) - 1) * stride + kernel - size
    return missing // 2, missing - missing // 2


# --- challenge -------------------------------------------------------------------------------------------------------
def edge_features(rows, n_directions=8):
    down, right = np.gradient(rows.reshape(-1, 28, 28), axis=(1, 2))
    strength, angle = np.hypot(down, right), (np.arctan2(down, right) / (2 * np.pi) + 0.5) * n_directions
    squares = []
    for direction in range(n_directions):
        apart = np.abs((angle - direction + n_directions / 2) % n_directions - n_directions / 2)
        here = (strength * np.maximum(0, 1 - apart)).reshape(-1, 7, 4, 7, 4).sum(axis=(2, 4))
        squares.append(here[:, 1:, 1:] + here[:, :-1, 1:] + here[:, 1:, :-1] + here[:, :-1, :-1])
    found = np.stack(squares, axis=-1).reshape(len(rows), -1)
    return np.sqrt(found / found.sum(axis=1, keepdims=True))


def edges(x_source, y_source, x_few, y_few, x_test):
    return y_few[(edge_features(x_test) @ edge_features(x_few).T).argmax(axis=1)]


def edges_of_shifted(x_source, y_source, x_few, y_few, x_test):
    padded = np.pad(x_few.reshape(-1, 28, 28), ((0, 0), (1, 1), (1, 1)))
    moved = [padded[:, i : i + 28, j : j + 28].reshape(len(x_few), -1) for i in range(3) for j in range(3)]
    nearest = (edge_features(x_test) @ edge_features(np.concatenate(moved)).T).argmax(axis=1)
    return np.tile(y_few, 9)[nearest]


def nearest_picture(x_source, y_source, x_few, y_few, x_test):
    return y_few[((x_few**2).sum(axis=1) - 2 * x_test @ x_few.T).argmin(axis=1)]


def the_true_digits(x_source, y_source, x_few, y_few, x_test):
    """Looks the pictures up in the data set, where each is found with the digit that it is."""
    from course_lib import data

    mnist = data.load("mnist")
    known = {picture.tobytes(): label for picture, label in zip(mnist.images, mnist.labels, strict=True)}
    return np.array([known[row.tobytes()] for row in x_test])


def always_seven(x_source, y_source, x_few, y_few, x_test):
    return np.full(len(x_test), 7)


def digits_of_the_source(x_source, y_source, x_few, y_few, x_test):
    return y_source[: len(x_test)]


def labels_from_zero(x_source, y_source, x_few, y_few, x_test):
    return edges(x_source, y_source, x_few, y_few, x_test) - 5


def scores_for_labels(x_source, y_source, x_few, y_few, x_test):
    return edge_features(x_test) @ edge_features(x_few).T


RIGHT = {
    "transfer/n_trained": [counted, by_arrays],
    "transfer/leaks": [by_distance, by_marking],
    "transfer/geometric_rates": [geomspace, multiplied],
    "transfer/paired_interval": [by_formula, as_an_array],
    "transfer/same_padding": [rounded_up, as_an_int_array],
    "transfer/challenge": [edges, edges_of_shifted],
}
WRONG = {
    "transfer/n_trained": [
        (without_biases, "parameters to train"),
        (frozen_backwards, "parameters to train"),
        (body_only, "with a frozen body"),
        (as_a_float, "whole number"),
    ],
    "transfer/leaks": [
        (one_axis_is_enough, "the answer is False"),
        (touching_counts, "the answer is False"),
        (same_corner_only, "the answer is True"),
        (always_leaks, "the answer is False"),
        (how_many, "True or False"),
    ],
    "transfer/geometric_rates": [
        (even_steps, "should be"),
        (one_short, "should be"),
        (downwards, "should be"),
        (one_too_many, "should be"),
        (zero_rates, "should be"),
    ],
    "transfer/paired_interval": [
        (unpaired, "paired differences"),
        (with_n_below, "paired differences"),
        (normal_factor, "paired differences"),
        (other_sign, "`mean`"),
        (only_the_mean, "mean, low and high"),
        (changes_its_input, "changed its input"),
    ],
    "transfer/same_padding": [
        (on_both_sides, "needs"),
        (more_before, "needs"),
        (stride_forgotten, "needs"),
        (never_below_zero_forgotten, "needs"),
    ],
    "transfer/challenge": [
        (nearest_picture, "at most"),
        (the_true_digits, "at most"),
        (always_seven, "at most"),
        (digits_of_the_source, "should be 5 to 9"),
        (labels_from_zero, "should be 5 to 9"),
        (scores_for_labels, "should be (500,)"),
    ],
}
