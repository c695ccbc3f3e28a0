"""Exports are read back as other tools read them; what students wrote stays text, whatever it looks like."""

from __future__ import annotations

import csv
import io
import json
import re
import string
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import BadInput, CannotSave
from course_lib.grade.class_settings import ClassSettings, LessonSettings
from course_lib.grade.exports import TOOLS, write_exports
from course_lib.grade.gradebook import REVIEW
from course_lib.grade.record import GradeRecord
from course_lib.grade.roster import Roster
from course_lib.grade.spreadsheet import exact, words
from course_lib.grade.student import Student
from course_lib.grade.totals import totals
from grade_records import ADA, BOB, HOSTILE, record, result

TORCH = LessonSettings(only_tracks=("torch",))
SETTINGS = ClassSettings(lessons={"01_digits": TORCH})
EVE = Student("eve", HOSTILE, {"canvas_user_id": "103"})
HOSTILE_RECORD = record(
    EVE,
    exercises=(
        result("digits/split", title=HOSTILE),
        result("digits/step", "failed", message=HOSTILE, hint=HOSTILE),
        result("digits/challenge", "needs review", message=HOSTILE, max_mark=2),
    ),
    file=f"{HOSTILE}/x.ipynb",
    output=HOSTILE * 2000,
    notes=(HOSTILE,),
    review=(HOSTILE,),
)


def export(out: Path, records: list[GradeRecord], settings: ClassSettings = SETTINGS) -> dict[str, str]:
    """Write the exports and read them back as text, by their paths below `out`."""
    paths = write_exports(out, records, totals(records, settings), settings)
    assert {path for path in out.rglob("*") if path.is_file()} == set(paths)
    return {path.relative_to(out).as_posix(): path.read_bytes().decode("utf-8") for path in paths}


def table(text: str) -> list[dict[str, str]]:
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert all(len(row) == len(rows[0]) for row in rows)
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def as_canvas(text: str) -> dict[str, dict[str, str]]:
    """Marks by student's ID and assignment, read as Canvas's importer reads them."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    header = rows[0]
    assert "Student" in header[0]
    assert "ID" in header[1]
    assert re.search(r"SIS\s+User\s+ID", header[2])
    assert re.search(r"SIS\s+Login\s+ID", header[3])
    assert "Section" in header[4]
    ours = (
        r"Current Score|Current Points|Current Grade|Final Score|Final Points|Final Grade|Override (Score|Grade|Status)"
    )
    assignments = [title for title in header[5:] if not re.search(ours, title)]
    students = [row for row in rows[1:] if "Points Possible" not in row[0]]
    return {row[1]: {title: row[header.index(title)] for title in assignments} for row in students}


def as_moodle(text: str, column: str, grade: str, users: set[str]) -> dict[str, float | None]:
    """Marks by user, read as Moodle's importer reads them: a foreign row or a word for a mark ends everything."""
    found: dict[str, float | None] = {}
    for row in table(text):
        if row[column] not in users:
            raise LookupError(row[column])
        found[row[column]] = float(row[grade]) if row[grade].strip() not in ("", "-") else None
    return found


def test_canvas_reads_grades_csv(tmp_path: Path) -> None:
    files = export(tmp_path, [record(ADA), record(BOB, states={"digits/step": "failed"})])
    assert as_canvas(files["grades.csv"]) == {"101": {"01_digits": "11"}, "102": {"01_digits": "10"}}


def test_canvas_learns_the_points_of_a_new_assignment_from_the_other_file(tmp_path: Path) -> None:
    named = replace(TORCH, column="Digits (4711)", points=20)
    files = export(
        tmp_path, [record(ADA, states={"digits/step": "failed"})], ClassSettings(lessons={"01_digits": named})
    )
    first, second = (
        csv.reader(io.StringIO(files["grades_canvas.csv"])),
        list(csv.reader(io.StringIO(files["grades.csv"]))),
    )
    header, points, *rest = first
    assert [header, *rest] == second
    assert dict(zip(header, points, strict=True)) == {
        "Student": "    Points Possible", "ID": "", "SIS User ID": "", "SIS Login ID": "", "Section": "",
        "Digits (4711)": "20", REVIEW: "(read only)",
    }  # fmt: skip
    assert as_canvas(files["grades.csv"]) == {"101": {"Digits (4711)": "18.181818"}}


