"""Records are only ever added, survive a kill at any byte, and a damaged one is named and never guessed."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from course_lib.errors import BadInput, CannotSave
from course_lib.grade.record import GradeRecord, already, append, load, newest
from course_lib.home import locked
from grade_records import ADA, BOB, HOSTILE, record, result


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out" / "records.jsonl"


def test_a_record_comes_back_as_it_was(path: Path) -> None:
    made = record(
        submitted_at="2026-12-01T22:14:00+01:00",
        late=True,
        notes=("two cells answer it",),
        review=("Too large.",),
        output=HOSTILE,
        exercises=(result("digits/step", "failed", message=HOSTILE, hint="Hint 1 of 2: look.", seconds=0.5),),
    )
    append(path, made)
    assert load(path) == [made]
    assert path.read_bytes().count(b"\n") == 1


def test_no_file_means_no_records(path: Path) -> None:
    assert load(path) == []


def test_records_are_added_and_nothing_before_them_is_touched(path: Path) -> None:
    append(path, record(ADA))
    first = path.read_bytes()
    append(path, record(BOB))
    assert path.read_bytes().startswith(first)
    assert [r.student.key for r in load(path)] == ["lovelace_ada", "bob"]


def test_a_kill_at_any_byte_costs_one_record_and_is_said(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    append(path, record(ADA))
    whole = path.read_bytes()
    append(path, record(BOB))
    second = path.read_bytes()[len(whole) :]
    for n_bytes in (1, 2, len(second) // 2, len(second) - 1):
        path.write_bytes(whole + second[:n_bytes])
        assert load(path) == [record(ADA)]
        assert "half written" in capsys.readouterr().err
        assert path.read_bytes() == whole + second[:n_bytes], "reading must not change the file"
        append(path, record(BOB))
        assert path.read_bytes() == whole + second
        assert load(path) == [record(ADA), record(BOB)]
        assert capsys.readouterr().err == ""


def test_a_file_that_is_only_half_a_line_is_begun_again(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"student":' + b" " * 200_000)
    append(path, record(ADA))
    assert load(path) == [record(ADA)]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (b"not json", "JSONDecodeError"),
        (b"\xff\xfe", "UnicodeDecodeError"),
        (b"[1, 2]", "list"),
        (b"{}", "'student'"),
        (b"[" * 100_000, "RecursionError"),
    ],
)
def test_a_damaged_line_is_named(path: Path, damage: bytes, says: str) -> None:
    append(path, record(ADA))
    whole = path.read_bytes()
    path.write_bytes(whole + damage + b"\n" + whole)
    with pytest.raises(BadInput, match=r"Line 2 of .*records\.jsonl") as caught:
        load(path)
    assert says in str(caught.value)
    assert "--resume" in caught.value.action


@pytest.mark.parametrize(
    "change", [{"state": "perfect"}, {"mark": float("inf")}, {"mark": "3"}, {"title": None, "exercise": None}]
)
def test_a_result_that_cannot_be_is_damage(path: Path, change: dict[str, object]) -> None:
    raw = record(ADA).to_dict()
    raw["exercises"] = [{**raw["exercises"][0], **change}]
    if change.get("exercise", "") is None:
        del raw["exercises"][0]["exercise"]
    path.parent.mkdir()
    path.write_text(json.dumps(raw) + "\n")
    with pytest.raises(BadInput, match="Line 1"):
        load(path)


def test_fields_of_a_later_version_are_ignored(path: Path) -> None:
    raw = record(ADA).to_dict()
    raw["gpu_seconds"] = 3
    raw["student"]["photo"] = "x"
    raw["exercises"][0]["stars"] = 5
    path.parent.mkdir()
    path.write_text(json.dumps(raw) + "\n")
    assert load(path) == [record(ADA)]


def test_marks_are_summed_and_one_doubt_is_enough_for_review() -> None:
    thirds = tuple(result(f"digits/e{n}", max_mark=0.1) for n in range(10))
    assert record(exercises=thirds).mark == 1.0
    sound = record(states={"digits/challenge": "failed"})
    assert (sound.mark, sound.max_mark, sound.needs_review) == (9, 11, False)
    assert record(states={"digits/step": "needs review"}).needs_review
    assert replace(sound, review=("It is 50 MB.",)).needs_review


def test_the_newest_record_of_a_file_counts() -> None:
    old, new = record(ADA, run="r1"), record(ADA, run="r2")
    other_file, other_student = record(ADA, file="b.ipynb"), record(BOB, file=old.file)
    assert newest([old, other_file, new, other_student]) == [new, other_file, other_student]


def test_already_asks_for_the_same_content_in_the_same_place_by_the_same_checks() -> None:
    done = [record(ADA, sha256="a", file="x.ipynb", checks_sha256="c")]
    assert already(done, "a", "x.ipynb", "c")
    for changed in (("b", "x.ipynb", "c"), ("a", "y.ipynb", "c"), ("a", "x.ipynb", "d")):
        assert not already(done, *changed)


def test_a_full_disk_leaves_whole_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(path, record(ADA))
    before = path.read_bytes()
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:10])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(CannotSave, match="No space left"):
        append(path, record(BOB))
    assert path.read_bytes() == before


def test_a_folder_in_the_way_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotSave, match="directory"):
        append(tmp_path, record(ADA))


def test_whoever_holds_the_file_for_a_run_may_add_to_it(path: Path) -> None:
    with locked(path):
        append(path, record(ADA))
    assert len(load(path)) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such lock")
def test_nobody_cuts_a_line_that_another_is_writing(path: Path) -> None:
    import fcntl

    append(path, record(ADA))
    with open(path, "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        waiting = threading.Thread(target=append, args=(path, record(BOB)))
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
    waiting.join(20)
    assert len(load(path)) == 2


def _append_many(path: Path, made: GradeRecord) -> None:
    for _ in range(20):
        append(path, made)


def test_writers_at_once_do_not_mix_their_lines(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_append_many, args=(path, record(student, output="x" * 20_000)))
        for student in (ADA, BOB)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert sorted(r.student.key for r in load(path)) == ["bob"] * 20 + ["lovelace_ada"] * 20
