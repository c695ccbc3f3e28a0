"""Python in a process of its own: whatever happens there, a crash included, ends here as a value."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

STDERR_LINES = 12


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code (negative: the signal that killed it; None: it took too long) and its output.

    `seconds` is wall time from start to end.
    """

    returncode: int | None
    stdout: str
    stderr: str
    seconds: float

    @property
    def ok(self) -> bool:
        return self.returncode == 0

    @property
    def cause(self) -> str:
        """Why it failed: the last dozen lines of its stderr, and the signal or the time; "" when it did not fail."""
        if self.ok:
            return ""
        lines = [line for line in self.stderr.strip().splitlines() if line.strip()][-STDERR_LINES:]
        if self.returncode is None:
            lines.append(f"It had not ended after {self.seconds:.0f} seconds.")
        elif self.returncode < 0:
            lines.append(f"The process was killed by {_signal_name(-self.returncode)}.")
        return "\n".join(lines) or f"The process ended with code {self.returncode} and said nothing."


def run_python(arguments: Sequence[str], environ: Mapping[str, str], *, timeout_seconds: float) -> Ended:
    """Run this Python with `arguments` to its end, in the current folder; it is killed after `timeout_seconds`."""
    start = time.perf_counter()
    try:
        child = subprocess.run(
            [sys.executable, *arguments],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return Ended(None, _text(late.stdout), _text(late.stderr), time.perf_counter() - start)
    return Ended(child.returncode, child.stdout, child.stderr, time.perf_counter() - start)


def _text(output: str | bytes | None) -> str:
    return output.decode("utf-8", errors="replace") if isinstance(output, bytes) else output or ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
