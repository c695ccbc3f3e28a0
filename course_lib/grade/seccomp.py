"""seccomp: the system calls that a student's process may no longer make. Built with libseccomp, by way of pyseccomp.

Names stand in groups by what they would open. Everything that the frameworks call stays allowed; calls that are newer
than this list are refused as unknown, so that a new kernel opens nothing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import tempfile
from dataclasses import dataclass
from typing import Any

from course_lib.grade import libc

REFUSED: dict[str, str] = {
    "programs": "execve execveat uselib",
    "other processes": "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd "
    "pidfd_send_signal kcmp migrate_pages move_pages",
    "namespaces and mounts": "unshare setns mount umount umount2 pivot_root chroot open_tree open_tree_attr move_mount "
    "fsopen fsconfig fsmount fspick mount_setattr statmount listmount",
    "the kernel": "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register init_module "
    "finit_module delete_module create_module kexec_load kexec_file_load syslog lookup_dcookie nfsservctl _sysctl",
    "the machine": "reboot swapon swapoff settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname "
    "acct quotactl quotactl_fd personality iopl ioperm modify_ldt vhangup",
    "keys": "keyctl add_key request_key memfd_secret",
    "what outlives a process": "shmget semget msgget mq_open",
    "seeing what others open": "inotify_init inotify_init1 inotify_add_watch fanotify_init fanotify_mark "
    "name_to_handle_at open_by_handle_at",
    "owners and attributes": "chown fchown lchown fchownat setxattr lsetxattr fsetxattr setxattrat removexattr "
    "lremovexattr fremovexattr removexattrat file_setattr",
}
# Answered with "there is no such call": the C library and others then take the older one, which can be looked into.
UNKNOWN = "clone3 openat2 memfd_create"
# Answered with "done", and not done: copying a file must work, and neither Landlock nor a shared user stops these.
IGNORED = "chmod fchmod fchmodat fchmodat2 utime utimes futimesat utimensat sync syncfs"

# Newer than some libseccomp; from 424 on every processor type has the same numbers.
_NEWER = {
    "fchmodat2": 452,
    "statmount": 457,
    "listmount": 458,
    "setxattrat": 463,
    "removexattrat": 466,
    "open_tree_attr": 467,
    "file_setattr": 469,
}
_LAST_KNOWN = 469
_MACHINES = ("x86_64", "aarch64")

_CLONE_NEW = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
_CLONE_PARENT = 0x8000
# Typing into a terminal, owning a descriptor's signals, attributes of files.
_IOCTLS = (0x5412, 0x541C, 0x540E, 0x8901, 0x8902, 0x40086602, 0x401C5820)
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY = 8, 10, 15, 1024, 1026
_PR_SET_PDEATHSIG = 1
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPES = 1, 1, 16
_LOW_32_BITS = 0xFFFFFFFF
# Stands for the process's own number until the program is loaded; no process can have it.
_OWN_PID = 0x7E57C0DE


@dataclass(frozen=True)
class Needs:
    """What seccomp must do because no other layer does.

    `own_signals_only`: the user of the child is the grader's, and Landlock knows no scope of signals yet.
    `no_connect`: sockets of others lie within reach, those of D-Bus and of Docker for example.
    `no_truncate`: Landlock does not restrict truncation yet (before ABI 3).
    """

    own_signals_only: bool
    no_connect: bool
    no_truncate: bool

    @property
    def detail(self) -> str:
        """What the filter refuses, in words."""
        also = {
            "no signals to others": self.own_signals_only,
            "no connections at all": self.no_connect,
            "no truncation by name": self.no_truncate,
        }
        return ", ".join(["no programs", "no network", *(words for words, needed in also.items() if needed)])


def build(needs: Needs) -> bytes:
    """The filter as a program for the kernel, for `load`. Raises OSError where it cannot be made."""
    if platform.machine() not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no list of system calls for the processor type {platform.machine()}")
    try:
        import pyseccomp
    except ImportError as error:
        raise OSError(errno.ENOENT, f"{error}; it comes with the extra `grade`") from error
    except RuntimeError as error:
        # Raised when it is imported and finds no library to call.
        raise OSError(errno.ENOENT, f"{error} (Debian and Ubuntu: apt-get install libseccomp2)") from error
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    rules.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    add = _Adder(pyseccomp, rules)
    for names in REFUSED.values():
        add.always(names, errno.EPERM)
    add.always(UNKNOWN, errno.ENOSYS)
    add.always(IGNORED, 0)
    _by_argument(add)
    _by_need(add, needs)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return _refuse_newer_calls() + file.read()


def load(program: bytes) -> None:
    """Bind the calling thread and its future children to the filter. Needs no_new_privs; there is no way back."""
    if struct.pack("=I", _OWN_PID) in program:
        program = b"".join(_with_pid(program[at : at + 8]) for at in range(0, len(program), 8))
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    libc.call("prctl", libc.PR_SET_SECCOMP, 2, header, 0, 0)


def _with_pid(instruction: bytes) -> bytes:
    code, on_true, on_false, operand = struct.unpack("=HBBI", instruction)
    return struct.pack("=HBBI", code, on_true, on_false, os.getpid() if operand == _OWN_PID else operand)


def _refuse_newer_calls() -> bytes:
    """Instructions before libseccomp's: a number above the last known one is no call, and x32 ends the process."""
    load_number, if_above, give = 0x20, 0x25, 0x06
    return b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (load_number, 0, 0, 0),
            (if_above, 0, 3, _LAST_KNOWN),
            (if_above, 0, 1, 0x40000000 - 1),
            (give, 0, 0, 0x80000000),
            (give, 0, 0, 0x00050000 | errno.ENOSYS),
        )
    )


