"""The private folder in which the parents of one server, test run or command meet those who ask them for kernels."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

FOLDER = "COURSE_WARM_FOLDER"
OWNER = "owner.json"
# The longest path that the address of a Unix socket can hold, less a key and its ending.
MAX_PATH = 100 - 30


def make(environ: Mapping[str, str] = os.environ) -> Path:
    """A new folder that only this user can enter, owned by this process. Raises OSError when there is no place."""
    places = [environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"]
    for place in places:
        if place and len(place) < MAX_PATH - 24 and os.access(place, os.W_OK | os.X_OK):
            folder = Path(tempfile.mkdtemp(prefix="course-warm-", dir=place))
            (folder / OWNER).write_text(json.dumps({"pid": os.getpid(), "started": started(os.getpid())}))
            return folder
    raise OSError("no folder for sockets can be made")


def inherited(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder that the environment names, when it is still ours to trust and its owner lives."""
    path = environ.get(FOLDER, "")
    if not path or not is_private(Path(path)):
        return None
    descriptor = open_owner(Path(path))
    if descriptor is None:
        return None
    os.close(descriptor)
    return Path(path)


def is_private(folder: Path) -> bool:
    """Whether it is a folder, not a link, that belongs to this user and that nobody else can enter."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def started(pid: int) -> int:
    """When a process began, in clock ticks after the machine; 0 when there is none. Tells it from a later namesake."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return int(fields[19])


def open_owner(folder: Path) -> int | None:
    """A descriptor that becomes readable when the owner ends; None when it has ended. The caller closes it."""
    try:
        owner = json.loads((folder / OWNER).read_text())
        descriptor = os.pidfd_open(int(owner["pid"]))
    except (OSError, ValueError, KeyError):
        return None
    if started(int(owner["pid"])) != owner["started"] or select.select([descriptor], [], [], 0)[0]:
        os.close(descriptor)
        return None
    return descriptor


@contextlib.contextmanager
def lock(path: Path) -> Iterator[bool]:
    """Whether nobody holds this lock; it is not kept longer than the block."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def leave(folder: Path, key: str) -> None:
    """Remove a parent's files; the folder, too, when its owner has ended and no other parent is left."""
    for ending in ("sock", "log"):
        with contextlib.suppress(OSError):
            (folder / f"{key}.{ending}").unlink()
    owner = open_owner(folder)
    if owner is not None:
        os.close(owner)
    elif not list(folder.glob("*.sock")):
        shutil.rmtree(folder, ignore_errors=True)
