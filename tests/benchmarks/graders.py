"""`course grade`, nbgrader and otter-grader on the same class: seconds, notebooks a minute, memory, and the same marks.

`python tests/benchmarks/graders.py --cache FOLDER` installs the other two into environments under FOLDER (once), makes
a class for each assignment, has every tool grade its first notebooks, compares the marks exercise by exercise, and
prints the table. With `--save` the figures go to `results/graders.json` and into the README. It takes 7 minutes on a
quiet machine, and means nothing on another one: what else runs slows the tools down by different parts.
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
from benchmarks.grader_tools.stopwatch import Timing
from benchmarks.grader_tools.tool import Marks, Tool
from course_lib.build.grading_figures import figures_path, table
from course_lib.build.readme import with_sections
from course_lib.home import write_json, write_text_atomically
from course_lib.record import machine_description
from course_lib.versions import installed_versions

README = Path(__file__).resolve().parents[2] / "README.md"
VERSIONS = {"nbgrader": "0.9.6", "otter-grader": "7.0.0"}
QUICK = tuple(f"digits/{name}" for name in ("split", "n_parameters", "untrained_loss", "cross_entropy"))
ASSIGNMENTS = (
    Assignment("four", "four questions in NumPy", "numpy", QUICK),
    Assignment("numpy", f"{LESSON} in NumPy", "numpy"),
    Assignment("torch", f"{LESSON} in PyTorch", "torch"),
)


def main() -> None:
    """Measure what is asked for, and keep it."""
    options = _options()
    chosen = [each for each in ASSIGNMENTS if not options.only or each.name in options.only]
    tools = list(_tools(options))
    for track in {each.track for each in chosen}:
        # Read from the disk before the clock starts, whoever comes first.
        subprocess.run([sys.executable, "-c", f"import {track}"], check=True)
    load_before = round(os.getloadavg()[0], 1)
    figures = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine_description(),
        "load_before": load_before,
        "versions": {**installed_versions("torch"), **VERSIONS},
        "assignments": [_measure(each, tools, options) for each in chosen],
    }
    print(table(figures))
    if options.save:
        write_json(figures_path(), figures)
        write_text_atomically(README, with_sections(README.read_text(encoding="utf-8")))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="where the other tools are installed, and stay")
    parser.add_argument("--class-size", type=int, default=33 * CYCLE, help="notebooks for course grade")
    parser.add_argument("--few", type=int, default=CYCLE, help="notebooks for nbgrader; otter gets still fewer")
    parser.add_argument("--only", nargs="*", choices=[each.name for each in ASSIGNMENTS], help="these assignments")
    parser.add_argument("--tools", nargs="*", help="only tools with one of these words in their names")
    parser.add_argument("--save", action="store_true", help="keep the figures, and put them into the README")
    return parser.parse_args()


def _tools(options: argparse.Namespace) -> Iterator[Tool]:
    nbgrader, otter = (ToolEnvironment(options.cache, name, version) for name, version in VERSIONS.items())
    tools: list[Tool] = [CourseGrade(2), CourseGrade(1), Nbgrader(nbgrader), Otter(otter, api=True)]
    tools.append(Otter(otter, api=False))
    for tool in tools:
        if not options.tools or any(word in tool.name for word in options.tools):
            yield tool


def _measure(assignment: Assignment, tools: list[Tool], options: argparse.Namespace) -> dict[str, Any]:
    """One assignment, graded by one tool after the other; the first one's marks are what the others must give."""
    sizes = {
        "all": options.class_size,
        "half": max(1, options.class_size // 2),
        "few": options.few,
        "fewer": max(1, options.few * 2 // 3),
        "two": min(2, options.few),
    }
    rows: list[dict[str, Any]] = []
    reference: Marks = {}
    compared = 0
    for tool in tools:
        with tempfile.TemporaryDirectory(prefix="course-graders-") as work:
            timing, marks = tool.grade(assignment, sizes[tool.share], Path(work))
        reference = reference or marks
        compared += 0 if marks is reference else _compare(tool.name, marks, reference)
        rows.append(_row(tool, timing))
        print(f"{assignment.name}: {rows[-1]}", flush=True)
    about = {"name": assignment.name, "title": assignment.title, "exercises": len(assignment.exercises)}
    return {**about, "marks_compared": compared, "rows": rows}


def _row(tool: Tool, timing: Timing) -> dict[str, Any]:
    """A timing as it is kept. Rates count from the first result, but from the start where each notebook has a start."""
    n_after, after = timing.n_results - 1, timing.seconds - timing.first_seconds
    if tool.starts_anew or n_after < 1:
        n_after, after = timing.n_results, timing.seconds
    return {
        "tool": tool.name,
        "notebooks": timing.n_results,
        "seconds": round(timing.seconds, 2),
        "first_seconds": round(timing.first_seconds, 2),
        "per_second": round(n_after / after, 4),
        "cpu_seconds": round(timing.cpu_seconds, 2),
        "first_cpu_seconds": round(timing.first_cpu_seconds, 2),
        "peak_bytes": timing.peak_bytes,
    }


def _compare(tool: str, marks: Marks, reference: Marks) -> int:
    """How many marks were compared. Raises RuntimeError when one differs or is missing."""
    both = marks.keys() & reference.keys()
    for number in both:
        if marks[number] != reference[number]:
            raise RuntimeError(f"{tool}, student {number}: {marks[number]}\nshould be {reference[number]}")
    return sum(len(marks[number]) for number in both)


if __name__ == "__main__":
    main()
