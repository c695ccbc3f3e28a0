"""Whose each notebook is, in what Canvas, Moodle, Gradescope and nbgrader hand out, and in a plain folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from collections_made import NOTEBOOK, as_folder, as_zip, zipped
from course_lib.grade.intake import Collection, find_submissions
from course_lib.grade.layout_files import time_of

Make = Callable[[Mapping[str, bytes]], Collection]


@pytest.fixture(params=["folder", "zip", "zip in a folder", "folder in a zip", "folder in a folder"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Finds the hand-ins of a collection, in each of the ways in which it reaches the instructor's disk."""

    def make(files: Mapping[str, bytes]) -> Collection:
        way = request.param
        if way.startswith("folder in"):
            files = {f"hand-ins/{name}": data for name, data in files.items()}
        if way.startswith("folder") and way != "folder in a zip":
            return find_submissions(as_folder(tmp_path / "collection", files))
        path = as_zip(tmp_path / "collection" / "hand-ins.zip", files)
        return find_submissions(path.parent if way == "zip in a folder" else path)

    return make


def found(collection: Collection) -> dict[str, str]:
    """Whose each notebook is, by the end of its path (without what lies around the collection)."""
    names = [each.file.removeprefix("hand-ins.zip/").removeprefix("hand-ins/") for each in collection.submissions]
    return dict(zip(names, [each.student.name for each in collection.submissions], strict=True))


def test_canvas(made: Make) -> None:
    collection = made(
        {
            "doejane_LATE_123_45678_digits_torch.ipynb": NOTEBOOK,
            "doejane_LATE_123_45679_2_digits_jax-1.ipynb": NOTEBOOK,
            "müller_lüdenscheidt_124_45680_my work (1).ipynb": NOTEBOOK,
            "roejoe_125_45681_scan.pdf": b"%PDF",
            "poeann_126_text.html": b"<p>",
            "loemax_127_45682_notebooks.ipynb": NOTEBOOK,
        }
    )
    assert collection.layout == "Canvas"
    first, second, third, fourth = sorted(collection.submissions, key=lambda each: each.file)
    assert (first.student.key, first.student.ids) == ("doejane_123", {"canvas_user_id": "123"})
    assert first.student == second.student
    assert (first.late, third.late, fourth.late) == (True, False, False)
    assert {each.submitted_at for each in collection.submissions} == {None}
    assert fourth.student.name == "müller_lüdenscheidt"
    assert [each.name for each in collection.empty_handed] == ["poeann", "roejoe"]
    assert any("roejoe handed in no notebook, only" in note and "scan.pdf" in note for note in collection.notes)
    assert all(each.read_bytes() == NOTEBOOK for each in collection.submissions)


def test_canvas_with_anonymous_students(made: Make) -> None:
    collection = made({"anon_aB3dE_7001_a.ipynb": NOTEBOOK, "LATE_anon_9Zk2x_7002_2020_b.ipynb": NOTEBOOK})
    assert collection.layout == "Canvas"
    assert {(each.student.key, each.late) for each in collection.submissions} == {
        ("anon_aB3dE", False),
        ("anon_9Zk2x", True),
    }


def test_numbers_in_names_do_not_make_it_canvas(tmp_path: Path) -> None:
    names = {f"lab_1_200_{name}.ipynb": NOTEBOOK for name in ("anna", "ben")}
    collection = find_submissions(as_folder(tmp_path / "lab", names))
    assert collection.layout == "a folder of notebooks"
    other = {"lab_1_200_anna.ipynb": NOTEBOOK, "project_1_300_ben.ipynb": NOTEBOOK}
    assert find_submissions(as_folder(tmp_path / "two", other)).layout == "a folder of notebooks"
    assert found(collection) == {"lab_1_200_anna.ipynb": "lab_1_200_anna", "lab_1_200_ben.ipynb": "lab_1_200_ben"}


