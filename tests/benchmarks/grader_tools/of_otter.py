"""otter-grader without its containers: its tests for the same exercises, its API in one process, its command line."""

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

TEST = """OK_FORMAT = False
from otter.test_files import test_case

name, points = {name!r}, {points!r}


@test_case(points={points!r})
def test_{name}({answer}):
    from course_lib.lessons import exercise
    from course_lib.verdict import judge

    verdict = judge(exercise({exercise!r}), {answer}, {track!r})
    assert verdict.passed, verdict.message
"""
# One folder for each result, as its command line writes them.
BY_API = """import json, pathlib, sys
from otter.api import grade_submission
for path in map(pathlib.Path, sys.argv[2:]):
    tests = grade_submission(str(path), sys.argv[1], quiet=True).to_dict()
    scores = {name: test["score"] for name, test in tests.items()}
    pathlib.Path("out", path.stem + ".json").write_text(json.dumps(scores))
"""
BY_COMMAND = """import pathlib, subprocess, sys
for path in map(pathlib.Path, sys.argv[3:]):
    subprocess.run([sys.argv[1], "run", "-a", sys.argv[2], "-o", "out", "--no-logo", str(path)], check=True)
    pathlib.Path("out/results.json").rename(f"out/{path.stem}.json")
"""


class Otter:
    """otter-grader, which grades one notebook at a time without Docker; with `api` all of them in one process."""

    def __init__(self, environment: ToolEnvironment, *, api: bool) -> None:
        self._environment, self._api = environment, api
        self.name = "otter.api.grade_submission" if api else "otter run"
        self.share: Share = "fewer" if api else "two"
        self.starts_anew = not api

    def grade(self, assignment: Assignment, n_students: int, work: Path) -> tuple[Timing, Marks]:
        """Grade the first `n_students` of the class; its zip file of tests is made before the clock starts."""
        for name in ("tests", "given", "out"):
            (work / name).mkdir()
        for name, source in tests_of(assignment).items():
            (work / "tests" / f"{name}.py").write_text(source)
        otter = str(self._environment.program("otter"))
        generate = [otter, "generate", "-t", "tests", "-o", "tests.zip", "--no-config", "--no-requirements"]
        environ = self._environment.environ()
        subprocess.run(generate, cwd=work, env=environ, check=True, capture_output=True)
        paths = [work / "given" / f"{student(number)}.ipynb" for number in range(n_students)]
        for number, path in enumerate(paths):
            path.write_text(json.dumps(in_format(assignment.hand_in(number))))
        code = ["-c", BY_API] if self._api else ["-c", BY_COMMAND, otter]
        timing = time_command(
            [self._environment.python, *code, "tests.zip", *paths],
            work / "log",
            lambda: len([*(work / "out").glob("student-*.json")]),
            environ=environ,
            cwd=work,
        )
        return timing, _marks(work / "out", assignment)


def in_format(notebook: Notebook) -> Notebook:
    """A notebook of the course with otter's checks: each answer cell names its test."""
    cells: list[dict[str, Any]] = []
    for cell in notebook["cells"]:
        if is_answer(cell):
            tests = {"otter": {"tests": [short(exercise_of(cell["source"]) or "")]}}
            cells.append({**cell, "metadata": {**cell["metadata"], **tests}})
        elif cell["cell_type"] == "code" and check_of(cell["source"]):
            cells.append({**cell, "source": "\n".join(cell["source"].splitlines()[1:])})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}


def tests_of(assignment: Assignment) -> dict[str, str]:
    """The text of otter's test file for each exercise."""
    made: dict[str, str] = {}
    current = ""
    marks = {each.id: each.marks for each in assignment.exercises}
    for cell in assignment.blank()["cells"]:
        if is_answer(cell):
            current = exercise_of(cell["source"]) or ""
        elif cell["cell_type"] == "code" and (answer := check_of(cell["source"])):
            facts = {"exercise": current, "answer": answer, "track": assignment.track, "points": marks[current]}
            made[short(current)] = TEST.format(name=short(current), **facts)
    return made


def _marks(out: Path, assignment: Assignment) -> Marks:
    names = {short(each.id): each.id for each in assignment.exercises}
    found: Marks = {}
    for path in out.glob("student-*.json"):
        scores = json.loads(path.read_text())
        if "tests" in scores:
            scores = _of_command(scores)
        found[number_of(path.stem)] = {names[name]: float(score) for name, score in scores.items() if name in names}
    return found


def _of_command(results: dict[str, Any]) -> dict[str, float]:
    """Scores in what its command writes for Gradescope: one entry for each test, named `split` or `split - 1`."""
    return {each["name"].split(" ")[0]: each["score"] for each in results["tests"] if "score" in each}
