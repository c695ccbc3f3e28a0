"""`course grade`, as an instructor runs it: sandboxed, all reports written."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks.grader_tools.environment import here
from benchmarks.grader_tools.handins import Assignment
from benchmarks.grader_tools.stopwatch import Timing, time_command
from benchmarks.grader_tools.tool import Marks, Share, number_of, student


class CourseGrade:
    """The course's own grader with so many notebooks at once."""

    starts_anew = False

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self.name = f"course grade --jobs {jobs}"
        self.share: Share = "all" if jobs > 1 else "half"

    def grade(self, assignment: Assignment, n_students: int, work: Path) -> tuple[Timing, Marks]:
        """Grade the first `n_students` of the class."""
        given, out = work / "submissions", work / "out"
        given.mkdir()
        for number in range(n_students):
            (given / f"{student(number)}.ipynb").write_text(json.dumps(assignment.hand_in(number)))
        records = out / "records.jsonl"
        command = [here() / "course", "grade", given, "--out", out, "--jobs", str(self._jobs)]
        timing = time_command(
            command,
            work / "log",
            lambda: records.read_bytes().count(b"\n") if records.exists() else 0,
            environ={**os.environ, "COURSE_HOME": str(work / "home")},
            cwd=work,
        )
        return timing, _marks(records, assignment)


def _marks(records: Path, assignment: Assignment) -> Marks:
    wanted = {each.id for each in assignment.exercises}
    found: Marks = {}
    for line in records.read_text().splitlines():
        record = json.loads(line)
        marks = {each["exercise"]: each["mark"] for each in record["exercises"] if each["exercise"] in wanted}
        found[number_of(record["student"]["key"])] = marks
    return found
