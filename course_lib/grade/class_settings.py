"""What a class wants of the grader: weights, deadlines, selection and exercises of its own, in one TOML file.

name = "Deep learning 101"
roster.file = "roster.csv"          # Canvas's gradebook or Moodle's participants, beside this file
[lessons.01_digits]                 # only what differs from the lesson's own
column = "Digits (4711)"            # its column in grades.csv; Canvas finds assignment 4711 by it
points = 20                         # what that column counts up to, instead of the lesson's marks
deadline = 2026-12-01T23:59:00+01:00
late_percent_per_day = 10           # of the marks earned, for each begun day after the deadline
late_days = 3                       # what comes later than that counts nothing; without it there is no limit
exercises = ["digits/split", "digits/step"]
tracks = "best"                     # of several tracks the best counts; or "sum"
only_tracks = ["numpy", "torch"]    # others do not count
[weights]
"digits/step" = 3                   # instead of the lesson's marks
[[exercise]]                        # an exercise of the class's own
id = "digits/temperature"
lesson = "01_digits"
title = "Softer probabilities"
kind = "function"
answer = "temperature"              # the name that the answer cell defines
core = true
marks = 2
tracks = ["numpy"]
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from course_lib.errors import NotFound
from course_lib.grade.roster import Roster, read_roster
from course_lib.grade.toml_table import Table, nearest, read_toml
from course_lib.lessons import Exercise, lessons
from course_lib.lessons import lesson as find_lesson

# Canvas takes a column whose heading holds one of these for one of its own, and leaves it out without a word.
CANVAS_OWN = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
CANVAS_FIRST = (
    "Student",
    "LastName",
    "FirstName",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Section",
    "Integration ID",
    "Root Account",
)
KINDS = ("function", "model", "step", "loop", "observer", "network")


@dataclass(frozen=True)
class LessonSettings:
    """How a class counts one lesson; the defaults are those of a class that says nothing. See the module's example."""

    column: str = ""
    points: float | None = None
    deadline: datetime | None = None
    late_percent_per_day: float = 0.0
    late_days: int | None = None
    exercises: tuple[str, ...] | None = None
    tracks: str = "best"
    only_tracks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class PrivateExercise:
    """An exercise of the class's own. `answer` is the name that its answer cell defines."""

    lesson: str
    exercise: Exercise
    answer: str


@dataclass(frozen=True)
class ClassSettings:
    """The settings of a class. Lessons go by the name of their folder, exercises by their id."""

    name: str = ""
    lessons: Mapping[str, LessonSettings] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    private: tuple[PrivateExercise, ...] = ()
    roster: Roster | None = None

    def of(self, lesson: str) -> LessonSettings:
        """How this lesson counts."""
        return self.lessons.get(lesson, LessonSettings())

    def tracks_of(self, lesson: str) -> tuple[str, ...]:
        """The tracks of a lesson that count. Raises NotFound."""
        return self.of(lesson).only_tracks or find_lesson(lesson).tracks

    def all_exercises_of(self, lesson: str, track: str) -> tuple[Exercise, ...]:
        """What is judged in a notebook: the course's exercises, then the class's own. Raises NotFound."""
        own = (p.exercise for p in self.private if p.lesson == lesson and track in p.exercise.tracks)
        return (*find_lesson(lesson).exercises_of(track), *own)

    def exercises_of(self, lesson: str, track: str) -> tuple[Exercise, ...]:
        """What counts in a notebook: the exercises that the class selects, with the marks that it gives them."""
        chosen = self.of(lesson).exercises
        return tuple(
            replace(exercise, marks=self.weight(exercise))
            for exercise in self.all_exercises_of(lesson, track)
            if chosen is None or exercise.id in chosen
        )

    def weight(self, exercise: Exercise) -> float:
        """The marks that the class gives for an exercise."""
        return self.weights.get(exercise.id, exercise.marks)

    def max_mark(self, lesson: str, track: str) -> float:
        """The marks of a lesson in one track, after weights and selection."""
        return math.fsum(exercise.marks for exercise in self.exercises_of(lesson, track))

    def points(self, lesson: str) -> float:
        """What the lesson's column in a gradebook counts up to; a gradebook knows one number for the whole class.

        The class's own `points`; else the lesson's marks, where they are the same in every track that counts;
        else 100, so that a full mark is a full mark in each track, and for a lesson that this version does not know.
        """
        settings = self.of(lesson)
        if settings.points is not None:
            return settings.points
        try:
            if settings.tracks == "sum":
                return self.max_mark_of_all(lesson)
            sums = {self.max_mark(lesson, track) for track in self.tracks_of(lesson)} - {0.0}
        except NotFound:
            return 100.0
        return sums.pop() if len(sums) == 1 else 100.0

    def max_mark_of_all(self, lesson: str) -> float:
        """The marks of all tracks that count, together; a core exercise is solved once and counts once."""
        marks = {
            (exercise.id, "" if exercise.core else track): exercise.marks
            for track in self.tracks_of(lesson)
            for exercise in self.exercises_of(lesson, track)
        }
        return math.fsum(marks.values())


