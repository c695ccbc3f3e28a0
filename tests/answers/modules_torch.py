"""Answers of lesson 03 in the PyTorch track."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


# --- network ---------------------------------------------------------------------------------------------------------
class Plain(nn.Module):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__()
        self.hidden = nn.Linear(n_inputs, n_hidden, bias=False)
        self.norm = nn.BatchNorm1d(n_hidden)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(n_hidden, n_classes)

    def forward(self, x):
        return self.output(self.dropout(F.relu(self.norm(self.hidden(x)))))


class ByFunctions(Plain):
    def forward(self, x):
        hidden = F.linear(x, self.hidden.weight)
        n = self.norm
        hidden = F.batch_norm(hidden, n.running_mean, n.running_var, n.weight, n.bias, self.training)
        return self.output(F.dropout(F.relu(hidden), self.dropout.p, self.training))


class WithBias(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes, dropout)
        self.hidden = nn.Linear(n_inputs, n_hidden)


class AlwaysDropping(Plain):
    def forward(self, x):
        return self.output(F.dropout(F.relu(self.norm(self.hidden(x)))))


class NeverDropping(Plain):
    def forward(self, x):
        return self.output(F.relu(self.norm(self.hidden(x))))


class NormAfterRelu(Plain):
    def forward(self, x):
        return self.output(self.dropout(self.norm(F.relu(self.hidden(x)))))


class WithoutMemory(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes, dropout)
        self.norm = nn.BatchNorm1d(n_hidden, track_running_stats=False)


class SlowMemory(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes, dropout)
        self.norm = nn.BatchNorm1d(n_hidden, momentum=0.01)


class LargeEpsilon(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes, dropout)
        self.norm = nn.BatchNorm1d(n_hidden, eps=1e-2)


class FixedRate(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5):
        super().__init__(n_inputs, n_hidden, n_classes)


class Detached(Plain):
    def forward(self, x):
        return super().forward(x).detach()


# --- masks -----------------------------------------------------------------------------------------------------------
def one_generator(n_steps, n_units, rate, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([(torch.rand(n_units, generator=generator) >= rate).float() for _ in range(n_steps)])


def all_at_once(n_steps, n_units, rate, seed):
    return torch.bernoulli(torch.full((n_steps, n_units), 1 - rate), generator=torch.Generator().manual_seed(seed))


def global_seed(n_steps, n_units, rate, seed):
    torch.manual_seed(seed)
    return torch.stack([(torch.rand(n_units) >= rate).float() for _ in range(n_steps)])


def seeded_each_step(n_steps, n_units, rate, seed):
    masks = []
    for _ in range(n_steps):
        torch.manual_seed(seed)
        masks.append((torch.rand(n_units) >= rate).float())
    return torch.stack(masks)


def seed_plus_step(n_steps, n_units, rate, seed):
    return torch.cat([one_generator(1, n_units, rate, seed + step) for step in range(n_steps)])


def unseeded(n_steps, n_units, rate, seed):
    return (torch.rand(n_steps, n_units) >= rate).float()


def rate_kept(n_steps, n_units, rate, seed):
    return 1 - one_generator(n_steps, n_units, rate, seed)


def numpy_masks(n_steps, n_units, rate, seed):
    return (np.random.default_rng(seed).random((n_steps, n_units)) >= rate).astype(np.float32)


# --- freeze ----------------------------------------------------------------------------------------------------------
def by_flag(model, optimizer, x, y):
    model.hidden.requires_grad_(False)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def by_clearing(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    for parameter in model.hidden.parameters():
        parameter.grad = None
    optimizer.step()
    return loss.detach()


def nothing_frozen(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def weight_frozen(model, optimizer, x, y):
    model.hidden.weight.requires_grad_(False)
    return nothing_frozen(model, optimizer, x, y)


def output_frozen(model, optimizer, x, y):
    model.output.requires_grad_(False)
    return nothing_frozen(model, optimizer, x, y)


def never_zeroed(model, optimizer, x, y):
    model.hidden.requires_grad_(False)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


# --- resume ----------------------------------------------------------------------------------------------------------
OWN = {
    "hidden.weight": "hidden.weight",
    "norm.scale": "norm.weight",
    "norm.shift": "norm.bias",
    "norm.mean": "norm.running_mean",
    "norm.variance": "norm.running_var",
    "output.weight": "output.weight",
    "output.bias": "output.bias",
}


def part(state, batches, learning_rate, momentum, *, velocity=True, mode=True):
    (n_inputs, n_hidden), n_classes = state["hidden.weight"].shape, len(state["output.bias"])
    model = Plain(n_inputs, n_hidden, n_classes, dropout=0.0).train(mode)
    for name, own in OWN.items():
        model.state_dict()[own].copy_(state[name].mT if state[name].ndim == 2 else state[name])
    sgd = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=momentum)
    if velocity:
        for number, parameter in enumerate(model.parameters()):
            if f"v{number}" in state:
                sgd.state[parameter]["momentum_buffer"] = state[f"v{number}"].clone()
    losses = [nothing_frozen(model, sgd, x, y).item() for x, y in batches]
    arrays = {n: model.state_dict()[o] for n, o in OWN.items()}
    arrays = {n: (a.mT if a.ndim == 2 else a).clone() for n, a in arrays.items()}
    kept = {f"v{i}": sgd.state[p]["momentum_buffer"] for i, p in enumerate(model.parameters())}
    return losses, {**arrays, **kept} if velocity else arrays


def resume_flat(state, batches, learning_rate, momentum):
    return part(state, batches, learning_rate, momentum)


def resume_by_hand(state, batches, learning_rate, momentum):
    a, losses = dict(state), []
    learned = ("hidden.weight", "norm.scale", "norm.shift", "output.weight", "output.bias")
    for x, y in batches:
        p = {n: a[n].clone().requires_grad_(True) for n in learned}
        a["norm.mean"], a["norm.variance"] = a["norm.mean"].clone(), a["norm.variance"].clone()
        hidden = F.batch_norm(
            x @ p["hidden.weight"], a["norm.mean"], a["norm.variance"], p["norm.scale"], p["norm.shift"], True
        )
        loss = F.cross_entropy(F.relu(hidden) @ p["output.weight"] + p["output.bias"], y)
        for name, gradient in zip(learned, torch.autograd.grad(loss, list(p.values())), strict=True):
            a[f"velocity of {name}"] = momentum * a.get(f"velocity of {name}", 0.0) + gradient
            a[name] = a[name] - learning_rate * a[f"velocity of {name}"]
        losses.append(loss.item())
    return losses, a


def resume_without_velocity(state, batches, learning_rate, momentum):
    return part(state, batches, learning_rate, momentum, velocity=False)


def resume_in_evaluation(state, batches, learning_rate, momentum):
    return part(state, batches, learning_rate, momentum, mode=False)


def resume_without_statistics(state, batches, learning_rate, momentum):
    losses, after = part(
        {**state, "norm.mean": torch.zeros(7), "norm.variance": torch.ones(7)}, batches, learning_rate, momentum
    )
    return losses, {name: array for name, array in after.items() if name not in ("norm.mean", "norm.variance")}


KEPT = {}


def resume_in_a_global(state, batches, learning_rate, momentum):
    if "seen before" in state:
        state = {**state, **KEPT}
    losses, after = part(state, batches, learning_rate, momentum)
    KEPT.update({name: array for name, array in after.items() if name.startswith("v")})
    arrays = {name: array for name, array in after.items() if not name.startswith("v")}
    return losses, {**arrays, "seen before": torch.ones(1)}


def resume_losses_only(state, batches, learning_rate, momentum):
    return part(state, batches, learning_rate, momentum)[0]


def resume_objects(state, batches, learning_rate, momentum):
    losses, after = part(state, batches, learning_rate, momentum)
    return losses, {**after, "optimizer": torch.optim.SGD}


RIGHT = {
    "modules/network": [Plain, ByFunctions],
    "modules/repair": [one_generator, all_at_once, global_seed],
    "modules/freeze": [by_flag, by_clearing],
    "modules/resume": [resume_flat, resume_by_hand],
}
WRONG = {
    "modules/network": [
        (WithBias, "hidden.bias"),
        (AlwaysDropping, "dropout still on"),
        (NeverDropping, "nothing was dropped"),
        (NormAfterRelu, "in evaluation"),
        (WithoutMemory, "running_mean"),
        (SlowMemory, "norm.mean"),
        (LargeEpsilon, "in evaluation"),
        (Detached, "cuts them off"),
        (FixedRate, "dropout=0.0"),
    ],
    "modules/repair": [
        (seeded_each_step, "yours have 1"),
        (seed_plus_step, "share a stream"),
        (unseeded, "two calls differ"),
        (rate_kept, "80%"),
        (numpy_masks, "own type"),
    ],
    "modules/freeze": [
        (nothing_frozen, "hidden"),
        (weight_frozen, "hidden_bias"),
        (output_frozen, "hidden"),
        (never_zeroed, "step 2"),
    ],
    "modules/resume": [
        (resume_without_velocity, "the velocity"),
        (resume_in_evaluation, "before the stop"),
        (resume_without_statistics, "norm.mean"),
        (resume_in_a_global, "the velocity"),
        (resume_losses_only, "(losses, state)"),
        (resume_objects, "arrays only"),
    ],
}
