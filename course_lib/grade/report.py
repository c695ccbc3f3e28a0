"""Everything that is written for people and for other tools, from the records alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from course_lib.grade.class_page import write_pages
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.exports import write_exports
from course_lib.grade.record import GradeRecord
from course_lib.grade.run_info import RunInfo
from course_lib.grade.student import Student
from course_lib.grade.totals import totals


def write_reports(
    out: Path, records: Sequence[GradeRecord], settings: ClassSettings, info: RunInfo, others: Sequence[Student] = ()
) -> list[Path]:
    """Tables, results for other tools, feedback and class page into `out`; what they replace is replaced whole.

    `others` are students who handed in no notebook.
    """
    sums = totals(records, settings, others)
    return [*write_exports(out, records, sums, settings), *write_pages(out, records, sums, settings, info)]