def read_class_settings(path: Path) -> ClassSettings:
    """The settings in a TOML file and the roster that it names. Raises BadInput or NotFound with file, line and key."""
    top = read_toml(path)
    top.only("name", "roster", "lessons", "weights", "exercise")
    private: list[PrivateExercise] = []
    for table in top.tables("exercise"):
        private.append(_private(table, {p.exercise.id for p in private}))
    by_lesson: dict[str, LessonSettings] = {}
    for key in top.table("lessons").values:
        name = _lesson(top.table("lessons"), key, key)
        if name in by_lesson:
            raise top.table("lessons").refused(key, f"is lesson {name} once more.", "Put both tables into one.")
        by_lesson[name] = _lesson_settings(top.table("lessons").table(key), name, private)
        if by_lesson[name].column in {own.column for other, own in by_lesson.items() if other != name} - {""}:
            raise top.table("lessons").table(key).refused("column", "is another lesson's.", "Give each its own.")
    weights = top.table("weights")
    known = {e.id for each in lessons() for e in each.exercises} | {p.exercise.id for p in private}
    for key in weights.values:
        if key not in known:
            raise weights.refused(key, "is no exercise of the course or of this file.", nearest(key, known))
    roster = top.table("roster")
    roster.only("file")
    return ClassSettings(
        name=top.text("name", ""),
        lessons=by_lesson,
        weights={key: weights.number(key, 0) for key in weights.values},
        private=tuple(private),
        roster=read_roster(path.parent / roster.text("file")) if "roster" in top.values else None,
    )


def _lesson(table: Table, key: str, name: str) -> str:
    try:
        return find_lesson(name).name
    except NotFound as error:
        raise table.refused(key, f"names no lesson: {error.message}", error.action) from error


def _lesson_settings(table: Table, name: str, private: list[PrivateExercise]) -> LessonSettings:
    table.only(*LessonSettings.__dataclass_fields__)
    ids = [e.id for e in find_lesson(name).exercises] + [p.exercise.id for p in private if p.lesson == name]
    settings = LessonSettings(
        column=table.text("column", ""),
        points=table.number("points", 0, above=True) if "points" in table.values else None,
        deadline=table.moment("deadline"),
        late_percent_per_day=table.number("late_percent_per_day", 0, high=100),
        late_days=table.whole("late_days"),
        exercises=table.names("exercises", ids, "exercise"),
        tracks=table.choice("tracks", ("best", "sum"), "best"),
        only_tracks=table.names("only_tracks", find_lesson(name).tracks, "track"),
    )
    column = settings.column
    if CANVAS_OWN.search(column) or column in CANVAS_FIRST or re.search(r"[;=+@\x00-\x1f]", column):
        allowed = "a heading that no gradebook takes for its own, without ; = + @"
        raise table.wrong("column", allowed, f'Write column = "{name}", or leave it out.')
    for key in ("late_percent_per_day", "late_days"):
        if settings.deadline is None and key in table.values:
            raise table.refused(
                key, "needs a deadline, and there is none.", "Add deadline = 2026-12-01T23:59:00+01:00."
            )
    return settings


def _private(table: Table, taken: set[str]) -> PrivateExercise:
    table.only("id", "title", "kind", "core", "marks", "lesson", "tracks", "answer")
    lesson = find_lesson(_lesson(table, "lesson", table.text("lesson")))
    name, answer = table.text("id"), table.text("answer")
    if not re.fullmatch(rf"{lesson.slug}/[A-Za-z0-9_]+", name):
        raise table.wrong("id", f"{lesson.slug}/ and letters, digits or _", f'Write id = "{lesson.slug}/…".')
    if name in taken or name in {e.id for e in lesson.exercises}:
        raise table.refused("id", f"is {name!r}, which is an exercise already.", "Give yours another name.")
    if not answer.isidentifier() or keyword.iskeyword(answer):
        raise table.wrong(
            "answer", "the name that the answer cell defines", 'Write a Python name, as answer = "scale".'
        )
    exercise = Exercise(
        id=name,
        title=table.text("title"),
        kind=table.choice("kind", KINDS, "function"),
        marks=table.number("marks", 1),
        core=table.flag("core", False),
        tracks=table.names("tracks", lesson.tracks, "track") or lesson.tracks,
    )
    return PrivateExercise(lesson.name, exercise, answer)
