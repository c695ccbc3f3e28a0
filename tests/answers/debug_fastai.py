"""Answers of lesson 02 in the fastai track; the two losses are plain PyTorch there, so theirs are PyTorch's."""

import torch
import torch.nn.functional as F
from fastai.callback.core import Callback, CancelBatchException, CancelFitException
from fastai.learner import Learner
from fastai.optimizer import SGD

from answers import debug_torch


# --- guarded_train ---------------------------------------------------------------------------------------------------
class Guard(Callback):
    def before_fit(self):
        self.values = []

    def before_batch(self):
        if not torch.isfinite(self.x).all():
            raise CancelBatchException

    def after_loss(self):
        if self.training:
            self.values.append(self.loss.item())


class StepGuard(Guard):
    def after_loss(self):
        pass

    def after_step(self):
        self.values.append(self.loss.item())


class LossGuard(Guard):
    """Lets the batch through the model, and gives it up when the loss is bad."""

    def before_batch(self):
        pass

    def after_loss(self):
        if not self.training:
            return
        if not torch.isfinite(self.loss) or not torch.isfinite(self.x).all():
            raise CancelBatchException
        self.values.append(self.loss.item())


class Unguarded(Guard):
    def before_batch(self):
        pass


class OnlyNan(Guard):
    def before_batch(self):
        if torch.isnan(self.x).any():
            raise CancelBatchException


class LateGuard(Guard):
    def after_loss(self):
        pass

    def after_batch(self):
        if self.training:
            self.values.append(self.loss.item())


class Stopping(Guard):
    def before_batch(self):
        if not torch.isfinite(self.x).all():
            raise CancelFitException


class Cleaning(Guard):
    def before_batch(self):
        self.learn.xb = (torch.nan_to_num(self.x),)


class WithValidation(Guard):
    def after_loss(self):
        self.values.append(self.loss.item())


class Zeros(Guard):
    def after_loss(self):
        if self.training:
            self.values.append(0.0)


def fit(guard, dls, model, learning_rate):
    learn = Learner(dls, model, loss_func=F.cross_entropy, opt_func=SGD, cbs=guard)
    with learn.no_logging():
        learn.fit(1, learning_rate)
    return guard.values


def guarded_train(dls, model, learning_rate):
    return fit(Guard(), dls, model, learning_rate)


def step_guarded_train(dls, model, learning_rate):
    return fit(StepGuard(), dls, model, learning_rate)


def loss_guarded_train(dls, model, learning_rate):
    return fit(LossGuard(), dls, model, learning_rate)


def unguarded_train(dls, model, learning_rate):
    return fit(Unguarded(), dls, model, learning_rate)


def only_nan_train(dls, model, learning_rate):
    return fit(OnlyNan(), dls, model, learning_rate)


def after_batch_train(dls, model, learning_rate):
    return fit(LateGuard(), dls, model, learning_rate)


def stopping_train(dls, model, learning_rate):
    return fit(Stopping(), dls, model, learning_rate)


def cleaning_train(dls, model, learning_rate):
    return fit(Cleaning(), dls, model, learning_rate)


def validating_train(dls, model, learning_rate):
    return fit(WithValidation(), dls, model, learning_rate)


def zeros_train(dls, model, learning_rate):
    return fit(Zeros(), dls, model, learning_rate)


LOSSES = ("debug/squared_error", "debug/log_loss")
RIGHT = {
    **{name: debug_torch.RIGHT[name] for name in LOSSES},
    "debug/guarded_train": [guarded_train, step_guarded_train, loss_guarded_train],
}
WRONG = {
    **{name: debug_torch.WRONG[name] for name in LOSSES},
    "debug/guarded_train": [
        (unguarded_train, "should be left out"),
        (only_nan_train, "hold a inf"),
        (after_batch_train, "should be left out"),
        (stopping_train, "no Learner took a step"),
        (cleaning_train, "should be left out"),
        (validating_train, "should be left out"),
        (zeros_train, "received 0"),
    ],
}
