"""What a measurement of the graders says, as it stands in the README. `tests/benchmarks/graders.py` measures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.errors import NotFound
from course_lib.home import read_json
from course_lib.shipped import clone_root

# A class of this size is what seconds are told for.
CLASS_SIZE = 200
BASE = "nbgrader"
MEGABYTE = 1e6


def results_path(name: str) -> Path:
    """Where a benchmark's last measurement is kept. Raises NotFound outside a clone."""
    if (root := clone_root()) is None:
        raise NotFound("Figures are kept in a clone of the course; this is an installed package.", action="Clone it.")
    return root / "tests" / "benchmarks" / "results" / name


def figures_path() -> Path:
    """Where the last measurement is kept. Raises NotFound outside a clone."""
    return results_path("graders.json")


def grading() -> str:
    """The section of the README."""
    figures = read_json(figures_path(), {})
    return table(figures) if figures else "Not measured yet."


def table(figures: Mapping[str, Any]) -> str:
    """The figures as a Markdown table, a row for each tool, a column for each assignment, and how they came about."""
    assignments = figures["assignments"]
    names = list(dict.fromkeys(row["tool"] for assignment in assignments for row in assignment["rows"]))
    head = ["graded by", *(assignment["title"] for assignment in assignments), "memory, at most"]
    rows = [head, ["---"] * len(head)]
    for name in names:
        own = [_row_of(assignment, name) for assignment in assignments]
        cells = [
            "" if row is None else _cell(row, _row_of(assignment, BASE))
            for row, assignment in zip(own, assignments, strict=True)
        ]
        peak = max(row["peak_bytes"] for row in own if row is not None)
        rows.append([f"`{name}`", *cells, f"{peak / MEGABYTE:,.0f} MB" if peak else "not seen"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n\n" + _how(figures)


def _row_of(assignment: Mapping[str, Any], tool: str) -> Mapping[str, Any] | None:
    """The row of the tool whose name begins so."""
    return next((row for row in assignment["rows"] if row["tool"].startswith(tool)), None)


def _cell(row: Mapping[str, Any], base: Mapping[str, Any] | None) -> str:
    ratio = ""
    if base is not None and base is not row:
        times = row["per_second"] / base["per_second"]
        ratio = f" ({times:.0f} ×)" if times >= 10 else f" ({times:.1f} ×)"
    return f"{_figure(60 * row['per_second'])} a minute{ratio}; {_seconds(class_seconds(row))}"


def class_seconds(row: Mapping[str, Any]) -> float:
    """Seconds from the start to the end for a class of CLASS_SIZE, from the first result and the rate after it."""
    return float(row["first_seconds"] + (CLASS_SIZE - 1) / row["per_second"])


def _how(figures: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in figures["versions"].items())
    compared = sum(assignment["marks_compared"] for assignment in figures["assignments"])
    return (
        f"Notebooks a minute after the first one, how many times as many as nbgrader, and the time of a class of "
        f"{CLASS_SIZE} from the start to the last report, reckoned from that. {figures['date']}, {figures['machine']}, "
        f"{versions}; all tools judge the same notebooks by the same checks, with one thread for arrays, and gave "
        f"the same {compared:,} marks. The others run whole notebooks, in the instructor's own account; `course grade` "
        f"isolates each one and runs what its answers need."
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _seconds(value: float) -> str:
    return f"{value:.0f} s" if value < 100 else f"{value / 60:.0f} min"
