"""A task is everything that must be equal before two frameworks can be compared.

Data, split, initial parameters, the order of the batches, learning rate and momentum: all NumPy, all from one seed.
What a framework does with them stands in the notebook.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib import data, metrics
from course_lib.errors import BadInput, NotFound

Parameters = dict[str, NDArray[np.float32]]
Batch = tuple[NDArray[np.float32], NDArray[np.int64]]

PARAMETER_NAMES = ("hidden_weight", "hidden_bias", "output_weight", "output_bias")


class Batches(Sequence[Batch]):
    """The batches of a task in their fixed order; going through them takes the time of each step.

    Each batch is (x, y): x (batch_size, n_inputs) float32, y (batch_size,) int64. `step_seconds` holds, after a pass,
    the time between handing out one batch and being asked for the next: the step itself, if the loop waited for it.
    """

    def __init__(self, x: NDArray[np.float32], y: NDArray[np.int64], indices: NDArray[np.int64]) -> None:
        self._x, self._y, self._indices = x, y, indices
        self.step_seconds: list[float] = []

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> Batch: ...
    @overload
    def __getitem__(self, index: slice) -> Batches: ...
    def __getitem__(self, index: int | slice) -> Batch | Batches:
        if isinstance(index, slice):
            return Batches(self._x, self._y, self._indices[index])
        rows = self._indices[index]
        return self._x[rows], self._y[rows]

    def with_rows(self, x: NDArray[np.float32], y: NDArray[np.int64]) -> Batches:
        """The same batches, in the same order, of other rows: changed inputs or labels, row for row."""
        return Batches(x, y, self._indices)

    def __iter__(self) -> Iterator[Batch]:
        self.step_seconds = []
        for index in range(len(self)):
            batch = self[index]
            start = time.perf_counter()
            yield batch
            self.step_seconds.append(time.perf_counter() - start)


@dataclass(frozen=True)
class Task:
    """One training task. x_* are (n, n_inputs) float32, y_* are (n,) int64, `initial` maps names to float32 arrays.

    Weights are stored as (inputs, outputs), so that `x @ weight + bias` is a layer; PyTorch stores the transpose.
    """

    name: str
    x_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    x_validation: NDArray[np.float32]
    y_validation: NDArray[np.int64]
    initial: Parameters
    batches: Batches
    learning_rate: float
    momentum: float
    seed: int

    def with_rows(
        self, *, x_train: NDArray[np.float32] | None = None, y_train: NDArray[np.int64] | None = None
    ) -> Task:
        """The same task with changed training inputs or labels, row for row; its batches change with them."""
        x = self.x_train if x_train is None else x_train
        y = self.y_train if y_train is None else y_train
        return replace(self, x_train=x, y_train=y, batches=self.batches.with_rows(x, y))

    @property
    def n_inputs(self) -> int:
        return int(self.x_train.shape[1])

    @property
    def n_hidden(self) -> int:
        return len(self.initial["hidden_bias"])

    @property
    def n_classes(self) -> int:
        return len(self.initial["output_bias"])

    @property
    def n_steps(self) -> int:
        return len(self.batches)

    @property
    def stand_in(self) -> bool:
        """Whether the data stand in for data that are not installed; such a run gives no record."""
        return False

    @property
    def step_seconds(self) -> list[float]:
        """The time of each step of the last pass, in the order in which they were taken."""
        return self.batches.step_seconds

    def logits(self, parameters: Mapping[str, ArrayLike], x: ArrayLike) -> NDArray[np.float64]:
        """Logits (n, classes) of this task's network, by NumPy and in float64: the ruler for every track."""
        return metrics.forward(parameters, x)


