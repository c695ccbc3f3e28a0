"""Nothing of the learner's is lost: the writing side."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib import home as home_module
from course_lib.errors import CannotSave, CourseError
from course_lib.home import home, locked, read_json, write_json, write_text_atomically


def test_home_is_made_on_demand(course_home: Path) -> None:
    assert not course_home.exists()
    assert home() == course_home
    assert course_home.is_dir()


def test_home_under_a_file_is_a_teaching_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(CannotSave, match="untouched") as caught:
        home()
    assert "file stands where a folder should be" in caught.value.action
    assert (tmp_path / "file").read_text() == "mine"


def test_home_where_nobody_can_write_is_a_teaching_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_HOME", "/proc/every-framework")
    with pytest.raises(CannotSave) as caught:
        home()
    assert caught.value.exit_code == 3
    assert caught.value.action


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    path = tmp_path / "progress.json"
    write_text_atomically(path, "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(CannotSave, match="No space left on device") as caught:
        write_text_atomically(path, "new")
    assert "Free some disk space" in caught.value.action
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["progress.json"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_really_full_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "progress.json"
    write_text_atomically(path, "old")
    real_open = open

    def open_full(file: object, mode: str = "r") -> object:
        return real_open("/dev/full", "wb") if "x" in mode else real_open(str(file), mode)

    monkeypatch.setattr(home_module, "open", open_full, raising=False)
    with pytest.raises(CannotSave, match="No space left"):
        write_text_atomically(path, "new")
    assert path.read_text() == "old"


def test_a_kill_between_writing_and_renaming_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    write_text_atomically(path, "old")
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom course_lib.home import write_text_atomically\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_text_atomically(Path(sys.argv[1]), 'new')\n"
    )
    child = subprocess.run([sys.executable, "-c", program, str(path)], timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    leftovers = list(tmp_path.glob(".progress.json.*.tmp"))
    assert len(leftovers) == 1
    os.utime(leftovers[0], (0, 0))
    write_text_atomically(path, "newer")
    assert path.read_text() == "newer"
    assert not leftovers[0].exists()


def test_rewriting_keeps_rights_and_symbolic_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text_atomically(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_missing_json_file_gives_the_default(tmp_path: Path) -> None:
    assert read_json(tmp_path / "none.json", {"a": 1}) == {"a": 1}


@pytest.mark.parametrize("damage", [b'{"a": 1', b"\xff\xfe\x00", b"", b"not json"])
def test_a_damaged_json_file_is_kept_aside_and_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: bytes
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(damage)
    assert read_json(path, []) == []
    assert (tmp_path / "settings.json.damaged-1").read_bytes() == damage
    assert "damaged-1" in capsys.readouterr().err
    assert read_json(path, []) == []
    assert capsys.readouterr().err == ""


def test_a_second_damaged_file_does_not_replace_the_first(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for text in ("first{", "second{"):
        path.write_text(text)
        read_json(path, None)
    assert (tmp_path / "settings.json.damaged-1").read_text() == "first{"
    assert (tmp_path / "settings.json.damaged-2").read_text() == "second{"


def test_a_folder_in_the_place_of_a_json_file_is_a_teaching_error(tmp_path: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    with pytest.raises(CourseError, match="could not be read"):
        read_json(tmp_path / "settings.json", None)
    with pytest.raises(CannotSave, match="could not be written"):
        write_json(tmp_path / "settings.json", {})


def test_a_lock_that_is_held_ends_in_a_teaching_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_module, "LOCK_SECONDS", 0.1)
    path = tmp_path / "progress.json"
    with locked(path), pytest.raises(CannotSave, match="Another process"), locked(path):
        pass
    with locked(path):
        write_json(path, {})
    assert json.loads(path.read_text()) == {}
