"""The step in Keras: a compiled model, on the backend that KERAS_BACKEND names."""

from __future__ import annotations

import keras
import numpy as np

from course_lib.doctor_steps import Start, Stepped
from course_lib.frameworks import keras as framework


def step(start: Start) -> Stepped:
    """One `train_on_batch`."""
    model = keras.Sequential([keras.Input(start.weight.shape[:1]), keras.layers.Dense(start.weight.shape[1])])
    model.set_weights([start.weight, start.bias])
    model.compile(
        optimizer=keras.optimizers.SGD(start.learning_rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    loss = float(np.asarray(model.train_on_batch(start.x, start.y)).ravel()[0])
    weight, bias = model.get_weights()
    return Stepped(loss, weight, bias, f"{framework.devices()[-1]} ({keras.backend.backend()})")
