"""What a learner handed in: the answer cells of a notebook, and nothing else of it."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.answer import defined_names, exercise_of
from course_lib.errors import NotFound
from course_lib.lessons import Lesson, lessons
from course_lib.notebook import BadNotebook, answer_cells, code_cells

BEGIN = re.compile(r"""\bbegin\(\s*["']([\w-]+)["']\s*,\s*["'](\w+)["']\s*\)""")


@dataclass(frozen=True)
class AnswerSheet:
    """The text of each exercise's answer cell as it was handed in (without those that were not), and what was odd."""

    answers: dict[str, str]
    notes: tuple[str, ...]


def recognise(notebook: dict[str, Any], path: Path) -> tuple[Lesson, str]:
    """Which lesson and track a notebook belongs to: by its metadata, its set-up cell, else its name and markers.

    Raises BadNotebook when nothing tells.
    """
    metadata = notebook.get("metadata")
    course = metadata.get("course") if isinstance(metadata, dict) else None
    claims = [(str(course.get("lesson")), str(course.get("track")))] if isinstance(course, dict) else []
    claims += [found for cell in code_cells(notebook) for found in BEGIN.findall(cell["source"])]
    slugs = {exercise.partition("/")[0] for exercise in answer_cells(notebook)}
    by_name = [(each, t) for each in lessons() for t in each.notebooks if f"{each.slug}_{t}" in path.name]
    claims += [(each.name, track) for each, track in by_name if each.slug in slugs]
    for name, track in claims:
        for each in lessons():
            if name in (each.name, each.slug) and track in each.notebooks:
                return each, track
    have = "exercises of " + ", ".join(sorted(slugs)) if slugs else "no answer cell (# exercise: …)"
    raise BadNotebook(
        f"{path} cannot be recognised as a notebook of the course: its metadata name no lesson, no cell calls "
        f"course_lib.begin, its file name is not like digits_torch.ipynb, and it has {have}.",
        action="Give the file its first name back, or copy your answers into a fresh notebook: course new FOLDER",
    )


def collect(learners: dict[str, Any], course: dict[str, Any], exercises: Sequence[str]) -> AnswerSheet:
    """The answers to these exercises in a learner's notebook; `course` is the course's own notebook with the holes.

    An answer is found by its marker. One whose marker was removed is found again by the function or class that it
    defines; of several the last counts. Both are said in the notes.
    """
    marked, holes = answer_cells(learners), answer_cells(course)
    answers: dict[str, str] = {}
    notes: list[str] = []
    for exercise in exercises:
        cells = marked.get(exercise, [])
        if cells:
            answers[exercise] = cells[-1]["source"]
            if len(cells) > 1:
                notes.append(f"{exercise}: {len(cells)} cells answer it; the last one counts.")
            continue
        names = set().union(*(defined_names(cell["source"]) for cell in holes.get(exercise, [])))
        source = _unmarked(learners, course, exercises, names)
        if source is None:
            notes.append(f"{exercise}: its answer cell was removed.")
        else:
            found = ", ".join(sorted(names & defined_names(source)))
            answers[exercise] = f"# exercise: {exercise}\n{source}"
            notes.append(f"{exercise}: its first line (# exercise: {exercise}) was removed; found again by `{found}`.")
    return AnswerSheet(answers, tuple(notes))


def fill(course: dict[str, Any], answers: dict[str, str]) -> dict[str, Any]:
    """The course's own notebook with these answers in its holes. Raises NotFound for an exercise without a hole."""
    filled = copy.deepcopy(course)
    holes = answer_cells(filled)
    for exercise, source in answers.items():
        if exercise not in holes:
            raise NotFound(f"The course's notebook has no answer cell for {exercise}.", action="Build it: course build")
        holes[exercise][-1]["source"] = source
    return filled


def _unmarked(
    learners: dict[str, Any], course: dict[str, Any], exercises: Sequence[str], names: set[str]
) -> str | None:
    """The last cell without a marker of these exercises, and not of the course's own, that defines one of the names."""
    own = {cell["source"] for cell in code_cells(course)}
    for cell in reversed(code_cells(learners)):
        source: str = cell["source"]
        if source not in own and exercise_of(source) not in exercises and names & defined_names(source):
            return source
    return None
