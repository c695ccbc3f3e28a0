"""Answers to the core exercises of lesson 02, which are written in NumPy in every track."""

import math

import numpy as np


# --- small questions -------------------------------------------------------------------------------------------------
def majority(train_labels, validation_labels):
    return 1 - (validation_labels == np.bincount(train_labels).argmax()).mean()


def majority_counted(train_labels, validation_labels):
    values, counts = np.unique(train_labels, return_counts=True)
    favourite = values[counts.argmax()]
    return sum(int(label != favourite) for label in validation_labels) / len(validation_labels)


def majority_of_validation(train_labels, validation_labels):
    return float((validation_labels != np.bincount(validation_labels).argmax()).mean())


def majority_accuracy(train_labels, validation_labels):
    return float((validation_labels == np.bincount(train_labels).argmax()).mean())


def majority_on_training(train_labels, validation_labels):
    return float((train_labels != np.bincount(train_labels).argmax()).mean())


def one_minus_chance(train_labels, validation_labels):
    return 1 - 1 / len(np.unique(train_labels))


def majority_in_per_cent(train_labels, validation_labels):
    return 100 * majority(train_labels, validation_labels)


def majority_per_row(train_labels, validation_labels):
    return (validation_labels != np.bincount(train_labels).argmax()).astype(float)


def mean_and_variance(targets):
    return targets.mean(), targets.var()


def by_hand(targets):
    middle = sum(targets.tolist()) / len(targets)
    return [middle, sum((t - middle) ** 2 for t in targets.tolist()) / len(targets)]


def median_guess(targets):
    return np.median(targets), ((targets - np.median(targets)) ** 2).mean()


def with_deviation(targets):
    return targets.mean(), targets.std()


def with_n_minus_one(targets):
    return targets.mean(), targets.var(ddof=1)


def only_the_loss(targets):
    return targets.var()


def zero_guess(targets):
    return 0.0, (targets**2).mean()


def two_over(curvature):
    return 2 / curvature


def by_search(curvature):
    low, high = 0.0, 1000.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if abs(1 - middle * curvature) < 1 else (low, middle)
    return low


def one_over(curvature):
    return 1 / curvature


def constant_rate(curvature):
    return 0.5


def proportional(curvature):
    return 2 * curvature


def half_curvature(curvature):
    return curvature / 2


# --- interval --------------------------------------------------------------------------------------------------------
def interval_usual(scores, t):
    half = t * scores.std(ddof=1) / math.sqrt(len(scores))
    return scores.mean() - half, scores.mean() + half


def interval_by_hand(scores, t):
    n, mean = len(scores), sum(scores) / len(scores)
    s = math.sqrt(sum((score - mean) ** 2 for score in scores) / (n - 1))
    return np.array([mean - t * s / n**0.5, mean + t * s / n**0.5]).tolist()


def interval_ddof0(scores, t):
    half = t * scores.std() / math.sqrt(len(scores))
    return scores.mean() - half, scores.mean() + half


def interval_of_single_runs(scores, t):
    half = t * scores.std(ddof=1)
    return scores.mean() - half, scores.mean() + half


def interval_fixed_t(scores, t):
    return interval_usual(scores, 2.776)


def interval_min_max(scores, t):
    return scores.min(), scores.max()


def interval_swapped(scores, t):
    return interval_usual(scores, t)[::-1]


def interval_half_width(scores, t):
    return t * scores.std(ddof=1) / math.sqrt(len(scores))


def interval_nan(scores, t):
    return math.nan, math.nan


# --- diagnose --------------------------------------------------------------------------------------------------------
def in_order(losses, baseline_loss, train_skill, validation_skill, repeatable):
    finite = losses[np.isfinite(losses)]
    if finite.max() > 50 * losses[0]:
        return "rate too large" if losses[1] > 4 * losses[0] else "gradients kept"
    if len(finite) < len(losses):
        return "log of zero"
    if not repeatable:
        return "evaluation mode forgotten"
    if train_skill > 0.7 and validation_skill < 0.3:
        return "labels shuffled"
    if train_skill < 0.2:
        return "broadcasting"
    return "healthy"


def another_order(losses, baseline_loss, train_skill, validation_skill, repeatable):
    if not repeatable:
        return "evaluation mode forgotten"
    if losses[1] > 3 * losses[0]:
        return "rate too large"
    if not np.isfinite(losses).all() and np.nanmax(losses[losses < np.inf]) < 10 * losses[0]:
        return "log of zero"
    if np.nanmax(losses) > 10 * losses[0]:
        return "gradients kept"
    if abs(losses[-30:].mean() - baseline_loss) < 0.25 * baseline_loss and abs(train_skill) < 0.3:
        return "broadcasting"
    return "labels shuffled" if train_skill - validation_skill > 0.5 else "healthy"


def by_skill_only(losses, baseline_loss, train_skill, validation_skill, repeatable):
    return "healthy" if validation_skill > 0.5 else "labels shuffled"


def nan_is_rate(losses, baseline_loss, train_skill, validation_skill, repeatable):
    if not np.isfinite(losses).all():
        return "rate too large"
    return in_order(losses, baseline_loss, train_skill, validation_skill, repeatable)


