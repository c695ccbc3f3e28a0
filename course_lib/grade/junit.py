"""junit.xml: one suite for each notebook, one case for each exercise.

Valid against both schemas in use: that of Apache Ant's reports (windyroad/JUnit-Schema, JUnit.xsd), which is the
stricter, and Jenkins's (jenkinsci/xunit-plugin, junit-10.xsd). A failure is an exercise that was judged wrong, an error
one that needs review; what a record as a whole needs review for is a case of its own.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime

from course_lib.grade.record import ExerciseResult, GradeRecord, place
from course_lib.grade.text import clean, one_line
from course_lib.grade.totals import StudentTotal

MAX_OUTPUT = 20_000
MAX_MESSAGE = 4_000


def junit_xml(records: Sequence[GradeRecord], totals: Sequence[StudentTotal]) -> str:
    """The records as a JUnit report, as text with an XML declaration."""
    counted = {place(record) for total in totals for record in total.counted if total.lesson}
    root = ET.Element("testsuites")
    for n, record in enumerate(records):
        root.append(_suite(record, n, counts=place(record) in counted))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(record: GradeRecord, n: int, *, counts: bool) -> ET.Element:
    of_record = bool(record.review)
    suite = ET.Element(
        "testsuite",
        {
            "name": _name(f"{record.student.key}: {record.file}"),
            "package": _name(f"{record.lesson}.{record.track}" if record.lesson else "unknown"),
            "id": str(n),
            "timestamp": _utc(record.graded_at),
            "hostname": "localhost",
            "tests": str(len(record.exercises) + of_record),
            "failures": str(sum(result.state == "failed" for result in record.exercises)),
            "errors": str(sum(result.state == "needs review" for result in record.exercises) + of_record),
            "time": f"{record.seconds:.3f}",
        },
    )
    properties = ET.SubElement(suite, "properties")
    facts = {
        "student": record.student.name, "file": record.file, "sha256": record.sha256,
        "submitted_at": record.submitted_at or "", "counts": "yes" if counts else "no", "run": record.run,
        "checks_sha256": record.checks_sha256, "sandbox": ", ".join(record.sandbox),
    }  # fmt: skip
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    for result in record.exercises:
        suite.append(_case(record, result))
    if of_record:
        case = ET.SubElement(suite, "testcase", {"name": "the notebook", "classname": _class(record), "time": "0"})
        text = clean("\n".join(record.review))[:MAX_MESSAGE]
        ET.SubElement(case, "error", {"type": "needs review", "message": one_line(text)}).text = text
    ET.SubElement(suite, "system-out").text = clean(record.output[: 2 * MAX_OUTPUT])[:MAX_OUTPUT]
    ET.SubElement(suite, "system-err")
    return suite


def _case(record: GradeRecord, result: ExerciseResult) -> ET.Element:
    name, seconds = _name(result.exercise), f"{result.seconds:.3f}"
    case = ET.Element("testcase", {"name": name, "classname": _class(record), "time": seconds})
    if result.state != "passed":
        tag = "failure" if result.state == "failed" else "error"
        text = clean("\n".join(filter(None, (result.message, result.hint))))[:MAX_MESSAGE]
        ET.SubElement(case, tag, {"type": result.reason, "message": one_line(result.message)}).text = text
    return case


def _class(record: GradeRecord) -> str:
    return _name(".".join(filter(None, (record.lesson, record.track))))


def _name(text: str) -> str:
    return one_line(text) or "unknown"


def _utc(iso: str) -> str:
    """A moment as the schema wants it: seconds of UTC, without an offset."""
    try:
        return datetime.fromisoformat(iso).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError):
        return "1970-01-01T00:00:00"
