"""What the network adapters of all tracks share: the neutral names, and the way of the arrays in and out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.adapters.base import HandledAnswer, reply
from course_lib.kinds import Handle, Reply, Unfit, answering

Array = NDArray[Any]

LEARNED = ("hidden.weight", "norm.scale", "norm.shift", "output.weight", "output.bias")
REMEMBERED = ("norm.mean", "norm.variance")


def expect_names(found: Iterable[str], wanted: Iterable[str]) -> None:
    """The names under which a track keeps the arrays must be these and no others."""
    have, want = set(found), set(wanted)
    if missing := sorted(want - have):
        raise Unfit(f"the network should have `{'`, `'.join(missing)}`; it has {', '.join(sorted(have)) or 'nothing'}")
    if extra := sorted(have - want):
        hint = ": the norm subtracts a bias before it at once" if "hidden" in extra[0] else ""
        raise Unfit(f"the network should have no `{'`, `'.join(extra)}`{hint}")


class NetworkAnswer(HandledAnswer):
    """The arrays of a network by their neutral names; subclasses say where the track keeps them."""

    @abstractmethod
    def places(self, handle: Handle) -> dict[str, Any]:
        """Neutral name → the track's own variable. Raises Unfit when one is missing or too many."""

    @abstractmethod
    def assign(self, variable: Any, value: Array) -> None:
        """Put an array, weights as (inputs, outputs), into a variable."""

    def value(self, variable: Any) -> Array:
        """A variable's values, weights as (inputs, outputs)."""
        return np.array(self.framework.to_numpy(variable), copy=True)

    def shapes(self, handle: Handle) -> dict[str, tuple[int, ...]]:
        return {name: value.shape for name, value in self.read(handle).items()}

    def load(self, handle: Handle, arrays: Mapping[str, Array]) -> None:
        places = self.places(handle)
        for name, value in arrays.items():
            self.assign(places[name], value)

    def read(self, handle: Handle) -> dict[str, Array]:
        return {name: self.value(variable) for name, variable in self.places(handle).items()}


class VariableNetwork(NetworkAnswer):
    """A network whose arrays are variables that know whether they train, and that is told its mode in the call."""

    def assign(self, variable: Any, value: Array) -> None:
        variable.assign(value)

    def trainable(self, handle: Handle) -> list[str]:
        return [name for name, variable in self.places(handle).items() if variable.trainable]

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        with answering(f"calling the network on x of shape {x.shape} with training={train}"):
            logits = self[handle](self.framework.from_numpy(x), training=train)
        return reply(self.framework, logits)
