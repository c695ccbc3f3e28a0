"""Runs the grader as a process of its own, watches it, and tells what it left: `python launcher.py CONFIG.json`.

Whatever the grader and its students' processes leave behind becomes a child of this process, so nothing can hide.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.5
KILL_SECONDS = 0.01
# What ends of itself may take this long to do so.
GRACE_SECONDS = 5.0


def role(process: psutil.Process) -> str:
    """Which part of the grader a process is, or "" for a student's, or one that has just ended."""
    try:
        words = process.cmdline()
        parent = process.parent()
        for name in ("slot", "parent"):
            if f"course_lib.grade.{name}" in words:
                forked = parent is not None and parent.cmdline() == words
                return name if not forked else ""
        return "coordinator" if "--grade" in words else ""
    except psutil.Error:
        return ""


def sample(found: dict[str, list[list[float]]], seconds: float) -> None:
    """Note the private bytes of each part of the grader, by role and process."""
    for process in psutil.Process().children(recursive=True):
        if name := role(process):
            with contextlib.suppress(psutil.Error):
                found.setdefault(f"{name} {process.pid}", []).append([seconds, process.memory_full_info().uss])


def left_over() -> list[str]:
    """The processes that are still there, when those that end of themselves have ended."""
    end = time.monotonic() + GRACE_SECONDS
    while True:
        living = []
        for process in psutil.Process().children(recursive=True):
            try:
                if process.status() == psutil.STATUS_ZOMBIE:
                    os.waitpid(process.pid, os.WNOHANG)
                else:
                    living.append(f"{process.pid} {process.name()} {process.status()} {' '.join(process.cmdline())}")
            except (psutil.Error, ChildProcessError):
                continue
        if not living or time.monotonic() > end:
            return living
        time.sleep(0.1)


def n_records(config: dict[str, Any]) -> int:
    """How many records the grader has kept so far."""
    path = Path(config["out"], "records.jsonl")
    return path.read_bytes().count(b"\n") if path.exists() else 0


def watch(config: dict[str, Any], path: str) -> dict[str, Any]:
    """Start the grader, kill it once it has kept `kill_after_records` more records, and report."""
    start = time.monotonic()
    # The seed on the command line, as an instructor would give it: students' processes must not see it.
    command = [sys.executable, __file__, path, "--grade", "--seed", str(config["seed"]), config["stamp"]]
    with open(config["log"], "ab") as log:
        grader = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    memory: dict[str, list[list[float]]] = {}
    kill_at = config.get("kill_after_records")
    kill_at = None if kill_at is None else kill_at + n_records(config)
    while grader.poll() is None:
        if kill_at is not None and n_records(config) >= kill_at:
            grader.send_signal(signal.SIGKILL)
        time.sleep(SAMPLE_SECONDS if kill_at is None else KILL_SECONDS)
        if config.get("sample_memory"):
            sample(memory, time.monotonic() - start)
    return {"status": grader.returncode, "seconds": time.monotonic() - start, "memory": memory, "left": left_over()}


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    if "--grade" in sys.argv:
        from course_lib.grade.grading import GradeOptions, grade

        options = GradeOptions(**{**config["options"], "seed": config["seed"]})
        grade(Path(config["submissions"]), Path(config["out"]), options)
        return
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    report = watch(config, sys.argv[1])
    Path(config["report"]).write_text(json.dumps(report))


if __name__ == "__main__":
    main()
