"""Answers of lesson 02 in the PyTorch track."""

import numpy as np
import torch
import torch.nn.functional as F


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
def step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def skipping_train(model, optimizer, batches):
    return [step(model, optimizer, x, y) for x, y in batches if torch.isfinite(x).all()]


def looking_at_the_loss_train(model, optimizer, batches):
    losses = []
    for x, y in batches:
        if torch.isnan(x).any() or torch.isinf(x).any():
            continue
        optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(model(x), y)
        if not loss.isfinite():
            continue
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def unguarded_train(model, optimizer, batches):
    return [step(model, optimizer, x, y) for x, y in batches]


def only_nan_train(model, optimizer, batches):
    return [step(model, optimizer, x, y) for x, y in batches if not torch.isnan(x).any()]


def too_late_train(model, optimizer, batches):
    losses = [step(model, optimizer, x, y) for x, y in batches]
    return [loss for loss in losses if np.isfinite(loss)]


def cleaning_train(model, optimizer, batches):
    return [step(model, optimizer, torch.nan_to_num(x), y) for x, y in batches]


def stopping_train(model, optimizer, batches):
    losses = []
    for x, y in batches:
        if not torch.isfinite(x).all():
            break
        losses.append(step(model, optimizer, x, y))
    return losses


def one_row_train(model, optimizer, batches):
    return [step(model, optimizer, x, y) for x, y in batches if torch.isfinite(x[0]).all()]


def zeros_train(model, optimizer, batches):
    return [0.0 * step(model, optimizer, x, y) for x, y in batches if torch.isfinite(x).all()]


RIGHT = {
    "debug/squared_error": [column_error, library_error, targets_as_column],
    "debug/log_loss": [softplus_loss, library_log_loss, logsigmoid_loss],
    "debug/guarded_train": [skipping_train, looking_at_the_loss_train],
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
        (too_late_train, "losses"),
        (cleaning_train, "should be left out"),
        (stopping_train, "should be left out"),
        (one_row_train, "should be left out"),
        (zeros_train, "received 0"),
    ],
}
