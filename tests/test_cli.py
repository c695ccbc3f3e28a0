"""The command `course`: what it prints where, and exit codes that a script can trust."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import course_lib
from course_lib import build, cli, doctor, frameworks, mark, run, workspace
from course_lib.cli import lab
from course_lib.cli.console import number, print_json
from course_lib.doctor import Diagnosis, FrameworkHealth
from course_lib.errors import BadSource, CheckCrashed, FrameworkMissing, NotFound
from course_lib.hardware import detect
from course_lib.mark import ExerciseMark, Marks
from course_lib.progress import Progress
from course_lib.run import Run

COMMANDS = (
    "doctor",
    "lab",
    "new",
    "list",
    "diff",
    "glossary",
    "claims",
    "predictions",
    "run",
    "build",
    "check",
    "warm",
)


def course(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(cli.app, list(arguments), prog_name="course")


@pytest.fixture
def notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one notebook."""
    folder = tmp_path / "shipped"
    (folder / "00_start").mkdir(parents=True)
    (folder / "00_start/start_numpy.ipynb").write_text('{"cells": []}')
    monkeypatch.setattr(workspace, "shipped", lambda _: folder)
    return folder


def test_help_is_fast_and_names_commands_and_exit_codes() -> None:
    program = (
        "import contextlib, resource, sys\nsys.argv = ['course', '--help']\nfrom course_lib.cli import main\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(used.ru_utime + used.ru_stime, file=sys.stderr)\n"
    )
    seconds = []
    for _ in range(3):
        child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
        seconds.append(float(child.stderr))
    assert min(seconds) < 0.6
    for word in (*COMMANDS, "Exit codes", "COURSE_HOME", *(f" {code}: " for code in cli.EXIT_CODES)):
        assert word in child.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_examples(command: str) -> None:
    shown = course(command, "--help")
    assert shown.exit_code == 0
    assert shown.output.count(f"course {command}") >= 3


def test_version() -> None:
    shown = course("--version")
    assert (shown.exit_code, shown.stdout.strip()) == (0, f"every-framework {course_lib.__version__}")


@pytest.mark.parametrize("arguments", [("dr",), ("run",), ("run", "--steps"), ("check", "a", "b")])
def test_wrong_usage_is_2(arguments: tuple[str, ...]) -> None:
    assert course(*arguments).exit_code == 2


@pytest.mark.parametrize("command", ["run", "build", "lab"])
def test_a_lesson_that_does_not_exist_is_2_with_a_message_and_no_traceback(command: str) -> None:
    done = course(command, "01_digitz")
    assert done.exit_code == 2
    assert "Error: There is no lesson '01_digitz'" in done.stderr
    assert "What to do: " in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


def test_debug_shows_the_traceback() -> None:
    assert isinstance(course("--debug", "run", "01_digitz").exception, NotFound)


@pytest.mark.parametrize(
    ("error", "code"),
    [(BadSource("m", action="a"), 7), (FrameworkMissing("m", action="a"), 4), (CheckCrashed("m", action="a"), 8)],
)
def test_every_teaching_error_keeps_its_exit_code(monkeypatch: pytest.MonkeyPatch, error: Exception, code: int) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(build, "build_lessons", fail)
    done = course("build")
    assert done.exit_code == code
    assert done.stderr == "Error: m\nWhat to do: a\n"


def test_an_unexpected_error_is_70_and_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(build, "build_lessons", fail)
    done = course("build")
    assert done.exit_code == 70
    assert "ZeroDivisionError" in done.stderr
    assert "--debug" in done.stderr


def test_interrupting_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "build_lessons", interrupt)
    assert course("build").exit_code == 130


def test_errors_go_to_stderr_and_results_to_stdout_in_a_real_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from course_lib.cli import main; main()"]
    child = subprocess.run([*command, "check", str(tmp_path / "none.ipynb"), "--json"], capture_output=True, text=True)
    assert (child.returncode, child.stdout) == (2, "")
    assert "There is no file" in child.stderr
    (tmp_path / "bad.ipynb").write_text("{")
    child = subprocess.run([*command, "check", str(tmp_path / "bad.ipynb")], capture_output=True, text=True)
    assert child.returncode == 9
    assert "not JSON" in child.stderr


# --- new, lab, list: nothing of the learner's is lost