def initial_parameters(rng: np.random.Generator, n_inputs: int, n_hidden: int, n_classes: int) -> Parameters:
    """Weights from a normal distribution of variance 2 / inputs, biases zero, all float32.

    Source: He et al. 2015, "Delving deep into rectifiers", arXiv 1502.01852, section 2.2.
    """

    def weight(n_in: int, n_out: int) -> NDArray[np.float32]:
        return np.asarray(rng.normal(size=(n_in, n_out)) * np.sqrt(2.0 / n_in), dtype=np.float32)

    return {
        "hidden_weight": weight(n_inputs, n_hidden),
        "hidden_bias": np.zeros(n_hidden, np.float32),
        "output_weight": weight(n_hidden, n_classes),
        "output_bias": np.zeros(n_classes, np.float32),
    }


def batch_order(rng: np.random.Generator, n: int, *, n_steps: int, batch_size: int) -> NDArray[np.int64]:
    """Row numbers of each batch, (n_steps, batch_size): shuffled anew each epoch, the incomplete last batch left out.

    Raises BadInput when a batch is larger than the data or there is no step.
    """
    if not 1 <= batch_size <= n or n_steps < 1:
        raise BadInput(
            f"`batch_size` should lie in 1…{n} and `n_steps` be at least 1; received {batch_size} and {n_steps}.",
            action="Use smaller batches, or more data.",
        )
    per_epoch = n // batch_size
    epochs = -(-n_steps // per_epoch)
    rows = [rng.permutation(n)[: per_epoch * batch_size].reshape(per_epoch, batch_size) for _ in range(epochs)]
    return np.concatenate(rows)[:n_steps].astype(np.int64)


# What a task is made of, unless load_task is told otherwise.
TASKS: dict[str, dict[str, float]] = {
    "digits": {"n_hidden": 32, "batch_size": 64, "learning_rate": 0.3},
    "waves": {"n_hidden": 64, "batch_size": 32, "learning_rate": 0.3},
}


def load_task(
    name: str = "digits", *, n_steps: int = 300, momentum: float = 0.0, seed: int = 0, n_train: int | None = None,
    **sizes: Any,
) -> Task:  # fmt: skip
    """The task of a lesson: its data, one hidden layer, plain SGD.

    "digits" (lesson 01) has 64 inputs and 10 classes; the last three of the fourteen forms are for validation. "waves"
    (lesson 02) has 40 inputs and 4 classes; the last third is for validation. `n_train` keeps only so many training
    rows, the first ones. `sizes` may change n_hidden, batch_size and learning_rate. For "transfer"
    (lesson 04) see `course_lib.transfer`.
    Raises NotFound for another name and BadInput for a size that does not exist.
    """
    if name == "transfer":
        from course_lib.transfer import transfer_task

        return transfer_task(n_steps=n_steps, momentum=momentum, seed=seed, **sizes)
    if name not in TASKS:
        raise NotFound(
            f"There is no task {name!r}; the course has {', '.join(map(repr, [*TASKS, 'transfer']))}.",
            action='Call load_task("digits").',
        )
    size = dict(TASKS[name])
    if unknown := set(sizes) - set(size):
        raise BadInput(
            f"load_task knows {', '.join(size)}; received {', '.join(unknown)}.", action="Check the spelling."
        )
    size.update(sizes)
    loaded = data.load(name)
    x = loaded.images.reshape(len(loaded), -1)
    last = loaded.n_train if n_train is None else min(n_train, loaded.n_train)
    rng = np.random.default_rng(seed)
    initial = initial_parameters(rng, x.shape[1], int(size["n_hidden"]), len(loaded.class_names))
    order = batch_order(rng, last, n_steps=n_steps, batch_size=int(size["batch_size"]))
    x_train, y_train = x[:last], loaded.labels[:last]
    return Task(
        name=name,
        x_train=x_train,
        y_train=y_train,
        x_validation=x[loaded.n_train :],
        y_validation=loaded.labels[loaded.n_train :],
        initial=initial,
        batches=Batches(x_train, y_train, order),
        learning_rate=float(size["learning_rate"]),
        momentum=momentum,
        seed=seed,
    )
