"""Networks of the PyTorch track: an nn.Module class with hidden, norm, dropout and output."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from course_lib.adapters.base import reply, type_name
from course_lib.adapters.network.base import NetworkAnswer, expect_names
from course_lib.frameworks import torch as framework
from course_lib.kinds import Handle, Reply, Unfit, answering

Array = NDArray[Any]

PLACES = {
    "hidden.weight": "hidden.weight",
    "norm.scale": "norm.weight",
    "norm.shift": "norm.bias",
    "norm.mean": "norm.running_mean",
    "norm.variance": "norm.running_var",
    "output.weight": "output.weight",
    "output.bias": "output.bias",
}


class Network(NetworkAnswer):
    """The answer is a class, built by (n_inputs, n_hidden, n_classes); its dropout's rate is one half by default."""

    framework = framework

    def build(self, **sizes: float) -> Handle:
        with answering(f"building the network with {sizes}"):
            model = self._answer(**sizes)
            if not isinstance(model, nn.Module):
                raise Unfit(f"the network should be an nn.Module; it is a {type_name(model)}")
        return self.new(model)

    def places(self, handle: Handle) -> dict[str, Any]:
        state = self[handle].state_dict()
        expect_names(state.keys() - {"norm.num_batches_tracked"}, PLACES.values())
        return {name: state[own] for name, own in PLACES.items()}

    def assign(self, variable: Any, value: Array) -> None:
        # A state_dict holds the model's own memory, so writing here reaches the model.
        variable.copy_(torch.from_numpy(np.array(value.T, copy=True)))

    def value(self, variable: Any) -> Array:
        return super().value(variable).T.copy()

    def trainable(self, handle: Handle) -> list[str]:
        learned = {name for name, parameter in self[handle].named_parameters() if parameter.requires_grad}
        return [name for name, own in PLACES.items() if own in learned]

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        model = self[handle].train(train)
        with answering(f"calling the network on x of shape {x.shape}, model.train({train})"):
            logits = model(framework.from_numpy(x))
        if train and framework.is_native(logits) and not logits.requires_grad:
            raise Unfit("the logits do not require a gradient: something in forward cuts them off from the graph")
        return reply(framework, logits)
