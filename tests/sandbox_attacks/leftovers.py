"""Attacks on the next student: processes, files and shared memory that are left behind, and traps for who cleans up."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path

from course_lib.grade import libc
from sandbox_attacks.attack import World, attack

WORD = "left-behind"
# Deeper than Python recurses, longer than a path may be, more than descriptors may be open.
DEEP = 1_200


def _is_alive(world: World) -> str:
    """A process that was left behind writes into the pipe of the harness; here, its number is looked up."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if WORD in Path(f"/proc/{name}/comm").read_text():
                return f"process {name} lives"
    return ""


def _rename_process() -> None:
    libc.call("prctl", 15, WORD.encode() + b"\0", 0, 0, 0)


def _stay(seconds: float = 30.0) -> None:
    _rename_process()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.05)
    os._exit(0)


@attack(damage=_is_alive)
def a_process_in_the_background(_: World) -> object:
    if os.fork() == 0:
        _stay()
    time.sleep(0.05)


@attack(damage=_is_alive)
def a_process_in_another_session(_: World) -> object:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _stay()
        os._exit(0)
    time.sleep(0.1)


@attack(damage=_is_alive, free=False)
def a_process_that_keeps_moving(_: World) -> object:
    """It starts another one and ends, again and again, so that no list of processes has it."""
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            _rename_process()
            with contextlib.suppress(OSError):
                if os.fork() != 0:
                    os._exit(0)
    time.sleep(0.1)


def _shm_left(_: World) -> str:
    return "shared memory" if Path("/dev/shm", WORD).exists() else ""


@attack(damage=_shm_left)
def shared_memory(_: World) -> object:
    return Path("/dev/shm", WORD).write_text("answers")


@attack(damage=_shm_left)
def a_folder_in_shared_memory(_: World) -> object:
    folder = Path("/dev/shm", WORD)
    folder.mkdir()
    (folder / "answers").write_text("answers")
    folder.chmod(0)


def _kept(world: World) -> str:
    return "" if (world.folder / "graded").exists() else "what a link pointed to is gone"


@attack(damage=_kept, free=False)
def links_to_the_grader(world: World) -> object:
    os.symlink(world.folder, "link")
    os.mkdir("folder")
    os.symlink(world.folder, "folder/link")
    os.symlink(world.folder / "graded", "folder/file")
    os.rename("folder", "moved")


@attack(damage=_kept, free=False)
def the_work_folder_is_a_link(world: World) -> object:
    os.mkdir("inner")
    with contextlib.suppress(OSError):
        os.rename(os.getcwd(), os.getcwd() + "-moved")
    with contextlib.suppress(OSError):
        os.symlink(world.folder, os.environ["TMPDIR"])


@attack(damage=_kept, free=False)
def a_deep_tree(_: World) -> object:
    sys.setrecursionlimit(100)
    for _ in range(DEEP):
        os.mkdir("deeper")
        os.chdir("deeper")
    return Path("bottom").write_text("1")


@attack(damage=_kept, free=False)
def odd_names(_: World) -> object:
    for name in (b"\xff\xfe", b"new\nline", b"-rf", b"x" * 255, b" ", b"*", b"moved-0", b"moved-1"):
        os.mkdir(name)
        with open(name + b"/" + name, "wb") as file:
            file.write(b"1")


@attack(damage=_kept, free=False)
def closed_folders(_: World) -> object:
    os.mkdir("closed")
    Path("closed/file").write_text("1")
    os.mkdir("closed/inner", 0)
    os.mkdir("never", 0)
    os.chmod("closed", 0)
    os.chmod(".", 0)
    os.chmod(os.environ["TMPDIR"], 0)


@attack(damage=_kept, free=False)
def pipes_and_sockets(_: World) -> object:
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("socket")
    os.mkdir("inner")
    os.mkfifo("inner/pipe")
