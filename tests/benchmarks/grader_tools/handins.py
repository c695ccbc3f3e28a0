"""The class that every tool grades: hand-ins of one assignment, right, wrong and half done, no two of them alike."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.answer import exercise_of
from course_lib.lessons import Exercise, lesson
from course_lib.notebook import answer_cells
from hostile.sheet import WRONG, index_of, learners_notebook, marked, right_answers

Notebook = dict[str, Any]
LESSON = "01_digits"
SET_UP, IMPORTS = "set-up", "imports"
# Of each six, three are right, one is wrong in two answers, one has left one out, one gave up half-way.
CYCLE = 6
TORCH_WRONG = {
    "digits/step": "def step(model, optimizer, x, y):\n    return torch.nn.functional.cross_entropy(model(x), y)",
    "digits/cross_entropy": "def cross_entropy(logits, labels):\n    return logits.mean()",
}


@dataclass(frozen=True)
class Assignment:
    """What is handed in: a lesson's whole notebook in one track, or with `only` just these answers and their checks."""

    name: str
    title: str
    track: str
    only: tuple[str, ...] = ()

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """The exercises in the order of the notebook."""
        known = lesson(LESSON).exercises_of(self.track)
        return tuple(each for each in known if not self.only or each.id in self.only)

    def blank(self) -> Notebook:
        """The notebook as it is given out, with its holes."""
        notebook = learners_notebook(self.track)
        if self.only:
            cells = notebook["cells"]
            places = [index_of(notebook, exercise) for exercise in self.only]
            first = [cell for cell in cells if cell.get("id") in (SET_UP, IMPORTS)]
            notebook["cells"] = [*first, *(cells[n] for place in sorted(places) for n in (place, place + 1))]
        return notebook

    def hand_in(self, number: int) -> Notebook:
        """The notebook of the student with this number, counted from 0."""
        notebook = copy.deepcopy(self.blank())
        holes = answer_cells(notebook)
        for exercise, source in self._answers(number).items():
            holes[exercise][-1]["source"] = f"{source}\n# This is how student {number} does it.\n"
        return notebook

    def _answers(self, number: int) -> dict[str, str]:
        names = [each.id for each in self.exercises]
        right = {name: source for name, source in right_answers(self.track).items() if name in names}
        turn, place = divmod(number, CYCLE)
        if place == 1:
            wrong = _wrong(self.track)
            able = [name for name in names if name in wrong]
            return right | {name: wrong[name] for name in (able[turn % len(able)], able[(turn + 2) % len(able)])}
        if place == 3:
            right.pop(names[(turn + 1) % len(names)])
        if place == 5:
            return {name: right[name] for name in names[: (len(names) + 1) // 2]}
        return right


def _wrong(track: str) -> Mapping[str, str]:
    """Wrong answers of the right types: those in NumPy are the same in every track."""
    core = {each.id for each in lesson(LESSON).exercises if each.core}
    sources = {
        name: f"import numpy as np\n{source}" for name, source in WRONG.items() if track == "numpy" or name in core
    }
    if track == "torch":
        sources |= {name: f"import torch\n{source}" for name, source in TORCH_WRONG.items()}
    return {name: marked(name, source) for name, source in sources.items()}


def short(exercise: str) -> str:
    """An exercise's last word, which other tools take for a name: `split` of `digits/split`."""
    return exercise.split("/")[-1]


def check_of(source: str) -> str:
    """The object that a course cell checks, in `check("digits/split", split)` the name `split`; else ""."""
    first = source.splitlines()[0] if source else ""
    return first.partition(", ")[2].rstrip(")") if first.startswith("check(") else ""


def is_answer(cell: Mapping[str, Any]) -> bool:
    """Whether a cell answers an exercise."""
    return cell["cell_type"] == "code" and exercise_of(cell["source"]) is not None
