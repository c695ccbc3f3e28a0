"""Submissions made of the course's own notebook: right answers, wrong ones, and cells with something else in them."""

from __future__ import annotations

import copy
import json
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from course_lib.answer import exercise_of
from course_lib.lessons import lesson
from course_lib.notebook import answer_cells, read_notebook
from course_lib.shipped import shipped
from hostile.kind import LESSON, Hostile, Scene, full_marks, no_marks, without

Notebook = dict[str, Any]
Edit = Callable[[Notebook], None]

# The small exercises' functions, written so that code can stand before them and inside them.
HEADS = {
    "digits/split": "def split(groups, n_validation_groups, seed):",
    "digits/n_parameters": "def n_parameters(n_inputs, n_hidden, n_classes):",
    "digits/untrained_loss": "def untrained_loss(n_classes):",
    "digits/cross_entropy": "def cross_entropy(logits, labels):",
    "digits/accuracy": "def accuracy(logits, labels):",
    "digits/challenge": "def challenge(batches, x_test):",
}
RESULTS = {
    "digits/split": "tuple(map(np.flatnonzero, (~(h := np.isin(groups, np.random.default_rng(seed)"
    ".choice(np.unique(groups), n_validation_groups, replace=False))), h)))",
    "digits/n_parameters": "(n_inputs + 1) * n_hidden + (n_hidden + 1) * n_classes",
    "digits/untrained_loss": "math.log(n_classes)",
    "digits/cross_entropy": "(np.logaddexp.reduce(logits, axis=1) - logits[np.arange(len(labels)), labels]).mean()",
    "digits/accuracy": "float((logits.argmax(axis=1) == labels).mean())",
    "digits/challenge": "np.concatenate([y for _, y in batches])[((x := np.concatenate([x for x, _ in batches])) ** 2"
    ").sum(axis=1).__sub__(2 * x_test @ x.T).argmin(axis=1)]",
}
# Of the right types and shapes, so that only a judge who compares values can tell.
WRONG = {
    "digits/split": "def split(groups, n, seed):\n    return np.arange(3, len(groups)), np.arange(3)",
    "digits/n_parameters": "def n_parameters(*sizes):\n    return 7",
    "digits/model": 'def forward(parameters, x):\n    return np.zeros((len(x), len(parameters["output_bias"])))',
    "digits/untrained_loss": "def untrained_loss(n_classes):\n    return 0.5",
    "digits/cross_entropy": "def cross_entropy(logits, labels):\n    return 0.5",
    "digits/gradients": "def gradients(parameters, x, y):\n    return {k: v * 0 for k, v in parameters.items()}",
    "digits/step": "def step(parameters, x, y, learning_rate):\n    return 0.5, dict(parameters)",
    "digits/train": "def train(step, parameters, batches, learning_rate):\n    return [0.5] * len(batches), parameters",
    "digits/accuracy": "def accuracy(logits, labels):\n    return 0.125",
    "digits/repair": "def repaired_step(parameters, x, y, learning_rate):\n    return 0.5, dict(parameters)",
    "digits/challenge": "def challenge(batches, x_test):\n    return np.zeros(len(x_test), int)",
}


@cache
def _read(kind: str, track: str) -> Notebook:
    return read_notebook(shipped(kind) / lesson(LESSON).notebook(track))  # type: ignore[arg-type]


def learners_notebook(track: str = "numpy") -> Notebook:
    """A fresh copy of the notebook that learners get, with its holes."""
    return copy.deepcopy(_read("notebooks", track))


def right_answers(track: str = "numpy") -> dict[str, str]:
    """The text of each answer cell of the course's own solution."""
    return {exercise: cells[-1]["source"] for exercise, cells in answer_cells(_read("solutions", track)).items()}


def wrong_answers() -> dict[str, str]:
    """A wrong answer for each exercise of the NumPy track, with its first line."""
    return {exercise: marked(exercise, f"import numpy as np\n{source}") for exercise, source in WRONG.items()}


