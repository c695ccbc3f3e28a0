"""Answers of lesson 01 in the fastai track."""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from fastai.basics import CrossEntropyLossFlat
from fastai.callback import schedule  # noqa: F401 (it gives Learner its fit_one_cycle)
from fastai.callback.core import Callback, CancelBatchException, CancelEpochException, CancelFitException
from fastai.callback.progress import ProgressCallback
from fastai.callback.training import GradientClip
from fastai.learner import Learner
from fastai.optimizer import SGD, OptimWrapper
from fastai.torch_core import Module
from torch import nn


# --- cross-entropy ---------------------------------------------------------------------------------------------------
def library_loss(logits, labels):
    return F.cross_entropy(logits, labels)


def flat_loss(logits, labels):
    return CrossEntropyLossFlat()(logits, labels)


def log_softmax_loss(logits, labels):
    return -logits.log_softmax(dim=-1)[range(len(labels)), labels].mean()


def naive_loss(logits, labels):
    e = logits.exp()
    return -torch.log((e / e.sum(1, keepdim=True))[torch.arange(len(labels)), labels]).mean()


def softmax_twice(logits, labels):
    return F.cross_entropy(logits.softmax(dim=1), labels)


def summed_loss(logits, labels):
    return CrossEntropyLossFlat(reduction="sum")(logits, labels)


def numpy_loss(logits, labels):
    z = logits.detach().numpy().astype(np.float64)
    z = z - z.max(1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(len(z)), labels.numpy()].mean()


def item_loss(logits, labels):
    return F.cross_entropy(logits, labels).item()


def nan_loss(logits, labels):
    return logits.sum() * float("nan")


