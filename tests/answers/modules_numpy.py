"""Answers to the core exercises of lesson 03, in NumPy; `modules_torch`, the first track, has them judged."""

import json

import numpy as np

from course_lib.checks.modules_reference import SHARE


# --- learned and remembered ------------------------------------------------------------------------------------------
def count_sum(n_inputs, n_hidden, n_classes):
    return (n_inputs + 2 + n_classes) * n_hidden + n_classes, 2 * n_hidden


def count_arrays(n_inputs, n_hidden, n_classes):
    shapes = [(n_inputs, n_hidden), (n_hidden,), (n_hidden,), (n_hidden, n_classes), (n_classes,)]
    return [int(sum(np.prod(shape) for shape in shapes)), n_hidden * 2]


def count_with_bias(n_inputs, n_hidden, n_classes):
    return (n_inputs + 3 + n_classes) * n_hidden + n_classes, 2 * n_hidden


def count_all_learned(n_inputs, n_hidden, n_classes):
    return (n_inputs + 4 + n_classes) * n_hidden + n_classes, 0


def count_one_number(n_inputs, n_hidden, n_classes):
    return (n_inputs + 2 + n_classes) * n_hidden + n_classes


def count_mean_only(n_inputs, n_hidden, n_classes):
    return (n_inputs + 2 + n_classes) * n_hidden + n_classes, n_hidden


# --- batch norm ------------------------------------------------------------------------------------------------------
def norm_branches(x, scale, shift, mean, variance, train):
    if not train:
        return (x - mean) * (scale / np.sqrt(variance + 1e-5)) + shift, mean, variance
    m, v = np.mean(x, 0), np.mean((x - np.mean(x, 0)) ** 2, 0)
    return (x - m) / np.sqrt(v + 1e-5) * scale + shift, mean + SHARE * (m - mean), variance + SHARE * (v - variance)


def norm_doubles(x, scale, shift, mean, variance, train):
    x = x.astype(np.float64)
    m, v = (x.mean(axis=0), x.var(axis=0)) if train else (mean, variance)
    out = scale * (x - m) / (v + 1e-5) ** 0.5 + shift
    return (out, 0.9 * mean + 0.1 * m, 0.9 * variance + 0.1 * v) if train else (out, mean.copy(), variance.copy())


def norm_always_batch(x, scale, shift, mean, variance, train):
    return norm_branches(x, scale, shift, mean, variance, True)


def norm_never_batch(x, scale, shift, mean, variance, train):
    return norm_branches(x, scale, shift, mean, variance, False)


def norm_over_rows(x, scale, shift, mean, variance, train):
    y, mean, variance = norm_branches(x, scale, shift, mean, variance, train)
    if train:
        y = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * scale + shift
    return y, mean, variance


def norm_wrong_share(x, scale, shift, mean, variance, train):
    y, m, v = norm_branches(x, scale, shift, mean, variance, train)
    return y, mean + 9 * (m - mean), variance + 9 * (v - variance)


def norm_in_place(x, scale, shift, mean, variance, train):
    y, m, v = norm_branches(x, scale, shift, mean, variance, train)
    mean[:], variance[:] = m, v
    return y, mean, variance


def norm_output_only(x, scale, shift, mean, variance, train):
    return norm_branches(x, scale, shift, mean, variance, train)[0]


# --- dropout ---------------------------------------------------------------------------------------------------------
def dropout_where(x, rate, seed):
    return np.where(np.random.default_rng(seed).random(x.shape) < rate, 0.0, x / (1 - rate))


def dropout_binomial(x, rate, seed):
    return x * np.random.RandomState(seed).binomial(1, 1 - rate, size=x.shape).astype(np.float32) / (1 - rate)


def dropout_lucky_row(x, rate, seed):
    """A row that stays whole: at the rate 0.2 chance makes one in a thousand checks, and that is no fault."""
    stays = np.random.default_rng(seed).random(x.shape) >= rate
    stays[0] = True
    return x * stays / (1 - rate)


def dropout_unscaled(x, rate, seed):
    return x * (np.random.default_rng(seed).random(x.shape) >= rate)


def dropout_kept_rate(x, rate, seed):
    return x * (np.random.default_rng(seed).random(x.shape) < rate) / (1 - rate)


def dropout_unseeded(x, rate, seed):
    return dropout_where(x, rate, None)


def dropout_one_seed(x, rate, seed):
    return dropout_where(x, rate, 0)


def dropout_columns(x, rate, seed):
    return x * (np.random.default_rng(seed).random(x.shape[1]) >= rate) / (1 - rate)


def dropout_in_place(x, rate, seed):
    x *= np.random.default_rng(seed).random(x.shape) >= rate
    return x / (1 - rate)


def dropout_zeros(x, rate, seed):
    return np.zeros_like(x)


# --- the size of a checkpoint ----------------------------------------------------------------------------------------
def bytes_by_if(n_learned, n_remembered, optimizer):
    if optimizer == "sgd":
        return 4 * (n_learned + n_remembered)
    return 4 * (n_learned * (2 if optimizer == "momentum" else 3) + n_remembered)


def bytes_by_extra(n_learned, n_remembered, optimizer):
    extra = {"sgd": 0, "momentum": n_learned, "adam": 2 * n_learned}
    return np.float32().nbytes * (n_learned + n_remembered + extra[optimizer])


def bytes_without_optimizer(n_learned, n_remembered, optimizer):
    return 4 * (n_learned + n_remembered)


def bytes_without_memory(n_learned, n_remembered, optimizer):
    return 4 * n_learned * {"sgd": 1, "momentum": 2, "adam": 3}[optimizer]


