"""Attacks on what the kernel keeps for all."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import signal
from collections.abc import Callable

from course_lib.grade import libc
from sandbox_attacks.attack import World, attack

X86 = os.uname().machine == "x86_64"


def _call(x86: int, other: int, *arguments: int | bytes | None) -> object:
    return _refused(lambda: libc.call("syscall", x86 if X86 else other, *arguments))


def _refused(action: Callable[[], object]) -> object:
    """Arguments that make no sense are an answer of the kernel, too: the call was not kept from it."""
    try:
        return action()
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
            raise
        return error


@attack(free=False)
def mount_something(_: World) -> object:
    libc.mount("tmpfs", os.getcwd(), "tmpfs")


@attack(free=False)
def a_new_user_namespace(_: World) -> object:
    return libc.call("unshare", 0x10000000)


@attack(free=False)
def a_new_user_namespace_by_clone(_: World) -> object:
    pid = _call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return pid


@attack(free=False)
def a_new_user_namespace_by_clone3(_: World) -> object:
    arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, signal.SIGCHLD)
    pid = _call(435, 435, ctypes.addressof(arguments), 64)
    if pid == 0:
        os._exit(0)
    return pid


@attack(free=False)
def another_root(_: World) -> object:
    os.chroot(os.getcwd())


@attack(free=False)
def a_program_in_the_kernel(_: World) -> object:
    return _call(321, 280, 0, b"\0" * 64, 64)


@attack(free=False)
def performance_counters(_: World) -> object:
    return _call(298, 241, b"\0" * 128, 0, -1, -1, 0)


@attack(free=False)
def faults_handled_by_oneself(_: World) -> object:
    return _call(323, 282, 1)


@attack(free=False)
def rings_that_pass_the_filter(_: World) -> object:
    """io_uring opens, connects and reads without any further system call."""
    parameters = ctypes.create_string_buffer(120)
    return libc.call("syscall", 425, 4, ctypes.addressof(parameters))


@attack()
def a_key_that_stays(_: World) -> object:
    return _call(248, 217, b"user", b"mine", b"answers", 7, -2)


@attack()
def shared_memory_that_stays(_: World) -> object:
    segment = libc.call("shmget", 0, 4096, 0o1600)
    libc.call("shmctl", segment, 0, None)
    return segment


@attack()
def a_message_queue_that_stays(_: World) -> object:
    queue = libc.call("msgget", 0, 0o1600)
    libc.call("msgctl", queue, 0, None)
    return queue


@attack()
def a_semaphore_that_stays(_: World) -> object:
    semaphore = libc.call("semget", 0, 1, 0o1600)
    libc.call("semctl", semaphore, 0, 0, 0)
    return semaphore


@attack()
def another_personality(_: World) -> object:
    return libc.call("personality", 0x0040000)


@attack(free=False)
def the_clock(_: World) -> object:
    import time

    time.clock_settime(time.CLOCK_REALTIME, time.time())


@attack(free=False)
def typing_into_a_terminal(_: World) -> object:
    import fcntl
    import termios

    with open(os.devnull) as file:
        return _refused(lambda: fcntl.ioctl(file, termios.TIOCSTI, b"x"))


@attack(free=False)
def a_call_of_another_kind_of_program(_: World) -> object:
    """x32: the numbers of 64-bit programs, with a bit that a filter may overlook."""
    return libc.call("syscall", 0x40000000 + 39)


@attack(free=False)
def a_call_of_a_32_bit_program(_: World) -> object:
    """getpid by `int 0x80`, where the same number means another call than in the filter's list."""
    if not X86:
        raise PermissionError("there is no such instruction")
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    return ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
