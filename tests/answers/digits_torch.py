"""Answers of lesson 01 in the PyTorch track."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


# --- cross-entropy ---------------------------------------------------------------------------------------------------
def library_loss(logits, labels):
    return F.cross_entropy(logits, labels)


def logsumexp_loss(logits, labels):
    return (logits.logsumexp(1) - logits.gather(1, labels[:, None]).squeeze(1)).mean()


def naive_loss(logits, labels):
    e = logits.exp()
    return -torch.log((e / e.sum(1, keepdim=True))[torch.arange(len(labels)), labels]).mean()


def clamped_loss(logits, labels):
    p = logits.softmax(1)[torch.arange(len(labels)), labels]
    return -torch.log(p.clamp_min(1e-7)).mean()


def summed_loss(logits, labels):
    return F.cross_entropy(logits, labels, reduction="sum")


def numpy_loss(logits, labels):
    z = logits.detach().numpy().astype(np.float64)
    z = z - z.max(1, keepdims=True)
    return -(z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(len(z)), labels.numpy()].mean()


def detached_loss(logits, labels):
    return F.cross_entropy(logits.detach(), labels)


def per_row_loss(logits, labels):
    return F.cross_entropy(logits, labels, reduction="none")


def zero_loss(logits, labels):
    return torch.zeros(())


# --- model -----------------------------------------------------------------------------------------------------------
class Plain(nn.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.hidden = nn.Linear(n_inputs, n_hidden)
        self.output = nn.Linear(n_hidden, n_classes)

    def forward(self, x):
        return self.output(F.relu(self.hidden(x)))


class OutputFirst(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        nn.Module.__init__(self)
        self.output = nn.Linear(n_hidden, n_classes)
        self.hidden = nn.Linear(n_inputs, n_hidden)


class NoActivation(Plain):
    def forward(self, x):
        return self.output(self.hidden(x))


class Softmaxed(Plain):
    def forward(self, x):
        return super().forward(x).softmax(dim=-1)


class Listed(nn.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.layers = [nn.Linear(n_inputs, n_hidden), nn.Linear(n_hidden, n_classes)]

    def forward(self, x):
        return self.layers[1](F.relu(self.layers[0](x)))


class NoBias(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__(n_inputs, n_hidden, n_classes)
        self.output = nn.Linear(n_hidden, n_classes, bias=False)


class Detached(Plain):
    def forward(self, x):
        return self.output(F.relu(self.hidden(x)).detach())


class NumpyInside(Plain):
    def forward(self, x):
        hidden = np.maximum(self.hidden(x).detach().numpy(), 0)
        return self.output(torch.from_numpy(hidden))


class WithDropout(Plain):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.5, self.training)


class Frozen(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__(n_inputs, n_hidden, n_classes)
        self.hidden.requires_grad_(False)


class Functional(nn.Module):
    def __init__(self, n_inputs, n_hidden, n_classes):
        super().__init__()
        self.hidden, self.output = nn.Linear(n_inputs, n_hidden), nn.Linear(n_hidden, n_classes)
        self.layers = [self.hidden, nn.ReLU(), self.output]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


# --- step ------------------------------------------------------------------------------------------------------------
def usual_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def zero_after(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def by_autograd(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    for parameter, gradient in zip(
        model.parameters(), torch.autograd.grad(loss, list(model.parameters())), strict=True
    ):
        parameter.grad = gradient
    optimizer.step()
    return loss


def never_zeroed(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def no_move(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    return loss


def zeroed_before_step(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss


def by_hand(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    with torch.no_grad():
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter -= optimizer.param_groups[0]["lr"] * gradient
    return loss


def with_closure(model, optimizer, x, y):
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure)


def stepping_twice(model, optimizer, x, y):
    loss = usual_step(model, optimizer, x, y)
    optimizer.step()
    return loss


def no_return(model, optimizer, x, y):
    usual_step(model, optimizer, x, y)


def late_loss(model, optimizer, x, y):
    usual_step(model, optimizer, x, y)
    return F.cross_entropy(model(x), y)


# --- train -----------------------------------------------------------------------------------------------------------
def usual_train(model, optimizer, batches):
    return [usual_step(model, optimizer, x, y).item() for x, y in batches]


def array_train(model, optimizer, batches):
    losses = []
    for x, y in batches:
        losses.append(zero_after(model, optimizer, x, y).item())
    return np.array(losses)


def accumulating_train(model, optimizer, batches):
    return [never_zeroed(model, optimizer, x, y).item() for x, y in batches]


def graph_keeping_train(model, optimizer, batches):
    return [usual_step(model, optimizer, x, y) for x, y in batches]


def last_left_out(model, optimizer, batches):
    return usual_train(model, optimizer, batches[:-1])


def mean_only(model, optimizer, batches):
    return float(np.mean(usual_train(model, optimizer, batches)))


RIGHT = {
    "digits/cross_entropy": [library_loss, logsumexp_loss],
    "digits/model": [Plain, OutputFirst, Functional],
    "digits/step": [usual_step, zero_after, by_autograd, with_closure],
    "digits/repair": [usual_step, zero_after],
    "digits/train": [usual_train, array_train],
}
WRONG = {
    "digits/cross_entropy": [
        (naive_loss, "finite"),
        (clamped_loss, "loss"),
        (summed_loss, "should be"),
        (numpy_loss, "own type"),
        (detached_loss, "graph"),
        (per_row_loss, "single"),
        (zero_loss, "received 0"),
    ],
    "digits/model": [
        (NoActivation, "logits"),
        (Softmaxed, "probabilities"),
        (Listed, "hidden_weight"),
        (NoBias, "output_bias"),
        (Detached, "hidden.weight"),
        (NumpyInside, "hidden.weight"),
        (WithDropout, "while training"),
        (Frozen, "trainable"),
    ],
    "digits/step": [
        (never_zeroed, "step 3"),
        (no_move, "took 0"),
        (by_hand, "took 0"),
        (stepping_twice, "took 2"),
        (zeroed_before_step, "step 2"),
        (no_return, "None"),
        (late_loss, "step 1"),
    ],
    "digits/repair": [(never_zeroed, "step"), (no_move, "took 0"), (zeroed_before_step, "step")],
    "digits/train": [
        (accumulating_train, "losses"),
        (graph_keeping_train, "graph"),
        (last_left_out, "losses"),
        (mean_only, "losses"),
    ],
}
