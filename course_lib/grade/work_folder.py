"""Emptying what a student's process leaves behind, where it has no file system of its own that just goes away."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "course-sandbox-"
_DESERTED_SECONDS = 3600.0
_SHM = "/dev/shm"
_BLOCK = 512
_MANY_FILES = 5_000
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def make_own_folder(slot: int) -> Path:
    """A folder in which others may look for names that they know, and no more."""
    _remove_deserted()
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-{slot}-")).resolve()
    folder.chmod(0o711)
    return folder


def _remove_deserted() -> None:
    """Folders of supervisors that were killed before they could remove theirs."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        with contextlib.suppress(OSError):
            about = folder.lstat()
            old = time.time() - about.st_mtime > _DESERTED_SECONDS
            if old and owner.isdigit() and about.st_uid == os.geteuid() and not os.path.exists(f"/proc/{owner}"):
                empty(folder)
                folder.rmdir()


def empty(folder: str | Path) -> None:
    """Delete everything in `folder`, the caller's own: any depth, any names, any modes, and never through a link.

    No process that could interfere may be alive. Folders are taken apart level by level, since a hostile tree is deeper
    than paths are long, recursion goes and descriptors last. Raises OSError when something cannot be deleted.
    """
    top = os.open(folder, _FOLDER | os.O_RDONLY)
    try:
        numbers = itertools.count()
        while entries := os.listdir(top):
            for name in map(os.fsencode, entries):
                if stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
                    _unfold(top, name, numbers)
                    os.rmdir(name, dir_fd=top)
                else:
                    os.unlink(name, dir_fd=top)
    finally:
        os.close(top)


def _unfold(top: int, name: bytes, numbers: Iterator[int]) -> None:
    """Empty one folder by moving the folders in it up to the top."""
    inner = _open(name, top)
    try:
        for entry in map(os.fsencode, os.listdir(inner)):
            if not stat.S_ISDIR(os.lstat(entry, dir_fd=inner).st_mode):
                os.unlink(entry, dir_fd=inner)
                continue
            # Moving a folder needs the right to write into it.
            os.close(_open(entry, inner))
            os.rename(entry, _free_name(top, numbers), src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)


def _free_name(top: int, numbers: Iterator[int]) -> bytes:
    for number in numbers:
        name = b"moved-%d" % number
        try:
            os.lstat(name, dir_fd=top)
        except FileNotFoundError:
            return name
    raise AssertionError("numbers never end")


def _open(name: bytes, within: int) -> int:
    """Open a folder whatever its mode is; a link in its place is refused."""
    pin = os.open(name, _FOLDER | os.O_PATH, dir_fd=within)
    try:
        with contextlib.suppress(PermissionError):
            os.chmod(f"/proc/self/fd/{pin}", 0o700)
        return os.open(b".", _FOLDER | os.O_RDONLY, dir_fd=pin)
    finally:
        os.close(pin)


def used_bytes(folder: str | Path, enough: int) -> int:
    """Bytes that the files in `folder` take up. Counting ends when there are more than `enough`, or 5,000 of them.

    Then the answer is more than `enough`. The tree may change meanwhile; what cannot be read is not counted.
    """
    total, count, folders = 0, 0, [os.fspath(folder)]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                count += 1
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                if count > _MANY_FILES or total > enough:
                    return max(total, enough + 1)
    return total


class SharedMemory:
    """What a child leaves in a /dev/shm that it shares with others: what is new, its user's, and used by nobody."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Take what is there now as somebody else's."""
        self._since = time.time()
        self._before = set(_names())

    def clean(self, user: int) -> None:
        """Delete what was left since `renew`. `user` is the one that the child had."""
        left = [name for name in _names() if name not in self._before and _owner(name) == user]
        if left:
            used = set(_used(user))
            for name in left:
                if f"{_SHM}/{name}" not in used:
                    with contextlib.suppress(OSError):
                        _delete(f"{_SHM}/{name}")
        self.renew()


def _delete(path: str) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        empty(path)
        os.rmdir(path)
    else:
        os.unlink(path)


def _names() -> list[str]:
    try:
        return os.listdir(_SHM)
    except OSError:
        return []


def _owner(name: str) -> int:
    try:
        return os.lstat(f"{_SHM}/{name}").st_uid
    except OSError:
        return -1


def _used(user: int) -> Iterator[str]:
    """The files in shared memory that a living process of `user` has mapped."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == user:
                with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as file:
                    yield from (line.split(None, 5)[5].rstrip("\n") for line in file if _SHM in line)
