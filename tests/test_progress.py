"""What a learner has solved survives crashes, damage and two notebooks at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import CannotSave
from course_lib.progress import Progress


def _attempt(exercise: str, track: str, *, passed: bool, source: str | None = None, mark: float = 1.0) -> None:
    Progress.load().record_attempt(exercise, track, passed=passed, mark=mark, max_mark=2.0, source=source)


def test_failed_attempts_count_since_the_last_pass_and_per_track() -> None:
    for passed in (False, False, True, False):
        _attempt("digits/step", "torch", passed=passed)
    progress = Progress.load()
    assert progress.attempts("digits/step", "torch") == 1
    assert progress.attempts("digits/step", "jax") == 0
    assert progress.passed("digits/step", "torch")
    assert not progress.passed("digits/step", "jax")


def test_recording_updates_the_snapshot_too() -> None:
    progress = Progress.load()
    progress.record_attempt("digits/step", "torch", passed=False, mark=0, max_mark=2, source=None)
    assert progress.attempts("digits/step", "torch") == 1


def test_the_best_mark_stays(course_home: Path) -> None:
    _attempt("digits/step", "torch", passed=True, mark=2.0)
    _attempt("digits/step", "torch", passed=False, mark=0.5)
    entry = json.loads((course_home / "progress.json").read_text())["exercises"]["digits/step@torch"]
    assert (entry["mark"], entry["passed"], entry["tries"]) == (2.0, True, 2)


def test_the_answer_that_passed_last_is_carried_over_whatever_the_track() -> None:
    _attempt("digits/split", "torch", passed=True, source="first")
    _attempt("digits/split", "jax", passed=True, source="second")
    _attempt("digits/split", "keras", passed=False, source="wrong")
    progress = Progress.load()
    assert progress.answer_source("digits/split") == "second"
    assert progress.answer_source("digits/spl") is None
    assert progress.passed_anywhere("digits/split")


def test_a_half_written_file_is_kept_and_the_copy_before_it_stands_in(
    course_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _attempt("digits/split", "torch", passed=True, source="answer")
    _attempt("digits/step", "torch", passed=False)
    path = course_home / "progress.json"
    half = path.read_text()[:-40]
    path.write_text(half)
    progress = Progress.load()
    assert progress.answer_source("digits/split") == "answer"
    assert progress.damaged is not None
    assert (course_home / "progress.json.damaged-1").read_text() == half
    assert "progress.json.damaged-1" in capsys.readouterr().err
    again = Progress.load()
    assert again.passed("digits/split", "torch")
    assert again.damaged is None
    assert capsys.readouterr().err == ""


def test_sound_entries_of_a_file_with_a_broken_one_are_kept(course_home: Path) -> None:
    _attempt("digits/split", "torch", passed=True)
    path = course_home / "progress.json"
    document = json.loads(path.read_text())
    document["exercises"]["digits/step@torch"] = 3
    path.write_text(json.dumps(document))
    progress = Progress.load()
    assert progress.passed("digits/split", "torch")
    assert progress.attempts("digits/step", "torch") == 0
    assert (course_home / "progress.json.damaged-1").exists()


def test_what_a_newer_release_wrote_stays(course_home: Path) -> None:
    course_home.mkdir()
    path = course_home / "progress.json"
    path.write_text('{"format": 2, "badges": ["x"], "exercises": {"a/b@torch": {"passed": true, "colour": "red"}}}')
    _attempt("a/b", "torch", passed=False)
    document = json.loads(path.read_text())
    assert document["badges"] == ["x"]
    assert document["exercises"]["a/b@torch"]["colour"] == "red"
    assert document["exercises"]["a/b@torch"]["passed"] is True


def test_a_full_disk_while_rescuing_loses_nothing(course_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _attempt("digits/split", "torch", passed=True)
    _attempt("digits/step", "torch", passed=False)
    path = course_home / "progress.json"
    path.write_text("{")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CannotSave, match="No space left"):
            Progress.load()
        assert path.read_text() == "{"
    assert Progress.load().passed("digits/split", "torch")


def test_two_processes_that_write_at_once_lose_no_attempt() -> None:
    program = (
        "import sys\nfrom course_lib.progress import Progress\nprogress = Progress.load()\n"
        "for n in range(25):\n"
        "    progress.record_attempt(f'digits/{sys.argv[1]}{n}', 'jax', passed=True, mark=1, max_mark=1, source=None)\n"
        "    progress.record_attempt('digits/shared', 'torch', passed=False, mark=0, max_mark=1, source=None)\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", program, name]) for name in ("a", "b")]
    assert [child.wait(timeout=120) for child in children] == [0, 0]
    progress = Progress.load()
    assert all(progress.passed(f"digits/{name}{n}", "jax") for name in ("a", "b") for n in range(25))
    assert progress.attempts("digits/shared", "torch") == 50


def test_a_kill_in_the_middle_of_saving_loses_only_that_attempt(course_home: Path) -> None:
    _attempt("digits/split", "torch", passed=True)
    program = (
        "import os, signal\nfrom course_lib.progress import Progress\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Progress.load().record_attempt('digits/step', 'jax', passed=True, mark=1, max_mark=1, source=None)\n"
    )
    child = subprocess.run([sys.executable, "-c", program], timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert Progress.load().passed("digits/split", "torch")
    _attempt("digits/step", "torch", passed=True)  # The dead process's lock is free.
    assert Progress.load().passed("digits/step", "torch")
    assert not list(course_home.glob("*.damaged-*"))


def test_an_unwritable_home_is_a_teaching_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_HOME", "/proc/every-framework")
    with pytest.raises(CannotSave):
        _attempt("digits/step", "torch", passed=True)
