"""A slot: takes one submission after another, judges each, and gives back its record. Runs no student's code.

`python -m course_lib.grade.slot LINK [CONTROL]`: LINK is the descriptor of the socket to the coordinator, CONTROL that
to the slot's supervisor. A job is a JSON object and then the bytes of the notebook; the result is a JSON object.
"""

from __future__ import annotations

import gc
import hashlib
import json
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache, lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from course_lib import data as datasets
from course_lib.answer import bound_names, exercise_of
from course_lib.answer_sheet import collect, recognise_with_note
from course_lib.errors import CourseError
from course_lib.grade.class_settings import PrivateExercise
from course_lib.grade.guard import Guard, SupervisorGone
from course_lib.grade.judging import Judge, Outcome, Paper
from course_lib.grade.private_checks import check_cell, class_settings, hole, load_private_checks
from course_lib.grade.record import GradeRecord
from course_lib.grade.student import Student
from course_lib.lessons import Lesson, lesson
from course_lib.notebook import UnreadableNotebook, code_cells, parse_bytes, read_notebook
from course_lib.recognition import UnknownNotebook
from course_lib.shipped import shipped

MAX_OUTPUT = 20_000
SOLUTION = "solution"
# How the answer sheet ends a note on a cell that holds an answer which was left out.
NOT_RUN = "so it was not run."


class Slot:
    """Judges submissions of one track; without a supervisor it only tells which lesson and track they are of."""

    def __init__(self, settings: Mapping[str, Any], control: socket.socket | None) -> None:
        self._settings = settings
        checks, class_file = (None if p is None else Path(p) for p in (settings["checks"], settings["class_file"]))
        self._private = load_private_checks(checks, class_settings(checks, class_file))
        self._judge: Judge | None = None
        self.layers: list[list[Any]] = []
        if control is not None:
            guard = Guard(control, settings["timeout_seconds"], settings["submission_seconds"])
            self._judge, self.layers = Judge(guard), guard.layers
            # The checks' own data, so that the first submission does not wait for it.
            datasets.load("digits")

    def do(self, job: Mapping[str, Any], data: bytes) -> dict[str, Any]:
        """The result of a job: `recognise`, `grade`, or `solution` (the course's own answers, which must all pass)."""
        if job["do"] == SOLUTION:
            return self._solution(job)
        path = Path(job["file"])
        try:
            notebook = parse_bytes(data, path)
            found, track, note = recognise_with_note(notebook, path)
        except UnreadableNotebook as error:
            return {"problem": ["unreadable", str(error)]}
        except UnknownNotebook as error:
            return {"problem": ["unknown notebook", str(error)]}
        except CourseError as error:
            return {"problem": ["not a notebook", str(error)]}
        if job["do"] == "recognise":
            return {"lesson": found.name, "track": track}
        started = datetime.now(UTC)
        outcome, notes = self._grade(notebook, found, track, f"{job['student']['key']}\0{job['file']}")
        notes = ((note,) if note else ()) + notes
        outcome.review += [each for each in notes if each.endswith(NOT_RUN)]
        record: dict[str, Any] = _printable(self._record(job, data, found, track, outcome, notes, started).to_dict())
        return record

    def _grade(self, notebook: dict[str, Any], found: Lesson, track: str, who: str) -> tuple[Outcome, tuple[str, ...]]:
        assert self._judge is not None
        private = [each for each in self._private if each.lesson == found.name and track in each.exercise.tracks]
        course = _with_private(_course(found.notebook(track), "notebooks"), private)
        exercises = (*found.exercises_of(track), *(each.exercise for each in private))
        sheet = collect(notebook, course, [each.id for each in exercises])
        sources = tuple(cell["source"] for cell in code_cells(course))
        salt = f"{self._settings['secret']}\0{who}"
        own = {
            name for cell in code_cells(notebook) if not exercise_of(cell["source"]) for name in _bound(cell["source"])
        }
        elsewhere = frozenset(own - {name for source in sources for name in _bound(source)})
        paper = Paper(found.name, track, sources, exercises, sheet.answers, salt, elsewhere)
        outcome = self._judge.judge(paper)
        return outcome, (*sheet.notes, *outcome.notes)

    def _solution(self, job: Mapping[str, Any]) -> dict[str, Any]:
        found, track = lesson(job["lesson"]), job["track"]
        notebook = _course(found.notebook(track), "solutions")
        outcome, _ = self._grade(notebook, found, track, SOLUTION)
        own = {each.id for each in found.exercises_of(track)}
        return {"results": [asdict(each) for each in outcome.results.values() if each.exercise in own]}

    def _record(
        self,
        job: Mapping[str, Any],
        data: bytes,
        found: Lesson,
        track: str,
        outcome: Outcome,
        notes: tuple[str, ...],
        started: datetime,
    ) -> GradeRecord:
        output = "".join(each.output for each in outcome.ended)[:MAX_OUTPUT]
        return GradeRecord(
            student=Student(**job["student"]),
            file=job["file"],
            sha256=hashlib.sha256(data).hexdigest(),
            submitted_at=job["submitted_at"],
            late=job["late"],
            lesson=found.name,
            track=track,
            exercises=tuple(outcome.results.values()),
            notes=notes,
            review=tuple(outcome.review),
            output=output,
            output_bytes=sum(each.output_bytes for each in outcome.ended),
            seconds=round((datetime.now(UTC) - started).total_seconds(), 4),
            cpu_seconds=round(sum(each.cpu_seconds for each in outcome.ended), 4),
            peak_bytes=max((each.peak_bytes for each in outcome.ended), default=0),
            attempts=outcome.children,
            graded_at=started.isoformat(timespec="seconds"),
            **self._settings["record"],
        )


