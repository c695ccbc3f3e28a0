"""Attacks on other processes."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import signal
import socket
import time
from pathlib import Path

from course_lib.grade import libc
from sandbox_attacks.attack import World, attack, victim_is_dead, victim_was_signalled


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(100)


@attack(free=False)
def read_the_environment_of_init(_: World) -> object:
    return _read("/proc/1/environ")


@attack()
def read_the_environment_of_the_grader(world: World) -> object:
    return _read(f"/proc/{world.grader}/environ")


@attack()
def read_the_command_line_of_the_grader(world: World) -> object:
    return _read(f"/proc/{world.grader}/cmdline")


@attack()
def read_the_maps_of_the_grader(world: World) -> object:
    return _read(f"/proc/{world.grader}/maps")


@attack()
def open_the_memory_of_the_grader(world: World) -> object:
    os.close(os.open(f"/proc/{world.grader}/mem", os.O_RDWR))


@attack()
def list_the_descriptors_of_the_grader(world: World) -> object:
    return os.listdir(f"/proc/{world.grader}/fd")


@attack()
def walk_through_the_root_of_the_grader(world: World) -> object:
    return os.listdir(f"/proc/{world.grader}/root")


@attack()
def list_all_processes(_: World) -> object:
    return os.listdir("/proc")


@attack(damage=victim_is_dead)
def kill_a_process_of_the_grader(world: World) -> object:
    os.kill(world.victim, signal.SIGKILL)


@attack(damage=victim_is_dead)
def kill_a_thread_of_the_grader(world: World) -> object:
    libc.call("syscall", {"x86_64": 234}.get(os.uname().machine, 131), world.victim, world.victim, signal.SIGKILL)


@attack(damage=victim_is_dead)
def kill_by_a_process_descriptor(world: World) -> object:
    signal.pidfd_send_signal(os.pidfd_open(world.victim), signal.SIGKILL)


@attack(damage=victim_is_dead)
def kill_by_owning_a_descriptor(world: World) -> object:
    """The kernel sends a signal of one's choice to the owner of a pipe when something can be read."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETOWN, world.victim)
    fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(writing, b"1")
    time.sleep(0.05)


# In a sandbox that fails it reaches every process of the machine: only with a signal that is ignored where unknown.
@attack(damage=victim_was_signalled, free=False)
def signal_everybody(_: World) -> object:
    os.kill(-1, signal.SIGURG)
    time.sleep(0.1)


@attack(damage=victim_was_signalled)
def signal_the_group_of_the_victim(world: World) -> object:
    os.killpg(os.getpgid(world.victim), signal.SIGURG)
    time.sleep(0.1)


@attack()
def end_the_grader(world: World) -> object:
    """Signal 0 asks only whether one may."""
    os.kill(world.grader, 0)


@attack()
def trace_a_process(world: World) -> object:
    return libc.call("ptrace", 16, world.victim, 0, 0)


@attack()
def read_the_memory_of_a_process(world: World) -> object:
    buffer = ctypes.create_string_buffer(8)
    start = int(Path(f"/proc/{world.victim}/stat").read_text().rpartition(")")[2].split()[25])
    local = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_uint64 * 2)(start, 8)
    number = {"x86_64": 310}.get(os.uname().machine, 270)
    return libc.call("syscall", number, world.victim, ctypes.addressof(local), 1, ctypes.addressof(remote), 1, 0)


@attack()
def take_a_descriptor_of_a_process(world: World) -> object:
    return libc.call("syscall", 438, os.pidfd_open(world.victim), 0, 0)


@attack()
def limit_a_process(world: World) -> object:
    return resource.prlimit(world.victim, resource.RLIMIT_NOFILE, (3, 3))


@attack()
def slow_a_process_down(world: World) -> object:
    os.setpriority(os.PRIO_PROCESS, world.victim, 19)


@attack(free=False)
def slow_all_of_the_user_down(_: World) -> object:
    os.setpriority(os.PRIO_USER, 0, 19)


@attack()
def tie_a_process_to_a_processor(world: World) -> object:
    os.sched_setaffinity(world.victim, {min(os.sched_getaffinity(0))})


@attack()
def put_a_process_last(world: World) -> object:
    os.sched_setscheduler(world.victim, os.SCHED_IDLE, os.sched_param(0))


@attack()
def leave_the_grader_as_a_sibling(world: World) -> object:
    """CLONE_PARENT makes a child of the supervisor."""
    number = {"x86_64": 56}.get(os.uname().machine, 220)
    pid = libc.call("syscall", number, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return world


@attack(free=False)
def be_root(_: World) -> object:
    with contextlib.suppress(PermissionError):
        os.setuid(0)
    socket.sethostname("mine")


@attack()
def run_a_program(_: World) -> object:
    return os.posix_spawn("/bin/true", ["true"], {})


@attack()
def run_a_program_from_memory(_: World) -> object:
    fd = os.memfd_create("program")
    with open("/bin/true", "rb") as file:
        os.write(fd, file.read())
    pid = os.fork()
    if pid == 0:
        try:
            os.execve(fd, ["true"], {})
        except OSError as error:
            os._exit(error.errno or 1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, errno.errorcode.get(code, "?"))


@attack()
def run_a_program_of_the_shell(_: World) -> object:
    import subprocess

    return subprocess.run(["/bin/sh", "-c", "true"], check=True)