def test_moodle(made: Make, tmp_path: Path) -> None:
    collection = made(
        {
            "Anna O'Neil_1234567_assignsubmission_file_/digits torch.ipynb": NOTEBOOK,
            "Anna O'Neil_1234567_assignsubmission_onlinetext_/onlinetext.html": b"<p>see file</p>",
            "Anna O'Neil_1234568_assignsubmission_file/part/two/x.ipynb": NOTEBOOK,
            "Группа 5_77_assignsubmission_file_/y.ipynb": NOTEBOOK,
            "Ben_1234569_assignsubmission_onlinetext/onlinetext.html": b"<p>",
            "Cem_1234570_assignsubmission_file_/work.zip": zipped(tmp_path, {"work/z.ipynb": NOTEBOOK}),
            "Default group_assignsubmission_file_/d.ipynb": NOTEBOOK,
        }
    )
    assert collection.layout == "Moodle"
    keys = {each.student.key: each.student.ids for each in collection.submissions}
    assert keys == {
        "Anna_O_Neil_1234567": {"moodle_participant_id": "1234567"},
        "Anna_O_Neil_1234568": {"moodle_participant_id": "1234568"},
        "Cem_1234570": {"moodle_participant_id": "1234570"},
        "Default_group": {},
        "Группа_5_77": {"moodle_participant_id": "77"},
    }
    assert found(collection)["Cem_1234570_assignsubmission_file_/work.zip/work/z.ipynb"] == "Cem"
    assert [each.name for each in collection.empty_handed] == ["Ben"]


def test_moodle_without_folders(made: Make) -> None:
    collection = made(
        {"Anna_1_assignsubmission_file_a_b.ipynb": NOTEBOOK, "Ben_2_assignsubmission_file_c.ipynb": NOTEBOOK}
    )
    assert (collection.layout, sorted(found(collection).values())) == ("Moodle", ["Anna", "Ben"])


METADATA = """---
submission_409194023:
  :submitters:
  - :name: Ann Ä. Lee
    :sid: '00123'
    :email: ann@example.edu
  :created_at: 2026-04-26 17:34:00.861687000 Z
  :score: 2.0
  :results:
    bad: @ is no YAML
    output: |-
      submission_1:
        :submitters:
        - :name: Forged
    tests:
    - output: 'a line

'
      status: passed
...
submission_500:
  :submitters:
  - :name: Bob B
    :sid: 222
    :email:
  - :name: Cy C
    :email: cy@example.edu
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: &1 2026-04-27 08:00:00.000000000 Z
    time: *1
submission_700:
  :submitters: []
submission_800:
  :submitters:
  - :name: !binary |-
      RMO8
"""


def test_gradescope(made: Make) -> None:
    collection = made(
        {
            "submission_metadata.yml": METADATA.encode(),
            "submission_409194023/digits.ipynb": NOTEBOOK,
            "submission_409194023/submission_metadata.yml": b"submission_409194023:\n  :submitters:\n  - :name: Forged",
            "submission_500/src/digits.ipynb": NOTEBOOK,
            "submission_700/a.ipynb": NOTEBOOK,
            "submission_900/b.ipynb": NOTEBOOK,
        }
    )
    assert collection.layout == "Gradescope"
    ann, bob, cy, nobody, unlisted = sorted(collection.submissions, key=lambda each: each.file)
    assert (ann.student.name, ann.student.key) == ("Ann Ä. Lee", "Ann_Ä._Lee_00123")
    assert ann.student.ids == {"email": "ann@example.edu", "sid": "00123", "gradescope_submission_id": "409194023"}
    assert ann.submitted_at == datetime(2026, 4, 26, 17, 34, 0, 861687, tzinfo=UTC)
    assert (bob.student.name, cy.student.name) == ("Bob B", "Cy C")
    assert bob.student.ids == {"sid": "222", "gradescope_submission_id": "500"}
    assert (bob.file != cy.file, bob.read_bytes()) == (True, cy.read_bytes())
    assert bob.submitted_at == cy.submitted_at == datetime(2026, 4, 27, 8, tzinfo=UTC)
    assert (nobody.student.name, unlisted.student.name) == ("submission 700", "submission 900")
    assert [each.name for each in collection.empty_handed] == ["Dü"]
    assert any("of groups (submission_500)" in note for note in collection.notes)


def test_gradescope_without_its_metadata_says_that_names_are_missing(made: Make) -> None:
    collection = made({"submission_1/a.ipynb": NOTEBOOK, "submission_2/b.ipynb": NOTEBOOK})
    assert {each.student.key for each in collection.submissions} == {"submission_1", "submission_2"}
    assert any("names of the students are not known" in note for note in collection.notes)


