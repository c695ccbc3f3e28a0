"""No zip file does harm: not to the disk, the memory, a neighbour's work or the rest of the class."""

from __future__ import annotations

import io
import itertools
import random
import stat
import struct
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from collections_made import NOTEBOOK, as_folder, as_zip, zipped
from course_lib.grade import archive
from course_lib.grade.archive import BadArchive, contents, read_member
from course_lib.grade.intake import Collection, find_submissions
from course_lib.notebook import UnreadableNotebook

LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


@pytest.fixture
def class_with(tmp_path: Path) -> Callable[[bytes], Collection]:
    """The hand-ins of a class: Anna's is sound, and Ben's is a zip file of these bytes."""

    def find(data: bytes) -> Collection:
        folder = as_folder(tmp_path / "class", {"anna.ipynb": NOTEBOOK, "ben.zip": data})
        before = sorted(tmp_path.rglob("*"))
        collection = find_submissions(folder)
        anna = collection.submissions[0]
        assert (anna.student.name, anna.read_bytes()) == ("anna", NOTEBOOK)
        assert {each.student.name for each in collection.submissions} <= {"anna", "ben"}
        assert sorted(tmp_path.rglob("*")) == before
        return collection

    return find


def bens(collection: Collection) -> list[str]:
    return [each.file for each in collection.submissions[1:]]


def why_unreadable(collection: Collection) -> str:
    """Why Ben's only notebook cannot be read."""
    [only] = collection.submissions[1:]
    with pytest.raises(UnreadableNotebook) as caught:
        only.read_bytes()
    assert caught.value.action
    assert caught.value.message.startswith(f"{only.file} could not be read: ")
    return caught.value.message


def patched(data: bytes, *, flags_on: int = 0, flags_off: int = 0) -> bytes:
    """A zip file with these flags changed in all its headers."""
    changed = bytearray(data)
    for mark, at in ((LOCAL, 6), (CENTRAL, 8)):
        place = data.find(mark)
        while place >= 0:
            (flags,) = struct.unpack_from("<H", data, place + at)
            struct.pack_into("<H", changed, place + at, (flags | flags_on) & ~flags_off)
            place = data.find(mark, place + 1)
    return bytes(changed)


def test_names_never_lead_out_of_the_zip_file(class_with: Callable[[bytes], Collection], tmp_path: Path) -> None:
    names = ["../../up.ipynb", "/etc/root.ipynb", r"C:\Users\ben\win.ipynb", "../anna/a.ipynb", "./x/.././b.ipynb"]
    collection = class_with(zipped(tmp_path, dict.fromkeys(names, NOTEBOOK)))
    assert sorted(bens(collection)) == [
        "ben.zip/Users/ben/win.ipynb",
        "ben.zip/anna/a.ipynb",
        "ben.zip/etc/root.ipynb",
        "ben.zip/up.ipynb",
        "ben.zip/x/b.ipynb",
    ]
    assert all(each.read_bytes() == NOTEBOOK for each in collection.submissions)


def test_no_file_in_a_students_zip_file_makes_it_anothers(tmp_path: Path) -> None:
    forged = {
        "Anna_1_assignsubmission_file_/x.ipynb": NOTEBOOK,
        "submission_metadata.yml": b"submission_1:\n  :submitters:\n  - :name: Anna",
        "submitted/Anna/ps1/x.ipynb": NOTEBOOK,
        "anna_1_1000_x.ipynb": NOTEBOOK,
    }
    files = {
        "Anna_1_assignsubmission_file_/a.ipynb": NOTEBOOK,
        "Ben_2_assignsubmission_file_/b.zip": zipped(tmp_path, forged),
    }
    collection = find_submissions(as_zip(tmp_path / "moodle.zip", files))
    assert [each.student.key for each in collection.submissions] == ["Anna_1", "Ben_2", "Ben_2", "Ben_2"]


def test_a_name_that_stands_twice_gives_two_notebooks(class_with: Callable[[bytes], Collection]) -> None:
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w") as made:
        warnings.simplefilter("ignore")
        for data in (b"first", b"second", b"third"):
            made.writestr("x.ipynb", data)
        made.writestr("x.ipynb (no. 2 of this name)", b"no notebook")
    collection = class_with(stream.getvalue())
    assert len(set(bens(collection))) == 3
    assert [each.read_bytes() for each in collection.submissions[1:]] == [b"first", b"second", b"third"]


