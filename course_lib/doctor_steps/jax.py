"""The step in JAX: a pure function, its gradient, Optax, all compiled."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from course_lib.doctor_steps import Start, Stepped


def _loss(parameters: dict[str, Any], x: Any, y: Any) -> Any:
    logits = jnp.dot(x, parameters["weight"], precision="highest") + parameters["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def step(start: Start) -> Stepped:
    """One jitted SGD step; full precision, because a TPU would multiply in bfloat16."""
    optimizer = optax.sgd(start.learning_rate)

    @jax.jit
    def train(parameters: dict[str, Any], state: Any, x: Any, y: Any) -> tuple[Any, dict[str, Any]]:
        loss, gradient = jax.value_and_grad(_loss)(parameters, x, y)
        updates, _ = optimizer.update(gradient, state)
        return loss, optax.apply_updates(parameters, updates)

    parameters = {"weight": jnp.asarray(start.weight), "bias": jnp.asarray(start.bias)}
    loss, updated = train(parameters, optimizer.init(parameters), start.x, start.y)
    return Stepped(float(loss), np.asarray(updated["weight"]), np.asarray(updated["bias"]), str(jax.devices()[0]))
