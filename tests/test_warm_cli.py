"""`course warm`, `course lab` and `--cold`: who gets warm kernels by which word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from course_lib.cli import app, lab, warming
from course_lib.warm import asking, early, folder, switch

pytestmark = pytest.mark.skipif(bool(reason := switch.why_not()), reason=reason or "warm")

PROGRAM = """
import os
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="python3")
print(type(manager.provisioner.process).__name__, os.environ.get("COURSE_WARM_PRELOAD"))
client.execute_interactive("import sys; print('ahead', 'yaml' in sys.modules)")
client.stop_channels()
manager.shutdown_kernel(now=True)
"""
COURSE = [sys.executable, "-c", "from course_lib.cli import main; main()"]


def alone() -> dict[str, str]:
    """The environment of somebody who has turned nothing on."""
    ours = (folder.FOLDER, switch.CHOSEN)
    return {name: value for name, value in os.environ.items() if name not in ours}


def test_any_command_gets_warm_kernels() -> None:
    words = ["warm", "--preload", "yaml", "--", sys.executable, "-c", PROGRAM]
    done = subprocess.run([*COURSE, *words], env=alone(), capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines() == ["WarmProcess yaml", "ahead True"]
    cold = {**alone(), switch.OFF: "0"}
    done = subprocess.run([*COURSE, *words], env=cold, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines() == ["Popen None", "ahead False"]
    assert "COURSE_WARM=0" in done.stderr


def test_a_command_that_is_not_there_is_explained() -> None:
    done = CliRunner().invoke(app, ["warm", "--", "no-such-command"])
    assert done.exit_code == 2
    assert "no-such-command" in done.stderr


def test_lab_turns_it_on_and_begins_to_import(monkeypatch: pytest.MonkeyPatch, course_home: Path) -> None:
    started: list[tuple[object, ...]] = []
    monkeypatch.setattr(lab, "_become", lambda command: None)
    monkeypatch.setattr(early.asking, "start", lambda *arguments: started.append(arguments))
    # Whatever other tests of this run have started already.
    monkeypatch.setattr(early.asking, "state_of", lambda *arguments: "none")
    monkeypatch.delenv(switch.CHOSEN)
    monkeypatch.setenv(switch.OFF, "1")
    assert CliRunner().invoke(app, ["lab", "01_digits", "--track", "numpy"]).exit_code == 0
    assert os.environ[switch.CHOSEN] == switch.PROVISIONER
    assert "numpy" in started[0][-1]  # type: ignore[operator]
    assert course_home.is_dir()


def test_what_is_being_imported_already_is_not_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[object, ...]] = []
    monkeypatch.setattr(early.asking, "start", lambda *arguments: started.append(arguments))
    for state in ("starting", "none"):
        monkeypatch.setattr(early.asking, "state_of", lambda *arguments, state=state: state)
        early.start_early(None, os.environ)
    assert len(started) == 1


def test_lab_cold_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "_become", lambda command: None)
    monkeypatch.setattr(asking, "start", lambda *arguments: pytest.fail("nothing is to be imported"))
    monkeypatch.setenv(switch.OFF, "1")
    assert CliRunner().invoke(app, ["lab", "--cold"]).exit_code == 0
    assert switch.is_off()


def test_warm_hands_its_process_over(monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[list[str]] = []
    monkeypatch.setattr(warming, "_become", lambda program, command: became.append(command))
    assert CliRunner().invoke(app, ["warm", "--", "python", "--version", "-h"]).exit_code == 0
    assert became == [["python", "--version", "-h"]]
