"""Frames over a socket, with a deadline for each; the same class on both sides."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from course_lib.grade.wire import HEADER, BadFrame, decode, encode, lengths

# How often a wait looks up to see whether time, memory or the process itself has come to an end.
TICK_SECONDS = 0.1


class Closed(Exception):
    """The other side has closed the socket, or ended."""


class Channel:
    """Messages to and from the other side. `watch` is called about ten times a second while waiting; it may raise."""

    def __init__(self, sock: socket.socket, watch: Callable[[], None] = lambda: None) -> None:
        # A large message to somebody who does not read must not block; the wait is in `_wait`.
        sock.setblocking(False)
        self._sock = sock
        self._watch = watch
        self._held = bytearray()

    def fileno(self) -> int:
        return self._sock.fileno()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message. Raises Closed when nobody is there, BadFrame for what may not cross."""
        left = memoryview(encode(message))
        ticked = time.monotonic()
        while left:
            try:
                left = left[self._sock.send(left) :]
            except BlockingIOError:
                self._wait(write=True)
            except (BrokenPipeError, ConnectionResetError):
                raise Closed from None
            ticked = self._looked_up(ticked)

    def receive(self) -> dict[str, Any]:
        """The next message. Raises Closed at the end, BadFrame for bytes that are no frame, and what `watch` raises."""
        n_text, n_blob = lengths(self._take(HEADER.size))
        body = self._take(n_text + n_blob)
        return decode(body[:n_text], body[n_text:])

    def _take(self, n_bytes: int) -> bytes:
        ticked = time.monotonic()
        while len(self._held) < n_bytes:
            try:
                data = self._sock.recv(min(1 << 20, max(65536, n_bytes - len(self._held))))
            except BlockingIOError:
                self._wait(write=False)
            except ConnectionResetError:
                raise Closed from None
            else:
                if not data:
                    raise Closed
                self._held += data
            ticked = self._looked_up(ticked)
        taken = bytes(self._held[:n_bytes])
        del self._held[:n_bytes]
        return taken

    def _looked_up(self, ticked: float) -> float:
        """Let `watch` look when its time has come: who reads or sends in trickles must not keep it waiting."""
        if time.monotonic() - ticked < TICK_SECONDS:
            return ticked
        self._watch()
        return time.monotonic()

    def _wait(self, *, write: bool) -> None:
        reading, writing = ([], [self._sock]) if write else ([self._sock], [])
        select.select(reading, writing, [], TICK_SECONDS)

    def close(self) -> None:
        self._sock.close()


__all__ = ["BadFrame", "Channel", "Closed"]
