"""Answers of lesson 04 in the JAX track."""

import jax
import optax


def trained(loss, parameters, batches, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradient, opt_state, parameters)
        return optax.apply_updates(parameters, updates), opt_state, value

    opt_state, losses = optimizer.init(parameters), []
    for x, y in batches:
        parameters, opt_state, value = step(parameters, opt_state, x, y)
        losses.append(float(value))
    return losses, parameters


def labels_of(parameters):
    return {name: "head" if name.startswith("output") else "body" for name in parameters}


# --- freeze ----------------------------------------------------------------------------------------------------------
def set_to_zero(loss, parameters, batches, learning_rate):
    rules = {"body": optax.set_to_zero(), "head": optax.sgd(learning_rate)}
    return trained(loss, parameters, batches, optax.multi_transform(rules, labels_of(parameters)))


def only_the_heads_gradient(loss, parameters, batches, learning_rate):
    body = {name: value for name, value in parameters.items() if name.startswith("hidden")}
    head = {name: value for name, value in parameters.items() if name.startswith("output")}
    losses, head = trained(lambda head, x, y: loss({**body, **head}, x, y), head, batches, optax.sgd(learning_rate))
    return losses, {**body, **head}


def stopped_gradient(loss, parameters, batches, learning_rate):
    def still(parameters, x, y):
        body = {name: jax.lax.stop_gradient(v) for name, v in parameters.items() if name.startswith("hidden")}
        return loss({**parameters, **body}, x, y)

    return trained(still, parameters, batches, optax.sgd(learning_rate))


def all_free(loss, parameters, batches, learning_rate):
    return trained(loss, parameters, batches, optax.sgd(learning_rate))


def masked(loss, parameters, batches, learning_rate):
    mask = {name: name.startswith("output") for name in parameters}
    return trained(loss, parameters, batches, optax.masked(optax.sgd(learning_rate), mask))


def body_instead(loss, parameters, batches, learning_rate):
    rules = {"head": optax.set_to_zero(), "body": optax.sgd(learning_rate)}
    return trained(loss, parameters, batches, optax.multi_transform(rules, labels_of(parameters)))


def compiled_each_time(loss, parameters, batches, learning_rate):
    losses = []
    for batch in batches:
        value, parameters = set_to_zero(loss, parameters, [batch], learning_rate)
        losses += value
    return losses, parameters


def state_thrown_away(loss, parameters, batches, learning_rate):
    return set_to_zero(loss, parameters, batches, learning_rate)[0]


def changes_the_dict(loss, parameters, batches, learning_rate):
    losses, final = set_to_zero(loss, dict(parameters), batches, learning_rate)
    parameters.update(final)
    return losses, final


def nothing_trained(loss, parameters, batches, learning_rate):
    compiled = jax.jit(loss)
    return [float(compiled(parameters, x, y)) for x, y in batches], parameters


# --- two rates -------------------------------------------------------------------------------------------------------
def two_optimizers(loss, parameters, batches, body_rate, head_rate):
    rules = {"body": optax.sgd(body_rate), "head": optax.sgd(head_rate)}
    return trained(loss, parameters, batches, optax.multi_transform(rules, labels_of(parameters)))


def by_hand(loss, parameters, batches, body_rate, head_rate):
    rates = {name: head_rate if name.startswith("output") else body_rate for name in parameters}

    @jax.jit
    def step(parameters, x, y):
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        return jax.tree.map(lambda p, g, rate: p - rate * g, parameters, gradient, rates), value

    losses = []
    for x, y in batches:
        parameters, value = step(parameters, x, y)
        losses.append(float(value))
    return losses, parameters


def one_rate(loss, parameters, batches, body_rate, head_rate):
    return trained(loss, parameters, batches, optax.sgd(head_rate))


def swapped(loss, parameters, batches, body_rate, head_rate):
    return two_optimizers(loss, parameters, batches, head_rate, body_rate)


def body_frozen(loss, parameters, batches, body_rate, head_rate):
    return set_to_zero(loss, parameters, batches, head_rate)


RIGHT = {
    "transfer/freeze": [set_to_zero, only_the_heads_gradient, stopped_gradient],
    "transfer/two_rates": [two_optimizers, by_hand],
    "transfer/repair": [set_to_zero, only_the_heads_gradient],
}
WRONG = {
    "transfer/freeze": [
        (all_free, "to the last bit"),
        (masked, "to the last bit"),
        (body_instead, "to the last bit"),
        (compiled_each_time, "compile a step once"),
        (state_thrown_away, "(losses, parameters)"),
        (changes_the_dict, "a pure function leaves it"),
        (nothing_trained, "losses"),
    ],
    "transfer/two_rates": [(one_rate, "losses"), (swapped, "losses"), (body_frozen, "losses")],
    "transfer/repair": [
        (masked, "to the last bit"),
        (all_free, "to the last bit"),
        (nothing_trained, "losses"),
    ],
}
