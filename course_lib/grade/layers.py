"""The layers of the sandbox, and a trial of each: a throwaway process really tries what it forbids."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

from course_lib.errors import CourseError
from course_lib.grade import landlock, libc, privileges
from course_lib.grade.limits import Limits

LANDLOCK = "Landlock"
SECCOMP = "seccomp"
LIMITS = "limits"
PRIVILEGES = "no privileges"
USER = "user of its own"
CGROUP = "cgroup"
MOUNTS = "mount namespace"
NETWORK = "network namespace"
# Landlock says "permission denied", seccomp "operation not permitted": who refused shows.
_CLOSED = (errno.EACCES, errno.EROFS)
_REFUSED = (errno.EPERM,)
_PTRACE_SETOPTIONS = 0x4200
CORE = (LANDLOCK, SECCOMP, LIMITS, PRIVILEGES)


class SandboxRefused(CourseError, RuntimeError):
    """A student's process was not started, because a core layer of the sandbox does not work here."""

    exit_code = 9


@dataclass(frozen=True)
class Layer:
    """One thing that isolates. `detail` says what it does, or why it is not there. Without the core nothing runs."""

    name: str
    active: bool
    core: bool
    detail: str


def of(name: str, active: bool, detail: str) -> Layer:
    return Layer(name, active, name in CORE, detail)


def lacking(layers: tuple[Layer, ...]) -> str:
    """Which core layers do not work, and why; "" when all do."""
    return "; ".join(f"{each.name}: {each.detail}" for each in layers if each.core and not each.active)


def not_on(platform: str) -> tuple[Layer, ...]:
    """The answer on macOS and Windows."""
    why = f"needs Linux; this is {platform}. Run the grader in a Linux container."
    return tuple(of(name, False, why) for name in CORE)


def try_files(version: int, grader: int) -> str:
    """In a confined process: what got past Landlock, "" for nothing. `grader` is a process outside."""
    if version < 1:
        return "this kernel has no Landlock (Linux 5.13 or newer has, if it is not switched off)"
    problems = [
        _should_fail("listing /", _CLOSED, lambda: os.listdir("/")),
        _should_fail("writing above the work folder", _CLOSED, lambda: os.mkdir("../course-trial")),
        _should_work("writing in the work folder", _write_and_delete),
        _should_work("reading Python's library", lambda: open(os.__file__, "rb").close()),
    ]
    if version >= landlock.TCP_ABI:
        problems.append(_should_fail("a TCP socket", _CLOSED, _listen))
    if version >= landlock.SCOPE_ABI:
        problems.append(_should_fail("a signal to the grader", _REFUSED, lambda: os.kill(grader, 0)))
    return "; ".join(filter(None, problems))


def try_limits(limits: Limits) -> str:
    """In a confined process: which limit does not hold, "" for none."""
    import resource

    size = limits.memory_bytes + (64 << 20)
    problems = [
        _should_fail("more memory than allowed", (errno.ENOMEM,), lambda: _private_memory(size)),
        _should_work("less memory than allowed", lambda: _private_memory(limits.memory_bytes // 4)),
    ]
    wanted = {
        "open files": (resource.RLIMIT_NOFILE, limits.n_open_files),
        "file size": (resource.RLIMIT_FSIZE, limits.file_bytes),
        "CPU seconds": (resource.RLIMIT_CPU, limits.cpu_seconds + 1),
        "core dumps": (resource.RLIMIT_CORE, 0),
    }
    for name, (kind, most) in wanted.items():
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or hard > most:
            problems.append(f"{name} are not limited to {most}")
    return "; ".join(filter(None, problems))


def try_privileges() -> str:
    """In a confined process: which privilege is left, "" for none."""
    if not privileges.has_no_new_privileges():
        return "a program could still give new privileges"
    left = privileges.capabilities()
    return f"capabilities are left: {left:#x}" if left else ""


def try_user(user: int | None) -> str:
    """In a confined process: whether it is that user and no other."""
    if user is None or (os.getresuid() == (user, user, user) == os.getresgid() and not os.getgroups()):
        return ""
    return f"user {os.getresuid()} and group {os.getresgid()} instead of {user}"


def try_names(supervisors_folder: str) -> str:
    """In a child with a file system of its own: whether it still sees the supervisor's, "" if not."""
    return f"{supervisors_folder} is still to be seen" if os.path.exists(supervisors_folder) else ""


def try_network() -> str:
    """In a child with a network of its own: which other interface than the loop it has, "" for none."""
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    return f"still to be seen: {', '.join(others)}" if others else ""


def try_calls() -> str:
    """In a process with the filter: which forbidden call was not refused by it, "" for none."""
    problems = [
        _should_fail("running a program", _REFUSED, lambda: os.execv("/bin/true", ["true"])),
        _should_fail("an internet socket", _REFUSED, lambda: socket.socket(socket.AF_INET).close()),
        # Of no process at all: the kernel itself would say that there is none.
        _should_fail("tracing", _REFUSED, lambda: libc.call("ptrace", _PTRACE_SETOPTIONS, 0, 0, 0)),
        _should_fail("a new namespace", _REFUSED, lambda: libc.call("unshare", 0x10000000)),
        _should_work("starting a process", _fork),
        _should_work("a pair of sockets", _pair),
    ]
    return "; ".join(filter(None, problems))


def _should_fail(what: str, numbers: tuple[int, ...], action: Callable[[], object]) -> str:
    try:
        action()
    except OSError as error:
        return "" if error.errno in numbers else f"{what} failed for another reason: {error}"
    return f"{what} was possible"


def _should_work(what: str, action: Callable[[], object]) -> str:
    try:
        action()
    except OSError as error:
        return f"{what} failed: {error}"
    return ""


def _write_and_delete() -> None:
    with open("trial", "wb") as file:
        file.write(b"1")
    os.unlink("trial")


def _listen() -> None:
    with contextlib.closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))


def _private_memory(n_bytes: int) -> None:
    mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()


def _pair() -> None:
    for each in socket.socketpair():
        each.close()


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
