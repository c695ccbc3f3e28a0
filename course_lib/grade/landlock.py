"""Landlock: a process gives up the files that it was not granted, for itself and its children, for good.

Numbers and structures from the kernel's `include/uapi/linux/landlock.h`; what each ABI adds is in its documentation,
`userspace-api/landlock`. A right that the kernel does not know yet is not asked for, and `restricted` says which are.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from types import TracebackType

from course_lib.grade import libc

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_PATH_BENEATH = 1

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
MAKE_CHAR = 1 << 6
MAKE_BLOCK = 1 << 11
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15
RESOLVE_UNIX = 1 << 16

READ = READ_FILE | READ_DIR
# What makes sense on a file; the kernel refuses the rest there.
_ON_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

_SINCE = ((1, (1 << 13) - 1), (2, REFER), (3, TRUNCATE), (5, IOCTL_DEV), (9, RESOLVE_UNIX))
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

TRUNCATE_ABI = 3
TCP_ABI = 4
SCOPE_ABI = 6
UNIX_ABI = 9

_SAID = (
    (1, "files"),
    (TRUNCATE_ABI, "truncation"),
    (TCP_ABI, "TCP"),
    (5, "device ioctl"),
    (SCOPE_ABI, "abstract sockets"),
    (SCOPE_ABI, "signals"),
    (UNIX_ABI, "named sockets"),
)


def abi() -> int:
    """The newest Landlock ABI that this kernel offers; 0 where there is none (other systems, or switched off)."""
    if sys.platform != "linux":
        return 0
    try:
        return libc.call("syscall", _CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def rights(version: int) -> int:
    """Every file right that ABI `version` can restrict."""
    return sum(bits for since, bits in _SINCE if version >= since)


def restricted(version: int) -> tuple[str, ...]:
    """What a ruleset of this ABI restricts, in words."""
    return tuple(name for since, name in _SAID if version >= since)


def writing(version: int) -> int:
    """The rights of a folder in which everything may be done except running, making devices, driving them."""
    return rights(version) & ~(EXECUTE | MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV | RESOLVE_UNIX)


def rule(fd: int, allowed: int, version: int) -> bytes:
    """A rule for `Ruleset.add`: allow `allowed` on what `fd` was opened on, with O_PATH, and on everything beneath it.

    Rights that this ABI cannot restrict, or that a file cannot have, are left out.
    """
    allowed &= rights(version)
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        allowed &= _ON_A_FILE
    return struct.pack("=Qi", allowed, fd)


class Ruleset:
    """What is still allowed: nothing at first, then each granted folder with all that lies in it.

    TCP, abstract sockets of others and signals to others get no grant at all. Raises OSError where Landlock is missing.
    """

    def __init__(self, version: int) -> None:
        self._version = version
        attributes = struct.pack(
            "=QQQ",
            rights(version),
            _BIND_AND_CONNECT_TCP if version >= TCP_ABI else 0,
            _ABSTRACT_SOCKETS_AND_SIGNALS if version >= SCOPE_ABI else 0,
        )
        size = 24 if version >= SCOPE_ABI else 16 if version >= TCP_ABI else 8
        self._fd = libc.call("syscall", _CREATE_RULESET, attributes, size, 0)

    def add(self, made: bytes) -> None:
        """Add what `rule` made; the descriptor in it must still be open."""
        libc.call("syscall", _ADD_RULE, self._fd, _PATH_BENEATH, made, 0)

    def grant(self, path: int | str, allowed: int) -> None:
        """Allow `allowed` on a path, or on an open one, and on everything beneath it."""
        fd = path if isinstance(path, int) else os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            self.add(rule(fd, allowed, self._version))
        finally:
            if not isinstance(path, int):
                os.close(fd)

    def enforce(self) -> None:
        """Bind the calling thread and its future children. Needs no_new_privs; there is no way back."""
        libc.call("syscall", _RESTRICT_SELF, self._fd, 0)

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Ruleset:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