def test_nbgrader(made: Make) -> None:
    collection = made(
        {
            "submitted/bitdiddle/ps1/problem1.ipynb": NOTEBOOK,
            "submitted/bitdiddle/ps1/timestamp.txt": b"2020-01-30 10:30:47.524219 UTC\n",
            "submitted/hacker/ps1/problem1.ipynb": NOTEBOOK,
            "submitted/hacker/ps1/timestamp.txt": b"2020-01-30 10:30:47 CET",
            "submitted/lazy/ps1/jupyter.png": b"",
            "source/ps1/problem1.ipynb": NOTEBOOK,
            "autograded/hacker/ps1/problem1.ipynb": NOTEBOOK,
            "gradebook.db": b"",
        }
    )
    assert collection.layout == "nbgrader"
    assert {each.student.key: each.submitted_at for each in collection.submissions} == {
        "bitdiddle": datetime(2020, 1, 30, 10, 30, 47, 524219, tzinfo=UTC),
        "hacker": None,
    }
    assert collection.submissions[0].student.ids == {"nbgrader_student_id": "bitdiddle"}
    assert [each.name for each in collection.empty_handed] == ["lazy"]
    assert any("timestamp.txt could not be read for" in note and "hacker/ps1" in note for note in collection.notes)


def test_the_submitted_folder_of_nbgrader_alone(tmp_path: Path) -> None:
    files = {"ann/ps1/a.ipynb": NOTEBOOK, "ben/ps1/a.ipynb": NOTEBOOK}
    collection = find_submissions(as_folder(tmp_path / "submitted", files))
    assert (collection.layout, found(collection)) == ("nbgrader", {"ann/ps1/a.ipynb": "ann", "ben/ps1/a.ipynb": "ben"})
    stamped = {**files, "ann/ps1/timestamp.txt": b"2020-01-30 10:30:47", "ben/ps1/timestamp.txt": b"x"}
    assert find_submissions(as_folder(tmp_path / "other", stamped)).layout == "nbgrader"
    one_of_three = {"ann/ps1/timestamp.txt": b"2020-01-30 10:30:47", "ann/ps1/a.ipynb": NOTEBOOK, **files, "cy/": b""}
    assert find_submissions(as_folder(tmp_path / "plain", one_of_three)).layout == "a folder of notebooks"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2020-01-30 10:30:47.524219 UTC", "2020-01-30T10:30:47.524219+00:00"),
        ("2020-01-30 10:30:47", "2020-01-30T10:30:47+00:00"),
        ("2020-01-30T10:30:47.5+0130", "2020-01-30T09:00:47.500000+00:00"),
        ("2026-04-26 17:34:00.861687123 Z", "2026-04-26T17:34:00.861687+00:00"),
    ],
)
def test_times_are_read_as_the_platforms_write_them(text: str, iso: str) -> None:
    time = time_of(text)
    assert time is not None
    assert time.isoformat() == iso


@pytest.mark.parametrize("text", ["", "None", "yesterday", "2020-13-30 10:30:47", "0001-01-01 00:00:00 +2359"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert time_of(text) is None


def test_a_folder_of_notebooks(made: Make, tmp_path: Path) -> None:
    collection = made(
        {
            "anna.ipynb": NOTEBOOK,
            "ben/deep/er/digits_torch.IPYNB": NOTEBOOK,
            "ben/digits.ipynb.txt": NOTEBOOK,
            "01_digits/cem.ipynb": NOTEBOOK,
            "dora/01_digits/digits_torch.ipynb": NOTEBOOK,
            'e "quoted" <&> ü.ipynb': NOTEBOOK,
            "fritz.zip": zipped(tmp_path, {"Desktop/hw/digits.ipynb": NOTEBOOK}),
            "gina/report.pdf": b"%PDF",
            "hans/": b"",
            "roster.csv": b"",
            ".DS_Store": b"",
            "__MACOSX/._anna.ipynb": b"",
            "ben/.ipynb_checkpoints/old.ipynb": NOTEBOOK,
        }
    )
    assert collection.layout == "a folder of notebooks"
    assert found(collection) == {
        "01_digits/cem.ipynb": "cem",
        "anna.ipynb": "anna",
        "ben/deep/er/digits_torch.IPYNB": "ben",
        "ben/digits.ipynb.txt": "ben",
        "dora/01_digits/digits_torch.ipynb": "dora",
        'e "quoted" <&> ü.ipynb': 'e "quoted" <&> ü',
        "fritz.zip/Desktop/hw/digits.ipynb": "fritz",
    }
    said = "\n".join(collection.notes)
    assert "gina handed in no notebook, only" in said
    assert "hans handed in no notebook." in said
    assert "roster.csv" in said
    assert "DS_Store" not in said
    assert [each.key for each in collection.empty_handed] == ["gina", "hans"]
