"""The figures in the docs are those that were measured, and say so in words that fit them."""

from __future__ import annotations

from pathlib import Path

from course_lib.build import PAGES
from course_lib.build.readme import with_sections
from course_lib.build.warm_figures import table, warm_kernels

FIGURES = {
    "date": "2026-12-01",
    "machine": "Linux",
    "repeats": 3,
    "tracks": {
        "torch": {
            "cold_imported_seconds": 3.0,
            "warm_imported_seconds": 0.5,
            "first_warm_seconds": 4.0,
            "ratio": 6.0,
            "cold_private_bytes": 300_000_000,
            "warm_private_bytes": 30_000_000,
            "parent_pss_bytes": 200_000_000,
        }
    },
    "nbval": {
        "notebooks": 2,
        "lessons": ["01_digits"],
        "failed": 0,
        "cold_seconds": [20.0],
        "warm_seconds": [12.0],
        "cold_first_cells_seconds": [11.0],
        "warm_first_cells_seconds": [3.0],
        "imported_first_cells_seconds": [1.0],
    },
}


def test_ratios_and_savings_are_told_as_they_are() -> None:
    text = table(FIGURES)
    assert "| PyTorch | 3.00 s | 0.50 s | 6.0 × | 4.00 s | 300 MB, 30 MB | 200 MB |" in text
    assert "10.0 s cold, 2.0 s warm (80 % less)" in text


def test_the_docs_show_the_last_measurement(repository: Path) -> None:
    text = (repository / "docs/warm_kernels.md").read_text(encoding="utf-8")
    assert warm_kernels() in text
    assert with_sections(text, PAGES["docs/warm_kernels.md"]) == text, 'it is stale: run "course build"'