def test_moodle_reads_grades_csv_and_no_row_is_foreign(tmp_path: Path) -> None:
    ada = Student("a", "Ada Lovelace", {"moodle_id": "7"})
    listed = Student("r1", "Ada Lovelace", {"email": "ada@example.org", "id_number": "S1"})
    absent = Student("r2", "Bob", {"email": "bob@example.org", "id_number": "S2"})
    settings = replace(SETTINGS, roster=Roster("roster.csv", (listed, absent)))
    files = export(tmp_path, [record(ada)], settings)
    for column, ada_is, bob_is in (("SIS Login ID", "ada@example.org", "bob@example.org"), ("SIS User ID", "S1", "S2")):
        marks = as_moodle(files["grades.csv"], column, "01_digits", {ada_is, bob_is})
        assert marks == {ada_is: 11, bob_is: None}
    assert "grades_canvas.csv" not in files, "nobody here is Canvas's"


def test_who_has_no_address_is_refused_by_moodle_and_nobody_gets_their_mark(tmp_path: Path) -> None:
    known = Student("a", "Ada", {"email": "ada@example.org"})
    files = export(tmp_path, [record(known), record(Student("x_y", "Zed", {}), states={"digits/step": "failed"})])
    assert [row["SIS Login ID"] for row in table(files["grades.csv"])] == ["ada@example.org", "unknown: x_y"]
    with pytest.raises(LookupError, match="unknown: x_y"):
        as_moodle(files["grades.csv"], "SIS Login ID", "01_digits", {"ada@example.org"})
    assert {row["SIS User ID"] for row in table(files["grades.csv"])} == {""}, "nobody has a number"


def test_undecided_marks_are_the_marks_so_far_and_flagged(tmp_path: Path) -> None:
    files = export(tmp_path, [record(ADA, states={"digits/challenge": "needs review"}), record(BOB)])
    ada, bob = table(files["grades.csv"])
    assert ada["01_digits"] == "9"
    assert "digits/challenge (torch) was not decided: checker broke. Up to 2 more marks open." in ada[REVIEW]
    assert bob[REVIEW] == ""


def test_a_notebook_that_was_not_recognised_leaves_a_blank_mark_and_a_flag(tmp_path: Path) -> None:
    lost = record(ADA, "", lesson="", file="x.ipynb", review=("not a notebook: it is a JPEG.",))
    files = export(tmp_path, [lost, record(BOB)])
    ada = table(files["grades.csv"])[0]
    assert ada["01_digits"] == ""
    assert ada[REVIEW].count("it is a JPEG") == 2
    assert [row["counts"] for row in table(files["marks.csv"]) if row["file"] == "x.ipynb"] == [
        "no: it was not recognised."
    ]
    gradescope = json.loads(files["gradescope/lovelace_ada/results.json"])
    assert "it is a JPEG" in gradescope["output"]
    assert (gradescope["score"], gradescope["extra_data"]["needs_review"]) == (0, True)
    prairielearn = json.loads(files["prairielearn/lovelace_ada/results.json"])
    assert prairielearn["gradable"] is False
    assert "score" not in prairielearn
    assert "it is a JPEG" in prairielearn["format_errors"][0]


def test_tracks_with_other_marks_share_one_column(tmp_path: Path) -> None:
    files = export(
        tmp_path, [record(ADA, "torch"), record(BOB, "numpy", states={"digits/step": "failed"})], ClassSettings()
    )
    assert as_canvas(files["grades.csv"]) == {"101": {"01_digits": "100"}, "102": {"01_digits": "92.307692"}}


def test_whoever_handed_in_nothing_has_blank_marks_and_no_files(tmp_path: Path) -> None:
    settings = replace(SETTINGS, roster=Roster("r.csv", (Student("r1", "Ada Lovelace", {}), Student("r2", "Eve", {}))))
    files = export(tmp_path, [record(ADA)], settings)
    assert [(row["Student"], row["01_digits"], row[REVIEW]) for row in table(files["grades.csv"])] == [
        ("Ada Lovelace", "11", ""),
        ("Eve", "", ""),
    ]
    assert [path.split("/")[:2] for path in files if "/" in path] == [[t, "lovelace_ada"] for t in TOOLS]
    eve = table(files["marks.csv"])[-1]
    assert (eve["name"], eve["lesson"], eve["reason"], eve["mark"]) == ("Eve", "01_digits", "not handed in", "")


