"""The plan of the whole course: every lesson, those that are written and those that are to come, and paths through it.

A lesson that exists describes itself in its front matter (`course_lib.lessons`); this table says what there will be, so
that a learner sees the whole way. The tests compare both.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlannedLesson:
    """One lesson of the plan: its folder, what it will be called, the part of the course, and what it builds on."""

    name: str
    title: str
    stage: str
    tracks: tuple[str, ...]
    requires: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One stop of a path: a lesson in one track, and in a few words what it is good for there."""

    lesson: str
    track: str
    reason: str


@dataclass(frozen=True)
class Path:
    """A way through the course for one aim; `assumes` says what one should know before its first step."""

    name: str
    title: str
    assumes: str
    steps: tuple[Step, ...]


# Parts of the course, in their order.
FIRST, TRAIN, UNDERSTAND, PRAISED = "First hour", "Train", "Understand", "Praised for"
SCALE, SHIP, DECIDE = "Scale", "Ship", "Decide"


def _lesson(name: str, title: str, stage: str, tracks: str, requires: str = "") -> PlannedLesson:
    return PlannedLesson(name, title, stage, tuple(tracks.split()), tuple(requires.split()))


PLAN: tuple[PlannedLesson, ...] = (
    _lesson("00_start", "The first hour", FIRST, "numpy"),
    _lesson("01_digits", "One task, every framework", FIRST, "numpy torch fastai keras jax tensorflow", "00_start"),
    _lesson("02_debug", "When it does not learn", TRAIN, "torch fastai keras jax tensorflow", "01_digits"),
    _lesson("03_modules", "State, randomness and parameters", TRAIN, "torch jax keras tensorflow", "01_digits"),
    _lesson("04_transfer", "Few labels", TRAIN, "fastai torch keras jax tensorflow", "02_debug 03_modules"),
    _lesson("05_text", "Fine-tune a BERT", TRAIN, "transformers torch keras jax tensorflow", "04_transfer"),
    _lesson("06_language", "Train a small GPT-2", TRAIN, "transformers torch keras jax tensorflow", "05_text"),
    _lesson("07_gradients", "Gradients of gradients", UNDERSTAND, "torch jax tensorflow keras", "03_modules"),
    _lesson("08_speed", "Eager and compiled", UNDERSTAND, "torch jax tensorflow keras", "02_debug 03_modules"),
    _lesson("09_backends", "One source, three backends", UNDERSTAND, "keras", "03_modules"),
    _lesson("10_tpu", "The free TPU", UNDERSTAND, "jax keras torch", "08_speed"),
    _lesson("11_precision", "Fewer bits", UNDERSTAND, "torch jax keras tensorflow fastai", "06_language 08_speed"),
    _lesson("12_diffusion", "Pictures out of noise", PRAISED, "jax torch keras", "03_modules"),
    _lesson("13_reinforcement", "Learning by doing", PRAISED, "jax torch", "07_gradients"),
    _lesson("14_parallel", "Copies on many devices", SCALE, "torch tensorflow jax keras", "06_language 08_speed"),
    _lesson("15_sharding", "Pieces on many devices", SCALE, "torch jax", "14_parallel"),
    _lesson("16_cluster", "A cluster on paper", SCALE, "torch jax", "15_sharding"),
    _lesson("17_serve", "Serve a model", SHIP, "torch keras jax tensorflow", "06_language"),
    _lesson("18_edge", "A model on a small board", SHIP, "tensorflow keras torch jax", "04_transfer 17_serve"),
    _lesson("19_pipeline", "A production pipeline", SHIP, "tensorflow", "17_serve"),
    _lesson("20_choose", "Choose with your own numbers", DECIDE, "numpy", "01_digits"),
)

PATHS: tuple[Path, ...] = (
    Path(
        "first-network",
        "From the first model to good results with few labels",
        "some Python; no network trained yet",
        (
            Step("00_start", "numpy", "train something in the first minute, and see where it fails"),
            Step("01_digits", "numpy", "write every step of a network once, by hand"),
            Step("01_digits", "torch", "get the same numbers from a framework"),
            Step("02_debug", "torch", "know what to do when it does not learn"),
            Step("03_modules", "torch", "save, resume and freeze what was learned"),
            Step("04_transfer", "torch", "stand on a model that others have trained"),
        ),
    ),
    Path(
        "torch-to-jax",
        "From PyTorch to JAX",
        "training a network in PyTorch",
        (
            Step("01_digits", "jax", "pure functions where PyTorch has objects"),
            Step("02_debug", "jax", "what print, breakpoint and traceback see under jit"),
            Step("03_modules", "jax", "who owns weights, modes and random keys now"),
            Step("07_gradients", "jax", "gradients of gradients, and of each example"),
            Step("08_speed", "jax", "what compiling costs and what it gives"),
            Step("10_tpu", "jax", "the hardware for which one changes"),
            Step("12_diffusion", "jax", "a whole model in the new style"),
            Step("14_parallel", "jax", "the same step on several devices"),
        ),
    ),
    Path(
        "deploy",
        "From a trained model to one that is used",
        "training a network, as on the path first-network",
        (
            Step("03_modules", "torch", "files that hold arrays and no program"),
            Step("04_transfer", "torch", "a model that is worth shipping"),
            Step("06_language", "torch", "the GPT that is served later"),
            Step("17_serve", "torch", "export it, and serve it without its framework"),
            Step("18_edge", "tensorflow", "eight bits on a small board"),
            Step("19_pipeline", "tensorflow", "stop bad data before it trains"),
        ),
    ),
    Path(
        "scale",
        "From one device to many",
        "training a network in PyTorch",
        (
            Step("06_language", "torch", "the GPT that will grow"),
            Step("08_speed", "torch", "one device at its best, first"),
            Step("11_precision", "torch", "how many bytes a parameter needs"),
            Step("14_parallel", "torch", "a copy of the model on each device"),
            Step("15_sharding", "torch", "a piece of the model on each device"),
            Step("15_sharding", "jax", "the same, by annotations"),
            Step("16_cluster", "torch", "all ways of splitting at once, and 2,000 cards by formula"),
        ),
    ),
)
