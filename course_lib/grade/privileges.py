"""What a process gives up about itself: capabilities, its user, new privileges, and its life when its parent ends."""

from __future__ import annotations

import os
import signal
import struct
import sys

from course_lib.grade import libc

# The top of the numbers that Linux distributions leave unused, and a range that fits a container's 65,536 users.
_HIGH_USERS = 0x7000_0000
_LOW_USERS = 62_000
_N_LOW_USERS = 2_000
_N_USERS = 1 << 22

CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, SYS_ADMIN = (1 << bit for bit in (0, 1, 3, 5, 6, 7, 21))

_CAPABILITY_VERSION_3 = 0x2008_0522
_LAST_CAPABILITY = 63


def end_with_parent(parent: int) -> None:
    """Be killed when the parent ends; raises ProcessLookupError when `parent` has ended already.

    A change of user undoes it, and a child of this process does not inherit it.
    """
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise ProcessLookupError(f"The supervisor {parent} has ended.")


def free_user() -> int:
    """A number that belongs to no account and to no other supervisor, since it is made from this process's number."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        spans = [(int(line.split()[0]), int(line.split()[2])) for line in file]
    high = _HIGH_USERS + os.getpid() % _N_USERS
    if any(first <= high < first + count for first, count in spans):
        return high
    return _LOW_USERS + os.getpid() % _N_LOW_USERS


def become_user(user: int) -> None:
    """Be this user, in this group and no other, for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def drop_capabilities() -> None:
    """Give up every capability, also those that a program could bring back."""
    for number in range(_LAST_CAPABILITY + 1):
        try:
            libc.prctl(libc.PR_CAPBSET_DROP, number)
        except OSError:
            # Numbers beyond the kernel's last one; and without CAP_SETPCAP nothing can be brought back.
            break
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    libc.call("capset", header, bytes(24))


def capabilities() -> int:
    """The effective capabilities of this process, as a bit mask; 0 is none."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1], 16) for line in file if line.startswith("CapEff:")), 0)


def no_new_privileges() -> None:
    """From now on no program that is run gives more rights than this process has."""
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)


def has_no_new_privileges() -> bool:
    return sys.platform == "linux" and libc.prctl(libc.PR_GET_NO_NEW_PRIVS) == 1
