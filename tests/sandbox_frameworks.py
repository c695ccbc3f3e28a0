"""`python sandbox_frameworks.py FRAMEWORK [SETTING]`: one training step in a sandboxed child of a parent that imported.

Prints "ok" and the seconds of the step, or what went wrong. The parent imports and runs no operation.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from course_lib.grade import libc
from course_lib.grade.sandbox import Limits, Sandbox
from course_lib.grade.tensor_workers import by_value
from course_lib.grade.throwaway import ask
from sandbox_settings import enter

LIMITS = Limits(cpu_seconds=120, memory_bytes=2 << 30, n_processes=64, file_bytes=64 << 20, n_open_files=256)


def torch_step() -> float:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    x = torch.randn(256, 20)
    loss = torch.nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    loss.backward()
    optimizer.step()
    torch.save(model.state_dict(), "model.pt")
    return loss.item()


def torch_workers() -> float:
    import torch

    data = torch.utils.data.TensorDataset(torch.arange(64.0))
    loader = torch.utils.data.DataLoader(data, 8, num_workers=2)
    total = sum(float(batch[0].sum()) for _ in range(2) for batch in loader)
    assert total == 2 * 2016.0, total
    return total


def jax_step() -> float:
    import jax
    import jax.numpy as jnp

    x = jax.random.normal(jax.random.key(0), (256, 20))
    y = (x[:, 0] > 0).astype(jnp.float32)
    step = jax.jit(jax.value_and_grad(lambda w: jnp.mean(jnp.square(jax.nn.sigmoid(x @ w) - y))))
    loss, gradient = step(jnp.zeros(20))
    return float(loss + gradient.sum())


def tensorflow_step() -> float:
    import tensorflow as tf

    w = tf.Variable(tf.zeros([20, 2]))
    x = tf.random.normal([256, 20], seed=1)
    y = tf.cast(x[:, 0] > 0, tf.int32)

    @tf.function  # type: ignore[untyped-decorator]
    def step() -> object:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ w))
        w.assign_sub(0.5 * tape.gradient(loss, w))
        return loss

    for batch in tf.data.Dataset.from_tensor_slices(x).batch(64).prefetch(2):
        assert batch.shape == (64, 20)
    return float(step())  # type: ignore[arg-type]


def keras_step() -> float:
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Input((20,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x = np.random.default_rng(0).normal(size=(256, 20)).astype("f4")
    history = model.fit(x, (x[:, 0] > 0).astype(int), epochs=1, verbose=0)
    model.save_weights("model.weights.h5")
    return float(history.history["loss"][-1])


def numpy_step() -> float:
    import matplotlib.pyplot as plt
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    x = np.random.default_rng(0).normal(size=(256, 20))
    model = LogisticRegression().fit(x, x[:, 0] > 0)
    plt.plot(model.coef_[0])
    plt.savefig("picture.png")
    return float(np.linalg.svd(x)[1].sum())


STEPS: dict[str, tuple[str, Callable[[], float]]] = {
    "numpy": ("numpy matplotlib.pyplot sklearn.linear_model", numpy_step),
    "torch": ("torch", torch_step),
    "torch workers": ("torch", torch_workers),
    "jax": ("jax jax.numpy", jax_step),
    "tensorflow": ("tensorflow", tensorflow_step),
    "keras": ("keras numpy", keras_step),
}


def main(framework: str, setting: str = "as it is") -> None:
    modules, step = STEPS[framework]
    for module in modules.split():
        importlib.import_module(module)
    if "torch" in modules.split():
        by_value(importlib.import_module("torch"))
    enter(setting)
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    readable = [Path(path) for path in (sys.prefix, sys.base_prefix)]
    sandbox = Sandbox(readable=readable, sealed=[], slot=0, limits=LIMITS, allow_shm=True)

    def child(reply_fd: int) -> tuple[float, float]:
        sandbox.enter([1, 2, reply_fd])
        start = time.perf_counter()
        return step(), time.perf_counter() - start

    try:
        print("ok", *ask(child))
    except OSError as error:
        print("failed:", error)
    sandbox.end(0)
    sandbox.close()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
