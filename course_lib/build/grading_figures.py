"""What a measurement of the graders says, as it stands in the README. `tests/benchmarks/graders.py` measures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.home import read_json

PATH = Path(__file__).resolve().parents[2] / "tests" / "benchmarks" / "results" / "graders.json"
# A class of this size is what the seconds are told for: measured for who is fast, reckoned for the others.
CLASS_SIZE = 200
BASE = "nbgrader"
MEGABYTE = 1e6


def grading() -> str:
    """The section of the README: the table, with date and machine. Empty while nothing has been measured."""
    figures = read_json(PATH, {})
    return table(figures) if figures else "Not measured yet: `python tests/benchmarks/graders.py --save`."


def table(figures: Mapping[str, Any]) -> str:
    """The figures in words and as one Markdown table, a row for each tool and assignment."""
    head = ["assignment", "graded by", "notebooks a minute", f"a class of {CLASS_SIZE}", "against nbgrader", "memory"]
    rows = [head, ["---"] * len(head)]
    for assignment in figures["assignments"]:
        base = next((row for row in assignment["rows"] if row["tool"].startswith(BASE)), None)
        for n, row in enumerate(assignment["rows"]):
            rows.append([assignment["title"] if n == 0 else "", *_cells(row, base)])
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    versions = ", ".join(f"{name} {version}" for name, version in figures["versions"].items())
    compared = sum(assignment["marks_compared"] for assignment in figures["assignments"])
    return (
        f"{lines}\n\n"
        f"Measured on {figures['date']} on {figures['machine']} ({versions}). Notebooks a minute: after the first, "
        f"with all reports written. A class of {CLASS_SIZE}: from start to end; where `≈` stands, reckoned from fewer. "
        f"Memory: of all processes together. All tools gave the same marks, {compared:,} of {compared:,} compared."
    )


def _cells(row: Mapping[str, Any], base: Mapping[str, Any] | None) -> list[str]:
    ratio = f"{_rate(row) / _rate(base):.3g} ×" if base and _rate(base) and row is not base else "1"
    about = "" if row["notebooks"] >= CLASS_SIZE - 6 else "≈ "
    memory = f"{row['peak_bytes'] / MEGABYTE:,.0f} MB" if row["peak_bytes"] else "too short to measure"
    return [row["tool"], f"{60 * _rate(row):,.3g}", f"{about}{_seconds(class_seconds(row))}", ratio, memory]


def _rate(row: Mapping[str, Any]) -> float:
    """Notebooks a second after the first; for one notebook, from the start."""
    return float(row["per_second"]) or row["notebooks"] / row["seconds"]


def class_seconds(row: Mapping[str, Any]) -> float:
    """Seconds from the start to the end of a class of CLASS_SIZE."""
    return float(row["first_seconds"] + (CLASS_SIZE - 1) / _rate(row))


def _seconds(value: float) -> str:
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.0f} min"
