"""A kernel that is another process's child, with the face of a `subprocess.Popen`."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time

from course_lib.warm import wire

# Only a process's parent learns how it ended; this stands when that parent ended first.
UNKNOWN_EXIT_CODE = 255
POLL_SECONDS = 0.02
REPORT_SECONDS = 1.0


class WarmProcess:
    """A kernel, known by its pidfd, and the connection over which its parent will say how it ended.

    The parent keeps the dead kernel's number from being given to another process until this object is closed, so a
    signal never reaches a stranger.
    """

    stdin = stdout = stderr = None

    def __init__(self, pid: int, descriptor: int, connection: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._descriptor = descriptor
        self._connection: socket.socket | None = connection
        connection.setblocking(False)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Let go of it; it may live on."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def poll(self) -> int | None:
        """Its exit code, negative for the signal that ended it, or None while it runs."""
        if self.returncode is None and self._descriptor >= 0 and _readable(self._descriptor, 0):
            self.returncode = self._reported()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended; it is then closed. Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(["kernel"], timeout or 0.0)
            time.sleep(POLL_SECONDS)
        self.close()
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal; nothing happens when it has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    @property
    def owns_number(self) -> bool:
        """Whether its process number, and that of its group, is surely still its own."""
        return self.poll() is None or self._parent_lives()

    def _parent_lives(self) -> bool:
        return self._connection is not None and not _readable(self._connection.fileno(), 0)

    def _reported(self) -> int:
        if self._connection is None or not _readable(self._connection.fileno(), REPORT_SECONDS):
            return UNKNOWN_EXIT_CODE
        try:
            message, descriptors = wire.receive(self._connection)
            wire.close(descriptors)
            return int(message["exit_code"])
        except (OSError, EOFError, ValueError, KeyError):
            return UNKNOWN_EXIT_CODE


def _readable(descriptor: int, seconds: float) -> bool:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(1000 * seconds))
