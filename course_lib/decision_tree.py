"""The decision tree of the two articles, as data: their questions, and at each end their answer and the claim it is.

Nothing here is the course's opinion. Each answer names the claim that it stands for (A1…B13, from the two articles) and
the lessons that test it; lesson 20 opens what was sealed beside what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One way to answer: `key` is stored, `text` is read, `then` is the id of the next question or of the answer."""

    key: str
    text: str
    then: str


@dataclass(frozen=True)
class Question:
    """A question with its options; `why` says what the articles make depend on it."""

    id: str
    text: str
    why: str
    options: tuple[Option, ...]

    def option(self, key: str) -> Option | None:
        """The option with this key, or None."""
        return next((option for option in self.options if option.key == key), None)


@dataclass(frozen=True)
class Answer:
    """What the articles recommend at the end of a way, the claims that this is, and the lessons that test them."""

    id: str
    text: str
    tracks: tuple[str, ...]
    claims: tuple[str, ...]
    lessons: tuple[str, ...]


FIRST = "hardware"

QUESTIONS: tuple[Question, ...] = (
    Question(
        "hardware",
        "Where will you train?",
        "The articles let the hardware decide before the task does.",
        (
            Option("cpu", "On my own computer, without an NVIDIA card", "purpose"),
            Option("gpu", "On one NVIDIA card", "purpose"),
            Option("tpu", "On a free TPU in Google Colab", "colab-tpu"),
            Option("cards", "On 4 to 16 cards", "existing"),
            Option("fleet", "On about 2,000 chips", "fleet"),
        ),
    ),
    Question(
        "purpose",
        "What is it for?",
        "They send beginners, researchers and companies to different frameworks.",
        (
            Option("learn", "To learn: a first project", "project"),
            Option("research", "For research", "research"),
            Option("product", "For something that people will use", "deploy"),
        ),
    ),
    Question(
        "project",
        "What is the first project?",
        "They have a favourite for pictures and another for text.",
        (
            Option("images", "Pictures, and I want to see the training loop", "torchvision"),
            Option("quick", "Pictures or tables, and I want a good result soon", "background"),
            Option("text", "Text: fine-tune a model that others have trained", "transformers"),
        ),
    ),
    Question(
        "background",
        "Have you studied computer science, or programmed for some years?",
        "They recommend fastai to people without a computer science degree.",
        (
            Option("yes", "Yes", "keras"),
            Option("no", "No", "fastai"),
        ),
    ),
    Question(
        "research",
        "What kind of research?",
        "They praise JAX for whatever needs unusual gradients, PyTorch for papers that others must repeat.",
        (
            Option("papers", "Repeat papers and build on them: transformers, BERT", "torch-papers"),
            Option("gradients", "Higher-order optimizers, or learning to learn", "jax-gradients"),
            Option("agents", "Reinforcement learning", "jax-agents"),
            Option("science", "Diffusion models, or simulations", "jax-science"),
        ),
    ),
    Question(
        "deploy",
        "Where will it run in the end?",
        "They judge the frameworks by the way from training to use.",
        (
            Option("pi", "On a Raspberry Pi or another small device", "tflite"),
            Option("light", "Anywhere, as light as possible", "onnx"),
            Option("server", "On servers without graphics cards", "tf-serving"),
            Option("chain", "In a company's chain: data checks, phones, updates", "tfx"),
            Option("open", "That is not decided yet", "team"),
        ),
    ),
    Question(
        "team",
        "What matters most to the team?",
        "They say that nearly every team should take PyTorch, that TensorFlow is reliable and that JAX is a risk.",
        (
            Option("people", "That people and examples are easy to find", "torch-team"),
            Option("calm", "That nothing changes under our feet", "tf-team"),
            Option("edge", "To be early; we can bear breakage", "jax-team"),
        ),
    ),
    Question(
        "existing",
        "Is there TensorFlow code already?",
        "They recommend TensorFlow's own strategy to those who have code.",
        (
            Option("yes", "Yes", "mirrored"),
            Option("no", "No", "fits"),
        ),
    ),
    Question(
        "fits",
        "Do the weights, gradients and optimizer fit on one card?",
        "They draw the line between copying a model and splitting it.",
        (
            Option("yes", "Yes", "ddp"),
            Option("no", "No", "fsdp"),
        ),
    ),
    Question(
        "fleet",
        "Which chips?",
        "They give one recipe for TPU pods and another for NVIDIA cards.",
        (
            Option("tpu", "TPU pods", "fleet-tpu"),
            Option("nvidia", "NVIDIA cards", "fleet-nvidia"),
        ),
    ),
)

ANSWERS: tuple[Answer, ...] = (
    Answer("colab-tpu", "TensorFlow in Colab", ("tensorflow",), ("A4",), ("10", "20")),
    Answer("torchvision", "PyTorch with torchvision", ("torch",), ("A21",), ("04",)),
    Answer("keras", "Keras, with a pretrained MobileNet", ("keras",), ("A20", "A21"), ("04",)),
    Answer("fastai", "fastai", ("fastai",), ("A20",), ("04",)),
    Answer("transformers", "Hugging Face Transformers: a few lines", ("transformers",), ("B9", "B10"), ("05", "06")),
    Answer("torch-papers", "PyTorch", ("torch",), ("A10",), ("05", "06", "12")),
    Answer("jax-gradients", "JAX", ("jax",), ("A13", "A16"), ("07",)),
    Answer("jax-agents", "JAX", ("jax",), ("A14",), ("13",)),
    Answer("jax-science", "JAX", ("jax",), ("B8",), ("07", "12")),
    Answer("tflite", "TensorFlow Lite", ("tensorflow",), ("A27",), ("18",)),
    Answer("onnx", "ONNX Runtime, whatever it was trained with", ("torch", "tensorflow"), ("A28",), ("17", "18")),
    Answer("tf-serving", "TensorFlow: it serves better than PyTorch there", ("tensorflow",), ("A11",), ("17",)),
    Answer("tfx", "TensorFlow with TFX", ("tensorflow",), ("A3", "A5"), ("14", "17", "18", "19")),
    Answer("torch-team", "PyTorch, as 99 of 100 teams should", ("torch",), ("A39",), ("20",)),
    Answer("tf-team", "TensorFlow, the reliable one", ("tensorflow",), ("A39",), ("20",)),
    Answer("jax-team", "JAX, at your own risk", ("jax",), ("A39",), ("20",)),
    Answer("mirrored", "TensorFlow's MirroredStrategy", ("tensorflow",), ("A33",), ("14",)),
    Answer("ddp", "PyTorch's DistributedDataParallel", ("torch",), ("A31",), ("14",)),
    Answer("fsdp", "PyTorch's FSDP, which absorbed FairScale", ("torch",), ("A9", "A32", "A35"), ("15",)),
    Answer("fleet-tpu", "TFX on TPU pods", ("tensorflow",), ("A22",), ("16",)),
    Answer("fleet-nvidia", "PyTorch with FSDP and DeepSpeed", ("torch",), ("A23", "A34"), ("15", "16")),
)
