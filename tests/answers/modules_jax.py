"""Answers of lesson 03 in the JAX track."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


# --- network ---------------------------------------------------------------------------------------------------------
class Plain(nnx.Module):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5, *, rngs):
        self.hidden = nnx.Linear(n_inputs, n_hidden, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(n_hidden, momentum=0.9, epsilon=1e-5, rngs=rngs)
        self.dropout = nnx.Dropout(dropout, rngs=rngs)
        self.output = nnx.Linear(n_hidden, n_classes, rngs=rngs)

    def __call__(self, x):
        return self.output(self.dropout(nnx.relu(self.norm(self.hidden(x)))))


class ByFormula(Plain):
    def __call__(self, x):
        hidden, n = x @ self.hidden.kernel[...], self.norm
        mean, variance = n.mean[...], n.var[...]
        if not n.use_running_average:
            mean, variance = hidden.mean(axis=0), hidden.var(axis=0)
            n.mean[...] = 0.9 * n.mean[...] + 0.1 * mean
            n.var[...] = 0.9 * n.var[...] + 0.1 * variance
        hidden = (hidden - mean) * jax.lax.rsqrt(variance + 1e-5) * n.scale[...] + n.bias[...]
        return self.output(self.dropout(jax.nn.relu(hidden)))


class Defaults(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5, *, rngs):
        super().__init__(n_inputs, n_hidden, n_classes, dropout, rngs=rngs)
        self.norm = nnx.BatchNorm(n_hidden, rngs=rngs)


class TorchMomentum(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5, *, rngs):
        super().__init__(n_inputs, n_hidden, n_classes, dropout, rngs=rngs)
        self.norm = nnx.BatchNorm(n_hidden, momentum=0.1, epsilon=1e-5, rngs=rngs)


class WithBias(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5, *, rngs):
        super().__init__(n_inputs, n_hidden, n_classes, dropout, rngs=rngs)
        self.hidden = nnx.Linear(n_inputs, n_hidden, rngs=rngs)


class NeverDropping(Plain):
    def __call__(self, x):
        return self.output(nnx.relu(self.norm(self.hidden(x))))


class AlwaysDropping(Plain):
    def __call__(self, x):
        return self.output(self.dropout(nnx.relu(self.norm(self.hidden(x))), deterministic=False))


class OneMask(Plain):
    def __call__(self, x):
        hidden = nnx.relu(self.norm(self.hidden(x)))
        return self.output(self.dropout(hidden, rngs=jax.random.key(0)))


class FixedRate(Plain):
    def __init__(self, n_inputs, n_hidden, n_classes, dropout=0.5, *, rngs):
        super().__init__(n_inputs, n_hidden, n_classes, rngs=rngs)


class ReluFirst(Plain):
    def __call__(self, x):
        return self.output(self.dropout(self.norm(nnx.relu(self.hidden(x)))))


# --- masks -----------------------------------------------------------------------------------------------------------
def splitting(n_steps, n_units, rate, seed):
    key, masks = jax.random.key(seed), []
    for _ in range(n_steps):
        key, now = jax.random.split(key)
        masks.append(jax.random.bernoulli(now, 1 - rate, (n_units,)).astype(jnp.float32))
    return jnp.stack(masks)


def folding_in(n_steps, n_units, rate, seed):
    key = jax.random.key(seed)
    return jnp.stack(
        [1.0 * jax.random.bernoulli(jax.random.fold_in(key, s), 1 - rate, (n_units,)) for s in range(n_steps)]
    )


def all_at_once(n_steps, n_units, rate, seed):
    return (jax.random.uniform(jax.random.PRNGKey(seed), (n_steps, n_units)) >= rate).astype(jnp.float32)


def one_key(n_steps, n_units, rate, seed):
    key = jax.random.key(seed)
    return jnp.stack([1.0 * jax.random.bernoulli(key, 1 - rate, (n_units,)) for _ in range(n_steps)])


def seed_plus_step(n_steps, n_units, rate, seed):
    return jnp.concatenate([splitting(1, n_units, rate, seed + step) for step in range(n_steps)])


def forgotten_seed(n_steps, n_units, rate, seed):
    return splitting(n_steps, n_units, rate, 0)


def rate_kept(n_steps, n_units, rate, seed):
    return 1 - splitting(n_steps, n_units, rate, seed)


def numpy_masks(n_steps, n_units, rate, seed):
    return (np.random.default_rng(seed).random((n_steps, n_units)) >= rate).astype(np.float32)


# --- freeze ----------------------------------------------------------------------------------------------------------
def zero_updates(loss, optimizer):
    @jax.jit
    def step(parameters, opt_state, x, y):
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradients, opt_state, parameters)
        updates = {n: u * 0 if n in ("hidden_weight", "hidden_bias") else u for n, u in updates.items()}
        return optax.apply_updates(parameters, updates), opt_state, value

    return step


def stopping_gradients(loss, optimizer):
    def frozen_loss(parameters, x, y):
        stopped = {n: jax.lax.stop_gradient(v) if n.startswith("hidden") else v for n, v in parameters.items()}
        return loss(stopped, x, y)

    def step(parameters, opt_state, x, y):
        value, gradients = jax.value_and_grad(frozen_loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradients, opt_state)
        return optax.apply_updates(parameters, updates), opt_state, value

    return jax.jit(step)


def nothing_frozen(loss, optimizer):
    def step(parameters, opt_state, x, y):
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        updates, opt_state = optimizer.update(gradients, opt_state)
        return optax.apply_updates(parameters, updates), opt_state, value

    return jax.jit(step)


def only_the_weight(loss, optimizer):
    step = nothing_frozen(loss, optimizer)

    def frozen(parameters, opt_state, x, y):
        moved, opt_state, value = step(parameters, opt_state, x, y)
        return {**moved, "hidden_weight": parameters["hidden_weight"]}, opt_state, value

    return frozen


def output_frozen(loss, optimizer):
    step = nothing_frozen(loss, optimizer)

    def frozen(parameters, opt_state, x, y):
        moved, opt_state, value = step(parameters, opt_state, x, y)
        return {n: parameters[n] if n.startswith("output") else v for n, v in moved.items()}, opt_state, value

    return frozen


def state_lost(loss, optimizer):
    step = zero_updates(loss, optimizer)

    def frozen(parameters, opt_state, x, y):
        moved, _, value = step(parameters, opt_state, x, y)
        return moved, opt_state, value

    return frozen


# --- resume ----------------------------------------------------------------------------------------------------------
LEARNED = ("hidden.weight", "norm.scale", "norm.shift", "output.weight", "output.bias")


@jax.jit
def pure_step(a, velocity, x, y, learning_rate, momentum):
    def loss_of(p):
        hidden = x @ p["hidden.weight"]
        mean, variance = hidden.mean(axis=0), hidden.var(axis=0)
        hidden = jax.nn.relu((hidden - mean) / jnp.sqrt(variance + 1e-5) * p["norm.scale"] + p["norm.shift"])
        logits = hidden @ p["output.weight"] + p["output.bias"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), (mean, variance)

    p = {name: a[name] for name in LEARNED}
    (loss, (mean, variance)), gradients = jax.value_and_grad(loss_of, has_aux=True)(p)
    velocity = jax.tree.map(lambda v, g: momentum * v + g, velocity, gradients)
    p = jax.tree.map(lambda value, v: value - learning_rate * v, p, velocity)
    memory = {
        "norm.mean": 0.9 * a["norm.mean"] + 0.1 * mean,
        "norm.variance": 0.9 * a["norm.variance"] + 0.1 * variance,
    }
    return {**p, **memory}, velocity, loss


def resume_pure(state, batches, learning_rate, momentum):
    a = {name: state[name] for name in (*LEARNED, "norm.mean", "norm.variance")}
    velocity = {name: state.get(f"velocity.{name}", jnp.zeros_like(a[name])) for name in LEARNED}
    losses = []
    for x, y in batches:
        a, velocity, loss = pure_step(a, velocity, x, y, learning_rate, momentum)
        losses.append(float(loss))
    return losses, {**a, **{f"velocity.{name}": value for name, value in velocity.items()}}


PLACES = {
    "hidden.weight": ("hidden", "kernel"),
    "norm.scale": ("norm", "scale"),
    "norm.shift": ("norm", "bias"),
    "norm.mean": ("norm", "mean"),
    "norm.variance": ("norm", "var"),
    "output.weight": ("output", "kernel"),
    "output.bias": ("output", "bias"),
}


@nnx.jit
def nnx_step(model, optimizer, x, y):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss


def resume_nnx(state, batches, learning_rate, momentum):
    model = Plain(*state["hidden.weight"].shape, len(state["output.bias"]), dropout=0.0, rngs=nnx.Rngs(0))
    for name, (layer, own) in PLACES.items():
        getattr(getattr(model, layer), own)[...] = state[name]
    optimizer = nnx.Optimizer(model, optax.sgd(learning_rate, momentum=momentum), wrt=nnx.Param)
    leaves, structure = jax.tree.flatten(nnx.state(optimizer))
    if "o0" in state:
        nnx.update(optimizer, jax.tree.unflatten(structure, [state[f"o{i}"] for i in range(len(leaves))]))
    model.train()
    losses = [float(nnx_step(model, optimizer, x, y)) for x, y in batches]
    arrays = {name: getattr(getattr(model, layer), own)[...] for name, (layer, own) in PLACES.items()}
    return losses, {**arrays, **{f"o{i}": leaf for i, leaf in enumerate(jax.tree.leaves(nnx.state(optimizer)))}}


def resume_without_velocity(state, batches, learning_rate, momentum):
    losses, after = resume_pure(state, batches, learning_rate, momentum)
    return losses, {name: array for name, array in after.items() if not name.startswith("velocity")}


def resume_plain_sgd(state, batches, learning_rate, momentum):
    return resume_pure(state, batches, learning_rate, 0.0)


def resume_from_the_start(state, batches, learning_rate, momentum):
    losses, _ = resume_pure(state, batches, learning_rate, momentum)
    return losses, state


def resume_nested(state, batches, learning_rate, momentum):
    losses, after = resume_pure(state, batches, learning_rate, momentum)
    return losses, {**after, "velocity": {"hidden.weight": after["velocity.hidden.weight"]}}


def resume_losses_only(state, batches, learning_rate, momentum):
    return resume_pure(state, batches, learning_rate, momentum)[0]


RIGHT = {
    "modules/network": [Plain, ByFormula],
    "modules/repair": [splitting, folding_in, all_at_once],
    "modules/freeze": [zero_updates, stopping_gradients],
    "modules/resume": [resume_pure, resume_nnx],
}
WRONG = {
    "modules/network": [
        (Defaults, "norm.mean"),
        (TorchMomentum, "norm.mean"),
        (WithBias, "hidden.bias"),
        (NeverDropping, "nothing was dropped"),
        (AlwaysDropping, "dropout still on"),
        (OneMask, "same values"),
        (ReluFirst, "in evaluation"),
        (FixedRate, "dropout=0.0"),
    ],
    "modules/repair": [
        (one_key, "yours have 1"),
        (seed_plus_step, "share a stream"),
        (forgotten_seed, "share a stream"),
        (rate_kept, "80%"),
        (numpy_masks, "own type"),
    ],
    "modules/freeze": [
        (nothing_frozen, "hidden"),
        (only_the_weight, "hidden_bias"),
        (output_frozen, "hidden"),
        (state_lost, "has seen 0"),
    ],
    "modules/resume": [
        (resume_without_velocity, "the velocity"),
        (resume_plain_sgd, "before the stop"),
        (resume_from_the_start, "in the state"),
        (resume_nested, "arrays only"),
        (resume_losses_only, "(losses, state)"),
    ],
}