class _Adder:
    """Adds rules by name; names that this processor type or kernel never had are left out."""

    def __init__(self, library: Any, rules: Any) -> None:
        self._library, self._rules = library, rules

    def always(self, names: str, number: int) -> None:
        for name in names.split():
            self._add(name, number)

    def differs(self, names: str, argument: int, value: int) -> None:
        """Refuse the calls when this argument is another one than `value`."""
        for name in names.split():
            self._add(name, errno.EPERM, self._library.Arg(argument, self._library.NE, value))

    def has(self, names: str, argument: int, mask: int, value: int) -> None:
        """Refuse the calls when `value` stands in the bits `mask` of this argument."""
        for name in names.split():
            self._add(name, errno.EPERM, self._library.Arg(argument, self._library.MASKED_EQ, mask, value))

    def _add(self, name: str, number: int, *conditions: Any) -> None:
        call = self._library.resolve_syscall(self._library.Arch.NATIVE, name)
        call = _NEWER.get(name, call) if call < 0 else call
        if call >= 0:
            self._rules.add_rule(self._library.ERRNO(number), call, *conditions)


def _by_argument(add: _Adder) -> None:
    add.differs("socket socketpair", 0, _AF_UNIX)
    # A datagram may carry an address, which no filter can read.
    for kind in range(_SOCK_TYPES):
        if kind != _SOCK_STREAM:
            add.has("socket socketpair", 1, _SOCK_TYPES - 1, kind)
    for flag in (*_CLONE_NEW, _CLONE_PARENT):
        add.has("clone", 0, flag, flag)
    for request in _IOCTLS:
        add.has("ioctl", 1, _LOW_32_BITS, request)
    for command in (_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETLEASE, _F_NOTIFY):
        add.has("fcntl", 1, _LOW_32_BITS, command)
    # A child that does not end with its supervisor.
    add.has("prctl", 0, _LOW_32_BITS, _PR_SET_PDEATHSIG)
    # Limits, priorities and processors of itself only, which is 0.
    add.differs("prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr", 0, 0)
    add.differs("setpriority", 0, 0)
    add.differs("setpriority", 1, 0)
    add.differs("ioprio_set", 0, 1)
    add.differs("ioprio_set", 1, 0)


def _by_need(add: _Adder, needs: Needs) -> None:
    if needs.own_signals_only:
        add.differs("kill tgkill rt_sigqueueinfo rt_tgsigqueueinfo", 0, _OWN_PID)
        add.always("tkill", errno.EPERM)
    if needs.no_connect:
        add.always("connect", errno.EPERM)
    if needs.no_truncate:
        add.always("truncate", errno.EPERM)
        reading_but_emptying = os.O_ACCMODE | os.O_TRUNC
        add.has("openat", 2, reading_but_emptying, os.O_TRUNC)
        add.has("open", 1, reading_but_emptying, os.O_TRUNC)