def test_marks_csv_has_every_result_and_says_what_counts(tmp_path: Path) -> None:
    first = record(ADA, file="a.ipynb", submitted_at="2026-12-01T10:00:00+00:00", states={"digits/step": "failed"})
    last = record(ADA, file="b.ipynb", submitted_at="2026-12-01T11:00:00+00:00")
    rows = table(export(tmp_path, [first, last, last])["marks.csv"])
    assert len(rows) == len(first.exercises) + len(last.exercises)
    [step] = [row for row in rows if row["exercise"] == "digits/step" and row["file"] == "a.ipynb"]
    assert step == {
        "student": "lovelace_ada", "name": "Ada Lovelace", "lesson": "01_digits", "track": "torch",
        "exercise": "digits/step", "state": "failed", "reason": "wrong", "mark": "0", "max_mark": "1",
        "message": "digits/step should be 1.0; received 2.0.", "file": "a.ipynb",
        "counts": "no: b.ipynb counts instead.",
    }  # fmt: skip
    assert {row["counts"] for row in rows if row["file"] == "b.ipynb"} == {"yes"}


@pytest.mark.parametrize(
    "text",
    ["=1+1", " =1", "+1", "-1", "@SUM(A1)", "\t=1", "\r\n=1", "\x00=1", "\x1b[1m=1", "\u200b=1", "＝1", "\ufeff@x"],
)
def test_no_cell_is_a_formula(text: str) -> None:
    assert words(text)[0] == "'"
    assert words(words(text)) == words(text)


def test_cells_are_short_and_numbers_are_plain() -> None:
    assert len(words("x" * 100_000)) == 1000
    assert words("Zoë O'Neill, 3=4") == "Zoë O'Neill, 3=4"
    assert [exact(v) for v in (0, -0.0, 1e-9, 11, 1 / 3, 1e6, 2.5)] == [
        "0",
        "0",
        "0",
        "11",
        "0.333333",
        "1000000",
        "2.5",
    ]


def hostile_texts(value: Any) -> list[str]:
    """Every string within a JSON value."""
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in hostile_texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in hostile_texts(each)]
    return [value] if isinstance(value, str) else []


def test_nothing_that_a_student_wrote_is_obeyed(tmp_path: Path) -> None:
    files = export(tmp_path, [HOSTILE_RECORD, record(ADA)])
    texts = [cell for name in ("grades.csv", "marks.csv") for row in table(files[name]) for cell in row.values()]
    assert len([cell for cell in texts if "HYPERLINK" in cell]) > 5
    assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@"))]
    assert not [cell for cell in texts if "\n" in cell]
    for tool in ("gradescope", "prairielearn"):
        texts += hostile_texts(json.loads(files[f"{tool}/eve/results.json"]))
    texts += [
        text for node in ET.fromstring(files["junit.xml"]).iter() for text in (node.text or "", *node.attrib.values())
    ]
    seen = "".join(texts)
    assert seen.count("<script>alert(1)</script>") > 10, "text stays as it was written"
    for forbidden in ("\x1b", "[31m", "\x00", "\x08", "\u202e", "\ud800", "\ufffe", "\x85", "\r"):
        assert forbidden not in seen
    assert not set(seen) & (set(map(chr, range(32))) - set("\t\n"))
    assert as_canvas(files["grades.csv"])["101"]["01_digits"] == "11", "the neighbour's row is whole"


def test_a_key_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    for key in ("..", ".", "", "a/b", "a\\b", "a\nb", "C:x", "x" * 300):
        with pytest.raises(BadInput, match="safe"):
            export(tmp_path / "out", [record(replace(ADA, key=key))])
    assert not list(tmp_path.iterdir()), "nothing is written before everything is known to be right"


