"""What other tools read: tables for gradebooks, results for Gradescope and PrairieLearn, a JUnit report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.files import write_files
from course_lib.grade.gradebook import grades_csv
from course_lib.grade.junit import junit_xml
from course_lib.grade.record import GradeRecord, newest, place
from course_lib.grade.results_json import gradescope, prairielearn
from course_lib.grade.spreadsheet import csv_text, exact, words
from course_lib.grade.totals import StudentTotal

MARKS_COLUMNS = (
    "student", "name", "lesson", "track", "exercise", "state", "reason", "mark", "max_mark", "message",
    "file", "counts",
)  # fmt: skip
TOOLS: dict[str, Callable[[Sequence[StudentTotal]], dict[str, Any]]] = {
    "gradescope": gradescope,
    "prairielearn": prairielearn,
}


def write_exports(
    out: Path, records: Sequence[GradeRecord], totals: Sequence[StudentTotal], settings: ClassSettings
) -> list[Path]:
    """Write all exports into the folder `out`, each of them whole or not at all, and return their paths.

    grades.csv (see gradebook.py; with grades_canvas.csv where the students are Canvas's), marks.csv with every result
    before weights and penalties, gradescope/<key>/results.json and prairielearn/<key>/results.json for everybody who
    handed something in, junit.xml. Raises CannotSave.
    """
    files = {"grades.csv": grades_csv(totals, settings)}
    if any(total.student.ids.get("canvas_user_id") for total in totals):
        files["grades_canvas.csv"] = grades_csv(totals, settings, with_points=True)
    kept = newest(records)
    files["marks.csv"] = csv_text(_marks(kept, totals))
    files["junit.xml"] = junit_xml(kept, totals)
    by_student: dict[str, list[StudentTotal]] = {}
    for total in totals:
        if total.handed_in:
            by_student.setdefault(total.student.key, []).append(total)
    for key, own in by_student.items():
        for tool, made in TOOLS.items():
            files[f"{tool}/{_folder(key)}/results.json"] = json.dumps(made(own), allow_nan=False) + "\n"
    return write_files(out, files)


def _marks(records: Sequence[GradeRecord], totals: Sequence[StudentTotal]) -> Iterator[Sequence[str]]:
    """marks.csv: one row for each result of each notebook, and one for each lesson that was not handed in."""
    yield MARKS_COLUMNS
    why_not = {place(aside.record): f"no: {aside.why}" for total in totals for aside in total.set_aside}
    names = {total.student.key: total.student.name for total in totals}
    for record in records:
        start = [words(record.student.key), words(names.get(record.student.key, record.student.name))]
        start += [words(record.lesson), words(record.track)]
        counts = why_not.get(place(record), "yes" if record.lesson else "no: it was not recognised.")
        end = [words(record.file), words(counts)]
        for r in record.exercises:
            marks = [exact(r.mark), exact(r.max_mark)]
            yield [*start, words(r.exercise), r.state, r.reason, *marks, words(r.message), *end]
        if record.review:
            yield [*start, "", "needs review", "", "", "", words(" ".join(record.review)), *end]
    for total in totals:
        if not total.handed_in:
            who = [words(total.student.key), words(total.student.name), total.lesson]
            yield [*who, "", "", "", "not handed in", "", exact(total.max_mark), "", "", ""]


def _folder(key: str) -> str:
    """The student's key as the name of a folder; whatever could lead elsewhere is refused."""
    if not re.fullmatch(r"[^/\\:\x00-\x1f]{1,200}", key) or key.strip(". ") == "":
        raise BadInput(f"A student's key should be safe as the name of a file; received {key!r}.")
    return key
