"""Hand-ins are found on any disk, unreadable ones too, and each student gets a name that is safe everywhere."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from collections_made import NOTEBOOK, as_folder
from course_lib.errors import BadInput, NotFound
from course_lib.grade.intake import Collection, find_submissions
from course_lib.grade.keys import safe_key, unique_keys
from course_lib.notebook import BadNotebook, UnreadableNotebook


def found(collection: Collection) -> dict[str, str]:
    """Whose each notebook is, by the end of its path (without what lies around the collection)."""
    names = [each.file.removeprefix("hand-ins.zip/").removeprefix("hand-ins/") for each in collection.submissions]
    return dict(zip(names, [each.student.name for each in collection.submissions], strict=True))


def test_a_single_students_folder_is_one_student_and_said(tmp_path: Path) -> None:
    files = {"anna/a.ipynb": NOTEBOOK, "anna/b/c.ipynb": NOTEBOOK}
    collection = find_submissions(as_folder(tmp_path / "class", files))
    assert set(found(collection).values()) == {"anna"}
    assert "Everything lies in anna: it is taken for one student" in collection.notes[0]


def test_a_single_lessons_folder_holds_a_class(tmp_path: Path) -> None:
    files = {"01_digits/anna.ipynb": NOTEBOOK, "01_digits/ben/b.ipynb": NOTEBOOK, "01_digits/ben/c/d.ipynb": NOTEBOOK}
    collection = find_submissions(as_folder(tmp_path / "class", files))
    assert (set(found(collection).values()), collection.notes) == ({"anna", "ben"}, ())


def test_one_notebook(tmp_path: Path) -> None:
    path = as_folder(tmp_path / "my", {"digits torch.ipynb": NOTEBOOK}) / "digits torch.ipynb"
    collection = find_submissions(path)
    [only] = collection.submissions
    assert (collection.layout, only.file, only.student.key) == ("one notebook", "digits torch.ipynb", "digits_torch")
    assert pickle.loads(pickle.dumps(only)).read_bytes() == NOTEBOOK


def test_what_is_no_collection_is_a_teaching_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no"):
        find_submissions(tmp_path / "none")
    as_folder(tmp_path / "my", {"report.pdf": b"%PDF", "broken.zip": b"PK nonsense"})
    with pytest.raises(BadInput, match="neither a notebook nor a zip file") as caught:
        find_submissions(tmp_path / "my" / "report.pdf")
    assert "Canvas" in caught.value.action
    with pytest.raises(BadInput, match="damaged"):
        find_submissions(tmp_path / "my" / "broken.zip")


def test_an_empty_folder_is_said(tmp_path: Path) -> None:
    collection = find_submissions(as_folder(tmp_path / "empty", {}))
    assert (collection.submissions, collection.notes) == (
        (),
        ("There is no notebook in it (a file ending in .ipynb).",),
    )


def test_links_are_never_followed(tmp_path: Path) -> None:
    secret = as_folder(tmp_path / "secret", {"s.ipynb": b"secret"})
    folder = as_folder(tmp_path / "class", {"anna/a.ipynb": NOTEBOOK})
    (folder / "ben.ipynb").symlink_to(secret / "s.ipynb")
    (folder / "cem").mkdir()
    (folder / "cem" / "c.ipynb").symlink_to(folder / "anna" / "a.ipynb")
    (folder / "dora").symlink_to(secret)
    (folder / "fay.ipynb").symlink_to("nowhere")
    (folder / "loop").mkdir()
    (folder / "loop" / "loop").symlink_to(folder)
    collection = find_submissions(folder)
    assert set(found(collection)) == {"anna/a.ipynb", "ben.ipynb", "cem/c.ipynb", "fay.ipynb"}
    for each in collection.submissions[1:]:
        with pytest.raises(UnreadableNotebook, match="links are not followed"):
            each.read_bytes()
    (folder / "anna" / "a.ipynb").unlink()
    (folder / "anna" / "a.ipynb").symlink_to(secret / "s.ipynb")
    with pytest.raises(UnreadableNotebook):
        collection.submissions[0].read_bytes()


def test_a_pipe_is_left_out_and_blocks_nobody(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "class", {"anna.ipynb": NOTEBOOK})
    os.mkfifo(folder / "ben.ipynb")
    collection = find_submissions(folder)
    assert set(found(collection)) == {"anna.ipynb"}
    assert "ben.ipynb is neither a file nor a folder" in collection.notes[0]
    (folder / "anna.ipynb").unlink()
    os.mkfifo(folder / "anna.ipynb")
    with pytest.raises(UnreadableNotebook, match="no regular file"):
        collection.submissions[0].read_bytes()


def test_what_may_not_be_read_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = as_folder(tmp_path / "class", {"anna.ipynb": b"", "ben/b.ipynb": NOTEBOOK, "cem.ipynb": NOTEBOOK})
    scandir, opened = os.scandir, os.open

    def no_scandir(path: Path) -> object:
        if Path(path).name == "ben":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def no_open(path: Path, *rest: int) -> int:
        if Path(path).name == "anna.ipynb":
            raise PermissionError(13, "Permission denied")
        return opened(path, *rest)

    monkeypatch.setattr(os, "scandir", no_scandir)
    monkeypatch.setattr(os, "open", no_open)
    anna, ben, cem = find_submissions(folder).submissions
    assert cem.read_bytes() == NOTEBOOK
    for each in (anna, ben):
        with pytest.raises(BadNotebook, match=f"{each.file} could not be read.*Permission denied") as caught:
            each.read_bytes()
        assert caught.value.action
    assert (ben.student.name, ben.file) == ("ben", "ben")


def test_a_name_in_no_encoding_stays_apart_and_can_be_written(tmp_path: Path) -> None:
    folder = as_folder(tmp_path / "class", {"anna.ipynb": NOTEBOOK})
    for name in (b"\xff.ipynb", b"\xfe.ipynb", b"red\x1b[31m\xe2\x80\xae.ipynb"):
        Path(os.fsdecode(bytes(folder) + b"/" + name)).write_bytes(NOTEBOOK)
    submissions = find_submissions(folder).submissions
    assert len({each.student.key for each in submissions}) == 4
    for each in submissions:
        assert each.read_bytes() == NOTEBOOK
        assert each.file.encode("utf-8")
        assert "\x1b" not in each.file
        assert "\u202e" not in each.file + each.student.name + each.student.key


def test_keys_differ_where_a_file_system_could_confuse_them() -> None:
    texts = {"1": "Ann Lee", "2": "ann_lee", "3": "Ann/Lee", "4": "ANN LEE", "5": "Bob", "6": "e\u0301", "7": "é"}
    keys = unique_keys(texts)
    assert len({key.casefold() for key in keys.values()}) == len(texts)
    assert keys["5"] == "Bob"
    assert unique_keys(dict(reversed(texts.items()))) == keys
    assert unique_keys({"2": "ann_lee"}) == {"2": "ann_lee"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("../../etc/passwd", "etc_passwd"),
        ("", "student"),
        ("...", "student"),
        ("con", "_con"),
        ("LPT1.txt", "_LPT1.txt"),
        ("=cmd|' /C calc'!A0", "cmd____C_calc__A0"),
        ("日本 語", "日本_語"),
        ("a\u200b\u202eb\n", "a__b"),
    ],
)
def test_a_key_is_safe_as_a_files_name(text: str, key: str) -> None:
    assert safe_key(text) == key


def test_long_keys_are_cut_and_stay_different() -> None:
    keys = {safe_key("é" * 200 + end) for end in "ab"}
    assert len(keys) == 2
    assert all(len(key.encode()) <= 80 for key in keys)