def always_healthy(losses, baseline_loss, train_skill, validation_skill, repeatable):
    return "healthy"


def misspelt(losses, baseline_loss, train_skill, validation_skill, repeatable):
    return "learning rate"


def a_number(losses, baseline_loss, train_skill, validation_skill, repeatable):
    return 3


def never_asks_twice(losses, baseline_loss, train_skill, validation_skill, repeatable):
    return in_order(losses, baseline_loss, train_skill, validation_skill, True)


# --- challenge -------------------------------------------------------------------------------------------------------
def network(batches, n_passes, rate=0.3, n_hidden=64, seed=0):
    rng = np.random.default_rng(seed)
    w, v = rng.normal(size=(40, n_hidden)) * np.sqrt(2 / 40), rng.normal(size=(n_hidden, 4)) * np.sqrt(2 / n_hidden)
    b, c = np.zeros(n_hidden), np.zeros(4)
    for _ in range(n_passes):
        for x, labels in batches:
            hidden = np.maximum(x @ w + b, 0)
            z = hidden @ v + c
            p = np.exp(z - z.max(axis=1, keepdims=True))
            d = (p / p.sum(axis=1, keepdims=True) - np.eye(4)[labels]) / len(labels)
            back = (d @ v.T) * (hidden > 0)
            w, b, v, c = w - rate * x.T @ back, b - rate * back.sum(0), v - rate * hidden.T @ d, c - rate * d.sum(0)
    return lambda x: np.maximum(x @ w + b, 0) @ v + c


def without_the_worst_fifth(batches, x_test):
    look = network(batches, 2)
    right = np.array([(look(x).argmax(axis=1) == labels).mean() for x, labels in batches])
    keep = np.sort(np.argsort(right)[20:])
    healthy = [batches[i] for i in keep]
    return sum(network(healthy, 12, seed=seed)(x_test) for seed in range(3)).argmax(axis=1)


def by_neighbours_first(batches, x_test):
    x, labels = np.concatenate([x for x, _ in batches]), np.concatenate([y for _, y in batches])
    distance = (x**2).sum(axis=1) - 2 * x @ x.T
    nearest = np.argsort(distance, axis=1)[:, 1:8]
    agree = (labels[nearest] == labels[:, None]).mean(axis=1).reshape(len(batches), -1).mean(axis=1)
    keep = np.sort(np.argsort(agree)[20:])
    healthy = [batches[i] for i in keep]
    return (network(healthy, 12)(x_test) + network(healthy, 12, n_hidden=96)(x_test)).argmax(axis=1)


def all_batches_once(batches, x_test):
    return network(batches, 1)(x_test).argmax(axis=1)


def all_batches_thirty_times(batches, x_test):
    return network(batches, 30)(x_test).argmax(axis=1)


def always_sine(batches, x_test):
    return np.zeros(len(x_test), dtype=int)


def logits_instead(batches, x_test):
    return network(batches, 1)(x_test)


def as_floats(batches, x_test):
    return without_the_worst_fifth(batches[:30], x_test).astype(float)


RIGHT = {
    "debug/majority_error": [majority, majority_counted],
    "debug/constant_guess": [mean_and_variance, by_hand],
    "debug/largest_rate": [two_over, by_search],
    "debug/interval": [interval_usual, interval_by_hand],
    "debug/diagnose": [in_order, another_order],
    "debug/challenge": [without_the_worst_fifth, by_neighbours_first],
}
WRONG = {
    "debug/majority_error": [
        (majority_of_validation, "majority_error"),
        (majority_accuracy, "majority_error"),
        (majority_on_training, "majority_error"),
        (one_minus_chance, "majority_error"),
        (majority_in_per_cent, "majority_error"),
        (majority_per_row, "single"),
    ],
    "debug/constant_guess": [
        (median_guess, "guess"),
        (with_deviation, "loss"),
        (with_n_minus_one, "loss"),
        (only_the_loss, "two numbers"),
        (zero_guess, "guess"),
    ],
    "debug/largest_rate": [
        (one_over, "received 1"),
        (constant_rate, "received 0.5"),
        (proportional, "curvature"),
        (half_curvature, "curvature"),
    ],
    "debug/interval": [
        (interval_ddof0, "low"),
        (interval_of_single_runs, "low"),
        (interval_fixed_t, "for 3 scores"),
        (interval_min_max, "low"),
        (interval_swapped, "low"),
        (interval_half_width, "two numbers"),
        (interval_nan, "finite"),
    ],
    "debug/diagnose": [
        (by_skill_only, "was called"),
        (nan_is_rate, "'log of zero' was called 'rate too large'"),
        (always_healthy, "was called 'healthy'"),
        (misspelt, "should return one of"),
        (a_number, "should return one of"),
        (never_asks_twice, "'evaluation mode forgotten' was called 'healthy'"),
    ],
    "debug/challenge": [
        (all_batches_once, "at most"),
        (all_batches_thirty_times, "at most"),
        (always_sine, "at most"),
        (logits_instead, "tones"),
        (as_floats, "whole-number"),
    ],
}
