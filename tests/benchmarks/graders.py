"""`course grade`, nbgrader and otter-grader on the same class: seconds, notebooks a second, memory, and the same marks.

`python tests/benchmarks/graders.py --cache FOLDER` installs the other two into environments under FOLDER (once), makes
a class for each assignment, has every tool grade it, compares the marks exercise by exercise, prints the table, and
keeps the figures in `results/graders.json`, from which the README's section is built. Best on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.grader_tools.environment import ToolEnvironment
from benchmarks.grader_tools.handins import CYCLE, LESSON, Assignment
from benchmarks.grader_tools.of_course import CourseGrade
from benchmarks.grader_tools.of_nbgrader import Nbgrader
from benchmarks.grader_tools.of_otter import Otter
from benchmarks.grader_tools.tool import Marks, Tool
from course_lib.build.grading_figures import PATH, table
from course_lib.home import write_json
from course_lib.record import machine_description
from course_lib.versions import installed_versions

VERSIONS = {"nbgrader": "0.9.6", "otter-grader": "7.0.0"}
QUICK = tuple(f"digits/{name}" for name in ("split", "n_parameters", "untrained_loss", "cross_entropy"))
ASSIGNMENTS = (
    Assignment("four", "four questions in NumPy, nothing else in the notebook", "numpy", QUICK),
    Assignment("numpy", f"{LESSON} in NumPy, the whole notebook", "numpy"),
    Assignment("torch", f"{LESSON} in PyTorch, the whole notebook", "torch"),
)


def main() -> None:
    """Measure what is asked for, and keep it."""
    options = _options()
    names = options.only or [each.name for each in ASSIGNMENTS]
    tools = list(_tools(options))
    # Read from the disk before the clock starts, whoever comes first.
    for assignment in (each for each in ASSIGNMENTS if each.name in names):
        subprocess.run([sys.executable, "-c", f"import {assignment.track}"], check=True)
    measured = [_measure(each, tools, options) for each in ASSIGNMENTS if each.name in names]
    figures = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine_description(),
        "load": round(os.getloadavg()[0], 1),
        "versions": {**installed_versions("torch"), **VERSIONS},
        "assignments": measured,
    }
    print(table(figures))
    if options.save:
        write_json(options.save, figures)
        print(f"Kept in {options.save}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="where the other tools are installed, and stay")
    parser.add_argument("--class-size", type=int, default=198, help="notebooks for course grade")
    parser.add_argument("--others", type=int, default=CYCLE, help=f"notebooks for each other tool (whole {CYCLE}s)")
    parser.add_argument("--only", nargs="*", choices=[each.name for each in ASSIGNMENTS], help="these assignments")
    parser.add_argument("--tools", nargs="*", help="only tools with one of these words in their names")
    parser.add_argument("--save", type=Path, nargs="?", const=PATH, help="keep the figures, by default for the README")
    return parser.parse_args()


def _tools(options: argparse.Namespace) -> Iterator[Tool]:
    nbgrader, otter = (ToolEnvironment(options.cache, name, version) for name, version in VERSIONS.items())
    tools: list[Tool] = [CourseGrade(2), CourseGrade(1), Nbgrader(nbgrader), Otter(otter, api=True)]
    tools.append(Otter(otter, api=False))
    for tool in tools:
        if not options.tools or any(word in tool.name for word in options.tools):
            yield tool


def _measure(assignment: Assignment, tools: list[Tool], options: argparse.Namespace) -> dict[str, Any]:
    """One assignment, graded by every tool after the other; the first one's marks are what the others must give."""
    rows: list[dict[str, Any]] = []
    reference: Marks = {}
    compared = 0
    for tool in tools:
        n_students = options.class_size if isinstance(tool, CourseGrade) else options.others
        with tempfile.TemporaryDirectory(prefix="course-graders-") as work:
            timing, marks = tool.grade(assignment, n_students, Path(work))
        reference = reference or marks
        compared += 0 if marks is reference else _compare(tool.name, marks, reference)
        after = timing.seconds - timing.first_seconds
        per_second = (timing.n_results - 1) / after if after and timing.n_results > 1 else 0.0
        rows.append(
            {
                "tool": tool.name,
                "note": tool.note,
                "notebooks": timing.n_results,
                "seconds": round(timing.seconds, 2),
                "first_seconds": round(timing.first_seconds, 2),
                "per_second": round(per_second, 4),
                "cpu_seconds_each": round(
                    (timing.cpu_seconds - timing.first_cpu_seconds) / max(1, timing.n_results - 1), 3
                ),
                "peak_bytes": timing.peak_bytes,
            }
        )
        print(f"{assignment.name}: {rows[-1]}", flush=True)
    about = {"name": assignment.name, "title": assignment.title, "exercises": len(assignment.exercises)}
    return {**about, "marks_compared": compared, "rows": rows}


def _compare(tool: str, marks: Marks, reference: Marks) -> int:
    """How many marks were compared. Raises RuntimeError when one differs or is missing."""
    for number, own in marks.items():
        if number in reference and own != reference[number]:
            raise RuntimeError(f"{tool}, student {number}: {own}\nshould be {reference[number]}")
    return sum(len(own) for number, own in marks.items() if number in reference)


if __name__ == "__main__":
    main()
