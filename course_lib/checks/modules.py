"""How the exercises in NumPy of lesson 03_modules are judged; the frameworks' idioms are in `modules_idiom`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.checks import modules_idiom as modules_idiom
from course_lib.checks import modules_reference as reference
from course_lib.expect import expect, expect_array, expect_close, expect_unchanged
from course_lib.kinds import Function, describe
from course_lib.verdict import exercise_check

Array = NDArray[Any]
COPIES = {"sgd": 1, "momentum": 2, "adam": 3}


@exercise_check(
    "modules/count",
    hints=(
        "Go through the layers: the hidden layer has no bias here, the norm has two numbers to learn for each unit.",
        "The norm also remembers two numbers for each unit: a mean and a variance. No gradient ever changes them.",
        "Return two whole numbers: what the optimizer moves, then what is only remembered.",
    ),
)
def count(answer: Function, rng: np.random.Generator, track: str) -> None:
    """How many numbers the network learns, and how many it remembers."""
    for _ in range(3):
        i, h, c = (int(v) for v in rng.integers(2, 90, 3))
        reply = answer.call(i, h, c)
        ok = isinstance(reply.value, tuple) and len(reply.value) == 2
        expect(ok, f"`count` should return two numbers, learned and remembered; received {describe(reply.value)}.")
        learned, remembered = (expect_array(v, "count", (), kind="i") for v in reply.value)
        want = i * h + 2 * h + h * c + c
        where = f"a network {i} → {h} → {c}"
        expect(int(learned) == want, f"{where} learns {want} numbers; received {int(learned)}.")
        expect(int(remembered) == 2 * h, f"{where} remembers {2 * h} numbers; received {int(remembered)}.")


@exercise_check(
    "modules/batch_norm",
    hints=(
        "While training, mean and variance are those of this batch, one per column; else they are the ones given.",
        "Divide by the root of variance + 1e-5, then multiply by the scale and add the shift.",
        "Training also returns new running values: 0.9 of the old and 0.1 of the batch's. Evaluation returns the old.",
    ),
)
def batch_norm(answer: Function, rng: np.random.Generator, track: str) -> None:
    """The output and the running statistics, in both modes, also for a batch of two."""
    names = ("x", "scale", "shift", "mean", "variance", "train")
    for n, units in ((8, 5), (2, 3), (40, 40)):
        x = (rng.normal(size=(n, units)) * rng.uniform(0.5, 3, units) + rng.normal(size=units)).astype(np.float32)
        scale, shift, mean = (rng.normal(size=units).astype(np.float32) for _ in range(3))
        variance = rng.uniform(0.2, 3.0, units).astype(np.float32)
        for train in (True, False):
            reply = answer.call(x, scale, shift, mean, variance, train)
            ok = isinstance(reply.value, tuple) and len(reply.value) == 3
            expect(ok, f"`batch_norm` should return (output, mean, variance); received {describe(reply.value)}.")
            where = f"with train={train}, {n} rows"
            big = x.astype(np.float64)
            used = (big.mean(axis=0), big.var(axis=0)) if train else (mean, variance)
            want = (big - used[0]) / np.sqrt(used[1] + reference.EPSILON) * scale + shift
            expect_close(reply.value[0], want, "the output", tolerance=answer.tolerance, where=where)
            share = reference.SHARE if train else 0.0
            for got, name, old, new in zip(reply.value[1:], ("mean", "variance"), (mean, variance), used, strict=True):
                kept = (1 - share) * old + share * new
                expect_close(got, kept, f"the running {name}", tolerance=answer.tolerance, where=where)
            expect_unchanged(reply, names)


@exercise_check(
    "modules/dropout",
    hints=(
        "A generator made from the seed, `np.random.default_rng(seed)`, draws one number in 0…1 for each value of x.",
        "A value stays when its number is at least `rate`; the others become zero.",
        "What stays is divided by 1 - rate, so that the mean over many masks is x itself.",
    ),
)
def dropout(answer: Function, rng: np.random.Generator, track: str) -> None:
    """A mask from the seed, the right share of zeros, the rest scaled up, each value on its own."""
    x = (rng.uniform(0.5, 2.0, size=(60, 50)) * rng.choice([-1, 1], size=(60, 50))).astype(np.float32)
    for rate in (0.5, 0.2):
        seed = int(rng.integers(1000))
        reply = answer.call(x, rate, seed)
        got = expect_array(reply.value, "dropout", x.shape)
        expect_unchanged(reply, ("x", "rate", "seed"))
        off = got == 0
        expect_close(got[~off], x[~off] / (1 - rate), "what stays", tolerance=1e-5, where=f"with the rate {rate}")
        seen = f"with the rate {rate}, about {rate:.0%} of the values should become zero; {off.mean():.0%} are."
        expect(0.01 < off.mean() < 0.99, seen)
        # By chance alone a row of 50 stays whole at the rate 0.2, once in a thousand checks. Most rows never do.
        alike = max(float((off.all(axis=axis) | (~off).all(axis=axis)).mean()) for axis in (0, 1))
        expect(alike < 0.5, "each value should be dropped on its own; here whole rows or columns share their fate.")
        expect(abs(off.mean() - rate) < 0.06, seen)
        again = expect_array(answer.call(x, rate, seed).value, "dropout", x.shape)
        expect(np.array_equal(again, got), "the same seed should give the same mask; two calls differ.")
        other = expect_array(answer.call(x, rate, seed + 1).value, "dropout", x.shape)
        expect(not np.array_equal(other == 0, off), "another seed should give another mask; two seeds gave the same.")
    got = expect_array(answer.call(x, 0.0, 1).value, "dropout", x.shape)
    expect_close(got, x, "dropout", tolerance=1e-6, where="with the rate 0")


@exercise_check(
    "modules/checkpoint_bytes",
    hints=(
        "Every array is float32: four bytes a number. What must the file hold, so that training goes on as before?",
        "What is remembered is saved once. What is learned is saved once too, and the optimizer adds its own.",
        "Momentum keeps one velocity for each learned number, Adam two running means, plain SGD nothing.",
    ),
)
def checkpoint_bytes(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Four bytes for each number learned, remembered, and kept by the optimizer."""
    for optimizer, copies in COPIES.items():
        learned, remembered = int(rng.integers(1000, 100_000)), int(rng.integers(10, 1000))
        got = expect_array(answer.call(learned, remembered, optimizer).value, "checkpoint_bytes", (), kind="i")
        want = 4 * (copies * learned + remembered)
        expect(
            int(got) == want,
            f"{learned} numbers learned and {remembered} remembered make {want} bytes with {optimizer!r}; "
            f"received {int(got)}.",
        )


