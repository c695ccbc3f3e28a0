"""Answers of lesson 04 in the PyTorch track."""

import torch
import torch.nn.functional as F


def trained(model, batches, optimizer):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# --- freeze ----------------------------------------------------------------------------------------------------------
def switched_off(model, batches, learning_rate):
    model.hidden.requires_grad_(False)
    return trained(model, batches, torch.optim.SGD(model.parameters(), lr=learning_rate))


def head_in_the_optimizer(model, batches, learning_rate):
    return trained(model, batches, torch.optim.SGD(model.output.parameters(), lr=learning_rate))


def features_once(model, batches, learning_rate):
    optimizer, losses = torch.optim.SGD(model.output.parameters(), lr=learning_rate), []
    with torch.no_grad():
        stored = [(torch.relu(model.hidden(x)), y) for x, y in batches]
    for features, y in stored:
        optimizer.zero_grad()
        loss = F.cross_entropy(model.output(features), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def all_free(model, batches, learning_rate):
    return trained(model, batches, torch.optim.SGD(model.parameters(), lr=learning_rate))


def attribute_of_the_layer(model, batches, learning_rate):
    model.hidden.requires_grad = False
    return all_free(model, batches, learning_rate)


def only_the_weight(model, batches, learning_rate):
    model.hidden.weight.requires_grad_(False)
    return all_free(model, batches, learning_rate)


def head_frozen(model, batches, learning_rate):
    model.output.requires_grad_(False)
    return all_free(model, batches, learning_rate)


def with_momentum(model, batches, learning_rate):
    model.hidden.requires_grad_(False)
    return trained(model, batches, torch.optim.SGD(model.output.parameters(), lr=learning_rate, momentum=0.9))


def nothing_trained(model, batches, learning_rate):
    return [F.cross_entropy(model(x), y).item() for x, y in batches]


def graphs_kept(model, batches, learning_rate):
    model.hidden.requires_grad_(False)
    optimizer, losses = torch.optim.SGD(model.output.parameters(), lr=learning_rate), []
    for x, y in batches:
        optimizer.zero_grad()
        losses.append(F.cross_entropy(model(x), y))
        losses[-1].backward()
        optimizer.step()
    return losses


def adam_head(model, batches, learning_rate):
    model.hidden.requires_grad_(False)
    return trained(model, batches, torch.optim.Adam(model.output.parameters(), lr=learning_rate))


# --- two rates -------------------------------------------------------------------------------------------------------
def groups(model, batches, body_rate, head_rate):
    body = {"params": model.hidden.parameters(), "lr": body_rate}
    return trained(model, batches, torch.optim.SGD([body, {"params": model.output.parameters()}], lr=head_rate))


def two_optimizers(model, batches, body_rate, head_rate):
    slow = torch.optim.SGD(model.hidden.parameters(), lr=body_rate)
    fast, losses = torch.optim.SGD(model.output.parameters(), lr=head_rate), []
    for x, y in batches:
        model.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        slow.step()
        fast.step()
        losses.append(loss.item())
    return losses


def one_rate(model, batches, body_rate, head_rate):
    return trained(model, batches, torch.optim.SGD(model.parameters(), lr=head_rate))


def swapped(model, batches, body_rate, head_rate):
    return groups(model, batches, head_rate, body_rate)


def body_frozen(model, batches, body_rate, head_rate):
    return switched_off(model, batches, head_rate)


def head_then_body(model, batches, body_rate, head_rate):
    half = len(batches) // 2
    first = trained(model, batches[:half], torch.optim.SGD(model.output.parameters(), lr=head_rate))
    return first + groups(model, batches[half:], body_rate, head_rate)


RIGHT = {
    "transfer/freeze": [switched_off, head_in_the_optimizer, features_once],
    "transfer/two_rates": [groups, two_optimizers],
    "transfer/repair": [switched_off, head_in_the_optimizer],
}
WRONG = {
    "transfer/freeze": [
        (all_free, "to the last bit"),
        (only_the_weight, "`hidden_bias` moved"),
        (head_frozen, "to the last bit"),
        (with_momentum, "losses"),
        (nothing_trained, "losses"),
        (graphs_kept, "part of a graph"),
        (adam_head, "losses"),
    ],
    "transfer/two_rates": [
        (one_rate, "losses"),
        (swapped, "losses"),
        (body_frozen, "losses"),
        (head_then_body, "losses"),
    ],
    "transfer/repair": [
        (attribute_of_the_layer, "to the last bit"),
        (only_the_weight, "`hidden_bias` moved"),
        (nothing_trained, "losses"),
    ],
}
