"""Namespaces: a slot gets its own network, mounts, host name and System V IPC, where the kernel grants them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from course_lib.grade import libc
from course_lib.grade.privileges import SYS_ADMIN, capabilities
from course_lib.grade.throwaway import ask

KINDS = {"mount": 0x00020000, "network": 0x40000000, "ipc": 0x08000000, "host name": 0x04000000}
_LINKS = {"mount": "mnt", "network": "net", "ipc": "ipc", "host name": "uts"}
_NEW_USER = 0x10000000


@dataclass(frozen=True)
class Possible:
    """What the kernel grants here. `own_user`: by way of a user namespace, in which there is no second user."""

    granted: tuple[str, ...]
    own_user: bool
    refused: dict[str, str]


def try_out() -> Possible:
    """Enter every kind of namespace in a throwaway process, and mount something there; see what is refused."""
    own_user = not capabilities() & SYS_ADMIN
    try:
        refused: dict[str, str] = ask(lambda _: _trial(own_user))
    except OSError as error:
        refused = dict.fromkeys(KINDS, str(error))
    granted = tuple(kind for kind in KINDS if kind not in refused)
    return Possible(granted, own_user and bool(granted), refused)


def enter(possible: Possible) -> None:
    """Enter what was granted. The calling process must have one thread, and stays there."""
    if possible.own_user:
        _enter_user()
    for kind in possible.granted:
        _leave(kind)


def _leave(kind: str) -> None:
    link = f"/proc/self/ns/{_LINKS[kind]}"
    before = os.readlink(link)
    libc.call("unshare", KINDS[kind])
    if os.readlink(link) == before:
        raise OSError(f"the {kind} namespace is still the old one")


def _trial(own_user: bool) -> dict[str, str]:
    refused = {}
    if own_user:
        _enter_user()
    for kind in KINDS:
        try:
            _leave(kind)
            if kind == "mount":
                # Where a security module restricts user namespaces, entering works and mounting does not.
                libc.mount("none", "/", flags=libc.MS_REC | libc.MS_PRIVATE)
                libc.mount("tmpfs", "/", "tmpfs", libc.MS_NOSUID | libc.MS_NODEV)
                os.chroot("/")
        except OSError as error:
            refused[kind] = str(error)
    return refused


def _enter_user() -> None:
    """A user namespace in which the calling user is itself, and may make the other namespaces."""
    user, group = os.geteuid(), os.getegid()
    libc.call("unshare", _NEW_USER)
    dumpable = libc.prctl(libc.PR_GET_DUMPABLE)
    # The files in /proc of a process that must not be looked into belong to root.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    try:
        with contextlib.suppress(FileNotFoundError):
            _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    finally:
        libc.prctl(libc.PR_SET_DUMPABLE, dumpable)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