def marked(exercise: str, source: str) -> str:
    """A cell's text with the line that says which exercise it answers."""
    return f"# exercise: {exercise}\n{source}"


def cell(exercise: str, at_cell: str = "", at_call: str = "", result: str | None = None) -> str:
    """An answer cell that runs `at_cell`, and whose function runs `at_call` before it returns `result` (the right one).

    The code may use the names of the function's arguments, and `np`, `math`, `os` and `sys`.
    """
    inside = textwrap.indent(textwrap.dedent(at_call).strip() or "pass", "    ")
    lines = ("import math, os, sys", "import numpy as np", textwrap.dedent(at_cell).strip(), HEADS[exercise], inside)
    return marked(exercise, "\n".join((*lines, f"    return {RESULTS[exercise] if result is None else result}")))


def notebook_with(answers: Mapping[str, str], track: str = "numpy") -> Notebook:
    """The learner's notebook with these answers in its holes; the other holes stay."""
    notebook = learners_notebook(track)
    for exercise, source in answers.items():
        answer_cells(notebook)[exercise][-1]["source"] = source
    return notebook


def to_bytes(notebook: Notebook) -> bytes:
    """A notebook as Jupyter would save it."""
    return json.dumps(notebook, indent=1).encode()


def submission(answers: Mapping[str, str], track: str = "numpy") -> bytes:
    """A file with these answers."""
    return to_bytes(notebook_with(answers, track))


def right(track: str = "numpy", **changes: str) -> bytes:
    """A right submission; `changes` replaces answers, by the exercise's last word."""
    return submission({**right_answers(track), **{f"digits/{key}": text for key, text in changes.items()}}, track)


def code_cell(source: str) -> dict[str, Any]:
    """A cell of the student's own."""
    return {"cell_type": "code", "id": "own", "metadata": {}, "source": source, "outputs": [], "execution_count": 1}


def index_of(notebook: Notebook, exercise: str) -> int:
    """Where the answer cell of an exercise stands among all cells."""
    return next(n for n, each in enumerate(notebook["cells"]) if exercise_of(each["source"]) == exercise)


def costs(
    name: str, exercise: str, reason: str, source: str | Callable[[Scene], str], track: str = "numpy", **more: Any
) -> Hostile:
    """Right everywhere but in one exercise, whose cell has this source; that exercise, and no other, is lost."""

    def build(scene: Scene) -> bytes:
        text = source if isinstance(source, str) else source(scene)
        return submission({**right_answers(track), exercise: text}, track)

    reasons = dict.fromkeys(full_marks(track), "passed") | {exercise: reason}
    # A process that does not keep to the protocol is looked at by somebody; so it is said in the record.
    review = None if "bad reply" in reason else False
    given = {"marks": without(exercise, track=track), "reasons": reasons, "review": review, **more}
    return Hostile(name, build, track=track, **given)


def harmless(
    name: str, exercise: str, source: str | Callable[[Scene], str], track: str = "numpy", **more: Any
) -> Hostile:
    """Right everywhere, and one cell does something odd besides; nothing is lost."""
    return costs(name, exercise, "passed", source, track, **more, marks=full_marks(track))


def edited(name: str, edit: Edit, track: str = "numpy", **more: Any) -> Hostile:
    """Right answers in a notebook that was edited otherwise; nothing is lost."""

    def build(scene: Scene) -> bytes:
        notebook = notebook_with(right_answers(track), track)
        edit(notebook)
        return to_bytes(notebook)

    return Hostile(name, build, full_marks(track), dict.fromkeys(full_marks(track), "passed"), track=track, **more)


def cheats(name: str, at_cell: str | Callable[[Scene], str], **more: Any) -> Hostile:
    """Wrong everywhere; the first answer cell does something that would make a careless judge believe otherwise."""

    def build(scene: Scene) -> bytes:
        answers = wrong_answers()
        text = textwrap.dedent(at_cell if isinstance(at_cell, str) else at_cell(scene)).strip()
        answers["digits/split"] += f"\n\n{text}\n"
        return submission(answers)

    return Hostile(name, build, no_marks(), **{"review": None, **more})
