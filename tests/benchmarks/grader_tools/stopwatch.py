"""Seconds and memory of a command with all the processes that it starts."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

LOOK_SECONDS = 0.02
MEMORY_SECONDS = 0.5
LAST_LINES = 15


@dataclass(frozen=True)
class Timing:
    """`first_seconds` passed until the first result was there, `seconds` until the end, `n_results` came.

    `cpu_seconds` were computed by all processes together, `first_cpu_seconds` of them before the first result: what
    else runs on the machine changes them little. `peak_bytes` is the largest sum over all processes alive at once,
    pages that several of them share counted once. Both are looked at twice a second.
    """

    n_results: int
    seconds: float
    first_seconds: float
    cpu_seconds: float
    first_cpu_seconds: float
    peak_bytes: int


def time_command(
    command: Sequence[str | Path], log: Path, n_results: Callable[[], int], *, environ: Mapping[str, str], cwd: Path
) -> Timing:
    """Run a command to its end; what it prints goes to `log`. `n_results` counts what it has done so far.

    Raises RuntimeError with the last lines of the log when it fails.
    """
    start = looked = time.perf_counter()
    first = first_cpu = cpu = 0.0
    peak = 0
    with log.open("wb") as said:
        process = subprocess.Popen(
            list(map(str, command)), stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=dict(environ), cwd=cwd
        )
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(MEMORY_SECONDS if first else LOOK_SECONDS)
            now = time.perf_counter()
            if process.returncode is not None:
                break
            just_begun = not first and n_results() > 0
            if just_begun:
                first = now - start
            if just_begun or now - looked >= MEMORY_SECONDS:
                looked = now
                n_bytes, cpu_now = tree_usage(process.pid)
                peak, cpu = max(peak, n_bytes), max(cpu, cpu_now)
                first_cpu = cpu if just_begun else first_cpu
    if process.returncode:
        last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
        raise RuntimeError(f"{command[0]} ended with {process.returncode}:\n" + "\n".join(last))
    return Timing(n_results(), now - start, first or now - start, cpu, first_cpu or cpu, peak)


def tree_usage(pid: int) -> tuple[int, float]:
    """Bytes that a process and everything below it hold, and CPU seconds of them and of those that they outlived."""
    n_bytes, seconds = 0, 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                times = process.cpu_times()
                seconds += times.user + times.system + times.children_user + times.children_system
                n_bytes += _bytes(process)
    return n_bytes, seconds


def _bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.AccessDenied, AttributeError):
        return int(process.memory_info().rss)
