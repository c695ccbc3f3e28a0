"""The places where a grader may run, made out of a machine on which one is root: each is entered for good.

"as it is" takes the machine as it stands. "root, not of all files" lacks the capability to open what belongs to others.
"user" is an ordinary user, "caged user" one to whom no namespace is granted. "container" is root as in a Docker
container: Docker's capabilities, no mounts and namespaces, control groups that cannot be written. "old kernel" is a
caged user where Landlock knows no more than in Linux 5.13.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import struct
import sys
import tempfile
from pathlib import Path

from course_lib.grade import landlock, libc, namespaces, privileges

SETTINGS = (
    "as it is",
    "root, not of all files",
    "user",
    "caged user",
    "old kernel",
    "container",
    "container that hides Python",
)
ORDINARY_USER = 12345

# Docker's default: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, NET_RAW,
# SYS_CHROOT, MKNOD, AUDIT_WRITE, SETFCAP.
DOCKER_CAPABILITIES = sum(1 << bit for bit in (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31))
# DAC_OVERRIDE and DAC_READ_SEARCH.
DAC_OVERRIDE = 1 << 1 | 1 << 2
REFUSED_IN_DOCKER = (
    "unshare setns mount umount2 pivot_root bpf perf_event_open userfaultfd keyctl add_key request_key "
    "open_by_handle_at io_uring_setup fsopen fsmount move_mount open_tree mount_setattr"
)


def enter(setting: str) -> None:
    """Put the calling process into this setting."""
    if setting == "as it is":
        return
    _own_mounts()
    if setting == "root, not of all files":
        _keep_capabilities(privileges.capabilities() & ~DAC_OVERRIDE)
        return
    if setting != "container that hides Python":
        show_python_to_everybody()
    if setting.startswith("container"):
        _shut_control_groups()
        _refuse(REFUSED_IN_DOCKER)
        _keep_capabilities(DOCKER_CAPABILITIES)
        return
    os.setgroups([])
    os.setresgid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
    os.setresuid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
    privileges.drop_capabilities()
    # Changing the user closes /proc/self; a program that such a user starts has it open.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    if setting != "user":
        _refuse("unshare setns mount")
    if setting == "old kernel":
        landlock.abi = lambda: 1


def _own_mounts() -> None:
    """What is mounted from here on must not be seen by anybody else on the machine."""
    before = os.readlink("/proc/self/ns/mnt")
    libc.call("unshare", namespaces.KINDS["mount"])
    libc.mount("none", "/", flags=libc.MS_REC | libc.MS_PRIVATE)
    assert os.readlink("/proc/self/ns/mnt") != before


def show_python_to_everybody() -> None:
    """Python may lie in root's home, where an ordinary user could not have started it: show its folder, alone."""
    stashes: dict[str, str] = {}
    folders: set[str] = set()
    for prefix in (sys.base_prefix, sys.prefix):
        hidden = next((p for p in reversed(Path(prefix).parents) if not p.stat().st_mode & 0o001), None)
        if hidden is not None:
            folders.add(str(hidden))
            stashes[prefix] = tempfile.mkdtemp()
            libc.mount(prefix, stashes[prefix], flags=libc.MS_BIND)
    # Both may lie in one hidden folder: first put them aside, then cover it, then put them back.
    for folder in folders:
        libc.mount("tmpfs", folder, "tmpfs", 0, "mode=755")
    for prefix, stash in stashes.items():
        os.makedirs(prefix, exist_ok=True)
        libc.mount(stash, prefix, flags=libc.MS_BIND)
        libc.unmount(stash)
        shutil.rmtree(stash, ignore_errors=True)


def _shut_control_groups() -> None:
    if os.path.ismount("/sys/fs/cgroup"):
        libc.make_read_only("/sys/fs/cgroup")


def _keep_capabilities(kept: int) -> None:
    for number in range(41):
        if not kept >> number & 1:
            with contextlib.suppress(OSError):
                libc.prctl(libc.PR_CAPBSET_DROP, number)
    low, high = kept & 0xFFFFFFFF, kept >> 32
    libc.call("capset", struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", low, low, 0, high, high, 0))


def _refuse(names: str) -> None:
    import pyseccomp

    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in names.split():
        rules.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
    rules.load()
