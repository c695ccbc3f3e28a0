"""The task of lesson 04: learn digits 0 to 4 from many pictures, then 5 to 9 from ten pictures each.

One network for both: two convolutions are its body, one dense layer is its head. All NumPy, all from seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import data
from course_lib.errors import BadInput
from course_lib.task import Batches, Parameters, Task, batch_order

CHANNELS = (1, 8, 16)
KERNEL_SIZE = 5
SIZE = 28
N_FEATURES = 7 * 7 * CHANNELS[-1]
# Pictures that the forward pass takes at once: so many fit into the processor's cache.
CHUNK = 50


@dataclass(frozen=True)
class TransferTask(Task):
    """Two trainings in a row. Pictures are (n, 28, 28, 1) float32, labels 0…4 for the digits 5…9 of the target.

    `source_batches` are for the pre-training with `learning_rate`, from `initial`. Then `new_head` replaces the head,
    and `batches`, each holding all few pictures of the target, are for the fine-tuning: with `head_rate` for the head
    and `body_rate` for the body. `fresh` is where training from scratch starts: random body, the same new head.
    """

    x_source: NDArray[np.float32]
    y_source: NDArray[np.int64]
    source_batches: Batches
    fresh: Parameters
    new_head: Parameters
    head_rate: float
    body_rate: float

    @property
    def n_classes(self) -> int:
        return len(self.new_head["head_bias"])

    @property
    def stand_in(self) -> bool:
        """Whether other digits stand in for MNIST's, so that no record of this task can be compared."""
        return bool(len(self.x_source) != data.card("mnist")["split"]["train"][1])

    @property
    def n_steps(self) -> int:
        return len(self.source_batches) + len(self.batches)

    @property
    def step_seconds(self) -> list[float]:
        return self.source_batches.step_seconds + self.batches.step_seconds

    def logits(self, parameters: Mapping[str, ArrayLike], x: ArrayLike) -> NDArray[np.float64]:
        """Logits (n, classes) of the convolutional network, by NumPy and in float64."""
        pictures = np.asarray(x)
        return np.concatenate([_forward(parameters, pictures[i : i + CHUNK]) for i in range(0, len(pictures), CHUNK)])


def _forward(parameters: Mapping[str, ArrayLike], x: NDArray[Any]) -> NDArray[np.float64]:
    p = {name: np.asarray(value, dtype=np.float64) for name, value in parameters.items()}
    for conv in ("conv1", "conv2"):
        out = np.maximum(_convolve(np.asarray(x, np.float64), p[f"{conv}_weight"]) + p[f"{conv}_bias"], 0.0)
        # The larger of two rows, then of two columns: the maximum of each square of four.
        out = np.maximum(out[:, ::2], out[:, 1::2])
        x = np.maximum(out[:, :, ::2], out[:, :, 1::2])
    return np.asarray(x.reshape(len(x), -1) @ p["head_weight"] + p["head_bias"])