def test_new_copies_and_says_where(tmp_path: Path, notebooks: Path) -> None:
    assert notebooks.is_dir()
    done = course("new", str(tmp_path / "mine"))
    assert done.exit_code == 0
    assert str(tmp_path / "mine") in done.stdout
    assert (tmp_path / "mine/00_start/start_numpy.ipynb").is_file()
    again = json.loads(course("new", str(tmp_path / "mine"), "--json").stdout)
    assert again["kept"] == ["00_start/start_numpy.ipynb"]


def test_new_says_when_a_newer_release_lies_beside_an_edited_notebook(tmp_path: Path, notebooks: Path) -> None:
    course("new", str(tmp_path / "mine"))
    mine = tmp_path / "mine/00_start/start_numpy.ipynb"
    mine.write_text('{"cells": [{"cell_type": "code", "source": "my work"}]}')
    (notebooks / "00_start/start_numpy.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "newer"}]}')
    done = course("new", str(tmp_path / "mine"))
    assert "start_numpy.new.ipynb" in done.stdout
    assert "my work" in mine.read_text()


def test_new_into_an_unwritable_place_is_3(tmp_path: Path, notebooks: Path) -> None:
    assert notebooks.is_dir()
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file/inside", Path("/proc/every-framework")):
        done = course("new", str(place))
        assert done.exit_code == 3
        assert "Error: " in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_new_on_a_full_disk_is_3(tmp_path: Path, notebooks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebooks.is_dir()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    done = course("new", str(tmp_path / "mine"))
    assert done.exit_code == 3
    assert "No space left on device" in done.stderr


def test_lab_becomes_jupyterlab_in_the_learners_copy(
    notebooks: Path, course_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notebooks.is_dir()
    started: list[list[str]] = []
    monkeypatch.setattr(lab, "_become", started.append)
    monkeypatch.setattr(lab, "_is_root", lambda: False)
    assert course("lab", "--no-browser", "--port", "9000", "--ip", "0.0.0.0").exit_code == 0
    assert (course_home / "notebooks/00_start/start_numpy.ipynb").is_file()
    assert started[0][1:] == [
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={course_home / 'notebooks'}",
        "--LabApp.default_url=/lab/tree/00_start/start_numpy.ipynb",
        "--no-browser",
        "--port=9000",
        "--ip",
        "0.0.0.0",
    ]


def test_lab_as_root_says_that_it_allows_it_and_asks_nothing_about_news(
    notebooks: Path, course_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert notebooks.is_dir()
    monkeypatch.setattr(lab, "_is_root", lambda: True)
    command = lab.jupyter_command(course_home, "a.ipynb", browser=True, port=None, options=[])
    assert command[-1] == "--allow-root"
    assert "You are root" in capsys.readouterr().err
    twice = lab.jupyter_command(course_home, "a.ipynb", browser=True, port=None, options=["--allow-root"])
    assert twice.count("--allow-root") == 1
    folder = lab.quiet_environment()["JUPYTER_CONFIG_PATH"].split(os.pathsep)[0]
    assert "announcements" in Path(folder, "labconfig/page_config.json").read_text()


def test_lab_opens_the_first_installed_track_or_the_one_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frameworks, "missing_distributions", lambda t: [] if t in ("torch", "jax") else ["x"])
    assert lab.notebook_of("digits", None) == "01_digits/digits_torch.ipynb"
    assert lab.notebook_of("01_digits", "jax") == "01_digits/digits_jax.ipynb"
    with pytest.raises(FrameworkMissing):
        lab.notebook_of("01_digits", "keras")
    with pytest.raises(NotFound):
        lab.notebook_of("01_digits", "theano")


def test_lab_without_jupyterlab_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    done = course("lab")
    assert done.exit_code == 4
    assert "[lab]" in done.stderr


def test_list_shows_progress_by_track() -> None:
    for exercise in ("digits/split", "digits/step"):
        Progress.load().record_attempt(exercise, "torch", passed=True, mark=1, max_mark=1, source=None)
    listed = json.loads(course("list", "--json").stdout)
    tracks = next(row for row in listed["lessons"] if row["name"] == "01_digits")["tracks"]
    assert tracks["torch"]["solved"] == 2
    assert tracks["jax"]["solved_exercises"] == ["digits/split"]
    shown = course("list")
    assert shown.exit_code == 0
    assert f"2/{tracks['torch']['total']}" in shown.stdout


def test_list_with_a_damaged_progress_file_is_3_and_keeps_it(course_home: Path) -> None:
    course_home.mkdir()
    (course_home / "progress.json").write_text('{"exercises": {"digits/sp')
    done = course("list")
    assert done.exit_code == 3
    assert "01_digits" in done.stdout
    assert "progress.json.damaged-1" in done.stderr
    assert (course_home / "progress.json.damaged-1").read_text() == '{"exercises": {"digits/sp'
    assert course("list").exit_code == 0


# --- doctor, run, build, check


def test_doctor_prints_the_machine_a_table_and_what_to_do_next(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (
        FrameworkHealth("numpy", "works", "2.1", device="cpu", max_difference=0.0, threads=1),
        FrameworkHealth("jax", "missing", None, "jax is not installed."),
        FrameworkHealth("torch", "broken", "2.9", "The import failed.\nOSError: libtoy.so", "Install it again."),
    )
    made = Diagnosis(detect(), found, {"jupyterlab": "4.4"}, "/home/me", "", 10**12)
    monkeypatch.setattr(doctor, "diagnose", lambda **_: made)
    done = course("doctor")
    assert done.exit_code == 5
    for words in (
        "Python",
        "Threads",
        "GiB are free",
        "missing: jax is not installed.",
        "broken",
        "OSError: libtoy.so",
    ):
        assert words in done.stdout
    assert done.stdout.index("What to do next") > done.stdout.index("OSError")
    as_json = course("doctor", "--json")
    assert as_json.exit_code == 5
    assert [f["health"] for f in json.loads(as_json.stdout)["frameworks"]] == ["works", "missing", "broken"]


@pytest.mark.parametrize(
    ("states", "arguments", "code"),
    [
        (("missing", "missing"), (), 0),
        (("missing", "missing"), ("--track", "torch"), 4),
        (("failed", "missing"), (), 1),
        (("failed", "missing"), ("--track", "torch", "--track", "jax"), 1),
    ],
)
def test_run_fails_for_a_crash_and_for_a_missing_track_that_was_named(
    monkeypatch: pytest.MonkeyPatch, states: tuple[str, ...], arguments: tuple[str, ...], code: int
) -> None:
    runs = [Run(t, None, state=s, reason=f"why {t}") for t, s in zip(("torch", "jax"), states, strict=True)]
    monkeypatch.setattr(run, "run_lesson", lambda *_, **__: runs)
    done = course("run", "01_digits", *arguments)
    assert done.exit_code == code
    assert "why torch" in done.output
    as_json = course("run", "01_digits", "--json", *arguments)
    assert as_json.exit_code == code
    assert [r["state"] for r in json.loads(as_json.stdout)["runs"]] == list(states)


def test_run_trains_for_real_and_prints_one_row() -> None:
    done = course("run", "digits", "--track", "numpy", "--json")
    assert done.exit_code == 0, done.output
    row = json.loads(done.stdout)["runs"][0]
    assert row["track"] == "numpy"
    assert row["max_loss_difference"] == 0
    assert row["validation_accuracy"] > 0.8
    assert row["peak_bytes"] >= 0


def test_build_check_is_1_when_something_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    report = build.BuildReport(stale=["notebooks/x.ipynb"])
    monkeypatch.setattr(build, "build_lessons", lambda *_, **__: report)
    done = course("build", "--check")
    assert done.exit_code == 1
    assert "stale: notebooks/x.ipynb" in done.stderr
    monkeypatch.setattr(build, "build_lessons", lambda *_, **__: build.BuildReport())
    assert course("build", "--check").exit_code == 0


def test_check_is_0_when_all_passed_and_1_when_not(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tuple(ExerciseMark(f"a/{n}", "", n == 1, float(n == 1), 1.0, "wrong", "should be 1") for n in (1, 2))
    marks = Marks("n.ipynb", "01_digits", "torch", rows, ("odd",))
    monkeypatch.setattr(mark, "mark_notebook", lambda *_, **__: marks)
    done = course("check", "n.ipynb")
    assert done.exit_code == 1
    for words in ("a/1", "passed", "wrong", "should be 1", "total", "Note: odd"):
        assert words in done.stdout
    assert json.loads(course("check", "n.ipynb", "--json").stdout)["max_mark"] == 2.0
    solved = Marks("n.ipynb", "01_digits", "torch", rows[:1], ())
    monkeypatch.setattr(mark, "mark_notebook", lambda *_, **__: solved)
    assert course("check", "n.ipynb").exit_code == 0


def test_json_holds_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    values: dict[str, Any] = {"a": [float("nan"), 1.5], "b": (float("inf"), None)}
    print_json(values)
    assert json.loads(capsys.readouterr().out) == {"a": [None, 1.5], "b": [None, None]}
    assert (number(None, ".1f"), number(float("nan"), ".1f"), number(1.25, ".1f")) == ("", "", "1.2")
