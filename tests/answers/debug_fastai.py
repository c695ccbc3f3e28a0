"""Answers of lesson 02 in the fastai track."""

import numpy as np
import torch
import torch.nn.functional as F
from fastai.callback.core import Callback, CancelBatchException, CancelFitException
from fastai.learner import Learner
from fastai.optimizer import SGD


# --- squared error ---------------------------------------------------------------------------------------------------
def column_error(predictions, targets):
    return ((predictions[:, 0] - targets) ** 2).mean()


def library_error(predictions, targets):
    return F.mse_loss(predictions.squeeze(1), targets)


def targets_as_column(predictions, targets):
    return (predictions - targets[:, None]).square().mean()


def broadcast_error(predictions, targets):
    return ((predictions - targets) ** 2).mean()


def summed_error(predictions, targets):
    return ((predictions[:, 0] - targets) ** 2).sum()


def squared_of_means(predictions, targets):
    return (predictions.mean() - targets.mean()) ** 2


def numpy_error(predictions, targets):
    return ((predictions.detach().numpy()[:, 0] - targets.numpy()) ** 2).mean()


def detached_error(predictions, targets):
    return column_error(predictions.detach(), targets)


def error_per_row(predictions, targets):
    return (predictions[:, 0] - targets) ** 2


def zero_error(predictions, targets):
    return torch.zeros(())


def nan_error(predictions, targets):
    return column_error(predictions, targets) * float("nan")


# --- log loss --------------------------------------------------------------------------------------------------------
def softplus_loss(logits, labels):
    return (F.softplus(logits) - labels * logits).mean()


def library_log_loss(logits, labels):
    return F.binary_cross_entropy_with_logits(logits, labels)


def logsigmoid_loss(logits, labels):
    return -(labels * F.logsigmoid(logits) + (1 - labels) * F.logsigmoid(-logits)).mean()


def naive_log_loss(logits, labels):
    p = torch.sigmoid(logits)
    return -(labels * torch.log(p) + (1 - labels) * torch.log(1 - p)).mean()


def clamped_log_loss(logits, labels):
    p = torch.sigmoid(logits).clamp(1e-7, 1 - 1e-7)
    return -(labels * torch.log(p) + (1 - labels) * torch.log(1 - p)).mean()


def nan_to_zero_log_loss(logits, labels):
    p = torch.sigmoid(logits)
    return -torch.nan_to_num(labels * torch.log(p) + (1 - labels) * torch.log(1 - p), neginf=0.0).mean()


def swapped_log_loss(logits, labels):
    return softplus_loss(logits, 1 - labels)


def summed_log_loss(logits, labels):
    return softplus_loss(logits, labels) * len(labels)


def numpy_log_loss(logits, labels):
    z = logits.detach().numpy()
    return np.mean(np.logaddexp(0, z) - labels.numpy() * z)


# --- guarded train ---------------------------------------------------------------------------------------------------
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


RIGHT = {
    "debug/squared_error": [column_error, library_error, targets_as_column],
    "debug/log_loss": [softplus_loss, library_log_loss, logsigmoid_loss],
    "debug/guarded_train": [guarded_train, step_guarded_train, loss_guarded_train],
}
WRONG = {
    "debug/squared_error": [
        (broadcast_error, "should be"),
        (summed_error, "should be"),
        (squared_of_means, "should be"),
        (numpy_error, "own type"),
        (detached_error, "does not require a gradient"),
        (error_per_row, "single"),
        (zero_error, "received 0"),
        (nan_error, "finite"),
    ],
    "debug/log_loss": [
        (naive_log_loss, "finite"),
        (clamped_log_loss, "should be"),
        (nan_to_zero_log_loss, "should be"),
        (swapped_log_loss, "should be"),
        (summed_log_loss, "should be"),
        (numpy_log_loss, "own type"),
    ],
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
