"""The kinds, driven in a student's process: what a check holds is one of these, and behind it is a socket.

Every value that comes back is plain; what the answer raised there is raised here as the same AnswerError, Unfit or
Unanswered. The tolerance is the grader's own: a child always computes on the CPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from course_lib.frameworks import numpy as numpy_framework
from course_lib.grade.wire import BadFrame
from course_lib.kinds import AnswerError, Handle, Reply, Sent, Unanswered, Unfit

Array = NDArray[Any]
# What each framework's module says on a CPU; a test compares.
FLOAT32_ON_CPU = 1e-4
MAX_MESSAGE = 2000


class Caller(Protocol):
    """Sends one call to the child and returns the message that answers it."""

    def call(self, method: str, *arguments: Any, **named: Any) -> dict[str, Any]: ...


class ChildBroke(Exception):
    """The adapter in the child raised something that was not the answer's: a fault of the course's, until looked at."""


class Remote:
    """What all kinds share: a call, and its result or what it raised."""

    def __init__(self, caller: Caller, track: str) -> None:
        self._caller = caller
        self.tolerance: float = numpy_framework.tolerance() if track == "numpy" else FLOAT32_ON_CPU

    def _ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        answer = self._caller.call(method, *arguments, **named)
        if "raised" in answer:
            _raise(answer)
        if "value" not in answer:
            raise BadFrame(f"the answer to {method} has no value")
        return answer["value"]

    def _reply(self, method: str, *arguments: Any, **named: Any) -> Reply:
        reply: Reply = _demand(self._ask(method, *arguments, **named), Reply, method)
        return reply

    def _maybe(self, method: str, *arguments: Any) -> Reply | None:
        value = self._ask(method, *arguments)
        return None if value is None else _demand(value, Reply, method)

    def _handle(self, method: str, *arguments: Any, **named: Any) -> Handle:
        handle: int = _demand(self._ask(method, *arguments, **named), int, method)
        return handle

    def _arrays(self, method: str, *arguments: Any) -> dict[str, Array]:
        value = _demand(self._ask(method, *arguments), dict, method)
        return {name: _demand(array, np.ndarray, method) for name, array in value.items()}


class RemoteFunction(Remote):
    """A function of arrays."""

    def call(self, *arguments: Sent) -> Reply:
        return self._reply("call", *arguments)

    def gradient(self, argnum: int, *arguments: Sent) -> Reply | None:
        return self._maybe("gradient", argnum, *arguments)

    def traced(self, *arguments: Sent) -> Reply | None:
        return self._maybe("traced", *arguments)


class RemoteModel(Remote):
    """A model that is built by sizes."""

    def build(self, **sizes: float) -> Handle:
        return self._handle("build", **sizes)

    def shapes(self, handle: Handle) -> dict[str, tuple[int, ...]]:
        found = _demand(self._ask("shapes", handle), dict, "shapes")
        return {
            name: tuple(_demand(n, int, "shapes") for n in _demand(s, tuple, "shapes")) for name, s in found.items()
        }

    def load(self, handle: Handle, parameters: Mapping[str, Array]) -> None:
        self._ask("load", handle, dict(parameters))

    def read(self, handle: Handle) -> dict[str, Array]:
        return self._arrays("read", handle)

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        return self._reply("call", handle, x, train=train)


class RemoteNetwork(RemoteModel):
    """A model that also remembers, and has two modes."""

    def trainable(self, handle: Handle) -> list[str]:
        names = _demand(self._ask("trainable", handle), list, "trainable")
        return [_demand(name, str, "trainable") for name in names]


class RemoteStep(Remote):
    """One training step."""

    def start(self, parameters: Mapping[str, Array], learning_rate: float) -> Handle:
        return self._handle("start", dict(parameters), learning_rate)

    def step(self, handle: Handle, x: Array, y: Array) -> Reply:
        return self._reply("step", handle, x, y)

    def read(self, handle: Handle) -> dict[str, Array]:
        return self._arrays("read", handle)

    def retraces(self, handle: Handle) -> int | None:
        value = self._ask("retraces", handle)
        return None if value is None else _demand(value, int, "retraces")


class RemoteLoop(Remote):
    """A whole training loop."""

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        losses, final = _pair(self._ask("run", dict(parameters), list(batches), learning_rate), "run")
        named = _demand(final, dict, "run")
        return _demand(losses, Reply, "run"), {name: _demand(v, np.ndarray, "run") for name, v in named.items()}


class RemoteFinetune(Remote):
    """A training that goes on from given parameters."""

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], rates: Sequence[float]
    ) -> tuple[Reply, dict[str, Array]]:
        losses, final = _pair(self._ask("run", dict(parameters), list(batches), list(rates)), "run")
        named = _demand(final, dict, "run")
        return _demand(losses, Reply, "run"), {name: _demand(v, np.ndarray, "run") for name, v in named.items()}


class RemoteObserver(Remote):
    """A callback that watches a training and ends it."""

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float, limit: int
    ) -> tuple[Reply, int]:
        recorded, n_steps = _pair(self._ask("run", dict(parameters), list(batches), learning_rate, limit), "run")
        return _demand(recorded, Reply, "run"), _demand(n_steps, int, "run")


REMOTE: dict[str, type[Remote]] = {
    "function": RemoteFunction,
    "model": RemoteModel,
    "network": RemoteNetwork,
    "step": RemoteStep,
    "loop": RemoteLoop,
    "observer": RemoteObserver,
    "finetune": RemoteFinetune,
}


def remote(caller: Caller, track: str, kind: str) -> Remote:
    """The kind of the answer that the child has in hand; the child builds its adapter first."""
    made = REMOTE[kind](caller, track)
    made._ask("adapt", track, kind)
    return made


def _demand(value: Any, kind: type[Any], method: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadFrame(f"the answer to {method} should hold a {kind.__name__}; it holds a {type(value).__name__}")
    return value


def _pair(value: Any, method: str) -> tuple[Any, Any]:
    if not isinstance(value, tuple) or len(value) != 2:
        raise BadFrame(f"the answer to {method} should be a pair")
    return value[0], value[1]


def _raise(answer: Mapping[str, Any]) -> NoReturn:
    kind, text = answer["raised"], str(answer.get("text", ""))[:MAX_MESSAGE]
    if kind == "unanswered":
        raise Unanswered(text)
    if kind == "unfit":
        raise Unfit(text)
    if kind == "answer":
        raise AnswerError(str(answer.get("doing", ""))[:200], text, str(answer.get("line", ""))[:200])
    if kind == "other":
        raise ChildBroke(text[:300])
    raise BadFrame(f"a failure of no known kind: {str(kind)[:40]!r}")