def test_names_in_utf_8_without_the_flag_are_read(class_with: Callable[[bytes], Collection], tmp_path: Path) -> None:
    data = patched(zipped(tmp_path, {"Müller_日本.ipynb": NOTEBOOK}), flags_off=archive.UTF8_NAME)
    assert bens(class_with(data)) == ["ben.zip/Müller_日本.ipynb"]


def test_zip_files_in_zip_files_are_read_up_to_a_depth(
    class_with: Callable[[bytes], Collection], tmp_path: Path
) -> None:
    data = zipped(tmp_path, {"deep.ipynb": b"deep"})
    for level in (1, 2):
        data = zipped(tmp_path, {f"{level}.zip": data, f"{level}.ipynb": str(level).encode()})
    collection = class_with(data)
    assert bens(collection) == ["ben.zip/2.ipynb", "ben.zip/2.zip/1.ipynb", "ben.zip/2.zip/1.zip/deep.ipynb"]
    assert [each.read_bytes() for each in collection.submissions[1:]] == [b"2", b"1", b"deep"]


def test_too_deep_a_zip_file_is_a_hand_in_that_cannot_be_read(
    class_with: Callable[[bytes], Collection], tmp_path: Path
) -> None:
    data = zipped(tmp_path, {"x.ipynb": NOTEBOOK})
    for _ in range(5):
        data = zipped(tmp_path, {"z.zip": data})
    assert "it lies in 3 other zip files" in why_unreadable(class_with(data))


def test_a_link_in_a_zip_file_is_not_followed(class_with: Callable[[bytes], Collection]) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        link = zipfile.ZipInfo("x.ipynb")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    assert "links are not followed" in why_unreadable(class_with(stream.getvalue()))


def test_a_locked_notebook_says_so(class_with: Callable[[bytes], Collection], tmp_path: Path) -> None:
    data = patched(zipped(tmp_path, {"x.ipynb": NOTEBOOK}), flags_on=1)
    assert "locked with a password" in why_unreadable(class_with(data))


def test_a_rare_way_of_packing_says_so(class_with: Callable[[bytes], Collection]) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as made:
        made.writestr("x.ipynb", NOTEBOOK)
    assert "rare way" in why_unreadable(class_with(stream.getvalue()))


@pytest.mark.parametrize("data", [b"", b"PK", b"Rar!\x1a\x07", b"PK\x05\x06" + b"\xff" * 18, b"\0" * 1000])
def test_what_is_no_zip_file_is_a_hand_in_that_cannot_be_read(
    data: bytes, class_with: Callable[[bytes], Collection]
) -> None:
    assert "no zip file, or a damaged one" in why_unreadable(class_with(data))


def test_every_damage_is_noticed(tmp_path: Path) -> None:
    sound = zipped(tmp_path, {"x.ipynb": NOTEBOOK * 20})
    for at, wrong in itertools.product(range(len(sound)), (None, 0, 0xFF)):
        damaged = bytearray(sound)
        damaged[at] = sound[at] ^ 0x55 if wrong is None else wrong
        stream = io.BytesIO(damaged)
        try:
            data = [read_member(stream, each.member) for each in contents(stream, nested=True) if not each.trouble]
        except BadArchive:
            continue
        assert data in ([], [NOTEBOOK * 20])


def test_a_damaged_notebook_fails_alone(class_with: Callable[[bytes], Collection], tmp_path: Path) -> None:
    data = bytearray(zipped(tmp_path, {"x.ipynb": NOTEBOOK, "y.ipynb": NOTEBOOK}))
    data[45] ^= 0xFF
    first, second = class_with(bytes(data)).submissions[1:]
    with pytest.raises(UnreadableNotebook, match="damaged"):
        first.read_bytes()
    assert second.read_bytes() == NOTEBOOK


