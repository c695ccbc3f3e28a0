"""What two articles of 2025 claim, as data: each claim in our own words, the lessons that test it, the test, its kind.

Article A compares five frameworks, article B praises open-source training frameworks. A threshold stands here when one
number decides a claim, so it is older than the learner's run. Elsewhere a lesson writes its own before it measures.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.ruling import Threshold

KINDS = {
    "M": "measured",
    "D": "depends, on conditions that are printed",
    "F": "follows from a formula",
    "N": "not testable here",
    "O": "an opinion",
}


@dataclass(frozen=True)
class Claim:
    """One claim. `lessons` are lessons' numbers, `kind` a letter of KINDS; `beyond` is what no run here can decide."""

    id: str
    text: str
    kind: str
    lessons: tuple[str, ...]
    test: str
    beyond: str = ""
    threshold: Threshold | None = None


def _claim(id_: str, kind: str, lessons: str, text: str, test: str, beyond: str = "",
           threshold: Threshold | None = None) -> Claim:  # fmt: skip
    return Claim(id_, text, kind, tuple(lessons.split()), test, beyond, threshold)


CLAIMS: tuple[Claim, ...] = (
    _claim("A1", "M", "04 05 14", "Open source brings pretrained weights, a community, and scaling",
           "pretrained weights against training from scratch", "what a community is worth: it takes a survey",
           Threshold(at_least=0.0, unit="more accuracy than from scratch")),
    _claim("A2", "N", "20", "PyTorch is used by most, JAX by a fifth, TensorFlow is fading",
           "none", "it takes the trends of searches, papers and repositories, and people to ask"),
    _claim("A3", "M", "19", "TensorFlow has the whole chain of production, TFX",
           "bad data is stopped before it trains"),
    _claim("A4", "M", "10 20", "TensorFlow is at home on TPUs: free TPU, then TensorFlow in Colab",
           "import it on Colab's TPU runtime"),
    _claim("A5", "D", "14 17 18", "TensorFlow is for industry, phones and large training",
           "latency, equal outputs and size of the same model, exported"),
    _claim("A6", "M", "02", "TensorFlow is hard to debug, PyTorch easy",
           "which line the traceback names for a planted fault; print and breakpoint, eager and compiled",
           "how hard it feels: it takes many people and a clock"),
    _claim("A9", "M", "08 15", "torch.compile and FSDP work",
           "the same numbers as eager PyTorch; bytes on each of two ranks"),
    _claim("A10", "D", "05 06 12", "PyTorch suits transformers, BERT, diffusion, and repeating papers",
           "code tokens at equal loss"),
    _claim("A11", "M", "17", "PyTorch serves worse than TensorFlow on plain processors",
           "median and 95th percentile of the latency, memory, size of the package, first answer"),
    _claim("A12", "M", "01 03 07 08", "JAX is functional, with XLA and with gradients that compile",
           "what a compiled function sees of Python, and what the compiler is given"),
    _claim("A13", "M", "07", "JAX is for higher-order optimizers",
           "Newton's method by products with the Hessian, in every track"),
    _claim("A14", "M", "13", "JAX is for reinforcement learning",
           "environment steps a second, from 1 to 4,096 environments at once"),
    _claim("A15", "M", "03", "Flax and Haiku are efficient",
           "seconds of a step over those of the same step in bare JAX", "",
           Threshold(at_most=1.5, unit="× the seconds of bare JAX")),
    _claim("A16", "M", "07", "Gradients of gradients make JAX suit meta-learning",
           "one step of meta-learning in every track"),
    _claim("A17", "M", "01 20", "Some frameworks are steep to learn, others gentle",
           "code tokens of the same training, names of the API, your own attempts and minutes",
           "the documentation: it takes readers"),
    _claim("A18", "D", "01 09", "The same Keras code runs on three backends",
           "one file, three runs, the same logits; and where it breaks"),
    _claim("A19", "M", "04", "fastai has layers from high to low, tools for transfer, and wraps data",
           "three layers of its interface give the same weights"),
    _claim("A20", "O", "04", "fastai is for people without a degree, and for Kaggle; Keras for prototypes and teaching",
           "none"),
    _claim("A21", "D", "04", "A first image classifier: torchvision, else Keras with MobileNet",
           "weights from a package offline; MobileNet where there is a network"),
    _claim("A22", "M", "16", "With 2,000 chips, TFX and TPU pods cost least to schedule",
           "what TFX does and what it does not", "the cost: it takes 2,000 chips and their bill"),
    _claim("A23", "F", "15 16", "With 2,000 NVIDIA cards: FSDP and DeepSpeed",
           "two ranks measured, the rest by formula", "the scale itself: it takes the cards"),
    _claim("A24", "M", "11", "JAX is kinder to memory",
           "bytes of compiled programs, with donation and with recomputing"),
    _claim("A25", "D", "08", "torch.compile trains nearly as fast as JAX",
           "steps a second over those of JAX, for each model, both compiled", "the figure on an A100: it takes one",
           Threshold(at_least=0.9, unit="× the steps a second of JAX")),
    _claim("A27", "M", "18", "On a Raspberry Pi TensorFlow Lite is best, and PyTorch's quantization weaker",
           "eight bits: equal outputs, kilobytes and milliseconds, beside ExecuTorch", "the Pi itself: it takes one"),
    _claim("A28", "M", "17 18", "ONNX Runtime is the lightest way to run a model",
           "latency, memory and size of the package beside the others"),
    _claim("A29", "M", "11", "AMP gives half precision with almost no code",
           "lines that change, bytes, seconds"),
    _claim("A30", "M", "14", "pmap uses the memory of one card better",
           "bytes of pmap over one device against jit", "", Threshold(at_most=0.99, unit="× the bytes of jit")),
    _claim("A31", "M", "14", "DDP is the most robust way to use several cards",
           "equal weights on all ranks; one rank is killed", "“the most”: it is an opinion"),
    _claim("A32", "M", "15", "FairScale shards, and FSDP absorbed it",
           "equal curves"),
    _claim("A33", "M", "14", "MirroredStrategy is synchronous, and for existing TensorFlow code",
           "two logical devices against one"),
    _claim("A34", "M", "16", "3D parallelism with DeepSpeed or Megatron-LM",
           "two ways of each of three kinds of splitting equal one device", "Megatron's pipeline: it takes CUDA"),
    _claim("A35", "F", "15", "ZeRO-3 saves 60 % of the memory",
           "bytes on each of N ranks: 1 − 1/N of the model's state is saved, no constant"),
    _claim("A37", "M", "11", "FP8 comes to every framework",
           "types that exist, and their rounding error", "its speed: it takes a card that computes in FP8"),
    _claim("A38", "N", "17", "ONNX Runtime with DirectML may replace frameworks",
           "which providers run, and whether they can train", "the future: it takes years, and Windows with a card"),
    _claim("A39", "M", "20", "99 of 100 teams should take PyTorch; TensorFlow is reliable, JAX a risk",
           "what broke between the versions that the course supports", "what a team should do: it is an opinion"),
    _claim("A40", "D", "00 20", "A decision tree tells which framework to take",
           "your answers, sealed in lesson 00 and opened beside your measurements in lesson 20"),
    _claim("B1", "M", "00 01", "Training is not only for giants",
           "a classifier is trained and understood within an hour, on this machine",
           "", Threshold(at_most=60.0, unit="seconds to train it")),
    _claim("B2", "D", "00", "Dependencies no longer put people off",
           "megabytes and conflicts of what a framework brings along"),
    _claim("B3", "M", "02", "PyTorch lets you stop, look and change",
           "a breakpoint in eager and in compiled code: it stops, shows numbers, and a change takes effect"),
    _claim("B5", "D", "17", "PyTorch shortens the way from research to production",
           "lines and steps to a model that is served"),
    _claim("B6", "D", "16 17", "PyTorch struggles at huge scale and when serving extremes",
           "serving", "the scale: it takes thousands of cards"),
    _claim("B7", "D", "02 08 17", "Static graphs are tedious and deploy well; TensorFlow 2's eager mode is nicer",
           "what can be looked into; whether a model loads and runs without its source"),
    _claim("B8", "D", "07 12", "JAX is concise for diffusion and for scientific computing",
           "code tokens and milliseconds; a pendulum fitted through its simulator"),
    _claim("B9", "M", "05 06", "Transformers gives BERT or GPT-2 in a few lines",
           "lines; a loop by hand gives equal logits"),
    _claim("B10", "M", "05", "The hub lowers the threshold",
           "fine-tuned against trained from scratch", "the hub itself: it takes the network",
           Threshold(at_least=0.0, unit="more accuracy than from scratch")),
    _claim("B11", "M", "15", "Sharding makes impossible models possible",
           "with a cap on memory one rank fails and four pass"),
    _claim("B12", "M", "00", "A closed service takes control of your data",
           "the course runs with the network off", "the service: it takes a look into other people's servers"),
    _claim("B13", "M", "02 03", "You can change how data is loaded, or invent an optimizer",
           "an optimizer and a loader of one's own give equal curves"),
)  # fmt: skip
