"""The map: all lessons, written or to come, with what this learner has solved, and the paths through them."""

from __future__ import annotations

import difflib
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.errors import NotFound
from course_lib.lessons import Lesson, lessons
from course_lib.plan import PATHS, PLAN, Path, PlannedLesson, Step
from course_lib.progress import Progress

TO_COME = "to come"


@dataclass(frozen=True)
class Standing:
    """How far the learner is in one track of a lesson. `total` and `notebook` are None while the lesson is to come.

    A core exercise is solved once per lesson and then counts in every track; an idiom exercise counts in its own.
    """

    solved: tuple[str, ...] = ()
    total: int | None = None
    notebook: str | None = None

    @property
    def done(self) -> bool:
        return self.total is not None and len(self.solved) == self.total

    def __str__(self) -> str:
        return "·" if self.total is None else f"{len(self.solved)}/{self.total}"

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"solved": len(self.solved), "total": self.total, "solved_exercises": list(self.solved),
                "notebook": self.notebook, "done": self.done}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """One lesson on the map. `minutes` is None while it is to come."""

    name: str
    title: str
    stage: str
    minutes: int | None
    requires: tuple[str, ...]
    tracks: dict[str, Standing]

    @property
    def written(self) -> bool:
        return self.minutes is not None

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"name": self.name, "title": self.title, "stage": self.stage, "written": self.written,
                "minutes": self.minutes, "requires": list(self.requires),
                "tracks": {track: standing.to_dict() for track, standing in self.tracks.items()}}  # fmt: skip


@dataclass(frozen=True)
class CourseMap:
    """All lessons in their order. It shows as a table in a notebook and prints as text."""

    places: tuple[Place, ...]

    @property
    def stages(self) -> dict[str, list[Place]]:
        """The places of each part of the course, in order."""
        found: dict[str, list[Place]] = {}
        for place in self.places:
            found.setdefault(place.stage, []).append(place)
        return found

    @property
    def summary(self) -> str:
        """How many lessons there are, and how to read the map."""
        written = sum(place.written for place in self.places)
        return (
            f"{len(self.places)} lessons, {written} of them written. Each track shows solved/exercises; "
            f"a lesson marked “{TO_COME}” is planned and cannot be opened yet."
        )

    def __repr__(self) -> str:
        names, titles = (max(len(text) for text in column) for column in zip(
            *((place.name, place.title) for place in self.places), strict=True))  # fmt: skip
        lines = []
        for stage, places in self.stages.items():
            lines.append(stage)
            for place in places:
                head = f"  {place.name:<{names}}  {place.title:<{titles}}  {_minutes(place):>7}"
                lines.append(f"{head}  {tracks_text(place)}")
        return "\n".join([*lines, "", self.summary])

    def _repr_html_(self) -> str:
        tracks = list(dict.fromkeys(track for place in self.places for track in place.tracks))
        head = "".join(f'<th scope="col">{track}</th>' for track in ("lesson", "title", "minutes", *tracks))
        bodies = []
        for stage, places in self.stages.items():
            rows = "".join(_html_row(place, tracks) for place in places)
            group = f'<tr><th scope="rowgroup" colspan="{len(tracks) + 3}" style="text-align: left">{stage}</th></tr>'
            bodies.append(f"<tbody>{group}{rows}</tbody>")
        caption = html.escape(f"{self.summary} A dot: a track that is to come.")
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>{''.join(bodies)}</table>"


@dataclass(frozen=True)
class Stop:
    """A step of a path, and where the learner stands there."""

    step: Step
    place: Place
    standing: Standing

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"lesson": self.step.lesson, "title": self.place.title, "track": self.step.track,
                "reason": self.step.reason, "written": self.place.written, **self.standing.to_dict()}  # fmt: skip


@dataclass(frozen=True)
class PathMap:
    """A path with the learner's progress, and its next step. It prints as text."""

    path: Path
    stops: tuple[Stop, ...]

    @property
    def next(self) -> Stop | None:
        """The first step that is not done, or None at the end of the path."""
        return next((stop for stop in self.stops if not stop.standing.done), None)

    @property
    def next_text(self) -> str:
        """The next step as a sentence, with the command that opens it."""
        stop = self.next
        if stop is None:
            return "You have solved everything on this path."
        name = f"next: {stop.step.lesson} in {stop.step.track}"
        if stop.place.written:
            return f"{name}. Open it with: course lab {stop.step.lesson} --track {stop.step.track}"
        return f"{name}, which is still to come; all steps before it you have solved."

    def __repr__(self) -> str:
        lines = [f"{self.path.title} (assumes {self.path.assumes})"]
        for number, stop in enumerate(self.stops, 1):
            where = f"{stop.step.lesson} in {stop.step.track}"
            state = str(stop.standing) if stop.place.written else TO_COME
            lines.append(f"  {number}. {where:<30} {state:>7}  {stop.step.reason}")
        return "\n".join([*lines, self.next_text])


def draw(progress: Progress | None = None) -> CourseMap:
    """The map with this learner's progress (`progress`, or what is kept in the learner's folder)."""
    found = Progress.load() if progress is None else progress
    written = {lesson.name: lesson for lesson in lessons()}
    planned = {each.name: each for each in PLAN}
    names = sorted({*planned, *written})
    return CourseMap(tuple(_place(planned.get(name), written.get(name), found) for name in names))


def path(name: str, progress: Progress | None = None) -> PathMap:
    """A path with this learner's progress. Raises NotFound, naming the nearest, for a path that does not exist."""
    chosen = next((each for each in PATHS if each.name == name), None)
    if chosen is None:
        names = [each.name for each in PATHS]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
        action = f"Did you mean {near[0]!r}?" if near else "Use one of these."
        raise NotFound(f"There is no path {name!r}; the course has {', '.join(names)}.", action=action)
    places = {place.name: place for place in draw(progress).places}
    stops = [Stop(s, places[s.lesson], places[s.lesson].tracks.get(s.track, Standing())) for s in chosen.steps]
    return PathMap(chosen, tuple(stops))


def tracks_text(place: Place) -> str:
    """The tracks of a lesson in one line: with the learner's progress, or only their names while it is to come."""
    if not place.written:
        return ", ".join(place.tracks)
    return " · ".join(f"{track} {standing}" for track, standing in place.tracks.items())


def _place(plan: PlannedLesson | None, written: Lesson | None, progress: Progress) -> Place:
    stage = plan.stage if plan is not None else "Others"
    if written is not None:
        tracks = {track: _standing(written, track, progress) for track in written.tracks}
        return Place(written.name, written.title, stage, written.minutes, written.requires, tracks)
    assert plan is not None
    return Place(plan.name, plan.title, stage, None, plan.requires, {track: Standing() for track in plan.tracks})


def _standing(lesson: Lesson, track: str, progress: Progress) -> Standing:
    exercises = lesson.exercises_of(track)
    solved = tuple(
        each.id
        for each in exercises
        if (progress.passed_anywhere(each.id) if each.core else progress.passed(each.id, track))
    )
    return Standing(solved, len(exercises), lesson.notebook(track))


def _minutes(place: Place) -> str:
    return TO_COME if place.minutes is None else f"{place.minutes} min"


def _html_row(place: Place, tracks: Sequence[str]) -> str:
    cells = [place.title, TO_COME if place.minutes is None else str(place.minutes)]
    cells += [str(place.tracks[track]) if track in place.tracks else "" for track in tracks]
    row = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{html.escape(place.name)}</th>{row}</tr>'
