"""What goes between a parent and those who ask it for kernels: one JSON message a packet, descriptors beside it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MAX_MESSAGE = 1 << 20
MAX_DESCRIPTORS = 4
_CREDENTIALS = struct.Struct("3i")


def listen(path: Path) -> socket.socket:
    """A listening socket at `path` that only this user may connect to."""
    # Whole packets, in order: nothing has to say where a message ends.
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(16)
    return listener


def connect(path: Path, seconds: float) -> socket.socket:
    """A connection to the parent at `path`. Raises OSError when there is none, or when it is another user's."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        made.settimeout(seconds)
        made.connect(str(path))
        if not is_own(made):
            raise PermissionError(f"{path} belongs to a process of another user")
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_MESSAGE)
    except BaseException:
        made.close()
        raise
    return made


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is run by this very user, as the kernel of the system says."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(data)[1] == os.geteuid())


def send(connection: socket.socket, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one message. Raises OSError when nobody is there any more or the message is too long."""
    socket.send_fds(connection, [json.dumps(message).encode()], list(descriptors))


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """One message and its descriptors, which the caller closes.

    Raises EOFError when the other side has gone, ValueError for what is no message, OSError.
    """
    data, descriptors, flags, _ = socket.recv_fds(connection, MAX_MESSAGE, MAX_DESCRIPTORS)
    try:
        if not data:
            raise EOFError
        if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
            raise ValueError("a message was too long")
        message = json.loads(data)
        if not isinstance(message, dict):
            raise ValueError("a message should be a mapping")
    except BaseException:
        close(descriptors)
        raise
    return message, descriptors


def close(descriptors: Sequence[int]) -> None:
    for each in descriptors:
        with contextlib.suppress(OSError):
            os.close(each)
