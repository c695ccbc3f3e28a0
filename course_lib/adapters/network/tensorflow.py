"""Networks of the TensorFlow track: a tf.Module class with its variables as its own attributes."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from course_lib.adapters.base import type_name
from course_lib.adapters.network.base import LEARNED, REMEMBERED, VariableNetwork, expect_names
from course_lib.frameworks import tensorflow as framework
from course_lib.kinds import Handle, Unfit, answering

PLACES = {name: name.replace(".", "_") for name in (*LEARNED, *REMEMBERED)}


class Network(VariableNetwork):
    """The answer is a class, built by (n_inputs, n_hidden, n_classes); its dropout's rate is one half by default."""

    framework = framework

    def build(self, **sizes: float) -> Handle:
        with answering(f"building the network with {sizes}"):
            model = self._answer(**sizes)
            if not isinstance(model, tf.Module):
                raise Unfit(f"the network should be a tf.Module; it is a {type_name(model)}")
        return self.new(model)

    def places(self, handle: Handle) -> dict[str, Any]:
        own = vars(self[handle])
        # A generator of random numbers keeps its state in a variable of its own, not of the network's.
        found = {
            name: value for name, value in own.items() if isinstance(value, tf.Variable) and value.dtype.is_floating
        }
        expect_names(found, PLACES.values())
        return {name: found[place] for name, place in PLACES.items()}