def test_a_bomb_is_refused_by_its_ratio(
    class_with: Callable[[bytes], Collection], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "BOMB_BYTES", 100_000)
    many = zipped(tmp_path, {f"{n}.ipynb": b" " * 60_000 for n in range(3)})
    assert "would unpack to" in why_unreadable(class_with(many))


def test_a_bomb_among_the_class_is_refused_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "BOMB_BYTES", 100_000)
    files = {"anna.ipynb": NOTEBOOK, "ben.ipynb": b" " * 1_000_000}
    anna, ben = find_submissions(as_zip(tmp_path / "class.zip", files)).submissions
    assert anna.read_bytes() == NOTEBOOK
    with pytest.raises(UnreadableNotebook, match="times its size"):
        ben.read_bytes()


def test_a_students_zip_file_may_hold_a_gigabyte(class_with: Callable[[bytes], Collection], tmp_path: Path) -> None:
    data = bytearray(zipped(tmp_path, {f"{n}.bin": bytes(1000) for n in range(11)}))
    place = data.find(CENTRAL)
    while place >= 0:
        struct.pack_into("<II", data, place + 20, 90_000_000, 100_000_000)
        place = data.find(CENTRAL, place + 1)
    assert "would unpack to 1,100 MB" in why_unreadable(class_with(bytes(data)))


def test_a_member_may_not_be_larger_than_the_limit_whatever_it_declares(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as made:
            made.writestr("x.ipynb", b" " * 5_000)
        data = bytearray(stream.getvalue())
        struct.pack_into("<I", data, data.find(CENTRAL) + 24, 3)
        [listed] = contents(io.BytesIO(data), nested=True)
        assert (listed.member.n_bytes, listed.trouble) == (3, "")
        with pytest.raises(BadArchive, match="larger than"):
            read_member(io.BytesIO(data), listed.member, limit=4_999)
        assert len(read_member(io.BytesIO(data), listed.member, limit=5_000)) == 5_000


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_no_more_than_the_limit_is_unpacked(method: int) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as made:
        made.writestr("x.ipynb", random.Random(0).randbytes(3_000_000))
    [listed] = contents(stream, nested=True)
    stream.seek(30 + len("x.ipynb"))
    assert sum(map(len, archive._unpacked(stream, listed.member, 1_500_000))) == 1_500_001


def test_a_large_notebook_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 10)
    [only] = find_submissions(as_zip(tmp_path / "class.zip", {"anna.ipynb": NOTEBOOK})).submissions
    with pytest.raises(UnreadableNotebook, match="larger than"):
        only.read_bytes()


@pytest.mark.parametrize("n", [3, 70_000])
def test_a_long_table_of_contents_is_refused_before_it_is_read(
    n: int, class_with: Callable[[bytes], Collection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_NESTED_CONTENTS_BYTES", 100)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for number in range(n):
            made.writestr(f"{number}.bin", b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it was read"))
        assert "table of contents" in why_unreadable(class_with(stream.getvalue()))


def test_a_students_zip_file_gives_a_hundred_notebooks_the_classes_all(tmp_path: Path) -> None:
    many = {f"{n:03}.ipynb": NOTEBOOK for n in range(150)}
    own = find_submissions(as_folder(tmp_path / "class", {"anna.ipynb": NOTEBOOK, "ben.zip": zipped(tmp_path, many)}))
    assert len(own.submissions) == 101
    assert "ben.zip holds too many files: 50 of them were left out." in own.notes
    path = as_zip(tmp_path / "alone" / "class.zip", many)
    assert len(find_submissions(path).submissions) == len(find_submissions(path.parent).submissions) == 150


def test_a_thousand_hand_ins_in_a_zip_file_are_found_and_read_in_seconds(tmp_path: Path) -> None:
    files = {f"student{n}_{n}_{n + 5000}_digits.ipynb": NOTEBOOK * 500 for n in range(1000)}
    path = as_zip(tmp_path / "submissions.zip", files)
    start = time.process_time()
    collection = find_submissions(path)
    assert sum(len(each.read_bytes()) for each in collection.submissions) == 1000 * 500 * len(NOTEBOOK)
    assert len({each.student.key for each in collection.submissions}) == 1000
    assert time.process_time() - start < 3
