"""Native answers of the fastai track: functions and models are PyTorch's, training belongs to a Learner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from fastai.callback.core import Callback
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.optimizer import SGD
from fastcore.basics import defaults, noop
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from course_lib.adapters.base import LoopAnswer, NativeAnswer, expect_no_graph, natively, reply
from course_lib.adapters.torch import Function, Model, Probe
from course_lib.frameworks import fastai as framework
from course_lib.kinds import Reply, Unfit, answering

Array = NDArray[Any]
TensorBatch = tuple[torch.Tensor, torch.Tensor]


class Epochs:
    """Training batches that go on where the epoch before stopped, `per_epoch` at a time."""

    def __init__(self, batches: Sequence[TensorBatch], per_epoch: int) -> None:
        self._batches, self._per_epoch, self._next = batches, per_epoch, 0

    def __len__(self) -> int:
        return self._per_epoch

    def __iter__(self) -> Iterator[TensorBatch]:
        for _ in range(self._per_epoch):
            batch = self._batches[self._next % len(self._batches)]
            self._next += 1
            yield batch


@contextmanager
def watched() -> Iterator[list[str]]:
    """While this lasts, every new Learner is silent; the list gets one entry for each step that one of them takes."""
    steps: list[str] = []

    class StepWatch(Callback):  # type: ignore[misc]
        # Every Learner makes one of its own from the class, so that two Learners do not share a callback.
        def after_create(self) -> None:
            self.learn.logger, self.learn.create_mbar = noop, False
            self.learn.remove_cbs([callback for callback in self.learn.cbs if callback.name == "progress"])

        def after_step(self) -> None:
            steps.append("step")

    before = defaults.callbacks
    defaults.callbacks = [*before, StepWatch]
    try:
        yield steps
    finally:
        defaults.callbacks = before


def validation_of(batches: Sequence[TensorBatch]) -> list[TensorBatch]:
    """One validation batch, whose loss is none of the training batches'."""
    x, y = batches[0]
    return [(x + 1.0, y)]


class Loop(LoopAnswer):
    """The answer is `train(dls, model, learning_rate) -> losses`, a list of plain numbers, by a Learner of its own."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float
    ) -> tuple[Reply, dict[str, Array]]:
        model = Probe(parameters)
        tensors: list[TensorBatch] = natively(framework, list(batches))
        with watched() as steps, answering(f"training on {len(tensors)} batches"):
            losses = self._answer(DataLoaders(tensors, validation_of(tensors)), model, learning_rate)
        if not steps:
            message = "no Learner took a step; give the dls and the model to a Learner and call its fit"
            raise Unfit(message)
        expect_no_graph(losses, "keep self.loss.item() instead")
        return self.trained(losses, model)


class Finetune(LoopAnswer):
    """The answer is `train(dls, model, *rates) -> losses`, by a Learner of its own with a splitter."""

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], rates: Sequence[float]
    ) -> tuple[Reply, dict[str, Array]]:
        model = Probe(parameters)
        tensors: list[TensorBatch] = natively(framework, list(batches))
        with watched() as steps, answering(f"training on {len(tensors)} batches"):
            losses = self._answer(DataLoaders(tensors, validation_of(tensors)), model, *rates)
        if not steps:
            message = "no Learner took a step; give the dls and the model to a Learner and call its fit"
            raise Unfit(message)
        expect_no_graph(losses, "keep self.loss.item() instead")
        return self.trained(losses, model)


class Observer(NativeAnswer):
    """The answer is a Callback class; `Watcher(limit).losses` is read after the Learner has come back from its fit.

    The batches are dealt out two an epoch, so that validation comes between them, and an epoch that is given up does
    not end the training.
    """

    framework = framework

    def run(
        self, parameters: Mapping[str, Array], batches: Sequence[tuple[Array, Array]], learning_rate: float, limit: int
    ) -> tuple[Reply, int]:
        tensors: list[TensorBatch] = natively(framework, list(batches))
        dls = DataLoaders(Epochs(tensors, per_epoch=2), validation_of(tensors))
        with watched() as steps, answering(f"training with your callback, limit {limit}"):
            callback = self._answer(limit)
            if not isinstance(callback, Callback):
                raise Unfit(f"the answer should make a fastai Callback; it made a {type(callback).__name__}")
            learn = Learner(dls, Probe(parameters), loss_func=cross_entropy, opt_func=SGD, cbs=callback)
            learn.fit(len(tensors) // 2, learning_rate)
            losses = callback.losses
        expect_no_graph(losses, "record self.loss.item() instead")
        return reply(framework, losses), len(steps)


ADAPTERS = {"function": Function, "model": Model, "loop": Loop, "observer": Observer, "finetune": Finetune}
