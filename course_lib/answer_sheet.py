"""What a learner handed in: the answer cells of a notebook, and nothing else of it."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from course_lib.answer import defined_names
from course_lib.errors import NotFound
from course_lib.lessons import Lesson, lessons
from course_lib.marker import Marker, find_marker, is_empty, under_marker, with_exact_marker
from course_lib.notebook import answer_cells, code_cells
from course_lib.recognition import BEGIN, LAYOUT, recognition

__all__ = ["BEGIN", "AnswerSheet", "collect", "fill", "recognise", "recognise_with_note"]

MAX_ANSWER_BYTES = 200_000
# Python needs up to a second for each megabyte of hostile text.
MAX_PARSED_BYTES = 2_000_000
# Names are read by this from a cell that is no valid Python.
DEFINITION = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class AnswerSheet:
    """The text of each exercise's answer cell as it was handed in (without those that were not), and what was odd.

    `untouched` are the exercises whose answer is still the course's own hole.
    """

    answers: dict[str, str]
    notes: tuple[str, ...]
    untouched: frozenset[str] = frozenset()


def recognise(notebook: dict[str, Any], path: PurePath) -> tuple[Lesson, str]:
    """Which lesson and track a notebook belongs to. Raises UnknownNotebook (a BadNotebook) when nothing tells."""
    found = recognition(notebook, path, lessons())
    return found.lesson, found.track


def recognise_with_note(notebook: dict[str, Any], path: PurePath) -> tuple[Lesson, str, str]:
    """As recognise, and what was odd: metadata that the code contradicts, or a notebook known by its code alone."""
    found = recognition(notebook, path, lessons())
    return found.lesson, found.track, found.note


def collect(learners: dict[str, Any], course: dict[str, Any], exercises: Sequence[str]) -> AnswerSheet:
    """The answers to these exercises in a learner's notebook; `course` is the course's own notebook with the holes.

    An answer is found by its marker, however that is written. One whose marker was removed is found again by the
    function or class that it defines. Of several the last counts that is not the untouched hole. An answer of more than
    MAX_ANSWER_BYTES is left out. All of this is said in the notes.
    """
    desk = _Desk(learners, course, exercises)
    found = {exercise: desk.answer(exercise) for exercise in exercises}
    answers = {exercise: text for exercise, text in found.items() if text is not None}
    untouched = frozenset(exercise for exercise, text in answers.items() if desk.is_hole(exercise, text))
    return AnswerSheet(answers, tuple(desk.notes), untouched)


def fill(course: dict[str, Any], answers: dict[str, str]) -> dict[str, Any]:
    """The course's own notebook with these answers in its holes. Raises NotFound for an exercise without a hole."""
    filled = copy.deepcopy(course)
    holes = answer_cells(filled)
    for exercise, source in answers.items():
        if exercise not in holes:
            raise NotFound(f"The course's notebook has no answer cell for {exercise}.", action="Build it: course build")
        holes[exercise][-1]["source"] = source
    return filled


