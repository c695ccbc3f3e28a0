"""Data sets as NumPy arrays, each verified against the checksum on its card in `datasets/`."""

from __future__ import annotations

import hashlib
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import BadInput, NotFound
from course_lib.shipped import shipped


@dataclass(frozen=True)
class Dataset:
    """A data set in memory; the arrays are read-only, so no lesson can change another's data.

    `images` is (n, height, width) float32 in 0…1, `labels` is (n,) int64, `class_names` has one word per class.
    `groups` (n,) int64 numbers the rows that belong together and that no split may tear apart: one form, one writer.
    `n_train` is where the course cuts: rows before it train, the others validate. `targets` (n,) float32 is there when
    the set also has a number to predict. A recording is a picture of one row, and its values may be negative.
    """

    name: str
    images: NDArray[np.float32]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    groups: NDArray[np.int64]
    n_train: int
    targets: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.labels)


def names() -> tuple[str, ...]:
    """The names of the data sets that the course knows, read from the cards."""
    return tuple(sorted(path.stem for path in shipped("datasets").glob("*.md") if path.stem != "README"))


def card(name: str) -> dict[str, Any]:
    """The front matter of a data set's card: shape, dtype, number of pictures, checksum, licence.

    Raises NotFound when there is no card of this name.
    """
    import yaml

    path = shipped("datasets") / f"{name}.md"
    if not path.is_file():
        raise NotFound(
            f"There is no data set {name!r}; the course has {', '.join(names())}.", action="Use one of these names."
        )
    front_matter = path.read_text(encoding="utf-8").split("---")[1]
    loaded: dict[str, Any] = yaml.safe_load(front_matter)
    return loaded


@cache
def load(name: str) -> Dataset:
    """Load a data set and compare it with its card.

    Raises NotFound for an unknown name and BadInput when what the package delivers is not what the card promises.
    """
    expected = card(name)
    if "generator" in expected:
        return _generated(name, expected)
    from sklearn.datasets import load_digits

    bunch = load_digits()
    digest = hashlib.sha256(bunch.images.tobytes() + bunch.target.astype(np.int64).tobytes()).hexdigest()
    if digest != expected["sha256"]:
        raise BadInput(
            f"The data set {name!r} should have the SHA-256 {expected['sha256'][:12]}… of its card; "
            f"scikit-learn delivered {digest[:12]}… with shape {bunch.images.shape}.",
            action="Reinstall scikit-learn, or report that the data set has changed.",
        )
    images = np.asarray(bunch.images / 16.0, dtype=np.float32)
    labels = np.asarray(bunch.target, dtype=np.int64)
    groups = np.searchsorted(np.asarray(expected["forms"]), np.arange(len(labels)), side="right").astype(np.int64) - 1
    for array in (images, labels, groups):
        array.flags.writeable = False
    return Dataset(name, images, labels, tuple(expected["classes"]), groups, expected["split"]["train"][1])


def generator(name: str) -> Callable[[int, int], tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float32]]]:
    """The program beside a card, which makes n rows from a seed: `make(n, seed)` gives values, labels and targets.

    With a seed of one's own it makes rows that are in no set. Raises NotFound for a set that no program makes.
    """
    file = card(name).get("generator")
    if file is None:
        raise NotFound(f"No program makes the data set {name!r}.", action=f'Load it: data.load("{name}").')
    make: Any = runpy.run_path(str(shipped("datasets") / file))["make"]
    return make  # type: ignore[no-any-return]


def _generated(name: str, expected: dict[str, Any]) -> Dataset:
    """A set that the program beside its card makes, compared with the card."""
    values, labels, targets = generator(name)(expected["n"], expected["seed"])
    digest = hashlib.sha256(values.tobytes() + labels.tobytes() + targets.tobytes()).hexdigest()
    if digest != expected["sha256"]:
        raise BadInput(
            f"The data set {name!r} should have the SHA-256 {expected['sha256'][:12]}… of its card; "
            f"{expected['generator']} made {digest[:12]}… with shape {values.shape}.",
            action="Report it with your machine and the version of NumPy.",
        )
    images = (values.astype(np.float32) / expected["steps_per_unit"]).reshape(len(values), *expected["shape"])
    groups = np.arange(len(values), dtype=np.int64)
    for array in (images, labels, groups, targets):
        array.flags.writeable = False
    return Dataset(name, images, labels, tuple(expected["classes"]), groups, expected["split"]["train"][1], targets)
