"""Lays the records of several tracks side by side. Imports no framework: a record holds all that is needed."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import BadInput
from course_lib.metrics import accuracy_interval
from course_lib.record import Record


@dataclass(frozen=True)
class Table:
    """A small table that shows as HTML in a notebook and prints as aligned text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in self.head)
        rows = [
            f'<tr><th scope="row">{html.escape(row[0])}</th>'
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        ]
        caption = f"<caption>{html.escape(self.caption)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def __repr__(self) -> str:
        widths = [max(len(row[i]) for row in (self.head, *self.rows)) for i in range(len(self.head))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.head, *self.rows)
        ]
        return "\n".join([*lines, self.caption])


def time_ratios(records: Mapping[str, Record]) -> dict[str, float | None]:
    """Seconds a step over those of the fastest track of the same run; None for a track that ran alone or elsewhere.

    The reference run and the learner's own are never mixed: each ratio is within one run, so on one machine.
    """
    ratios: dict[str, float | None] = {}
    for track, record in records.items():
        same = [r.step_seconds for r in records.values() if r.run == record.run]
        ratios[track] = record.step_seconds / min(same) if len(same) > 1 else None
    return ratios


def loss_differences(records: Mapping[str, Record], *, reference: str = "numpy") -> dict[str, NDArray[np.float64]]:
    """Per track, the distance of its loss from the reference's at each step, (n_steps,); without the reference itself.

    Raises BadInput when the reference is missing or a track ran another task (steps, rate, momentum or seed differ).
    """
    if reference not in records:
        raise BadInput(
            f"The curves are compared with {reference}; there are {', '.join(records)}.",
            action=f"Run `course run {next(iter(records.values())).lesson} --track {reference}`.",
        )
    base = records[reference]
    differences = {}
    for track, record in records.items():
        for field in ("n_steps", "learning_rate", "momentum", "seed"):
            want, got = getattr(base, field), getattr(record, field)
            if want != got:
                raise BadInput(
                    f"{track} ran another task than {reference}: {field} is {got}, not {want}.",
                    action="Run both again.",
                )
        if track != reference:
            differences[track] = np.abs(np.asarray(record.losses) - np.asarray(base.losses))
    return differences


def table(records: Mapping[str, Record]) -> Table:
    """One row per track: accuracy with its 95 % interval, time as a ratio, first step, memory, size of the code."""
    ratios = time_ratios(records)
    rows = []
    for track, record in records.items():
        low, high = accuracy_interval(record.validation_accuracy, record.n_validation)
        ratio = ratios[track]
        rows.append(
            (
                track,
                f"{record.validation_accuracy:.3f} ({low:.3f} to {high:.3f})",
                f"× {ratio:.1f}" if ratio is not None else "ran alone",
                f"× {record.first_step_seconds / record.step_seconds:.0f}",
                f"{record.peak_bytes / 1e6:.0f} MB" if record.peak_bytes is not None else "not measured",
                str(record.code_tokens) if record.code_tokens is not None else "not counted",
                {"reference": "the course", "run": "course run", "notebook": "your notebook"}[record.origin],
            )
        )
    head = ("track", "validation accuracy", "a step, to the fastest", "first step, to a later one", "peak memory",
            "code tokens", "record from")  # fmt: skip
    machines = sorted({record.machine for record in records.values()})
    return Table(head, tuple(rows), f"Measured on: {'; '.join(machines)}. A time is compared within one run only.")
