"""The learner's own folder, and the only way anything is written there: whole, or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_lib.errors import CannotSave, CourseError

LOCK_SECONDS = 20.0
LEFTOVER_SECONDS = 3600.0

_ACTIONS = {
    errno.ENOSPC: "Free some disk space, then do it again.",
    errno.EDQUOT: "Your disk quota is used up: free some space, then do it again.",
    errno.EACCES: "Give yourself the right to write there, or set COURSE_HOME to a folder of your own.",
    errno.EPERM: "Give yourself the right to write there, or set COURSE_HOME to a folder of your own.",
    errno.EROFS: "This disk can only be read: set COURSE_HOME to a folder on another disk.",
    errno.ENOTDIR: "A file stands where a folder should be: move it away, or choose another folder.",
    errno.EEXIST: "A file stands where a folder should be: move it away, or choose another folder.",
    errno.EISDIR: "A folder stands where a file should be: move it away, then do it again.",
}


def cannot_save(path: Path, error: OSError) -> CannotSave:
    """The teaching error for an operating system error met while writing `path`."""
    reason = error.strerror or str(error)
    action = _ACTIONS.get(error.errno or 0, "Set COURSE_HOME to a folder that you can write to, then do it again.")
    return CannotSave(f"{path} could not be written ({reason}); what was there before is untouched.", action=action)


def cannot_read(path: Path, error: OSError) -> CourseError:
    """The teaching error for an operating system error met while reading `path`."""
    return CourseError(
        f"{path} could not be read ({error.strerror or error}).",
        action="Check what stands there, and whether you may read it.",
    )


def home_path() -> Path:
    """Where everything of the learner's lives: COURSE_HOME, else ~/every-framework. Creates nothing."""
    return Path(os.environ.get("COURSE_HOME") or Path.home() / "every-framework").expanduser().absolute()


def home() -> Path:
    """The learner's folder, made when it is not there yet.

    Raises CannotSave when it cannot be made.
    """
    return make_folder(home_path())


def make_folder(path: Path) -> Path:
    """Make a folder and its parents. Raises CannotSave when something is in the way."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_save(path, error) from error
    return path


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step: a reader, or a crash at any moment, finds the old bytes or the new ones.

    A symbolic link stays, its target is replaced. Raises CannotSave with the reason; the old file is then untouched.
    """
    target = Path(os.path.realpath(path))
    make_folder(target.parent)
    _remove_leftovers(target)
    # Without the process id and the random part, two processes would write into one temporary file.
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, target.stat().st_mode & 0o7777)
        os.replace(temporary, target)
    except OSError as error:
        raise cannot_save(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _sync_folder(target.parent)


def write_text_atomically(path: Path, text: str) -> None:
    """Replace the text of `path` (UTF-8, line ends as given) in one step. Raises CannotSave, the old file untouched."""
    write_bytes_atomically(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, in one step. Raises CannotSave, the old file untouched."""
    write_text_atomically(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path, default: Any) -> Any:
    """The value in a JSON file, or `default` when there is no such file.

    A damaged file is moved aside to `<name>.damaged-<n>` and this is said once on stderr; `default` is returned.
    Raises CourseError when the file cannot be read and CannotSave when a damaged one cannot be moved.
    """
    value, damaged = load_json(path, default)
    if damaged is not None:
        say_damaged(path, damaged)
    return value


def load_json(path: Path, default: Any) -> tuple[Any, Path | None]:
    """As read_json, in silence: the value, and where a damaged file was moved to (None when it was sound)."""
    try:
        return json.loads(path.read_bytes().decode("utf-8")), None
    except FileNotFoundError:
        return default, None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return default, set_aside(path)
    except OSError as error:
        raise cannot_read(path, error) from error


def set_aside(path: Path) -> Path:
    """Rename a damaged file to the first free `<name>.damaged-<n>` and return that path. Raises CannotSave."""
    damaged = damaged_path(path)
    try:
        os.rename(path, damaged)
    except FileNotFoundError:
        return damaged  # Another process has just moved it.
    except OSError as error:
        raise cannot_save(damaged, error) from error
    return damaged


def damaged_path(path: Path) -> Path:
    """The first name `<name>.damaged-<n>` that is still free."""
    n = 1
    while (damaged := path.with_name(f"{path.name}.damaged-{n}")).exists():
        n += 1
    return damaged


def say_damaged(path: Path, damaged: Path) -> None:
    """Tell the learner on stderr that a damaged file was kept under another name."""
    print(f"{path} was damaged and could not be read. It was kept as {damaged.name}.", file=sys.stderr)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the right to change `path`: a second process waits, for 20 seconds at most, then gets CannotSave.

    The lock is a neighbouring file `.<name>.lock`; the operating system frees it when its holder dies. Where the file
    system knows no locks, the block runs without one.
    """
    make_folder(path.parent)
    lock = path.with_name(f".{path.name}.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise cannot_save(lock, error) from error
    try:
        _wait_for_lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while not _try_lock(descriptor):
        if time.monotonic() > deadline:
            raise CannotSave(
                f"Another process has been writing {path} for {LOCK_SECONDS:.0f} seconds; nothing was changed.",
                action="Close other notebooks of the course, then do it again.",
            )
        time.sleep(0.02)


def _try_lock(descriptor: int) -> bool:
    """True when the lock is ours, or when this file system has none; False while another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return True


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files that a crash left; a young one may belong to a process that is still writing."""
    for leftover in target.parent.glob(f".{target.name}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > LEFTOVER_SECONDS:
                leftover.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where folders can be opened (not on Windows)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
