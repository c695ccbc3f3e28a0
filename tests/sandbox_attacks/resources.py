"""Attacks by using up: memory, processes, files, the disk."""

from __future__ import annotations

import contextlib
import mmap
import os
import time

from sandbox_attacks.attack import World, attack

MANY_PROCESSES = 2_000
# The tests allow half a gigabyte.
TOO_MUCH = 1 << 30
PIECE = 1 << 20


@attack(free=False)
def a_fork_bomb(_: World) -> object:
    """Every process forks for ever; it is over when there are more than may be."""
    count = 0
    while count < MANY_PROCESSES:
        with contextlib.suppress(BlockingIOError):
            pid = os.fork()
            if pid == 0:
                while True:
                    with contextlib.suppress(OSError):
                        os.fork()
            count += 1
            continue
        raise BlockingIOError(f"stopped after {count} processes")
    return count


@attack(free=False)
def three_gigabytes(_: World) -> object:
    return len(bytearray(3 << 30))


@attack(free=False)
def memory_in_small_pieces(_: World) -> object:
    return len([bytearray(PIECE) for _ in range(TOO_MUCH // PIECE)])


@attack(free=False)
def memory_of_many_processes(_: World) -> object:
    """The limit is for each process: what a child may have is not what its children may add."""
    reading, writing = os.pipe()
    for _ in range(4):
        if os.fork() == 0:
            with contextlib.suppress(MemoryError):
                held = [b"1" * PIECE for _ in range(TOO_MUCH // 4 // PIECE)]
                os.write(writing, b"1")
                time.sleep(60)
                assert held
            os._exit(0)
    os.close(writing)
    for _ in range(4):
        if not os.read(reading, 1):
            raise MemoryError
    # Somebody who looks five times a second must have a chance.
    time.sleep(1.0)
    return os.getpid()


@attack(free=False)
def shared_memory_of_nobody(_: World) -> object:
    with mmap.mmap(-1, TOO_MUCH) as memory:
        for start in range(0, TOO_MUCH, PIECE):
            memory[start : start + PIECE] = b"1" * PIECE
        time.sleep(1.0)
    return None


@attack()
def a_file_of_a_hundred_megabytes(_: World) -> object:
    with open("large", "wb") as file:
        for _ in range(100):
            file.write(b"0" * (1 << 20))


@attack(free=False)
def a_disk_full_of_files(_: World) -> object:
    for number in range(40):
        with open(f"large{number}", "wb") as file:
            file.write(b"0" * (10 << 20))
    time.sleep(1.0)
    return os.listdir(".")


@attack(free=False)
def thousands_of_open_files(_: World) -> object:
    return len([os.open("/dev/null", os.O_RDONLY) for _ in range(2_000)])


@attack(free=False)
def hidden_memory(_: World) -> object:
    """memfd_create holds memory that belongs to no process's count."""
    fds = [os.memfd_create(f"m{number}") for number in range(100)]
    for fd in fds:
        os.write(fd, b"0" * (10 << 20))
    return fds


@attack(free=False)
def endless_computing(_: World) -> object:
    """More CPU seconds than allowed, with the warning signal ignored."""
    import signal

    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while time.process_time() < 30:
        pass
    return time.process_time()