def _file_of(arrays: dict[str, Array], order: Array, rng: np.random.Generator) -> Array:
    """A safetensors file as bytes; the arrays lie in another order than the header lists them in."""
    names, blocks, at = list(arrays), [], 0
    places: dict[str, list[int]] = {}
    for name in (names[int(i)] for i in order):
        raw = arrays[name].astype("<f4").tobytes()
        places[name], at = [at, at + len(raw)], at + len(raw)
        blocks.append(raw)
    header: dict[str, Any] = {"__metadata__": {"trained_by": "someone"}}
    header |= {n: {"dtype": "F32", "shape": list(arrays[n].shape), "data_offsets": places[n]} for n in names}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + 8 * int(rng.integers(0, 3)))
    return np.frombuffer(len(text).to_bytes(8, "little") + text + b"".join(blocks), np.uint8)


@exercise_check(
    "modules/read_tensors",
    hints=(
        "The first 8 bytes are the length of the header, lowest byte first: `int.from_bytes(…, 'little')`.",
        "`json.loads` reads the header. Skip the entry `__metadata__`; the others have a shape and data_offsets.",
        "Offsets count from the end of the header: `np.frombuffer(part, np.float32).reshape(shape)`.",
    ),
)
def read_tensors(answer: Function, rng: np.random.Generator, track: str) -> None:
    """Every array under its name, in any order, also a single number and an empty array."""
    for n in (1, 4):
        shapes: list[tuple[int, ...]] = [(3, 4), (5,), (), (0, 2)][:n]
        arrays = {f"layer{i}.weight": rng.normal(size=s).astype(np.float32) for i, s in enumerate(shapes)}
        reply = answer.call(_file_of(arrays, rng.permutation(n)[::-1], rng))
        expect(isinstance(reply.value, dict), f"it should return a dict of arrays; received {describe(reply.value)}.")
        got = reply.value
        expect("__metadata__" not in got, "`__metadata__` is no array; leave it out.")
        for name, want in arrays.items():
            expect(name in got, f"the file holds an array `{name}`; yours are {', '.join(got) or 'none'}.")
            expect_close(got[name], want, name, tolerance=0.0)
        expect_unchanged(reply, ("data",))


@exercise_check(
    "modules/challenge",
    hints=(
        "No labels, so nothing can be learned by a gradient. What in this network changes without any gradient?",
        "Look at `x @ hidden.weight` of the new pictures: are its means and variances those that the norm remembers?",
        "Compute mean and variance anew from all batches together, put them in place of the remembered, then read.",
    ),
)
def challenge(answer: Function, rng: np.random.Generator, track: str) -> None:
    """On pictures from three aged scanners at most half of the errors that the untouched network makes."""
    arrays, errors, untouched = reference.trained_arrays(), 0, 0
    for _ in range(reference.N_SCANNERS):
        batches, x_test, y_test = reference.scanned(rng)
        reply = answer.call(arrays, batches, x_test)
        labels = expect_array(reply.value, "labels", y_test.shape, kind="i")
        errors += int((labels != y_test).sum())
        untouched += int((reference.logits(arrays, x_test).argmax(axis=1) != y_test).sum())
    n_test = reference.N_SCANNERS * reference.N_TEST
    expect(
        errors <= untouched // 2,
        f"at most {untouched // 2} of {n_test} test digits from {reference.N_SCANNERS} scanners may be wrong: half of "
        f"what the network misses as it came; yours misses {errors}.",
    )