def _convolve(x: NDArray[np.float64], kernel: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum over the kernel's places of the picture, moved to that place, times the kernel's matrix there."""
    pad, (height, width) = KERNEL_SIZE // 2, x.shape[1:3]
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    out = np.zeros((*x.shape[:3], kernel.shape[-1]))
    for row in range(KERNEL_SIZE):
        for column in range(KERNEL_SIZE):
            out += padded[:, row : row + height, column : column + width] @ kernel[row, column]
    return out


def initial_network(rng: np.random.Generator, n_classes: int) -> Parameters:
    """Kernels (height, width, inputs, outputs) of variance 2 / inputs, biases and head zero, all float32.

    A head of zeros gives every class the same score, so the first loss is exactly that of knowing nothing.
    Source: He et al. 2015, "Delving deep into rectifiers", arXiv 1502.01852, section 2.2.
    """
    parameters: Parameters = {}
    for number, (n_in, n_out) in enumerate(pairwise(CHANNELS), 1):
        shape = (KERNEL_SIZE, KERNEL_SIZE, n_in, n_out)
        kernel = rng.normal(size=shape) * np.sqrt(2.0 / np.prod(shape[:-1]))
        parameters[f"conv{number}_weight"] = np.asarray(kernel, dtype=np.float32)
        parameters[f"conv{number}_bias"] = np.zeros(n_out, np.float32)
    return {**parameters, **zero_head(n_classes)}


def zero_head(n_classes: int) -> Parameters:
    """The head's weight (features, classes) and bias (classes,), all zero."""
    return {
        "head_weight": np.zeros((N_FEATURES, n_classes), np.float32),
        "head_bias": np.zeros(n_classes, np.float32),
    }


def few_rows(rng: np.random.Generator, labels: NDArray[np.int64], per_class: int) -> NDArray[np.int64]:
    """The numbers of `per_class` rows of each class, drawn without repeats; (classes * per_class,).

    Raises BadInput when a class has too few rows to leave one for testing.
    """
    fewest = int(np.bincount(labels).min())
    if not 1 <= per_class < fewest:
        raise BadInput(f"`per_class` should lie in 1…{fewest - 1}; received {per_class}.", action="Draw fewer labels.")
    classes = np.unique(labels)
    return np.concatenate([rng.choice(np.flatnonzero(labels == c), per_class, replace=False) for c in classes])


@cache
def pictures() -> data.Dataset:
    """MNIST's digits, (n, 28, 28), those of the source first.

    Without the package that carries them: scikit-learn's smaller digits, enlarged, and a sentence that says so.
    """
    if (package := data.missing_package("mnist")) is None:
        return data.load("mnist")
    small = data.load("digits")
    order = np.argsort(small.labels, kind="stable")
    images = enlarge(small.images[order], SIZE)
    images.flags.writeable = False
    print(
        f"MNIST's pictures are in the package {package}, which is not installed. In their place stand scikit-learn's "
        f"{len(small):,} digits of 8 × 8 pixels, enlarged: all cells run, and the numbers in the text are MNIST's. "
        f"To get them: %pip install {package}, then restart the kernel."
    )
    n_source = int((small.labels < len(small.class_names) // 2).sum())
    return replace(small, images=images, labels=small.labels[order], groups=small.groups[order], n_train=n_source)


def enlarge(images: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Pictures (n, height, width) at (n, size, size): values between the old pixels lie on straight lines."""
    down, across = (_weights(length, size) for length in images.shape[1:])
    return np.asarray(down @ images @ across.T, dtype=np.float32)


def _weights(length: int, size: int) -> NDArray[np.float64]:
    """(size, length): how much each new pixel takes of each old one."""
    centres = (np.arange(size) + 0.5) * length / size - 0.5
    return np.stack([np.interp(centres, np.arange(length), row) for row in np.eye(length)], axis=1)


def transfer_task(*, n_steps: int = 300, momentum: float = 0.0, seed: int = 0, per_class: int = 10) -> TransferTask:
    """MNIST's digits 0 to 4 as the source, ten labels of each of 5 to 9 as the target, the other 5 to 9 to validate.

    Of `n_steps` a sixth is for the fine-tuning and the rest for the pre-training. `seed` draws the labels and the fresh
    weights; the source is the same for all seeds, so that one pre-training serves many draws. Without MNIST's package
    other digits stand in, see `pictures`. Raises BadInput when there are fewer than six steps or `per_class` is out of
    range.
    """
    if n_steps < 6:
        raise BadInput(f"`n_steps` should be at least 6; received {n_steps}.", action="Take more steps.")
    n_tune = n_steps // 6
    digits = pictures()
    images, cut = digits.images[..., None], digits.n_train
    x_source, y_source = images[:cut], digits.labels[:cut]
    x_target, y_target = images[cut:], digits.labels[cut:] - 5
    source_rng, rng = np.random.default_rng(0), np.random.default_rng([seed, 1])
    initial = initial_network(source_rng, 5)
    order = batch_order(source_rng, cut, n_steps=n_steps - n_tune, batch_size=64)
    few = few_rows(rng, y_target, per_class)
    rest = np.setdiff1d(np.arange(len(y_target)), few)
    x_train, y_train = x_target[few], y_target[few]
    every = np.tile(np.arange(len(few)), (n_tune, 1))
    return TransferTask(
        name="transfer",
        x_train=x_train,
        y_train=y_train,
        x_validation=x_target[rest],
        y_validation=y_target[rest],
        initial=initial,
        batches=Batches(x_train, y_train, every),
        learning_rate=0.1,
        momentum=momentum,
        seed=seed,
        x_source=x_source,
        y_source=y_source,
        source_batches=Batches(x_source, y_source, order),
        fresh=initial_network(rng, 5),
        new_head=zero_head(5),
        head_rate=0.05,
        body_rate=0.005,
    )
