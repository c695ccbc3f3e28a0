"""Native answers of the PyTorch track."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from course_lib.adapters.base import (
    FunctionAnswer,
    HandledAnswer,
    LoopAnswer,
    ModelAnswer,
    expect_no_graph,
    natively,
    reply,
)
from course_lib.adapters.network.torch import Network
from course_lib.frameworks import torch as framework
from course_lib.kinds import Handle, Reply, Sent, Unfit, answering

Array = NDArray[Any]


class Function(FunctionAnswer):
    """A function of tensors, seen also by autograd and by torch.func."""

    framework = framework

    def gradient(self, argnum: int, *arguments: Sent) -> Reply | None:
        sent = [natively(framework, a) for a in arguments]
        sent[argnum].requires_grad_(True)
        with answering("asking for its gradient with .backward()"):
            result = self._answer(*sent)
            if not getattr(result, "requires_grad", False):
                raise Unfit("the result does not require a gradient: something cut it off from the graph")
            result.backward()
        return reply(framework, sent[argnum].grad)

    def traced(self, *arguments: Sent) -> Reply | None:
        sent = tuple(natively(framework, a) for a in arguments)
        with answering("transforming it with torch.func.grad_and_value"):
            value: Any = torch.func.grad_and_value(self._answer)(*sent)[1]
        return reply(framework, value)


class Probe(nn.Module):
    """A right two-layer network of the checker's own, for answers that are given one."""

    def __init__(self, parameters: Mapping[str, Array]) -> None:
        super().__init__()
        self.hidden = nn.Linear(*parameters["hidden_weight"].shape)
        self.output = nn.Linear(*parameters["output_weight"].shape)
        framework.parameters_in(self, parameters)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.output(torch.relu(self.hidden(x)))
        return logits


class Model(ModelAnswer):
    """The answer is an nn.Module class: (n_inputs, n_hidden, n_classes), with Linear layers hidden and output."""

    framework = framework

    def build(self, **sizes: int) -> Handle:
        with answering(f"building the model with {sizes}"):
            model = self._answer(**sizes)
            if not isinstance(model, nn.Module):
                raise Unfit(f"the model should be an nn.Module; it is a {type(model).__name__}")
        return self.new(model)

    def call(self, handle: Handle, x: Array, *, train: bool = False) -> Reply:
        model = self[handle].train(train)
        with answering(f"calling the model on x of shape {x.shape}"):
            logits = model(framework.from_numpy(x))
        # A single row may leave every hidden unit at zero, and then a gradient is rightly zero.
        if len(x) > 1 and framework.is_native(logits) and logits.is_floating_point():
            _expect_gradients(model, logits)
        return reply(framework, logits)


def _expect_gradients(model: nn.Module, logits: torch.Tensor) -> None:
    """From the logits a gradient must reach every parameter."""
    named = dict(model.named_parameters())
    if frozen := [name for name, value in named.items() if not value.requires_grad]:
        raise Unfit(f"every parameter should be trainable; {', '.join(frozen)} does not require a gradient")
    if not logits.requires_grad:
        raise Unfit("the logits do not require a gradient: something in forward cuts them off from the graph")
    gradients = torch.autograd.grad(logits.square().sum(), list(named.values()), allow_unused=True)
    for name, gradient in zip(named, gradients, strict=True):
        if gradient is None:
            raise Unfit(f"no gradient reaches `{name}`: forward does not use it, or cuts it off on the way")


class Step(HandledAnswer):
    """The answer is `step(model, optimizer, x, y) -> loss`."""

    framework = framework

    def start(self, parameters: Mapping[str, Array], learning_rate: float) -> Handle:
        model = Probe(parameters)
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
        steps: list[str] = []
        optimizer.register_step_post_hook(lambda *_: steps.append("step"))
        return self.new((model, optimizer, steps))

    def step(self, handle: Handle, x: Array, y: Array) -> Reply:
        model, optimizer, steps = self[handle]
        before = len(steps)
        with answering(f"taking a step on x of shape {x.shape}"):
            loss = self._answer(model, optimizer, framework.from_numpy(x), framework.from_numpy(y))
        if len(steps) - before != 1:
            raise Unfit(f"the optimizer should take one step; it took {len(steps) - before}")
        return reply(framework, loss)

    def read(self, handle: Handle) -> dict[str, Array]:
        return framework.parameters_out(self[handle][0])

    def retraces(self, handle: Handle) -> int | None:
        return None


class Loop(LoopAnswer):
    """The answer is `train(model, optimizer, batches) -> losses`, a list of plain numbers."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        model = Probe(parameters)
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
        with answering(f"training on {len(batches)} batches"):
            losses = self._answer(model, optimizer, natively(framework, list(batches)))
        expect_no_graph(losses, "keep loss.item() instead")
        return self.trained(losses, model)


class Finetune(LoopAnswer):
    """The answer is `train(model, batches, *rates) -> losses`; it makes its own optimizer."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], rates: Sequence[float]
    ) -> tuple[Reply, dict[str, Array]]:
        model = Probe(parameters)
        with answering(f"training on {len(batches)} batches"):
            losses = self._answer(model, natively(framework, list(batches)), *rates)
        expect_no_graph(losses, "keep loss.item() instead")
        return self.trained(losses, model)


ADAPTERS = {"function": Function, "model": Model, "step": Step, "loop": Loop, "network": Network, "finetune": Finetune}
