"""Attacks on files: to read what is none of a student's, and to harm what is the grader's."""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path

from course_lib.grade import libc
from sandbox_attacks.attack import World, attack, opened


def read(path: str | Path) -> bytes:
    with open(path, "rb") as file:
        data = file.read(4096)
    assert data
    return data


@attack()
def read_etc_passwd(_: World) -> object:
    return read("/etc/passwd")


@attack()
def read_another_student(world: World) -> object:
    return read(world.other_student)


@attack()
def read_another_student_through_a_link(world: World) -> object:
    os.symlink(world.other_student, "mine")
    return read("mine")


@attack()
def read_another_student_by_the_way_up(world: World) -> object:
    return read("../" * 40 + str(world.other_student)[1:])


@attack()
def read_a_sealed_file_in_an_open_folder(world: World) -> object:
    return read(world.sealed / "secret")


@attack()
def read_a_sealed_file_through_a_link_in_an_open_folder(world: World) -> object:
    return read(world.readable / "link" / "secret")


@attack()
def read_the_solutions(world: World) -> object:
    return read(world.solution)


@attack()
def read_a_check(world: World) -> object:
    return read(world.check)


@attack()
def list_the_root(_: World) -> object:
    return os.listdir("/")


@attack()
def list_the_home(_: World) -> object:
    return os.listdir(os.path.dirname(os.path.dirname(os.path.realpath(os.sys.base_prefix))))  # type: ignore[attr-defined]


@attack()
def link_a_file_of_others_into_reach(world: World) -> object:
    os.link(world.other_student, os.path.join(os.environ["TMPDIR"], "mine"))
    return read("mine")


@attack()
def an_environment_variable_of_the_grader(world: World) -> object:
    with open("/proc/self/environ", "rb") as file:
        found = file.read() + repr(dict(os.environ)).encode()
    if world.secret.encode() not in found:
        raise PermissionError("not in the environment")
    return found


@attack()
def a_descriptor_of_the_grader(world: World) -> object:
    for name in os.listdir("/proc/self/fd"):
        try:
            if world.secret.encode() in os.pread(int(name), 4096, 0):
                return name
        except OSError:
            continue
    raise PermissionError("no descriptor with the secret")


@attack()
def a_folder_of_the_grader(world: World) -> object:
    for name in os.listdir("/proc/self/fd"):
        try:
            return os.listdir(int(name)), world
        except OSError:
            continue
    raise PermissionError("no descriptor of a folder")


def _changed(world: World) -> str:
    """What became of the grader's file, which all attacks below aim at."""
    target = world.folder / "graded"
    if not target.exists():
        return "it is gone"
    about = target.stat()
    found = []
    if about.st_mode & 0o777 != 0o600:
        found.append(f"mode {about.st_mode:o}")
    if abs(about.st_mtime - 1_000_000_000) > 1:
        found.append("time changed")
    if target.read_text() != world.secret:
        found.append("content changed")
    if os.listxattr(target):
        found.append("attribute set")
    return ", ".join(found)


@attack(damage=_changed)
def write_a_file_of_the_grader(world: World) -> object:
    return (world.folder / "graded").write_text("full marks")


@attack(damage=_changed)
def delete_a_file_of_the_grader(world: World) -> object:
    os.unlink(world.folder / "graded")
    return None


@attack(damage=_changed)
def rename_a_file_of_the_grader(world: World) -> object:
    os.rename(world.folder / "graded", world.folder / "elsewhere")
    return None


@attack(damage=_changed)
def empty_a_file_of_the_grader(world: World) -> object:
    os.truncate(world.folder / "graded", 0)
    return None


@attack(damage=_changed)
def lock_a_file_of_the_grader(world: World) -> object:
    os.chmod(world.folder / "graded", 0)
    return None


@attack(damage=_changed)
def lock_a_file_of_the_grader_by_a_descriptor(world: World) -> object:
    with opened(world.folder / "graded", os.O_PATH) as fd:
        os.chmod(f"/proc/self/fd/{fd}", 0)
    return None


@attack(damage=_changed)
def age_a_file_of_the_grader(world: World) -> object:
    os.utime(world.folder / "graded", (5.0, 5.0))
    return None


@attack(damage=_changed)
def mark_a_file_of_the_grader(world: World) -> object:
    os.setxattr(world.folder / "graded", "user.mark", b"10")
    return None


def _new_file(world: World) -> str:
    return "a new file" if any((each / "planted").exists() for each in (world.folder, world.readable)) else ""


@attack(damage=_new_file)
def plant_a_file(world: World) -> object:
    return (world.folder / "planted").write_text("import os")


@attack(damage=_new_file)
def plant_a_module_beside_the_packages(world: World) -> object:
    return (world.readable / "planted").write_text("import os")


@attack(damage=_new_file)
def make_a_named_socket_outside(world: World) -> object:
    import socket

    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(world.folder / "planted"))


def _module_changed(world: World) -> str:
    module = world.readable / "module"
    about = module.stat()
    return "" if (about.st_size, about.st_mode & 0o777) == (6, 0o644) else f"{about}"


@attack(damage=_module_changed)
def empty_a_module_while_reading(world: World) -> object:
    with opened(world.readable / "module", os.O_RDONLY | os.O_TRUNC):
        pass


@attack(damage=_module_changed)
def empty_a_module_by_openat2(world: World) -> object:
    """openat2 takes its flags in memory, where no filter sees them."""
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY | os.O_TRUNC, 0, 0)
    path = os.fsencode(world.readable / "module")
    return libc.call("syscall", 437, -100, path, ctypes.addressof(how), 24)


@attack(damage=_module_changed)
def lock_a_module(world: World) -> object:
    with opened(world.readable / "module") as fd:
        os.fchmod(fd, 0)


@attack(damage=_module_changed)
def lock_a_module_by_fchmodat2(world: World) -> object:
    return libc.call("syscall", 452, -100, os.fsencode(world.readable / "module"), 0, 0)


@attack()
def watch_the_folder_of_others(world: World) -> object:
    """inotify tells the names of files that others open, and Landlock does not restrict it."""
    fd = libc.call("inotify_init1", os.O_NONBLOCK)
    libc.call("inotify_add_watch", fd, os.fsencode(world.folder), 0xFFF)
    (world.folder / "graded").stat()
    return time.time()
