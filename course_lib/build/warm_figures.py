"""What a measurement of warm kernels says, as it stands in the docs. `tests/benchmarks/warm_kernels.py` measures."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.build.grading_figures import results_path
from course_lib.colab import TRACK_NAMES
from course_lib.home import read_json

MEGABYTE = 1e6


def figures_path() -> Path:
    """Where the last measurement is kept. Raises NotFound outside a clone."""
    return results_path("warm_kernels.json")


def warm_kernels() -> str:
    """The section of docs/warm_kernels.md."""
    figures = read_json(figures_path(), {})
    return table(figures) if figures else "Not measured yet."


def table(figures: Mapping[str, Any]) -> str:
    """The figures as a Markdown table, a row for each track, and sentences on nbval and on fifty kernels."""
    head = ["track", "cold", "warm", "ratio", "first, while importing", "memory of its own: cold, warm", "the parent"]
    rows = [head, ["---"] * len(head)]
    for track, each in figures["tracks"].items():
        seconds = (each[f"{name}_seconds"] for name in ("cold_imported", "warm_imported", "first_warm"))
        cold, warm, first = (f"{value:.2f} s" for value in seconds)
        sizes = (each[name] / MEGABYTE for name in ("cold_private_bytes", "warm_private_bytes", "parent_pss_bytes"))
        own, forked, parent = (f"{size:.0f} MB" for size in sizes)
        rows.append([TRACK_NAMES[track], cold, warm, f"{each['ratio']:.1f} ×", first, f"{own}, {forked}", parent])
    parts = ["\n".join(f"| {' | '.join(row)} |" for row in rows), _how(figures)]
    parts += [_nbval(figures["nbval"])] if "nbval" in figures else []
    parts += [_flat(figures["flat"])] if "flat" in figures else []
    return "\n\n".join(parts)


def _how(figures: Mapping[str, Any]) -> str:
    return (
        f"From asking for a kernel until it has imported the framework, the median of {figures['repeats']} kernels of "
        f"each sort in turn; a parent's memory counts what it shares by halves. {figures['date']}, "
        f"{figures['machine']}; files were in the system's cache, so that a first import of the day takes longer."
    )


def _nbval(found: Mapping[str, Any]) -> str:
    cold, warm = (statistics.median(found[f"{name}_seconds"]) for name in ("cold", "warm"))
    first = {name: statistics.median(found[f"{name}_first_cells_seconds"]) for name in ("cold", "warm", "imported")}
    spent = {name: first[name] - first["imported"] for name in ("cold", "warm")}
    less = 1 - spent["warm"] / spent["cold"]
    return (
        f"nbval over {found['notebooks']} solutions ({', '.join(found['lessons'])}), one after the other: "
        f"{cold:.0f} s cold, {warm:.0f} s warm. "
        f"Of that, waiting for imports: {spent['cold']:.1f} s cold, {spent['warm']:.1f} s warm "
        f"({100 * less:.0f} % less). Failures: {found['failed']}."
    )


def _flat(found: Mapping[str, Any]) -> str:
    first, last = found["parent_rss_bytes"][4], found["parent_rss_bytes"][-1]
    descriptors = found["parent_descriptors"]
    return (
        f"Fifty kernels from one parent, one after the other: {first / MEGABYTE:.2f} MB after the fifth, "
        f"{last / MEGABYTE:.2f} MB after the last; open files {descriptors[4]} and {descriptors[-1]}."
    )