# --- model -----------------------------------------------------------------------------------------------------------
class Plain(Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        self.hidden = nn.Linear(n_inputs, n_hidden)
        self.output = nn.Linear(n_hidden, n_classes)

    def forward(self, x):
        return self.output(F.relu(self.hidden(x)))


class TorchOwn(nn.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.output = nn.Linear(n_hidden, n_classes)
        self.hidden = nn.Linear(n_inputs, n_hidden)
        self.activation = nn.ReLU()

    def forward(self, x):
        return self.output(self.activation(self.hidden(x)))


class NoSuper(nn.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        self.hidden = nn.Linear(n_inputs, n_hidden)
        self.output = nn.Linear(n_hidden, n_classes)


class Softmaxed(Plain):
    def forward(self, x):
        return super().forward(x).softmax(dim=-1)


class Sequenced(Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        self.layers = nn.Sequential(nn.Linear(n_inputs, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_classes))

    def forward(self, x):
        return self.layers(x)


class ReluLast(Plain):
    def forward(self, x):
        return F.relu(super().forward(x))


class NumpyInside(Plain):
    def forward(self, x):
        return super().forward(x).detach().numpy()


class Swapped(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        self.hidden = nn.Linear(n_inputs, n_classes)
        self.output = nn.Linear(n_classes, n_classes)


# --- train -----------------------------------------------------------------------------------------------------------
class Keep(Callback):
    """Keeps each training batch's own loss."""

    def __init__(self):
        self.values = []

    def after_batch(self):
        if self.training:
            self.values.append(self.loss.item())


class KeepAll(Keep):
    def after_batch(self):
        self.values.append(self.loss.item())


class KeepTensors(Keep):
    def after_batch(self):
        if self.training:
            self.values.append(self.loss)


def fitted(dls, model, keep, **options):
    """A Learner after one epoch; the options are its own, `rate` goes to fit."""
    rate = options.pop("rate")
    learn = Learner(dls, model, **{"loss_func": F.cross_entropy, "opt_func": SGD, "cbs": keep, **options})
    learn.fit(1, rate)
    return learn


def usual_train(dls, model, learning_rate):
    keep = Keep()
    fitted(dls, model, keep, rate=learning_rate)
    return keep.values


def torch_optimizer_train(dls, model, learning_rate):
    keep = Keep()
    fitted(dls, model, keep, rate=learning_rate, opt_func=partial(OptimWrapper, opt=torch.optim.SGD))
    return np.array(keep.values)


def flat_loss_train(dls, model, learning_rate):
    losses = []

    class OnlyTraining(Callback):
        run_valid = False

        def after_loss(self):
            losses.append(float(self.loss))

    learn = Learner(dls, model, loss_func=CrossEntropyLossFlat(), opt_func=partial(SGD, lr=learning_rate))
    learn.add_cbs([OnlyTraining(), ProgressCallback()])
    with learn.no_bar(), learn.no_logging():
        learn.fit(1)
    return losses


def smoothed_train(dls, model, learning_rate):
    return [float(v) for v in fitted(dls, model, None, rate=learning_rate).recorder.losses]


def adam_train(dls, model, learning_rate):
    keep = Keep()
    learn = Learner(dls, model, loss_func=F.cross_entropy, cbs=keep)
    learn.fit(1, learning_rate)
    return keep.values


def one_cycle_train(dls, model, learning_rate):
    keep = Keep()
    learn = Learner(dls, model, loss_func=F.cross_entropy, opt_func=SGD, cbs=keep)
    learn.fit_one_cycle(1, learning_rate)
    return keep.values


def default_rate_train(dls, model, learning_rate):
    keep = Keep()
    Learner(dls, model, loss_func=F.cross_entropy, opt_func=SGD, cbs=keep).fit(1)
    return keep.values


def decayed_train(dls, model, learning_rate):
    keep = Keep()
    fitted(dls, model, keep, rate=learning_rate, wd=0.1)
    return keep.values


def momentum_train(dls, model, learning_rate):
    keep = Keep()
    fitted(dls, model, keep, rate=learning_rate, opt_func=partial(SGD, mom=0.9))
    return keep.values


def clipped_train(dls, model, learning_rate):
    keep = Keep()
    fitted(dls, model, [keep, GradientClip(0.05)], rate=learning_rate)
    return keep.values


def validating_train(dls, model, learning_rate):
    keep = KeepAll()
    fitted(dls, model, keep, rate=learning_rate)
    return keep.values


def two_epochs_train(dls, model, learning_rate):
    keep = Keep()
    Learner(dls, model, loss_func=F.cross_entropy, opt_func=SGD, cbs=keep).fit(2, learning_rate)
    return keep.values


def graph_keeping_train(dls, model, learning_rate):
    keep = KeepTensors()
    fitted(dls, model, keep, rate=learning_rate)
    return keep.values


def softmax_twice_train(dls, model, learning_rate):
    keep = Keep()
    fitted(dls, model, keep, rate=learning_rate, loss_func=softmax_twice)
    return keep.values


def torch_loop_train(dls, model, learning_rate):
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=learning_rate), []
    for x, y in dls.train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def learner_returned(dls, model, learning_rate):
    return fitted(dls, model, None, rate=learning_rate)


def zero_train(dls, model, learning_rate):
    return [0.0] * len(usual_train(dls, model, learning_rate))


# --- observer --------------------------------------------------------------------------------------------------------
class Watcher(Callback):
    def __init__(self, limit):
        self.limit, self.losses = limit, []

    def after_batch(self):
        if self.training:
            self.losses.append(self.loss.item())
            if len(self.losses) == self.limit:
                raise CancelFitException


class StopsLater(Callback):
    """Records after the loss, stops when the batch is over, and sees no validation."""

    run_valid = False

    def __init__(self, limit):
        self.limit = limit

    def before_fit(self):
        self.losses = []

    def after_loss(self):
        self.losses.append(float(self.learn.loss))

    def after_batch(self):
        if len(self.losses) >= self.limit:
            raise CancelFitException()


class WatchesValidation(Watcher):
    def after_batch(self):
        self.losses.append(self.loss.item())
        if len(self.losses) == self.limit:
            raise CancelFitException


class NeverStops(Watcher):
    def after_batch(self):
        if self.training:
            self.losses.append(self.loss.item())


class StopsEpoch(Watcher):
    def after_batch(self):
        if self.training:
            self.losses.append(self.loss.item())
            if len(self.losses) == self.limit:
                raise CancelEpochException


class StopsOneTooLate(Watcher):
    def before_batch(self):
        if len(self.losses) > self.limit:
            raise CancelFitException

    def after_batch(self):
        if self.training:
            self.losses.append(self.loss.item())


class SkipsBatches(Watcher):
    """Records no more than the limit, but goes on training."""

    def after_batch(self):
        if self.training and len(self.losses) < self.limit:
            self.losses.append(self.loss.item())


class Smoothed(Watcher):
    order = 60

    def after_batch(self):
        if self.training:
            self.losses.append(float(self.learn.smooth_loss))
            if len(self.losses) == self.limit:
                raise CancelFitException


class BeforeTheLoss(Watcher):
    def before_batch(self):
        if self.training:
            self.losses.append(float(self.loss))
            if len(self.losses) == self.limit:
                raise CancelFitException

    def after_batch(self):
        pass


class CancelsTooEarly(Watcher):
    """Cancels after the loss and before the step: the last batch is recorded and not trained on."""

    def after_batch(self):
        pass

    def after_loss(self):
        if self.training:
            self.losses.append(self.loss.item())
            if len(self.losses) == self.limit:
                raise CancelFitException


class SkipsStep(CancelsTooEarly):
    def after_loss(self):
        if self.training:
            self.losses.append(self.loss.item())
            raise CancelBatchException


class KeepsGraph(Watcher):
    def after_batch(self):
        if self.training:
            self.losses.append(self.loss)
            if len(self.losses) == self.limit:
                raise CancelFitException


class NotACallback:
    def __init__(self, limit):
        self.losses = [0.0] * limit


class NoLosses(Callback):
    def __init__(self, limit):
        self.seen = []


# --- repair ----------------------------------------------------------------------------------------------------------
class MeanOverBatch(Callback):
    def before_fit(self):
        self.values = []

    def after_loss(self):
        self.learn.loss_grad = self.loss_grad / len(self.y)
        if self.training:
            self.values.append(self.loss_grad.item())


class InPlace(MeanOverBatch):
    def after_loss(self):
        self.learn.loss_grad /= len(self.y)
        if self.training:
            self.values.append(self.learn.loss_grad.item())


class Shadowing(MeanOverBatch):
    """The planted fault: assigning to `self` makes an attribute of the callback, which hides the Learner's."""

    def after_loss(self):
        self.loss_grad = self.loss_grad / len(self.y)
        if self.training:
            self.values.append(self.loss_grad.item())


class ShadowingInPlace(MeanOverBatch):
    def after_loss(self):
        self.loss_grad /= len(self.y)
        if self.training:
            self.values.append(self.loss_grad.item())


class WrongName(MeanOverBatch):
    """`loss` is a copy for showing; the backward pass starts from `loss_grad`."""

    def after_loss(self):
        self.learn.loss = self.learn.loss / len(self.y)
        if self.training:
            self.values.append(self.learn.loss.item())


class DividedByWrong(MeanOverBatch):
    def after_loss(self):
        self.learn.loss_grad = self.loss_grad / len(self.x[0])
        if self.training:
            self.values.append(self.loss_grad.item())


def summed_train(callback):
    def repaired(dls, model, learning_rate):
        mean = callback()
        fitted(dls, model, mean, rate=learning_rate, loss_func=partial(F.cross_entropy, reduction="sum"))
        return mean.values

    repaired.__name__ = f"summed_{callback.__name__}"
    return repaired


RIGHT = {
    "digits/cross_entropy": [library_loss, flat_loss, log_softmax_loss],
    "digits/model": [Plain, TorchOwn],
    "digits/train": [usual_train, torch_optimizer_train, flat_loss_train],
    "digits/observer": [Watcher, StopsLater],
    "digits/repair_learner": [summed_train(MeanOverBatch), summed_train(InPlace), usual_train],
}
WRONG = {
    "digits/cross_entropy": [
        (naive_loss, "finite"),
        (softmax_twice, "should be"),
        (summed_loss, "should be"),
        (numpy_loss, "own type"),
        (item_loss, "own type"),
        (nan_loss, "finite"),
    ],
    "digits/model": [
        (NoSuper, "__init__"),
        (Softmaxed, "probabilities"),
        (Sequenced, "hidden_weight"),
        (ReluLast, "logits"),
        (NumpyInside, "own type"),
        (Swapped, "hidden_weight"),
    ],
    "digits/train": [
        (smoothed_train, "losses"),
        (adam_train, "losses"),
        (one_cycle_train, "losses"),
        (default_rate_train, "losses"),
        (decayed_train, "losses"),
        (momentum_train, "losses"),
        (clipped_train, "losses"),
        (validating_train, "shape"),
        (two_epochs_train, "shape"),
        (graph_keeping_train, "graph"),
        (softmax_twice_train, "losses"),
        (torch_loop_train, "Learner"),
        (learner_returned, "losses"),
        (zero_train, "losses"),
    ],
    "digits/observer": [
        (WatchesValidation, "recorded losses"),
        (NeverStops, "recorded 6"),
        (StopsEpoch, "recorded"),
        (StopsOneTooLate, "recorded 4"),
        (SkipsBatches, "steps"),
        (Smoothed, "recorded losses"),
        (BeforeTheLoss, "recorded losses"),
        (CancelsTooEarly, "steps"),
        (SkipsStep, "recorded 6"),
        (KeepsGraph, "graph"),
        (NotACallback, "Callback"),
        (NoLosses, "losses"),
    ],
    "digits/repair_learner": [
        (summed_train(Shadowing), "losses"),
        (summed_train(ShadowingInPlace), "losses"),
        (summed_train(WrongName), "losses"),
        (summed_train(DividedByWrong), "losses"),
        (torch_loop_train, "Learner"),
    ],
}
