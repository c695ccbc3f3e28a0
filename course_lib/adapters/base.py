"""What the adapters of all tracks share: plain values in, plain values out, and the answer's own errors told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.kinds import Handle, Reply, Sent, Unfit, Unreadable, answering, told

Array = NDArray[Any]


def type_name(value: Any) -> str:
    """The type as a learner would write it: `torch.Tensor`, `numpy.ndarray`, `float`."""
    kind = type(value)
    module = kind.__module__.split(".")[0]
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def plain(framework: ModuleType, value: Any) -> Any:
    """`value` in the border's terms. Arrays are copied into base ndarrays, so no method of the answer's is kept."""
    if framework.is_native(value):
        return np.array(framework.to_numpy(value), copy=True, subok=False)
    if isinstance(value, (np.ndarray, np.generic)):
        return np.array(value, copy=True, subok=False)
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(plain(framework, v) for v in value)
    if isinstance(value, Mapping):
        return {str(k): plain(framework, v) for k, v in value.items()}
    return Unreadable(type_name(value))


def natively(framework: ModuleType, value: Any) -> Any:
    """A value from the border in the track's own type: arrays become tensors, also inside lists and dicts."""
    if isinstance(value, np.ndarray):
        return framework.from_numpy(value)
    if isinstance(value, (tuple, list)):
        return type(value)(natively(framework, v) for v in value)
    if isinstance(value, Mapping):
        return {k: natively(framework, v) for k, v in value.items()}
    return value


def reply(framework: ModuleType, value: Any, changed: tuple[int, ...] = ()) -> Reply:
    """The Reply for something that an answer returned. Raises Unfit for what cannot be looked at: a list of itself."""
    try:
        items = list(value) if isinstance(value, (tuple, list)) else [value]
        native = bool(items) and all(framework.is_native(item) for item in items)
        return Reply(plain(framework, value), type_name(value), native, changed)
    except Exception as error:
        raise Unfit(f"what your answer returned cannot be looked at ({told(error)})") from error


def same(a: Any, b: Any) -> bool:
    """Whether two plain values are equal, NaN counting as equal to itself."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    return bool(a == b)


class NativeAnswer:
    """An answer of one track; each subclass names its track's module as `framework`."""

    framework: ModuleType

    def __init__(self, answer: Callable[..., Any]) -> None:
        self._answer = answer
        self.tolerance: float = self.framework.tolerance()


class FunctionAnswer(NativeAnswer):
    """The Function kind for any framework; subclasses add `gradient` and `traced`."""

    def call(self, *arguments: Sent) -> Reply:
        """Call the answer on native copies of the arguments and see which of them it changed."""
        sent = [natively(self.framework, a) for a in arguments]
        before = [plain(self.framework, a) for a in sent]
        with answering(f"calling it with {len(sent)} arguments"):
            value = self._answer(*sent)
        changed = tuple(i for i, a in enumerate(sent) if not self._as_before(before[i], a))
        return reply(self.framework, value, changed)

    def _as_before(self, before: Any, sent: Any) -> bool:
        try:
            return same(before, plain(self.framework, sent))
        except RuntimeError as error:
            # JAX says so of an array whose memory a compiled step took over: gone, but not changed.
            if "deleted" in str(error):
                return True
            raise

    def gradient(self, argnum: int, *arguments: Sent) -> Reply | None:
        return None

    def traced(self, *arguments: Sent) -> Reply | None:
        return None


class HandledAnswer(NativeAnswer):
    """An answer that makes objects of its own side, given out as numbers."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        super().__init__(answer)
        self._objects: dict[Handle, Any] = {}

    def new(self, value: Any) -> Handle:
        handle = len(self._objects)
        self._objects[handle] = value
        return handle

    def __getitem__(self, handle: Handle) -> Any:
        return self._objects[handle]

    def __setitem__(self, handle: Handle, value: Any) -> None:
        self._objects[handle] = value


class ModelAnswer(HandledAnswer):
    """The parameters' way into and out of a model, the same in every track; subclasses add `build` and `call`."""

    def shapes(self, handle: Handle) -> dict[str, tuple[int, ...]]:
        return {name: value.shape for name, value in self.read(handle).items()}

    def load(self, handle: Handle, parameters: Mapping[str, Array]) -> None:
        self.framework.parameters_in(self[handle], parameters)

    def read(self, handle: Handle) -> dict[str, Array]:
        found: dict[str, Array] = self.framework.parameters_out(self[handle])
        return found


class LoopAnswer(NativeAnswer):
    """What a training loop gave: its losses, and the parameters that it left in a model."""

    def trained(self, losses: Any, model: Any) -> tuple[Reply, dict[str, Array]]:
        final = self.framework.parameters_out(model)
        return reply(self.framework, losses), {str(k): plain(self.framework, v) for k, v in final.items()}


def expect_no_graph(losses: Any, cure: str) -> None:
    """PyTorch's own trap, and fastai's: a list of losses that still hold the graph of their steps."""
    if isinstance(losses, (list, tuple)) and any(getattr(v, "requires_grad", False) for v in losses):
        raise Unfit(f"the losses are tensors that are still part of a graph; {cure}")