def test_gradescope_reads_results_json(tmp_path: Path) -> None:
    late = replace(TORCH, late_percent_per_day=10.0, deadline=None)
    made = record(ADA, states={"digits/challenge": "needs review", "digits/step": "failed"}, output="hello")
    files = export(tmp_path, [made], ClassSettings(lessons={"01_digits": late}, weights={"digits/step": 3}))
    read = json.loads(files["gradescope/lovelace_ada/results.json"])
    assert read["score"] == 8
    assert isinstance(read["execution_time"], float)
    assert (read["output_format"], read["test_output_format"], read["test_name_format"]) == ("text", "text", "text")
    assert read["output"].startswith("01_digits: 8 of 13 marks, up to 2 more once it has been reviewed.")
    assert "Needs review: digits/challenge (torch)" in read["output"]
    tests = {test["extra_data"]["exercise"]: test for test in read["tests"]}
    assert len(tests) == len(made.exercises)
    assert sum(test["score"] for test in read["tests"]) == 8
    assert sum(test["max_score"] for test in read["tests"]) == 13
    for test in read["tests"]:
        assert test["status"] in ("passed", "failed")
        assert test["visibility"] == "visible"
        assert test["output"]
    assert (tests["digits/split"]["status"], tests["digits/split"]["output"]) == ("passed", "Passed.")
    assert (tests["digits/step"]["status"], tests["digits/step"]["max_score"]) == ("failed", 3)
    assert "received 2.0" in tests["digits/step"]["output"]
    open_one = tests["digits/challenge"]
    assert open_one["name"].startswith("01_digits: Needs review: ")
    assert "a person will look at it" in open_one["output"]
    assert open_one["tags"] == ["needs review"]


def test_a_penalty_stands_in_the_score_and_is_said(tmp_path: Path) -> None:
    from test_totals import DEADLINE, after

    late = replace(TORCH, deadline=DEADLINE, late_percent_per_day=10.0)
    files = export(tmp_path, [record(ADA, submitted_at=after(1.5))], ClassSettings(lessons={"01_digits": late}))
    read = json.loads(files["gradescope/lovelace_ada/results.json"])
    assert read["score"] == 8.8
    assert "2.2 taken off for lateness" in read["output"]
    assert "day 2 after the deadline" in read["output"]
    assert json.loads(files["prairielearn/lovelace_ada/results.json"])["score"] == 0.8
    assert table(files["grades.csv"])[0]["01_digits"] == "8.8"


def test_prairielearn_reads_results_json(tmp_path: Path) -> None:
    made = record(ADA, states={"digits/challenge": "needs review", "digits/step": "failed"})
    read = json.loads(export(tmp_path, [made])["prairielearn/lovelace_ada/results.json"])
    assert read["gradable"] is True
    assert read["score"] == pytest.approx(8 / 11, abs=1e-9)
    assert "Needs review" in read["message"]
    assert (sum(t["points"] for t in read["tests"]), sum(t["max_points"] for t in read["tests"])) == (8, 11)
    assert all(test["name"] and test["message"] for test in read["tests"])
    undecided = record(ADA, states={e.exercise: "needs review" for e in made.exercises})
    read = json.loads(export(tmp_path / "b", [undecided])["prairielearn/lovelace_ada/results.json"])
    assert (read["gradable"], "score" in read) == (False, False)
    assert len(read["format_errors"]) == len(made.exercises)


def test_results_stay_below_a_megabyte(tmp_path: Path) -> None:
    long = tuple(result(f"digits/e{n}", "failed", message="\u4e2d" * 50_000, hint="x" * 50_000) for n in range(300))
    strange = replace(record(ADA), lesson="77_unheard_of", exercises=long, review=("\u4e2d" * 10_000,) * 5)
    files = export(tmp_path, [strange])
    assert len(files["prairielearn/lovelace_ada/results.json"].encode()) < 1_000_000
    assert len(files["gradescope/lovelace_ada/results.json"].encode()) < 1_000_000


def token(text: str) -> bool:
    return bool(text) and text == " ".join(text.split())


