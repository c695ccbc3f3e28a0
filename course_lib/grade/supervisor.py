"""Watches one student's process at a time: starts it in the sandbox, drains what it prints, ends it and all it started.

A supervisor is forked from the warm parent, has one thread, and never runs a student's code. It talks to its slot over
a socket, one JSON line a message: `start` (with the child's socket) and `stop` come, `started`, `exited`, `ended` go.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.grade.processes import kill_tree, tree_usage
from course_lib.grade.sandbox import Limits, Sandbox
from course_lib.grade.unsandboxed import Unsandboxed

POLL_SECONDS = 0.2
MAX_LINE = 1 << 16


@dataclass
class Watched:
    """A child that runs or ran. `output` holds the first `max_output_bytes` of what it printed."""

    pid: int
    pidfd: int
    pipe: int
    killed_before: int = 0
    output: bytearray = field(default_factory=bytearray)
    output_bytes: int = 0
    peak_bytes: int = 0
    cpu_seconds: float = 0.0
    status: int | None = None
    too_large: bool = False


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Supervisor:
    """Serves one slot until its socket closes. `run_child(socket, lesson)` is what the child does; it never returns."""

    def __init__(
        self,
        control: socket.socket,
        sandbox: Sandbox | Unsandboxed,
        limits: Limits,
        run_child: Callable[[socket.socket, str], None],
        *,
        max_output_bytes: int,
    ) -> None:
        self._control, self._sandbox, self._limits, self._run_child = control, sandbox, limits, run_child
        self._max_output_bytes = max_output_bytes

    def serve(self) -> None:
        """Start children as they are asked for, until the slot has closed its end."""
        while True:
            text, descriptors, _, _ = socket.recv_fds(self._control, MAX_LINE, 1)
            if not text or not descriptors:
                return
            data = socket.socket(fileno=descriptors[0])
            watched = self._start(data, str(json.loads(text)["start"]))
            data.close()
            self._say({"started": watched.pid})
            here = self._watch(watched)
            self._end(watched)
            if not here:
                return

    def _start(self, data: socket.socket, lesson: str) -> Watched:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self._become_child(data, writing, lesson)
            except BaseException as error:
                os.write(2, f"The child could not be started: {type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(71)
        os.close(writing)
        os.set_blocking(reading, False)
        return Watched(pid, os.pidfd_open(pid), reading, killed_before=self._sandbox.n_killed_for_memory())

    def _become_child(self, data: socket.socket, writing: int, lesson: str) -> None:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        self._sandbox.enter([0, 1, 2, data.fileno()])
        gc.enable()
        self._run_child(data, lesson)

    def _watch(self, watched: Watched) -> bool:
        """Until the slot says stop (True) or is gone (False)."""
        open_ends = {self._control.fileno(), watched.pidfd, watched.pipe}
        polled = 0.0
        while True:
            ready = select.select(list(open_ends), [], [], POLL_SECONDS)[0]
            if watched.pipe in ready and not self._drain(watched):
                open_ends.discard(watched.pipe)
            if watched.pidfd in ready:
                open_ends.discard(watched.pidfd)
                self._reap(watched)
                self._say({"exited": watched.status, "too_large": watched.too_large})
            if self._control.fileno() in ready:
                return bool(self._control.recv(MAX_LINE))
            if watched.status is None and time.monotonic() - polled >= POLL_SECONDS:
                polled = time.monotonic()
                self._measure(watched)

    def _measure(self, watched: Watched) -> None:
        cpu_seconds, private_bytes, n_processes = tree_usage(watched.pid)
        watched.cpu_seconds = max(watched.cpu_seconds, cpu_seconds)
        watched.peak_bytes = max(watched.peak_bytes, private_bytes)
        # Root in a container has no limit of processes, and no kernel counts what several processes use together.
        too_many = n_processes > self._limits.n_tasks or self._sandbox.folder_bytes() > self._limits.folder_bytes
        if too_many or private_bytes > self._limits.memory_bytes:
            watched.too_large = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(watched.pid, signal.SIGKILL)

    def _drain(self, watched: Watched) -> bool:
        """Take what was printed; False when nobody can print any more."""
        try:
            data = os.read(watched.pipe, 1 << 20)
        except BlockingIOError:
            return True
        watched.output_bytes += len(data)
        watched.output += data[: self._max_output_bytes - len(watched.output)]
        return bool(data)

    def _reap(self, watched: Watched) -> None:
        if watched.status is None:
            _, status, usage = os.wait4(watched.pid, 0)
            watched.status = os.waitstatus_to_exitcode(status)
            watched.cpu_seconds = max(watched.cpu_seconds, usage.ru_utime + usage.ru_stime)
            watched.too_large |= self._sandbox.n_killed_for_memory() > watched.killed_before
            # A child begins with all of this process's memory, and shares what it does not change.
            watched.peak_bytes = max(watched.peak_bytes, 1024 * usage.ru_maxrss - _resident_bytes())

    def _end(self, watched: Watched) -> None:
        """Kill the child and everything that came of it, and leave nothing for the next one to find."""
        if watched.status is None:
            self._measure(watched)
            with contextlib.suppress(ProcessLookupError):
                os.kill(watched.pid, signal.SIGKILL)
        self._reap(watched)
        kill_tree(os.getpid())
        self._sandbox.end(watched.pid)
        # Who still holds the other end is dead by now; what is left in the pipe is little.
        for _ in range(64):
            before = watched.output_bytes
            if not self._drain(watched) or watched.output_bytes == before:
                break
        os.close(watched.pipe)
        os.close(watched.pidfd)
        ended = {name: getattr(watched, name) for name in ("status", "output_bytes", "peak_bytes", "cpu_seconds")}
        self._say({"ended": {**ended, "output": watched.output.decode("utf-8", errors="replace")}})

    def _say(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._control.sendall(json.dumps(message).encode() + b"\n")
