"""What a student left in the work folder is deleted, and nothing else."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("the sandbox needs Linux", allow_module_level=True)

from course_lib.grade import work_folder
from course_lib.grade.work_folder import SharedMemory, empty, make_own_folder, used_bytes

DEEP = 1_500


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_tree_deeper_than_recursion_goes_and_paths_are_long(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    for number in range(DEEP):
        os.mkdir("deeper")
        (Path("file")).write_text("1")
        os.chdir("deeper")
        assert number < DEEP
    os.chdir(work)
    empty(work)
    assert os.listdir(work) == []


def test_closed_folders_as_an_ordinary_user_leaves_them(work: Path) -> None:
    (work / "a/b").mkdir(parents=True)
    (work / "a/b/file").write_text("1")
    for folder in (work / "a/b", work / "a"):
        folder.chmod(0)
    pid = os.fork()
    if pid == 0:
        try:
            if os.getuid() == 0:
                for folder in (work.parent.parent, work.parent, work, work / "a", work / "a/b"):
                    os.chown(folder, 12345, 12345)
                os.chdir(work)
                os.setresuid(12345, 12345, 12345)
            empty(".")
            os._exit(len(os.listdir(".")))
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_names_of_any_bytes(work: Path) -> None:
    for name in (b"\xff", b"a\nb", b"-rf", b"x" * 255, b"moved-0", b"moved-1"):
        os.makedirs(os.fsencode(work) + b"/" + name + b"/inner/" + name)
    empty(work)
    assert os.listdir(work) == []


def test_links_are_deleted_and_not_followed(work: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("1")
    (work / "inner").mkdir()
    for link in (work / "link", work / "inner/link"):
        link.symlink_to(outside)
    empty(work)
    assert os.listdir(work) == []
    assert (outside / "file").exists()


def test_a_link_in_place_of_the_folder_is_refused(work: Path, tmp_path: Path) -> None:
    (work / "file").write_text("1")
    (tmp_path / "link").symlink_to(work)
    with pytest.raises(OSError, match="link"):
        empty(tmp_path / "link")
    assert (work / "file").exists()


def test_pipes_and_sockets(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("socket")
    empty(work)
    assert os.listdir(work) == []


def test_used_bytes_counts_what_is_on_the_disk(work: Path) -> None:
    (work / "inner").mkdir()
    for file in (work / "a", work / "inner/b"):
        file.write_bytes(os.urandom(100_000))
    os.symlink("/", work / "all")
    assert 200_000 <= used_bytes(work, 1 << 30) < 300_000
    assert used_bytes(work, 1_000) > 1_000


def test_used_bytes_gives_up_on_very_many_files(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_folder, "_MANY_FILES", 10)
    for number in range(12):
        (work / str(number)).touch()
    assert used_bytes(work, 1 << 30) > 1 << 30


def test_folders_of_dead_supervisors_go_and_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    names = {
        f"course-sandbox-{pid}-0-old": True,
        f"course-sandbox-{os.getpid()}-0-mine": True,
        f"course-sandbox-{pid}-1-new": False,
        "course-sandbox-of-somebody": True,
        "course-grade-reports": True,
    }
    for name, old in names.items():
        (tmp_path / name).mkdir()
        if old:
            os.utime(tmp_path / name, (time.time() - 7200,) * 2)
    made = make_own_folder(3)
    assert {path.name for path in tmp_path.iterdir()} == {*names, made.name} - {f"course-sandbox-{pid}-0-old"}
    assert made.stat().st_mode & 0o777 == 0o711


def test_shared_memory_that_was_left_goes_and_what_was_there_stays() -> None:
    before, left = (Path(f"/dev/shm/test-{os.getpid()}-{word}") for word in ("before", "left"))
    try:
        before.write_text("1")
        shared = SharedMemory()
        left.write_text("1")
        shared.clean(os.getuid() + 1)
        assert left.exists()
        shared = SharedMemory()
        left.unlink()
        shared.renew()
        left.write_text("1")
        shared.clean(os.getuid())
        assert not left.exists()
        assert before.exists()
    finally:
        before.unlink(missing_ok=True)
        left.unlink(missing_ok=True)


def test_shared_memory_that_somebody_uses_stays() -> None:
    import mmap

    used = Path(f"/dev/shm/test-{os.getpid()}-used")
    shared = SharedMemory()
    try:
        used.write_bytes(b"1" * 4096)
        with used.open("r+b") as file, mmap.mmap(file.fileno(), 4096):
            shared.clean(os.getuid())
            assert used.exists()
    finally:
        used.unlink(missing_ok=True)
