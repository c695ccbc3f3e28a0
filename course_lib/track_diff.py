"""Where two tracks of a lesson differ: their cells side by side, from the lesson's source, heading by heading."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from course_lib.answer import exercise_of
from course_lib.build.source import Cell, read_cells, solution, with_hole
from course_lib.errors import BadInput, NotFound
from course_lib.lessons import COMPARE, Lesson, exercise, lesson
from course_lib.progress import Progress

HEADING = re.compile(r"^(#{1,2}) +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """One cell as this learner may see it: `kind` is "code" or "markdown", `exercise` "" when it answers none.

    `hole` is true when its answer is hidden.
    """

    id: str
    kind: str
    source: str
    exercise: str = ""
    hole: bool = False


@dataclass(frozen=True)
class Row:
    """Two cells that stand in the same place; None where a track has no counterpart."""

    left: Shown | None
    right: Shown | None


@dataclass(frozen=True)
class Section:
    """The rows below one heading; only headings below which something differs have a section."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class TrackDiff:
    """All places of a lesson in which two tracks differ."""

    lesson: Lesson
    left: str
    right: str
    sections: tuple[Section, ...]

    @property
    def holes(self) -> tuple[str, ...]:
        """The answers that are hidden, as `digits/step@jax`, in the order in which they are met."""
        cells = ((t, c) for s in self.sections for r in s.rows for t, c in ((self.left, r.left), (self.right, r.right)))
        return tuple(dict.fromkeys(f"{cell.exercise}@{track}" for track, cell in cells if cell and cell.hole))

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object: sections of rows, each with one cell or null per track."""
        sections = [
            {
                "heading": section.heading,
                "rows": [{self.left: _to_dict(row.left), self.right: _to_dict(row.right)} for row in section.rows],
            }
            for section in self.sections
        ]
        return {"lesson": self.lesson.name, "tracks": [self.left, self.right], "sections": sections,
                "hidden": list(self.holes)}  # fmt: skip


def track_diff(
    name: str, left: str, right: str, *, solutions: bool = False, prose: bool = False, progress: Progress | None = None
) -> TrackDiff:
    """The cells of a lesson that differ between two tracks.

    An answer cell is shown with its hole; with `solutions`, those that this learner has solved are shown whole. With
    `prose` the text that only one track has is there too. Raises NotFound for a lesson or track that does not exist,
    BadInput when there is only one track to look at.
    """
    found = lesson(name)
    for track in (left, right):
        found.require_track(track)
        if track == COMPARE:
            raise NotFound(
                "The compare notebook has a source of its own and no cells in common with a track.",
                action=f"Take two of {', '.join(found.tracks)}.",
            )
    if left == right:
        raise BadInput(f"Two tracks are compared; received {left} twice.", action=f"Take another than {left}.")
    known = Progress.load() if progress is None else progress
    sides = [_sections(found, track, solutions, prose, known) for track in (left, right)]
    headings = _merged(list(sides[0]), list(sides[1]))
    sections = (Section(key[0], tuple(_rows(sides[0].get(key, []), sides[1].get(key, [])))) for key in headings)
    return TrackDiff(found, left, right, tuple(section for section in sections if section.rows))


Key = tuple[str, int]


def _sections(found: Lesson, track: str, solutions: bool, prose: bool, progress: Progress) -> dict[Key, list[Shown]]:
    """The cells of a track below each heading; a heading that comes again is told apart by a number."""
    key: Key = (found.title, 0)
    out: dict[Key, list[Shown]] = {}
    for cell in read_cells(found, track):
        if cell.kind == "markdown":
            for _, heading in HEADING.findall(cell.source):
                key = (heading.strip(), sum(heading.strip() == old for old, _ in out))
                out.setdefault(key, [])
        if cell.kind == "code" or prose:
            out.setdefault(key, []).append(_shown(cell, found, track, solutions, progress))
    return out


def _shown(cell: Cell, found: Lesson, track: str, solutions: bool, progress: Progress) -> Shown:
    if cell.kind == "markdown":
        return Shown(cell.id, cell.kind, cell.source)
    name = exercise_of(cell.source) or ""
    open_ = solutions and bool(name) and _solved(name, track, progress)
    text = solution(cell.source) if open_ else with_hole(cell.source, f"{found.name}, track {track}")
    return Shown(cell.id, cell.kind, text, name, bool(name) and not open_)


def _solved(name: str, track: str, progress: Progress) -> bool:
    return progress.passed_anywhere(name) if exercise(name).core else progress.passed(name, track)


def _merged(left: Sequence[Key], right: Sequence[Key]) -> list[Key]:
    """The headings of both tracks; one that only the right track has comes where it stands there."""
    out: list[Key] = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for word, a, b, c, d in matcher.get_opcodes():
        out += left[a:b] if word == "equal" else [*left[a:b], *right[c:d]]
    return list(dict.fromkeys(out))


def _rows(left: Sequence[Shown], right: Sequence[Shown]) -> list[Row]:
    """Pairs of cells that differ: first by exercise or id, what lies between by place."""
    keys, others = ([cell.exercise or cell.id for cell in side] for side in (left, right))
    rows: list[Row] = []
    for _, a, b, c, d in difflib.SequenceMatcher(None, keys, others, autojunk=False).get_opcodes():
        for one, other in zip_longest(left[a:b], right[c:d]):
            if one is None or other is None or one.source != other.source:
                rows.append(Row(one, other))
    return rows


def _to_dict(cell: Shown | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {"id": cell.id, "kind": cell.kind, "exercise": cell.exercise, "hidden": cell.hole, "source": cell.source}