SUITE = {"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "time"}


def assert_valid_junit(root: ET.Element) -> None:
    """The rules of Apache Ant's schema (JUnit.xsd): what must be there, in which order, and of which form."""
    assert (root.tag, root.attrib) == ("testsuites", {})
    for n, suite in enumerate(root):
        given = suite.attrib
        assert set(given) == SUITE
        assert token(given["name"])
        assert token(given["package"])
        assert given["id"] == str(n)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", given["timestamp"])
        cases = suite.findall("testcase")
        assert [each.tag for each in suite] == ["properties", *["testcase"] * len(cases), "system-out", "system-err"]
        assert int(given["tests"]) == len(cases)
        assert int(given["failures"]) == len(suite.findall("testcase/failure"))
        assert int(given["errors"]) == len(suite.findall("testcase/error"))
        assert re.fullmatch(r"\d+(\.\d+)?", given["time"])
        for case in cases:
            assert set(case.attrib) == {"name", "classname", "time"}
            assert token(case.attrib["name"])
            assert token(case.attrib["classname"])
            assert re.fullmatch(r"\d+(\.\d+)?", case.attrib["time"])
            assert [each.tag for each in case] in ([], ["failure"], ["error"])
            assert all(set(each.attrib) == {"type", "message"} for each in case)
        for each in suite.findall("properties/property"):
            assert set(each.attrib) == {"name", "value"}


def test_junit_is_valid_and_tells_wrong_from_undecided(tmp_path: Path) -> None:
    made = record(ADA, states={"digits/challenge": "needs review", "digits/step": "failed"}, output="hello\n")
    made = replace(made, graded_at="2026-12-02T09:00:00+01:00")
    lost = record(BOB, "", lesson="", file="x.ipynb", review=("not a notebook: it is a JPEG.",), graded_at="?")
    root = ET.fromstring(export(tmp_path, [made, lost, HOSTILE_RECORD])["junit.xml"])
    assert_valid_junit(root)
    ada, bob, eve = root
    assert (ada.attrib["tests"], ada.attrib["failures"], ada.attrib["errors"]) == ("10", "1", "1")
    assert ada.attrib["timestamp"] == "2026-12-02T08:00:00"
    [failure], [error] = ada.findall("testcase/failure"), ada.findall("testcase/error")
    assert (failure.attrib["type"], failure.text) == ("wrong", "digits/step should be 1.0; received 2.0.")
    assert error.attrib["type"] == "checker broke"
    assert ada.findtext("system-out") == "hello\n"
    assert {p.attrib["name"]: p.attrib["value"] for p in ada.iter("property")}["counts"] == "yes"
    assert {p.attrib["name"]: p.attrib["value"] for p in bob.iter("property")}["counts"] == "no"
    assert [error.text for error in bob.iter("error")] == ["not a notebook: it is a JPEG."]
    assert len(eve.findtext("system-out", "")) <= 20_000


def test_each_letter_that_xml_forbids_is_gone(tmp_path: Path) -> None:
    odd = "".join(map(chr, [*range(160), 0x2028, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF, 0x1F600, 0x10FFFF]))
    made = record(ADA, output=odd, exercises=(result("digits/step", "failed", message=odd),), file=odd, graded_at=odd)
    root = ET.fromstring(export(tmp_path, [made])["junit.xml"])
    assert_valid_junit(root)
    text = root.findtext("testsuite/testcase/failure", "")
    assert set(string.ascii_letters + string.digits + "<>&\"'" + "\U0001f600") <= set(text)


def test_writing_again_replaces_what_was_there(tmp_path: Path) -> None:
    export(tmp_path, [record(ADA, states={"digits/step": "failed"})])
    again = export(tmp_path, [record(ADA)])
    assert table(again["grades.csv"])[0]["01_digits"] == "11"


def test_what_has_not_changed_is_left_alone(tmp_path: Path) -> None:
    export(tmp_path, [record(ADA), record(BOB)])
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*.json")}
    export(tmp_path, [record(ADA, states={"digits/step": "failed"}), record(BOB)])
    changed = {path.parent.name for path, inode in before.items() if path.stat().st_ino != inode}
    assert changed == {"lovelace_ada"}


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(CannotSave, match="out"):
        export(tmp_path / "out", [record(ADA)])


def test_no_records_give_empty_tables(tmp_path: Path) -> None:
    files = export(tmp_path, [], ClassSettings())
    assert table(files["grades.csv"]) == table(files["marks.csv"]) == []
    assert list(ET.fromstring(files["junit.xml"])) == []