class _Desk:
    """A learner's notebook and the course's own side by side; `notes` grows with what was odd."""

    def __init__(self, learners: dict[str, Any], course: dict[str, Any], exercises: Sequence[str]) -> None:
        self.notes: list[str] = []
        self._course, self._exercises = course, exercises
        self._holes = {exercise: cells[-1]["source"] for exercise, cells in answer_cells(course).items()}
        self._marked: dict[str, list[tuple[Marker, str]]] = {}
        self._no_code: dict[str, str] = {}
        self._unmarked: list[str] = []
        self._definitions: dict[str, set[str]] = {}
        self._bytes_left = MAX_PARSED_BYTES
        for cell in learners["cells"]:
            self._take(cell["source"], cell.get("cell_type"))

    def _take(self, source: str, cell_type: Any) -> None:
        marker = find_marker(source, self._exercises)
        if cell_type == "code":
            if marker is None or is_empty(source):
                self._unmarked.append(source)
            else:
                self._marked.setdefault(marker.exercise, []).append((marker, source))
        elif marker is not None:
            self._no_code[marker.exercise] = str(cell_type)[:20]

    def is_hole(self, exercise: str, source: str) -> bool:
        hole = self._holes.get(exercise)
        return hole is not None and _squeezed(source) == _squeezed(hole)

    def answer(self, exercise: str) -> str | None:
        """The text that counts as the answer, under the course's own marker; None when there is none."""
        cells = self._short_enough(exercise)
        chosen = cells[-1] if len(cells) == 1 else self._chosen(exercise, cells)
        if chosen is None or (exercise in self._no_code and self.is_hole(exercise, chosen[1])):
            if exercise in self._no_code:
                self._say(exercise, f"its cell is of type {self._no_code[exercise]}: not code, so it was not run.")
            elif chosen is None and exercise not in self._marked:
                return self._found_again(exercise)
        return None if chosen is None else self._exact(*chosen)

    def _short_enough(self, exercise: str) -> list[tuple[Marker, str]]:
        cells = self._marked.get(exercise, [])
        short = [(marker, source) for marker, source in cells if _n_bytes(source) <= MAX_ANSWER_BYTES]
        if len(short) < len(cells):
            size = max(_n_bytes(source) for _, source in cells) // 1000
            limit = MAX_ANSWER_BYTES // 1000
            self._say(exercise, f"its cell holds {size} kB; an answer may hold {limit} kB, so it was not run.")
        return short

    def _chosen(self, exercise: str, cells: list[tuple[Marker, str]]) -> tuple[Marker, str] | None:
        """Of several cells the last that was touched and defines what the exercise asks for; else the last."""
        if not cells:
            return None
        touched = [each for each in cells if not self.is_hole(exercise, each[1])]
        names = self._names(exercise)
        fitting = [each for each in touched if names & self._defined(each[1])] or touched or cells
        which = "the last one counts"
        if fitting[-1] is not cells[-1]:
            left = (
                "is not the untouched hole" if touched and fitting[-1] is touched[-1] else f"defines `{_listed(names)}`"
            )
            which = f"the last one that {left} counts"
        self._say(exercise, f"{len(cells)} cells answer it; {which}.")
        return fitting[-1]

    def _exact(self, marker: Marker, source: str) -> str:
        if marker.exact:
            return source
        text, magic = with_exact_marker(source, marker)
        self._say(marker.exercise, f'its first line was read as meant: "{marker.text}".{_dropped(magic)}')
        return text

    def _found_again(self, exercise: str) -> str | None:
        """The last cell, not of the course's own, that defines what the exercise asks for: an unmarked one, else the
        cell of another exercise, into which somebody may have put all answers.
        """
        names = self._names(exercise)
        marked = [source for cells in self._marked.values() for _, source in cells]
        for source in (*reversed(self._unmarked), *reversed(marked)):
            if not any(name in source for name in names):
                continue
            if found := names & self._defined(source):
                if _squeezed(source) in self._own:
                    continue
                text, magic = under_marker(exercise, source)
                removed = f"its first line (# exercise: {exercise}) was removed; found again by `{_listed(found)}`."
                self._say(exercise, removed + _dropped(magic))
                return text
        self._say(exercise, "its answer cell was removed.")
        return None

    @cached_property
    def _own(self) -> set[str]:
        return {_squeezed(cell["source"]) for cell in code_cells(self._course)}

    def _names(self, exercise: str) -> set[str]:
        return _defined(self._holes.get(exercise, ""))

    def _defined(self, source: str) -> set[str]:
        """What a learner's cell defines; nothing once the notebook has taken more than its share of time."""
        if source not in self._definitions:
            size = _n_bytes(source)
            if size > min(MAX_ANSWER_BYTES, self._bytes_left):
                return set()
            self._bytes_left -= size
            self._definitions[source] = _defined(source)
        return self._definitions[source]

    def _say(self, exercise: str, what: str) -> None:
        self.notes.append(f"{exercise}: {what}")


def _defined(source: str) -> set[str]:
    """The functions and classes that a cell defines; Python's warnings about the text are the learner's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return defined_names(source) or set(DEFINITION.findall(source))


def _squeezed(source: str) -> str:
    return source.translate(LAYOUT)


def _n_bytes(source: str) -> int:
    return len(source) if source.isascii() else len(source.encode("utf-8", "replace"))


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))


def _dropped(magic: str) -> str:
    return f" Its line {magic} was left out." if magic else ""
