"""The data and the baseline of the open challenge in lesson 01: fresh writers each time, a fixed budget of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import data
from course_lib.checks import reference
from course_lib.metrics import forward
from course_lib.task import batch_order, initial_parameters

Array = NDArray[Any]
N_BATCHES = 60
BATCH_SIZE = 64
# One draw of three forms can be hard by chance; three together are not.
N_DRAWS = 3


def fresh_data(rng: np.random.Generator) -> tuple[list[tuple[Array, Array]], Array, Array]:
    """60 training batches of 64 from eleven forms, and the pictures and labels of the three others.

    Which number stands for which digit is dealt anew: only the batches tell, and who looks the pictures up in the data
    set finds labels that mean nothing here.
    """
    digits = data.load("digits")
    x = digits.images.reshape(len(digits), -1)
    labels = rng.permutation(10)[digits.labels]
    held_out = np.isin(digits.groups, rng.choice(np.unique(digits.groups), 3, replace=False))
    x_train, y_train = x[~held_out], labels[~held_out]
    order = batch_order(rng, len(y_train), n_steps=N_BATCHES, batch_size=BATCH_SIZE)
    return [(x_train[rows], y_train[rows]) for rows in order], x[held_out], labels[held_out]


def baseline_errors(batches: list[tuple[Array, Array]], x_test: Array, y_test: Array) -> int:
    """Test digits that plain SGD gets wrong: 32 hidden units, learning rate 0.1, one step per batch."""
    parameters = initial_parameters(np.random.default_rng(0), x_test.shape[1], 32, 10)
    _, final = reference.train(parameters, batches, 0.1)
    return int((forward(final, x_test).argmax(axis=1) != y_test).sum())
