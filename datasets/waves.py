"""Makes the set "waves": short noisy recordings of four tones, on a grid of whole numbers, the same on every machine.

Sines and logarithms may differ in their last bit between machines. The recordings are rounded to whole numbers, as a
recorder with eight bits would store them, and so the bytes are equal everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

N_SAMPLES = 40
# One unit of the recorder; dividing by it is exact in float32.
STEPS_PER_UNIT = 64


def make(n: int, seed: int) -> tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.float32]]:
    """n recordings (n, 40) int8, their tones (n,) 0…3, and how many cycles each holds (n,) float32 in 1…2.

    Tones are sine, square, triangle and saw, n / 4 of each as nearly as possible, in random order. A recording begins
    somewhere in the first half of a cycle, is 0.7 to 1.3 high, and carries normal noise of 0.3.
    """
    # NumPy has promised that the numbers of RandomState never change; those of newer generators may.
    random = np.random.RandomState(seed)
    tones = random.permutation(np.arange(n) % 4)
    # On a grid of 1/1024, which float32 holds exactly.
    cycles = 1 + random.randint(0, 1024, size=n) / 1024
    beginning = random.uniform(0, 0.5, size=n)
    height = random.uniform(0.7, 1.3, size=n)
    place = (np.outer(cycles, np.arange(N_SAMPLES) / N_SAMPLES) + beginning[:, None]) % 1
    clean = _tones(place)[tones, np.arange(n)]
    signal = clean * height[:, None] + random.normal(size=(n, N_SAMPLES)) * 0.3
    recorded = np.clip(np.rint(signal * STEPS_PER_UNIT), -128, 127).astype(np.int8)
    return recorded, tones.astype(np.int64), cycles.astype(np.float32)


def _tones(place: NDArray[Any]) -> NDArray[Any]:
    """The four tones at these places in their cycle, 0…1."""
    square = np.where(place < 0.5, 1.0, -1.0)
    triangle = 4 * np.abs(place - 0.5) - 1
    return np.stack([np.sin(2 * np.pi * place), square, triangle, 2 * place - 1])
