"""How much memory is free, the limits of a container included."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

MIN_FREE_BYTES = 2 << 30
MIN_FREE = "COURSE_WARM_MIN_FREE_BYTES"


def free_bytes(root: Path = Path("/")) -> int:
    """Bytes that programs can still take before the machine, or the container, runs short.

    `root` is where the file system starts, so that a test can describe another machine.
    """
    return min(_machine(root), _container(root))


def is_short(environ: Mapping[str, str] = os.environ, *, share: float = 1.0) -> bool:
    """Whether less is free than `share` of what must stay free: 2 GiB, or COURSE_WARM_MIN_FREE_BYTES."""
    try:
        wanted = int(environ.get(MIN_FREE, MIN_FREE_BYTES))
    except ValueError:
        wanted = MIN_FREE_BYTES
    return free_bytes() < share * wanted


def _machine(root: Path) -> int:
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return 0


def _container(root: Path) -> int:
    """What the control groups above this process leave, unlimited when they say nothing."""
    left = 1 << 62
    folder = root / "sys/fs/cgroup"
    for part in ["", *_own_group(root)]:
        folder = folder / part
        try:
            limit = int((folder / "memory.max").read_text())
            used = int((folder / "memory.current").read_text())
            stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):
            continue
        left = min(left, limit - used + int(stat.get("inactive_file", 0)))
    return left


def _own_group(root: Path) -> list[str]:
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    path = next((line[3:] for line in lines if line.startswith("0::")), "")
    return [part for part in path.split("/") if part]
