"""A file system of their own for the children of a slot: what is granted, two empty folders, and nothing else.

What is not there needs no guard: no home, no sockets of other programs, no file names to guess. Needs a mount namespace
of its own, in which the supervisor keeps the whole tree and each child goes into this one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from course_lib.grade import libc

WORK = "/student"
SHM = "/dev/shm"
_WHOLE = ("/proc",)
_DEVICES = "/dev/"
# A limit for files so small that their number is what fills the memory.
_N_FILES = 20_000


class PrivateRoot:
    """Built at the empty folder `at`, in the mount namespace of the calling process; `renew` completes it.

    `folder_bytes` is the room in the work folder, and again in shared memory where `with_shm`. Raises OSError.
    """

    def __init__(
        self, at: Path, paths: Sequence[str], sealed: Sequence[str], folder_bytes: int, *, with_shm: bool
    ) -> None:
        self.at = str(at)
        self._bound: list[str] = []
        self._fresh: list[str] = []
        self._options = f"size={folder_bytes},nr_inodes={_N_FILES}"
        # Else what is mounted here would be mounted in the parent's tree, too.
        libc.mount("none", "/", flags=libc.MS_REC | libc.MS_PRIVATE)
        libc.mount("tmpfs", self.at, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=755,size=16m")
        for path in (*_WHOLE, *paths):
            self._bind(path)
        for path in sealed:
            self._hide(path)
        self._places = {WORK: "mode=700"} | ({SHM: "mode=1777"} if with_shm else {})
        for place in self._places:
            os.makedirs(self.at + place, exist_ok=True)
        if not os.path.lexists(self.at + "/tmp"):
            os.symlink(WORK, self.at + "/tmp")
        libc.make_read_only(self.at, with_mounts_below=False)

    def renew(self, user: int, group: int) -> None:
        """Empty folders for the next child, which has this user; the last one's are gone with their file system."""
        for place in self._fresh:
            libc.unmount(place)
        self._fresh.clear()
        for place, mode in self._places.items():
            flags = libc.MS_NOSUID | libc.MS_NODEV
            libc.mount("tmpfs", self.at + place, "tmpfs", flags, f"{self._options},{mode},uid={user},gid={group}")
            self._fresh.append(self.at + place)

    def enter(self) -> None:
        """In a child: see nothing else from now on. It must hold no folder open, and lose its capabilities."""
        os.chroot(self.at)
        os.chdir("/")

    def close(self) -> None:
        """Take it out of the tree."""
        libc.unmount(self.at)

    def _bind(self, path: str) -> None:
        """Show `path` at its own place. Links on the way are made again, and what they point to is shown."""
        done = ""
        for part in Path(path).parts[1:]:
            parent, done = done or "/", f"{done}/{part}"
            if self._shows(done):
                return
            if os.path.islink(done):
                if not os.path.lexists(self.at + done):
                    os.makedirs(os.path.dirname(self.at + done), exist_ok=True)
                    os.symlink(os.readlink(done), self.at + done)
                target = os.path.normpath(os.path.join(parent, os.readlink(done)))
                self._bind(target + path[len(done) :])
                return
        if os.path.exists(path):
            self._mount(path)

    def _mount(self, path: str) -> None:
        place = self.at + path
        if os.path.isdir(path):
            os.makedirs(place, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "ab"):
                pass
        libc.mount(path, place, flags=libc.MS_BIND | libc.MS_REC)
        if not path.startswith(_DEVICES):
            libc.make_read_only(place)
        self._bound.append(path)

    def _shows(self, path: str) -> bool:
        return any(path == each or path.startswith(each + "/") for each in self._bound)

    def _hide(self, path: str) -> None:
        if self._shows(path) and os.path.isdir(self.at + path):
            libc.mount("tmpfs", self.at + path, "tmpfs", libc.MS_RDONLY, "mode=0,size=4k")
