"""Networks of the JAX track: an nnx.Module class with hidden, norm, dropout and output."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from flax import nnx
from numpy.typing import NDArray

from course_lib.adapters.base import reply, type_name
from course_lib.adapters.network.base import NetworkAnswer, expect_names
from course_lib.frameworks import jax as framework
from course_lib.kinds import Handle, Reply, Unfit, answering

Array = NDArray[Any]

PLACES = {
    "hidden.weight": "hidden.kernel",
    "norm.scale": "norm.scale",
    "norm.shift": "norm.bias",
    "norm.mean": "norm.mean",
    "norm.variance": "norm.var",
    "output.weight": "output.kernel",
    "output.bias": "output.bias",
}


class Network(NetworkAnswer):
    """The answer is a class, built by (n_inputs, n_hidden, n_classes, rngs=…); its dropout drops half by default."""

    framework = framework

    def build(self, **sizes: float) -> Handle:
        with answering(f"building the network with {sizes} and rngs"):
            model = self._answer(**sizes, rngs=nnx.Rngs(0))
            if not isinstance(model, nnx.Module):
                raise Unfit(f"the network should be an nnx.Module; it is a {type_name(model)}")
        return self.new(model)

    def places(self, handle: Handle) -> dict[str, Any]:
        # Random state is state too, but no array of the network's.
        state = nnx.state(self[handle], nnx.Not(nnx.RngState))
        found = {".".join(map(str, path)): variable for path, variable in nnx.to_flat_state(state)}
        expect_names(found, PLACES.values())
        model = self[handle]
        own = {name: place.split(".") for name, place in PLACES.items()}
        return {name: getattr(getattr(model, layer), variable) for name, (layer, variable) in own.items()}

    def assign(self, variable: Any, value: Array) -> None:
        variable[...] = jnp.array(value)

    def value(self, variable: Any) -> Array:
        return super().value(variable[...])

    def trainable(self, handle: Handle) -> list[str]:
        return [name for name, variable in self.places(handle).items() if isinstance(variable, nnx.Param)]

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        model = self[handle]
        model.train() if train else model.eval()
        with answering(f"calling the network on x of shape {x.shape}, after model.{'train' if train else 'eval'}()"):
            logits = model(framework.from_numpy(x))
        return reply(framework, logits)