def bytes_in_numbers(n_learned, n_remembered, optimizer):
    return bytes_by_if(n_learned, n_remembered, optimizer) // 4


def bytes_all_copied(n_learned, n_remembered, optimizer):
    return 4 * (n_learned + n_remembered) * {"sgd": 1, "momentum": 2, "adam": 3}[optimizer]


# --- a file of tensors -----------------------------------------------------------------------------------------------
def tensors_by_slices(data):
    length = int(data[:8].view("<u8")[0])
    header = json.loads(bytes(data[8 : 8 + length]).decode())
    body = data[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])].tobytes(), "<f4").reshape(entry["shape"]).copy()
        for name, entry in header.items()
        if name != "__metadata__"
    }


def tensors_by_library(data):
    from safetensors.numpy import load

    return load(data.tobytes())


def tensors_in_header_order(data):
    raw, found = data.tobytes(), {}
    at = 8 + int.from_bytes(raw[:8], "little")
    for name, entry in json.loads(raw[8:at]).items():
        if name != "__metadata__":
            size = 4 * int(np.prod(entry["shape"]))
            found[name] = np.frombuffer(raw[at : at + size], np.float32).reshape(entry["shape"])
            at += size
    return found


def tensors_from_start(data):
    raw = data.tobytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    header.pop("__metadata__")
    return {n: np.frombuffer(raw[slice(*e["data_offsets"])], np.float32).reshape(e["shape"]) for n, e in header.items()}


def tensors_flat(data):
    return {name: array.ravel() for name, array in tensors_by_slices(data).items()}


def tensors_with_metadata(data):
    return {**tensors_by_slices(data), "__metadata__": np.zeros(1, np.float32)}


def tensors_bytes(data):
    return {name: array.tobytes() for name, array in tensors_by_slices(data).items()}


# --- the challenge ---------------------------------------------------------------------------------------------------
def read_with(arrays, mean, variance, x):
    normed = (x @ arrays["hidden.weight"] - mean) / np.sqrt(variance + 1e-5)
    hidden = np.maximum(normed * arrays["norm.scale"] + arrays["norm.shift"], 0)
    return (hidden @ arrays["output.weight"] + arrays["output.bias"]).argmax(axis=1)


def remembering_anew(arrays, batches, x_test):
    before = np.concatenate(batches) @ arrays["hidden.weight"]
    return read_with(arrays, before.mean(axis=0), before.var(axis=0), x_test)


def running_anew(arrays, batches, x_test):
    mean, variance = arrays["norm.mean"], arrays["norm.variance"]
    for x in batches:
        before = x @ arrays["hidden.weight"]
        mean, variance = 0.8 * mean + 0.2 * before.mean(axis=0), 0.8 * variance + 0.2 * before.var(axis=0)
    return read_with(arrays, mean, variance, x_test)


def from_the_test_pictures(arrays, batches, x_test):
    return remembering_anew(arrays, [x_test], x_test)


def untouched(arrays, batches, x_test):
    return read_with(arrays, arrays["norm.mean"], arrays["norm.variance"], x_test)


def variance_only(arrays, batches, x_test):
    before = np.concatenate(batches) @ arrays["hidden.weight"]
    return read_with(arrays, arrays["norm.mean"], before.var(axis=0), x_test)


def all_zeros(arrays, batches, x_test):
    return np.zeros(len(x_test), np.int64)


def as_scores(arrays, batches, x_test):
    return np.eye(10)[remembering_anew(arrays, batches, x_test)]


RIGHT = {
    "modules/count": [count_sum, count_arrays],
    "modules/batch_norm": [norm_branches, norm_doubles],
    "modules/dropout": [dropout_where, dropout_binomial, dropout_lucky_row],
    "modules/checkpoint_bytes": [bytes_by_if, bytes_by_extra],
    "modules/read_tensors": [tensors_by_slices, tensors_by_library],
    "modules/challenge": [remembering_anew, running_anew, from_the_test_pictures],
}
WRONG = {
    "modules/count": [
        (count_with_bias, "learns"),
        (count_all_learned, "learns"),
        (count_one_number, "two numbers"),
        (count_mean_only, "remembers"),
    ],
    "modules/batch_norm": [
        (norm_always_batch, "train=False"),
        (norm_never_batch, "train=True"),
        (norm_over_rows, "the output"),
        (norm_wrong_share, "the running mean"),
        (norm_in_place, "in place"),
        (norm_output_only, "(output, mean, variance)"),
    ],
    "modules/dropout": [
        (dropout_unscaled, "what stays"),
        (dropout_kept_rate, "with the rate 0.2"),
        (dropout_unseeded, "two calls differ"),
        (dropout_one_seed, "another seed"),
        (dropout_columns, "on its own"),
        (dropout_in_place, "in place"),
        (dropout_zeros, "should become zero"),
    ],
    "modules/checkpoint_bytes": [
        (bytes_without_optimizer, "'momentum'"),
        (bytes_without_memory, "'sgd'"),
        (bytes_in_numbers, "bytes"),
        (bytes_all_copied, "'momentum'"),
    ],
    "modules/read_tensors": [
        (tensors_in_header_order, "should be"),
        (tensors_from_start, "should be"),
        (tensors_flat, "should be (3, 4)"),
        (tensors_with_metadata, "__metadata__"),
        (tensors_bytes, "should be"),
    ],
    "modules/challenge": [
        (untouched, "may be wrong"),
        (variance_only, "may be wrong"),
        (all_zeros, "may be wrong"),
        (as_scores, "whole-number"),
    ],
}
