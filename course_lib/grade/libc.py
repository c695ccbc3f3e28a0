"""Calls of the C library that Python does not offer. Each raises OSError, as Python's own do."""

from __future__ import annotations

import ctypes
import os
import struct
from functools import cache


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int | bytes | None) -> int:
    """Call the C function `name`; integers go as long, bytes and None as pointers. Raises OSError below 0."""
    function = getattr(_library(), name)
    function.restype = ctypes.c_long if name == "syscall" else ctypes.c_int
    ctypes.set_errno(0)
    result = int(function(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


PR_SET_PDEATHSIG = 1
PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47


def prctl(option: int, value: int = 0, third: int = 0) -> int:
    """The system call prctl(2); the arguments that are not used are 0, as it demands."""
    return call("prctl", option, value, third, 0, 0)


MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """The system call mount(2)."""
    texts = [os.fsencode(text) for text in (source, target, kind, options)]
    call("mount", texts[0], texts[1], texts[2] or None, flags, texts[3] or None)


def unmount(target: str) -> None:
    """Take a mount out of the tree at once; what still uses it keeps it until it ends."""
    call("umount2", os.fsencode(target), MNT_DETACH)


_MOUNT_SETATTR = 442
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_ATTR_RDONLY_NOSUID = 0x1 | 0x2


def make_read_only(target: str, *, with_mounts_below: bool = True) -> None:
    """Make a mount read-only, and set-user-id bits without effect there, with all mounts below it (Linux 5.12)."""
    attributes = struct.pack("=QQQQ", _ATTR_RDONLY_NOSUID, 0, 0, 0)
    flags = _AT_RECURSIVE if with_mounts_below else 0
    call("syscall", _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(target), flags, attributes, len(attributes))
