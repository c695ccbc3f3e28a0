"""The kinds of answer that a check can drive, whatever framework the answer is written in.

Everything that crosses this border is an array, a number, a string or an opaque handle, so the same methods serve the
learner's own kernel, the tests and a grader on the other side of a pipe. A check sees a kind; it never sees an answer.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Handle = int
# What the build writes into each hole.
HOLE = "write your own code here"
Sent = Array | float | int | str | Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class Unreadable:
    """Stands for a returned object that is no array, number, string or collection of these."""

    type_name: str


@dataclass(frozen=True)
class Reply:
    """What an answer returned, in plain values.

    `value` is an array, a number, a string, a tuple or dict of these, or Unreadable. `type_name` is the type that the
    answer itself returned ("torch.Tensor"), `native` says whether that is the track's own. `changed_inputs` lists the
    positions of the arguments that the answer modified in place.
    """

    value: Any
    type_name: str
    native: bool
    changed_inputs: tuple[int, ...] = ()


class Function(Protocol):
    """A function of arrays. `gradient` and `traced` return None where the track has no such thing (NumPy)."""

    tolerance: float

    def call(self, *arguments: Sent) -> Reply: ...

    def gradient(self, argnum: int, *arguments: Sent) -> Reply | None:
        """The gradient of the scalar result with respect to one argument."""

    def traced(self, *arguments: Sent) -> Reply | None:
        """The same call through the framework's transformation: jit, tf.function, torch.func."""


class Model(Protocol):
    """A model that is built by sizes; parameters go in and out by their neutral names, weights as (inputs, outputs)."""

    tolerance: float

    def build(self, **sizes: int) -> Handle: ...

    def shapes(self, handle: Handle) -> dict[str, tuple[int, ...]]: ...

    def load(self, handle: Handle, parameters: Mapping[str, Array]) -> None: ...

    def read(self, handle: Handle) -> dict[str, Array]: ...

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply: ...


class Network(Protocol):
    """A model with batch norm and dropout: arrays that it learns and arrays that it remembers, and two modes.

    Its arrays go in and out by neutral names such as "hidden.weight" (inputs, outputs) and "norm.mean".
    """

    tolerance: float

    def build(self, **sizes: float) -> Handle:
        """From n_inputs, n_hidden, n_classes and, where it shall not be one half, the rate `dropout`."""

    def shapes(self, handle: Handle) -> dict[str, tuple[int, ...]]: ...

    def trainable(self, handle: Handle) -> list[str]:
        """The names of the arrays that an optimizer would move."""

    def load(self, handle: Handle, arrays: Mapping[str, Array]) -> None: ...

    def read(self, handle: Handle) -> dict[str, Array]: ...

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        """The logits; with `train` as in training, which also moves what the network remembers."""


class Step(Protocol):
    """One training step, driven on a two-layer probe network of the check's own with cross-entropy."""

    tolerance: float

    def start(self, parameters: Mapping[str, Array], learning_rate: float) -> Handle: ...

    def step(self, handle: Handle, x: Array, y: Array) -> Reply:
        """Take one step; the reply's value is the loss before the step."""

    def read(self, handle: Handle) -> dict[str, Array]: ...

    def retraces(self, handle: Handle) -> int | None:
        """How often the step's Python code has run; None where the track does not compile."""


class Loop(Protocol):
    """A whole training loop over given batches."""

    tolerance: float

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        """The losses, one per batch, and the final parameters."""


class Observer(Protocol):
    """A callback that records the loss of each training batch and stops the training after `limit` batches."""

    tolerance: float

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float, limit: int
    ) -> tuple[Reply, int]:
        """What was recorded, and how many batches were trained on before it stopped."""


class Finetune(Protocol):
    """Training that goes on from given parameters of the two-layer network: `hidden` is its body, `output` its head."""

    tolerance: float

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], rates: Sequence[float]
    ) -> tuple[Reply, dict[str, Array]]:
        """The losses, one per batch, and the final parameters.

        `rates` holds the head's learning rate alone, and then the body is to be frozen, or the body's and the head's.
        """


class AnswerError(Exception):
    """The answer itself raised: a wrong answer, never a crash of the checker."""

    def __init__(self, doing: str, text: str, line: str = "") -> None:
        self.doing, self.line = doing, line
        super().__init__(text)

    @classmethod
    def of(cls, doing: str, original: BaseException) -> AnswerError:
        """From what the answer raised, with the line of its own in which that happened."""
        frames = traceback.extract_tb(original.__traceback__)
        # The last frame outside this package is the learner's own line, or the framework's that it called.
        own = [f for f in frames if "course_lib" not in f.filename]
        answer = [f for f in own if "site-packages" not in f.filename and "lib/python" not in f.filename] or own
        line = (answer[-1].line or "").strip() if answer else ""
        return cls(doing, told(original), line)


def told(error: BaseException) -> str:
    """The type and the message of an exception, also of one whose message cannot be had."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


class Unanswered(Exception):
    """The hole is still there."""


class Unfit(Exception):
    """The answer is not what its kind needs, say a list for a model; the message is a sentence without full stop."""


@contextmanager
def answering(doing: str) -> Iterator[None]:
    """Run a learner's code; what it raises becomes AnswerError or Unanswered. `doing` completes "while …"."""
    try:
        yield
    except (Unfit, Unanswered):
        raise
    except NotImplementedError as error:
        # A framework raises it too, for an operation without a derivative: that is no hole.
        if str(error) and HOLE not in str(error):
            raise AnswerError.of(doing, error) from error
        raise Unanswered(str(error)) from error
    except (Exception, SystemExit) as error:
        raise AnswerError.of(doing, error) from error


def describe(value: Any) -> str:
    """A short description for messages: type, and for arrays shape and dtype."""
    if isinstance(value, np.ndarray):
        return f"shape {value.shape} {value.dtype}"
    if isinstance(value, Unreadable):
        return f"a {value.type_name}"
    if isinstance(value, tuple):
        return f"{len(value)} values ({', '.join(describe(v) for v in value[:4])}{', …' if len(value) > 4 else ''})"
    if isinstance(value, dict):
        return f"a dict with {', '.join(map(str, list(value)[:6])) or 'nothing'}"
    if value is None:
        return "None (did you forget `return`?)"
    return f"{value!r:.60} ({type(value).__name__})"
