"""A control group of its own for a slot: memory and processes of a child and all it started, counted together."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "course-sandbox-"
_CONTROLLERS = ("memory", "pids")
# What the kernel itself needs for a process, page tables above all, counts as well.
_KERNEL_BYTES = 64 << 20
_SETTLE_SECONDS = 0.5


class Group:
    """The calling process and its future children, in a group of version 1 or 2. Raises OSError where none is granted.

    The supervisor is in it, too: moving each child would take longer than starting it. `detail` says what is limited.
    """

    def __init__(self, name: str, memory_bytes: int, n_tasks: int) -> None:
        self._name = f"{_PREFIX}{os.getpid()}-{name}"
        self._memory_bytes, self._n_tasks = memory_bytes + _KERNEL_BYTES, n_tasks
        # Where the process was before, and where it is now.
        self._folders: list[tuple[Path, Path]] = []
        try:
            version = 2 if (_ROOT / "cgroup.controllers").exists() else 1
            (self._enter_unified if version == 2 else self._enter_each)()
        except OSError:
            self.close()
            raise
        self.detail = f"cgroup v{version}: memory and number of processes together"

    def _enter_unified(self) -> None:
        here = _ROOT / _own_groups()[""].lstrip("/")
        # A group that holds processes cannot divide what it has; its parent can, where it is ours.
        for parent in (here, here.parent):
            if set(_CONTROLLERS) <= set(_words(parent / "cgroup.subtree_control")) and os.access(parent, os.W_OK):
                folder = self._make(here, parent)
                _write(folder / "pids.max", self._n_tasks)
                _write(folder / "memory.max", self._memory_bytes)
                with contextlib.suppress(OSError):
                    _write(folder / "memory.swap.max", 0)
                _write(folder / "cgroup.procs", os.getpid())
                return
        raise PermissionError("no group here hands on `memory` and `pids`")

    def _enter_each(self) -> None:
        own = _own_groups()
        for controller in _CONTROLLERS:
            if controller not in own:
                raise FileNotFoundError(f"there is no controller `{controller}`")
            here = _ROOT / controller / own[controller].lstrip("/")
            folder = self._make(here, here)
            if controller == "pids":
                _write(folder / "pids.max", self._n_tasks)
            else:
                _write(folder / "memory.limit_in_bytes", self._memory_bytes)
            _write(folder / "cgroup.procs", os.getpid())

    def _make(self, here: Path, parent: Path) -> Path:
        _remove_deserted(parent)
        folder = parent / self._name
        folder.mkdir()
        self._folders.append((here, folder))
        return folder

    def kill_others(self) -> bool:
        """Kill whoever is in the group beside this process; False when somebody is still there after a while."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while others := {pid for pid in self._members() if pid != os.getpid()}:
            for pid in others:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def _members(self) -> Iterator[int]:
        for _, folder in self._folders[-1:]:
            yield from map(int, _words(folder / "cgroup.procs"))

    def n_killed(self) -> int:
        """How often the kernel has ended a process because the group had used up its memory."""
        for _, folder in self._folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    words = _words(folder / name)
                    # Not every kernel counts it.
                    if "oom_kill" in words:
                        return int(words[words.index("oom_kill") + 1])
        return 0

    def close(self) -> None:
        """Leave the group, and remove it."""
        for here, folder in self._folders:
            with contextlib.suppress(OSError):
                _write(here / "cgroup.procs", os.getpid())
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._folders.clear()


def _own_groups() -> dict[str, str]:
    """Per controller ("" for version 2) the group in which this process is."""
    found = {}
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, names, path = line.rstrip("\n").split(":", 2)
            found.update(dict.fromkeys(names.split(","), path))
    return found


def _remove_deserted(parent: Path) -> None:
    """Groups of supervisors that were killed before they could remove theirs."""
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if not os.path.exists(f"/proc/{owner}"):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return []


def _write(file: Path, value: int) -> None:
    file.write_text(f"{value}\n", encoding="ascii")
