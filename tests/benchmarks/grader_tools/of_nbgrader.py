"""nbgrader: the assignment in its format, `nbgrader autograde` over the class, and the scores of its grade book."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.grader_tools.environment import ToolEnvironment
from benchmarks.grader_tools.handins import Assignment, Notebook, check_of, is_answer, short
from benchmarks.grader_tools.stopwatch import Timing, time_command
from benchmarks.grader_tools.tool import Marks, Share, number_of, student
from course_lib.answer import exercise_of

NAME = "digits"
CONFIG = """c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.course_id = "course"
"""
TEST = """from course_lib.lessons import exercise
from course_lib.verdict import judge

verdict = judge(exercise({exercise!r}), {answer}, {track!r})
assert verdict.passed, verdict.message
"""
SCORES = """import json, sys
from nbgrader.api import Gradebook
with Gradebook(sys.argv[1]) as book:
    print(json.dumps([[s.student.id, g.name, g.auto_score] for s in book.assignment_submissions(sys.argv[2])
                      for n in s.notebooks for g in n.grades]))
"""
# What its log says when a student's folder is done.
DONE = b"Setting destination file permissions"


class Nbgrader:
    """nbgrader with its own settings; it grades one notebook at a time."""

    name = "nbgrader autograde"
    share: Share = "few"
    starts_anew = False

    def __init__(self, environment: ToolEnvironment) -> None:
        self._environment = environment

    def grade(self, assignment: Assignment, n_students: int, work: Path) -> tuple[Timing, Marks]:
        """Grade the first `n_students` of the class; the assignment's own release is made before the clock starts."""
        (work / "nbgrader_config.py").write_text(CONFIG.format(root=str(work)))
        _write(work / "source" / NAME / f"{NAME}.ipynb", in_format(assignment.blank(), assignment))
        self._run("nbgrader", "generate_assignment", NAME, work=work)
        for number in range(n_students):
            notebook = in_format(assignment.hand_in(number), assignment)
            _write(work / "submitted" / student(number) / NAME / f"{NAME}.ipynb", notebook)
        log = work / "log"
        timing = time_command(
            [self._environment.program("nbgrader"), "autograde", NAME],
            log,
            lambda: log.read_bytes().count(DONE),
            environ=self._environment.environ(),
            cwd=work,
        )
        scores = self._run("python", "-c", SCORES, f"sqlite:///{work}/gradebook.db", NAME, work=work)
        return timing, _marks(json.loads(scores), assignment)

    def _run(self, program: str, *arguments: str, work: Path) -> str:
        command = [str(self._environment.program(program)), *arguments]
        done = subprocess.run(command, cwd=work, env=self._environment.environ(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{program} {arguments[0]} failed:\n{done.stderr[-2000:]}")
        return done.stdout


def in_format(notebook: Notebook, assignment: Assignment) -> Notebook:
    """A notebook of the course with nbgrader's cells: answers to fill in, and a graded cell for each check."""
    cells: list[dict[str, Any]] = []
    current = ""
    for cell in notebook["cells"]:
        if is_answer(cell):
            current = exercise_of(cell["source"]) or ""
            cells.append({**cell, "metadata": {**cell["metadata"], "nbgrader": _about(short(current), solution=True)}})
        elif cell["cell_type"] == "code" and (answer := check_of(cell["source"])):
            marks = next(each.marks for each in assignment.exercises if each.id == current)
            about = _about(f"check-{short(current)}", grade=True, points=marks)
            source = TEST.format(exercise=current, answer=answer, track=assignment.track)
            cells.append({**cell, "source": source, "metadata": {"nbgrader": about}})
            if rest := "\n".join(cell["source"].splitlines()[1:]):
                cells.append({**cell, "id": f"{cell['id']}-rest", "source": rest})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}


def _about(name: str, *, solution: bool = False, grade: bool = False, points: float = 0.0) -> dict[str, Any]:
    about = {
        "schema_version": 3,
        "grade_id": name,
        "solution": solution,
        "grade": grade,
        "locked": grade,
        "task": False,
    }
    return {**about, "points": points} if grade else about


def _write(path: Path, notebook: Notebook) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook))


def _marks(scores: list[tuple[str, str, float]], assignment: Assignment) -> Marks:
    names = {f"check-{short(each.id)}": each.id for each in assignment.exercises}
    found: Marks = {}
    for key, cell, score in scores:
        found.setdefault(number_of(key), {})[names[cell]] = float(score)
    return found
