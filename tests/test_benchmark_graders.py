"""The comparison of graders: everybody gets the same class and the same checks, and figures are told as measured."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.grader_tools import of_nbgrader, of_otter
from benchmarks.grader_tools.handins import CYCLE, Assignment
from benchmarks.grader_tools.stopwatch import time_command
from course_lib.answer_sheet import collect
from course_lib.build.grading_figures import class_seconds, table
from course_lib.notebook import code_cells

FOUR = Assignment("four", "four", "numpy", ("digits/split", "digits/n_parameters", "digits/cross_entropy"))
WHOLE = [Assignment(track, track, track) for track in ("numpy", "torch")]


@pytest.mark.parametrize("assignment", [FOUR, *WHOLE], ids=lambda each: each.name)
def test_no_two_students_hand_in_the_same_and_some_are_wrong_or_not_done(assignment: Assignment) -> None:
    names = [each.id for each in assignment.exercises]
    sheets = [collect(assignment.hand_in(n), assignment.blank(), names) for n in range(2 * CYCLE)]
    assert len({tuple(sorted(sheet.answers.items())) for sheet in sheets}) == len(sheets)
    assert all(sheet.answers.keys() == set(names) for sheet in sheets)
    untouched = [len(sheet.untouched) for sheet in sheets[:CYCLE]]
    assert untouched == [0, 0, 0, 1, 0, len(names) // 2]
    right, wrong = (sheet.answers for sheet in sheets[:2])
    own = [name for name in names if right[name].splitlines()[:-1] != wrong[name].splitlines()[:-1]]
    assert len(own) == 2


@pytest.mark.parametrize("assignment", [FOUR, *WHOLE], ids=lambda each: each.name)
def test_every_exercise_has_an_answer_and_a_graded_cell_for_nbgrader(assignment: Assignment) -> None:
    cells = code_cells(of_nbgrader.in_format(assignment.hand_in(0), assignment))
    about = [(cell["metadata"]["nbgrader"], cell["source"]) for cell in cells if "nbgrader" in cell["metadata"]]
    points = {made["grade_id"]: made["points"] for made, _ in about if made["grade"]}
    assert points == {f"check-{each.id.split('/')[1]}": each.marks for each in assignment.exercises}
    assert sum(made["solution"] for made, _ in about) == len(assignment.exercises)
    for made, source in about:
        compile(source, made["grade_id"], "exec")
        assert not made["grade"] or "judge(exercise('digits/" in source


@pytest.mark.parametrize("assignment", [FOUR, *WHOLE], ids=lambda each: each.name)
def test_every_exercise_has_a_test_for_otter_and_its_answer_cell_names_it(assignment: Assignment) -> None:
    tests = of_otter.tests_of(assignment)
    assert list(tests) == [each.id.split("/")[1] for each in assignment.exercises]
    for each in assignment.exercises:
        source = tests[each.id.split("/")[1]]
        compile(source, each.id, "exec")
        assert f"judge(exercise({each.id!r})" in source
        assert f"points={each.marks!r}" in source
    cells = code_cells(of_otter.in_format(assignment.hand_in(0)))
    named = [name for cell in cells for name in cell["metadata"].get("otter", {}).get("tests", [])]
    assert named == list(tests)
    assert not any(cell["source"].startswith("check(") for cell in cells)


def test_a_command_is_timed_to_its_first_result_and_to_its_end_with_all_its_processes(tmp_path: Path) -> None:
    child = "import time; held = bytearray(200_000_000); end = time.time() + 2\nwhile time.time() < end: pass"
    source = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        "open('first', 'w'); child.wait(); open('second', 'w'); time.sleep(0.1)"
    )
    timing = time_command(
        [sys.executable, "-c", source],
        tmp_path / "log",
        lambda: sum((tmp_path / name).exists() for name in ("first", "second")),
        environ=os.environ,
        cwd=tmp_path,
    )
    assert timing.n_results == 2
    assert timing.first_seconds + 1.5 < timing.seconds
    assert timing.peak_bytes > 200e6
    assert timing.cpu_seconds > timing.first_cpu_seconds


def test_a_command_that_fails_says_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no such assignment"):
        time_command(
            [sys.executable, "-c", "raise SystemExit('no such assignment')"],
            tmp_path / "log",
            lambda: 0,
            environ=os.environ,
            cwd=tmp_path,
        )


def row(tool: str, per_second: float, **more: Any) -> dict[str, Any]:
    facts = {"notebooks": 6, "seconds": 9.0, "first_seconds": 2.0, "peak_bytes": 123_000_000}
    return {"tool": tool, "per_second": per_second, **facts, **more}


def test_the_table_tells_rates_ratios_and_the_time_of_a_class() -> None:
    rows = [row("course grade --jobs 2", 25.0), row("nbgrader autograde", 0.5), row("otter run", 0.2)]
    figures = {
        "date": "2026-01-02",
        "machine": "a machine",
        "versions": {"nbgrader": "1.0"},
        "assignments": [{"title": "four questions", "marks_compared": 1200, "rows": rows}],
    }
    shown = table(figures)
    assert "| `course grade --jobs 2` | 1,500 a minute (50 ×); 10 s | 123 MB |" in shown
    assert "| `nbgrader autograde` | 30 a minute; 7 min | 123 MB |" in shown
    assert "| `otter run` | 12 a minute (0.4 ×); 17 min | 123 MB |" in shown
    assert "2026-01-02, a machine, nbgrader 1.0" in shown
    assert "1,200 marks" in shown
    assert class_seconds(rows[0]) == pytest.approx(2.0 + 199 / 25)