def _printable(value: Any) -> Any:
    """The same JSON value, with what no file can hold (half of a pair of surrogates) written out."""
    if isinstance(value, str):
        return value.encode("utf-8", errors="backslashreplace").decode("utf-8")
    if isinstance(value, (list, tuple)):
        return [_printable(item) for item in value]
    return {key: _printable(item) for key, item in value.items()} if isinstance(value, dict) else value


@lru_cache(maxsize=4096)
def _bound(source: str) -> frozenset[str]:
    return frozenset(bound_names(source)) if len(source) < 100_000 else frozenset()


@cache
def _course(notebook: str, kind: str) -> dict[str, Any]:
    return read_notebook(shipped(kind) / notebook)  # type: ignore[arg-type]


def _with_private(course: dict[str, Any], private: list[PrivateExercise]) -> dict[str, Any]:
    """The course's notebook, and after it a hole and a check for each private exercise."""
    added = [{"cell_type": "code", "source": text} for each in private for text in (hole(each), check_cell(each))]
    return {**course, "cells": [*course["cells"], *added]}


def main(arguments: list[str]) -> None:
    """Do the coordinator's jobs until it closes the link."""
    link = Connection(int(arguments[0]))
    control = socket.socket(fileno=int(arguments[1])) if len(arguments) > 1 else None
    try:
        slot = Slot(json.loads(link.recv_bytes()), control)
        # What is here now stays: no collection need look at it again.
        gc.collect()
        gc.freeze()
        link.send_bytes(json.dumps({"ready": slot.layers}).encode())
    except CourseError as error:
        link.send_bytes(json.dumps({"refused": [error.message, error.action]}).encode())
        return
    except (SupervisorGone, TimeoutError) as error:
        link.send_bytes(json.dumps({"broken": str(error)}).encode())
        return
    while True:
        try:
            job, data = json.loads(link.recv_bytes()), link.recv_bytes()
        except EOFError:
            return
        start = time.perf_counter()
        try:
            result = slot.do(job, data)
        except (SupervisorGone, TimeoutError) as error:
            link.send_bytes(json.dumps({"broken": str(error)}).encode())
            return
        link.send_bytes(json.dumps({"result": result, "seconds": time.perf_counter() - start}).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
