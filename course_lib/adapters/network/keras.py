"""Networks of the Keras track: a built keras.Model with layers named hidden, norm and output, and a Dropout."""

from __future__ import annotations

from typing import Any

import keras

from course_lib.adapters.base import type_name
from course_lib.adapters.network.base import VariableNetwork, expect_names
from course_lib.frameworks import keras as framework
from course_lib.kinds import Handle, Unfit, answering

PLACES = {
    "hidden.weight": "hidden/kernel",
    "norm.scale": "norm/gamma",
    "norm.shift": "norm/beta",
    "norm.mean": "norm/moving_mean",
    "norm.variance": "norm/moving_variance",
    "output.weight": "output/kernel",
    "output.bias": "output/bias",
}


class Network(VariableNetwork):
    """The answer is `build_network(n_inputs, n_hidden, n_classes)`; its dropout's rate is one half by default."""

    framework = framework

    def build(self, **sizes: float) -> Handle:
        with answering(f"building the network with {sizes}"):
            model = self._answer(**sizes)
            if not isinstance(model, keras.Model):
                raise Unfit(f"build_network should return a keras.Model; it returned a {type_name(model)}")
            if not model.built:
                raise Unfit("the network has no weights yet: tell Keras its input with keras.Input((n_inputs,))")
        return self.new(model)

    def places(self, handle: Handle) -> dict[str, Any]:
        # `weights` leaves out the state of the dropout's random numbers, `variables` would not.
        found = {"/".join(str(variable.path).split("/")[-2:]): variable for variable in self[handle].weights}
        expect_names(found, PLACES.values())
        return {name: found[own] for name, own in PLACES.items()}
