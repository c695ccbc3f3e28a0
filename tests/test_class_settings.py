"""A class's TOML file and its roster: what they say is taken over, and every mistake is told with its line."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from course_lib.errors import BadInput, CourseError, NotFound
from course_lib.grade.class_settings import ClassSettings, read_class_settings
from course_lib.grade.roster import absent, key_for, merged, read_roster
from course_lib.grade.student import Student
from course_lib.lessons import lesson

PRIVATE = """
[[exercise]]
id = "digits/temperature"
lesson = "01_digits"
title = "Softer probabilities"
kind = "function"
answer = "temperature"
core = true
marks = 2
tracks = ["numpy"]
"""

SHORT = '[[exercise]]\nlesson = "digits"\nid = "digits/a"\nanswer = "a"\n'

WHOLE = (
    """name = "Deep learning 101"

[lessons.01_digits]
column = "Digits (4711)"
points = 20
deadline = 2026-12-01T23:59:00+01:00
late_percent_per_day = 10
late_days = 3
exercises = ["digits/split", "digits/step", "digits/temperature"]
tracks = "sum"
only_tracks = ["numpy", "torch"]

[weights]
"digits/step" = 2.5
"""
    + PRIVATE
)


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    return tmp_path / "class.toml"


def read(toml: Path, text: str) -> ClassSettings:
    toml.write_text(text, encoding="utf-8")
    return read_class_settings(toml)


def refusal(toml: Path, text: str) -> BadInput:
    with pytest.raises(BadInput) as caught:
        read(toml, text)
    assert caught.value.message.endswith(".")
    assert caught.value.action, caught.value.message
    return caught.value


def test_everything_that_the_file_says_is_taken_over(toml: Path) -> None:
    settings = read(toml, WHOLE)
    own = settings.of("01_digits")
    assert (settings.name, own.column, own.points) == ("Deep learning 101", "Digits (4711)", 20)
    assert own.deadline is not None
    assert own.deadline.astimezone(UTC) == datetime(2026, 12, 1, 22, 59, tzinfo=UTC)
    assert (own.late_percent_per_day, own.late_days, own.tracks) == (10, 3, "sum")
    assert settings.tracks_of("01_digits") == ("numpy", "torch")
    assert [p.answer for p in settings.private] == ["temperature"]
    marks = {e.id: e.marks for e in settings.exercises_of("01_digits", "numpy")}
    assert marks == {"digits/split": 1, "digits/step": 2.5, "digits/temperature": 2}
    assert settings.max_mark("01_digits", "torch") == 3.5
    # split is a core exercise: solved once. The private one is for NumPy only.
    assert settings.max_mark_of_all("01_digits") == 1 + 2.5 + 2.5 + 2


def test_an_empty_file_changes_nothing(toml: Path) -> None:
    assert read(toml, "") == ClassSettings()
    settings = ClassSettings()
    assert settings.exercises_of("01_digits", "torch") == lesson("01_digits").exercises_of("torch")
    assert settings.of("02_unheard_of") == settings.of("01_digits")


def test_a_column_counts_up_to_one_number_for_the_whole_class(toml: Path) -> None:
    assert ClassSettings().points("01_digits") == 100, "the tracks of lesson 01 have different numbers of marks"
    one_track = read(toml, '[lessons.01_digits]\nonly_tracks = ["torch"]\n')
    assert one_track.points("01_digits") == one_track.max_mark("01_digits", "torch") == 11
    gone = read(
        toml, '[lessons.01_digits]\nexercises = ["digits/gradients", "digits/step"]\n[weights]\n"digits/step" = 0'
    )
    assert gone.points("01_digits") == 2, "a track in which nothing counts does not matter"
    summed = read(toml, '[lessons.01_digits]\ntracks = "sum"\nonly_tracks = ["torch", "jax"]\n')
    core = sum(e.marks for e in lesson("01_digits").exercises if e.core)
    assert summed.points("01_digits") == 2 * 11 - core


def test_a_lesson_goes_by_its_short_name_too(toml: Path) -> None:
    assert read(toml, "[lessons.digits]\npoints = 5\n").points("01_digits") == 5
    assert "once more" in refusal(toml, "[lessons.digits]\n[lessons.01_digits]\n").message


@pytest.mark.parametrize(
    ("text", "says", "remedy"),
    [
        ("nme = 3", r"line 1: `nme` is not a setting", "Did you mean `name`?"),
        ("name = 3", r"line 1: `name` should be text", 'name = "'),
        ("\n[lessons.01_digits]\nlate_dys = 3", r"line 3: `late_dys` in \[lessons.01_digits\]", "late_days"),
        ("[lessons.01_digit]", r"line 1: `01_digit` in \[lessons\] names no lesson", "01_digits"),
        ("lessons = 3", r"line 1: `lessons` should be a table; received 3 \(a whole number\)", r"\[lessons\]"),
        ("[lessons]\n01_digits = 3", r"line 2: `01_digits`", r"\[lessons.01_digits\]"),
        ('[lessons.01_digits]\ncolumn = "Final Grade"', "line 2: `column` .* takes for its own", "01_digits"),
        ('[lessons.01_digits]\ncolumn = "Section"', "takes for its own", "01_digits"),
        ('[lessons.01_digits]\ncolumn = "a;b"', "takes for its own", "01_digits"),
        ('[lessons.01_digits]\ncolumn = "A"\n[lessons.00_start]\ncolumn = "A"', "line 4: .*another lesson's", "own"),
        ("[lessons.01_digits]\npoints = 0", "points.* above 0; received 0", "digits"),
        ("[lessons.01_digits]\npoints = nan", "points", "digits"),
        ("[lessons.01_digits]\npoints = true", r"received true \(a truth value\)", "digits"),
        ("[lessons.01_digits]\ndeadline = 2026-12-01T23:59:00", "received 2026.* without offset", r"\+01"),
        ("[lessons.01_digits]\ndeadline = 2026-12-01", r"received 2026-12-01 \(a date without time", r"\+01"),
        ('[lessons.01_digits]\ndeadline = "2026-12-01T23:59:00+01:00"', "line 2: `deadline`.*text", "without quotes"),
        ("[lessons.01_digits]\nlate_days = 3", "line 2: `late_days` .* needs a deadline", "deadline ="),
        ("[lessons.01_digits]\nlate_percent_per_day = 101", "from 0 to 100; received 101", "%"),
        ("[lessons.01_digits]\nlate_days = -1", "whole number of 0 or more; received -1", "late_days = 3"),
        ("[lessons.01_digits]\nlate_days = 1.5", "whole number", "late_days = 3"),
        ("[lessons.01_digits]\nexercises = []", "a list of exercises", "leave it out"),
        ('[lessons.01_digits]\nexercises = ["digits/steps"]', "'digits/steps', which is no exercise", "digits/step"),
        ('[lessons.01_digits]\nexercises = ["start/threshold"]', "no exercise here", "digits/"),
        ('[lessons.01_digits]\nexercises = ["digits/step", "digits/step"]', "twice", "out"),
        ('[lessons.01_digits]\ntracks = "all"', '"best" or "sum"; received \'all\'', "best"),
        ('[lessons.01_digits]\nonly_tracks = ["pytorch"]', "'pytorch', which is no track", "torch"),
        ('[weights]\n"digits/step" = -1', r"line 2: `digits/step` in \[weights\] .*0 or more; received -1", "digits"),
        ('[weights]\n"digits/step" = inf', "0 or more; received inf", "digits"),
        ('[weights]\n"digits/stp" = 1', "`digits/stp` .* is no exercise", "digits/step"),
        ("[weights]\ndigits.step = 1", "`digits` in", "digits/"),
        ("name = 1 2", "should be TOML.*line 1", "Mend"),
        ("name = 1\nname = 2", "should be TOML", "Mend"),
        ("[[lessons]]", "`lessons` should be a table", r"\[lessons\]"),
        ("[exercise]", "`exercise` should be a list of tables", r"\[\[exercise\]\]"),
        ("[[exercise]]", r"line 1: \[exercise.1\] lacks `lesson`", "lesson ="),
        (PRIVATE + SHORT, r"line 11: \[exercise.2\] lacks `title`", "title"),
        (PRIVATE + PRIVATE, "line 13: `id` .*an exercise already", "another name"),
        (PRIVATE.replace("digits/temperature", "digits/step"), "an exercise already", "another name"),
        (PRIVATE.replace("digits/temperature", "start/step"), "digits/ and letters", "digits/"),
        (PRIVATE.replace("digits/temperature", 'digits/a\\")\\nx'), "digits/ and letters", "digits/"),
        (PRIVATE.replace('"function"', '"essay"'), '"function" or "model"', "function"),
        (PRIVATE.replace('= "temperature"', '= "1st"'), "name that the answer cell defines", "Python"),
        (PRIVATE.replace('= "temperature"', '= "class"'), "name that the answer cell defines", "Python"),
        (PRIVATE.replace("core = true", 'core = "yes"'), "line 8: `core` .*true or false", "core = true"),
        (PRIVATE.replace("marks = 2", "marks = -2"), "0 or more; received -2", "digits"),
        (PRIVATE.replace('["numpy"]', '["cobol"]'), "'cobol', which is no track", "numpy"),
        ("[roster]\nfiel = 3", "`fiel`", "file"),
        ("[roster]", "line 1: .*lacks `file`", "file ="),
    ],
)  # fmt: skip
def test_every_mistake_is_told_with_its_place_and_a_remedy(toml: Path, text: str, says: str, remedy: str) -> None:
    error = refusal(toml, text)
    assert error.message.startswith("class.toml")
    assert re.search(says, error.message), error.message
    assert re.search(remedy, error.action), error.action


def test_a_key_is_found_after_text_that_looks_like_it(toml: Path) -> None:
    text = 'name = """\n[weights]\n"digits/step" = 1\n"""\n[weights]\n"digits/split" = 1 # x\n"digits/step" = -1\n'
    assert "`digits/step` in [weights]" in refusal(toml, text).message
    inline = 'roster = {file = 3}\nlessons.01_digits = {points = -1}\nweights."digits/step" = 1'
    assert refusal(toml, inline).message.startswith("class.toml, line 2: `points` in [lessons.01_digits]")


def test_files_that_cannot_be_read_are_told(toml: Path) -> None:
    with pytest.raises(NotFound, match=r"class\.toml"):
        read_class_settings(toml)
    with pytest.raises(CourseError, match="directory"):
        read_class_settings(toml.parent)
    toml.write_bytes('name = "é"'.encode("latin-1"))
    with pytest.raises(BadInput, match="UTF-8"):
        read_class_settings(toml)
    toml.write_bytes(b'\xef\xbb\xbfname = "BOM"')
    assert read_class_settings(toml).name == "BOM"
    with pytest.raises(NotFound, match="roster"):
        read(toml, 'roster.file = "nobody.csv"')


CANVAS = """\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Digits (4711),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,11,(read only)
"Lovelace, Ada",101,S1,ada@example.org,Monday,9,90
"O'Neill, Zoë",102,S2,zoe,"Monday and Tuesday",,
"""
MOODLE = """"First name","Last name","ID number","Email address",Groups
Ada,Lovelace,S1,Ada@Example.org,A
Juan Carlos,de la Cruz,S3,jc@example.org,B
Sam,Smith,S4,sam1@example.org,B
Sam,Smith,S5,sam2@example.org,B
"""


def roster(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_canvas_gradebook_gives_the_class(tmp_path: Path, toml: Path) -> None:
    roster(tmp_path, CANVAS)
    read_back = read(toml, '[roster]\nfile = "roster.csv"').roster
    assert read_back is not None
    assert [s.key for s in read_back.students] == ["Lovelace__Ada", "O_Neill__Zoë"]
    assert [s.name for s in read_back.students] == ["Lovelace, Ada", "O'Neill, Zoë"]
    assert read_back.students[0].ids == {
        "canvas_user_id": "101", "sis_user_id": "S1", "sis_login_id": "ada@example.org", "section": "Monday",
    }  # fmt: skip


@pytest.mark.parametrize("change", [(",", ";"), (",", "\t"), ("\n", "\r\n"), ("First name", "FIRST NAME ")])
def test_moodles_participants_give_the_class(tmp_path: Path, change: tuple[str, str]) -> None:
    students = read_roster(roster(tmp_path, MOODLE.replace(*change))).students
    assert [s.key for s in students] == ["Ada_Lovelace", "Juan_Carlos_de_la_Cruz", "Sam_Smith", "Sam_Smith_2"]
    assert students[0].ids == {"id_number": "S1", "email": "Ada@Example.org"}


def test_what_is_no_class_list_is_told(tmp_path: Path) -> None:
    for text, says in (
        ("", "received nothing"),
        ("Vorname,Nachname\nAda,L\n", "received vorname"),
        ("a\0b", "received"),
    ):
        with pytest.raises(BadInput, match=says) as caught:
            read_roster(roster(tmp_path, text))
        assert "Moodle's participants" in caught.value.action
    with pytest.raises(BadInput, match="UTF-8"):
        read_roster(roster(tmp_path, MOODLE.replace("Ada", "Zoë"), "latin-1"))


def test_a_number_or_address_finds_a_student_under_any_heading_and_case(tmp_path: Path) -> None:
    listed = read_roster(roster(tmp_path, CANVAS))
    handed_in = [
        Student("a", "whoever", {"email": "ADA@example.org"}),
        Student("b", "whoever", {"sid": "s2"}),
    ]
    found, why = listed.match(handed_in)
    assert ({key: s.key for key, s in found.items()}, why) == ({"a": "Lovelace__Ada", "b": "O_Neill__Zoë"}, {})
    together = merged(handed_in[0], found["a"])
    assert (together.key, together.name, together.ids["canvas_user_id"]) == ("a", "Lovelace, Ada", "101")
    assert together.ids["email"] == "ADA@example.org"


@pytest.mark.parametrize("name", ["Ada Lovelace", "Lovelace, Ada", "lovelaceada", "ADA  LOVELACE", "Lovelace Ada"])
def test_a_name_finds_a_student_however_it_is_written(tmp_path: Path, name: str) -> None:
    for text in (CANVAS, MOODLE):
        found, _ = read_roster(roster(tmp_path, text)).match([Student("a", name, {})])
        assert found["a"].ids.get("sis_user_id", found["a"].ids.get("id_number")) == "S1"


def test_a_long_name_is_turned_as_the_platforms_turn_it(tmp_path: Path) -> None:
    listed = read_roster(roster(tmp_path, MOODLE))
    found, _ = listed.match([Student("a", "de la Cruz, Juan Carlos", {}), Student("b", "delacruzjuancarlos", {})])
    assert "a" not in found, "two of the collection have this name"
    found, _ = listed.match([Student("a", "de la Cruz, Juan Carlos", {})])
    assert found["a"].ids["id_number"] == "S3"


def test_nobody_gets_anothers_marks_by_a_name(tmp_path: Path) -> None:
    listed = read_roster(roster(tmp_path, MOODLE))
    found, why = listed.match([Student("s", "Sam Smith", {}), Student("x", "Eve", {})])
    assert found == {}
    assert "fits several people" in why["s"]
    assert "not found" in why["x"]
    twins = [Student("a", "Ada Lovelace", {}), Student("b", "lovelaceada", {})]
    assert listed.match(twins)[0] == {}
    other = Student("a", "Ada Lovelace", {"email": "another@example.org"})
    assert listed.match([other])[0] == {}, "the name is the same, the address is not"
    both = [Student("a", "Ada", {"email": "ada@example.org"}), Student("b", "A.", {"sid": "S1"})]
    found, why = listed.match(both)
    assert found == {}
    assert "2 students of the collection fit Ada Lovelace" in why["a"]


def test_numbers_that_contradict_each_other_find_nobody(tmp_path: Path) -> None:
    found, why = read_roster(roster(tmp_path, MOODLE)).match(
        [Student("a", "Ada", {"email": "ada@example.org", "sid": "S4"})]
    )
    assert found == {}
    assert "several" in why["a"]


def test_those_who_handed_in_nothing_get_keys_of_their_own(tmp_path: Path) -> None:
    listed = read_roster(roster(tmp_path, MOODLE))
    there = [student for student in listed.students if student.name.startswith("Ada")]
    missing = absent(listed, there, ["juan_carlos_de_la_CRUZ", "sam_smith_2"])
    assert [s.key for s in missing] == ["Juan_Carlos_de_la_Cruz_2", "Sam_Smith", "Sam_Smith_3"]


def test_keys_are_safe_names_of_files() -> None:
    assert key_for("../../Zoë\n=cmd", []) == "Zoë__cmd"
    assert key_for("李小龙", ["李小龙"]) == "李小龙_2"
    assert key_for("..", ["student"]) == "student_2"


def test_moodles_grading_worksheet_knows_the_numbers_of_the_folders(tmp_path: Path) -> None:
    sheet = (
        "Identifier,Full name,Email address,Status,Grade\n"
        'Participant 77,Sam Smith,sam1@example.org,"Submitted, late",-\n'
        "Participant 78,Sam Smith,sam2@example.org,No submission,-\n"
    )
    listed = read_roster(roster(tmp_path, sheet))
    found, _ = listed.match([Student("s", "Sam Smith", {"moodle_participant_id": "78"})])
    assert found["s"].ids["email"] == "sam2@example.org"
