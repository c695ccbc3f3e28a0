"""Which lesson and track a notebook belongs to: what it claims, held against what stands in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from course_lib.answer import exercise_of
from course_lib.errors import CourseError, NotFound
from course_lib.lessons import Lesson
from course_lib.notebook import BadNotebook, code_cells, read_notebook
from course_lib.shipped import shipped

BEGIN = re.compile(r"""\bbegin\(\s*["']([\w-]+)["']\s*,\s*["'](\w+)["']\s*\)""")
# What a formatter changes: lines are broken and joined, quotes and commas replaced.
LAYOUT = str.maketrans("", "", " \t\r\n\"'(),;\\")
SHORTEST_LINE = 8
# A claim is overruled by this many lines that only another notebook has, if they outnumber its own so many times.
CLEAR_LINES, CLEAR_RATIO = 5, 4
# Without a claim and without an answer, fewer whole cells than these may be chance: `import numpy as np`.
FEWEST_CELLS = 3
SHORTEST_CELL, LONGEST_CELL = 40, 200_000

ACTION = (
    "Give the file its first name back, such as digits_torch.ipynb, or copy the answers into a fresh notebook: "
    "course new FOLDER"
)

# A lesson's name and one of its tracks.
Which = tuple[str, str]


class UnknownNotebook(BadNotebook):
    """A notebook, but of no lesson and track that could be told."""


@dataclass(frozen=True)
class Recognition:
    """The lesson and track of a notebook, and what was odd about finding them ("" mostly)."""

    lesson: Lesson
    track: str
    note: str = ""


def recognition(notebook: dict[str, Any], path: PurePath, lessons: Sequence[Lesson]) -> Recognition:
    """Which of these lessons' notebooks it is: as its metadata, its set-up cell or its file name say, unless its code
    clearly says otherwise; where none of them says anything, by its code alone.

    The code speaks by its lines: those that stand in the course's own notebook too, whatever a formatter did to them.
    Raises UnknownNotebook when nothing tells, or when the code fits several equally well.
    """
    known = {(each.name, track): each for each in lessons for track in each.notebooks}
    shared = _Shared(notebook, known)
    claim = next((each for each in _claims(notebook, path, lessons) if each in known), None)
    if claim is not None:
        best = shared.overruling(claim)
        return Recognition(known[best or claim], (best or claim)[1], shared.overruled(claim, best) if best else "")
    first, second = shared.ranking()[:1], shared.ranking()[1:2]
    if not first or not shared.enough(first[0]):
        raise _unknown(path, shared.slugs)
    if second and shared.lines(first[0]) == shared.lines(second[0]):
        raise _undecided(path, [each for each in shared.ranking() if shared.lines(each) == shared.lines(first[0])])
    return Recognition(known[first[0]], first[0][1], shared.found(*first, *second))


class _Shared:
    """The lines and cells that a notebook shares with each of the course's own."""

    def __init__(self, notebook: dict[str, Any], known: dict[Which, Lesson]) -> None:
        self._index = _index(tuple(_stamped(known)))
        sources = [cell["source"] for cell in code_cells(notebook) if len(cell["source"]) <= LONGEST_CELL]
        self.slugs = {id.partition("/")[0] for id in map(exercise_of, sources) if id}
        self._lines = {line for source in sources for line in _lines(source)}
        self._cells = {cell for source in sources for cell in _cell(source)}
        self._known = known
        self._n_lines = Counter(each for line in self._lines for each in self._index.get(line, ()))
        self._n_cells = Counter(each for cell in self._cells for each in self._index.get(cell, ()))

    def lines(self, of: Which) -> int:
        return self._n_lines[of]

    def ranking(self) -> list[Which]:
        """The course's notebooks that share anything, the most first."""
        return sorted(self._n_lines, key=lambda each: -self._n_lines[each])

    def enough(self, of: Which) -> bool:
        """Whether what it shares is no chance: an exercise of the lesson is answered, or whole cells stand there."""
        return self._known[of].slug in self.slugs or self._n_cells[of] >= FEWEST_CELLS

    def overruling(self, claim: Which) -> Which | None:
        """The notebook that the code clearly is, when it is not the claimed one."""
        best = next(iter(self.ranking()), claim)
        its, own = self._only(best, claim), self._only(claim, best)
        return best if self.enough(best) and its >= CLEAR_LINES and its > CLEAR_RATIO * own else None

    def overruled(self, claim: Which, best: Which) -> str:
        its, own = self._only(best, claim), self._only(claim, best)
        return (
            f"It says that it is {_named(claim)}, but its code is that of {_named(best)} ({its} lines are only "
            f"there, {own} only in {_named(claim)}): marked as {_named(best)}."
        )

    def found(self, first: Which, second: Which | None = None) -> str:
        other = f", {self.lines(second)} in {_named(second)}" if second else ""
        return (
            f"Its metadata, set-up cell and file name do not say what it is; known as {_named(first)} by its code "
            f"({self.lines(first)} lines stand there{other})."
        )

    def _only(self, here: Which, not_there: Which) -> int:
        where = (self._index.get(line, ()) for line in self._lines)
        return sum(here in each and not_there not in each for each in where)


def _claims(notebook: dict[str, Any], path: PurePath, lessons: Sequence[Lesson]) -> Iterator[Which]:
    """What the notebook says it is, the most reliable first; a name counts only with an answer to an exercise of it."""
    metadata = notebook.get("metadata")
    course = metadata.get("course") if isinstance(metadata, dict) else None
    sources = [cell["source"] for cell in code_cells(notebook)]
    claims = [(course.get("lesson"), course.get("track"))] if isinstance(course, dict) else []
    claims += [found for source in sources for found in BEGIN.findall(source)]
    names = {name: each.name for each in lessons for name in (each.slug, each.name)}
    for lesson, track in claims:
        if isinstance(lesson, str) and isinstance(track, str):
            yield names.get(lesson, lesson), track
    slugs = {id.partition("/")[0] for id in map(exercise_of, sources) if id}
    for each in lessons:
        if each.slug in slugs:
            yield from ((each.name, track) for track in each.notebooks if f"{each.slug}_{track}" in path.name)


def _stamped(known: dict[Which, Lesson]) -> Iterator[tuple[Which, Path, int]]:
    """The course's own notebooks that are there, each with the time of its last change."""
    for (name, track), lesson in known.items():
        try:
            path = shipped("notebooks") / lesson.notebook(track)
            yield (name, track), path, path.stat().st_mtime_ns
        except (OSError, NotFound):
            continue


@lru_cache(maxsize=2)
def _index(files: tuple[tuple[Which, Path, int], ...]) -> dict[str, frozenset[Which]]:
    """For each line and each cell of the course's own code, the notebooks in which it stands."""
    index: dict[str, set[Which]] = {}
    for which, path, _ in files:
        try:
            sources = [cell["source"] for cell in code_cells(read_notebook(path))]
        except CourseError:
            continue
        for source in sources:
            for text in (*_lines(source), *_cell(source)):
                index.setdefault(text, set()).add(which)
    return {text: frozenset(where) for text, where in index.items()}


def _lines(source: str) -> Iterator[str]:
    for line in source.splitlines():
        text = line.translate(LAYOUT)
        if len(text) >= SHORTEST_LINE:
            yield text


def _cell(source: str) -> Iterator[str]:
    text = source.translate(LAYOUT)
    if len(text) >= SHORTEST_CELL:
        yield "\n" + text


def _named(which: Which) -> str:
    return "/".join(which)


def _unknown(path: PurePath, slugs: set[str]) -> UnknownNotebook:
    have = "exercises of " + ", ".join(sorted(slugs)) if slugs else "no answer cell (# exercise: …)"
    return UnknownNotebook(
        f"{path} cannot be recognised as a notebook of the course: its metadata name no lesson, no cell calls "
        f"course_lib.begin, its file name is not like digits_torch.ipynb, and it has {have}.",
        action=ACTION,
    )


def _undecided(path: PurePath, fitting: list[Which]) -> UnknownNotebook:
    return UnknownNotebook(
        f"{path} cannot be recognised: its metadata, set-up cell and file name do not say what it is, and its code "
        f"fits {', '.join(map(_named, fitting))} equally well.",
        action=ACTION,
    )
