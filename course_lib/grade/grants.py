"""Which files a student's process may read: Python, its packages, the course, and what these need of Linux."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# Nothing here tells about a person or about another process. /etc/passwd is not needed: USER and HOME are set.
SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone"),
    *("/etc/os-release", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/fonts", "/etc/ssl/openssl.cnf"),
    *("/etc/ssl/certs", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies"),
    *("/sys/devices/system", "/sys/kernel/mm/transparent_hugepage", "/sys/fs/cgroup"),
    *("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
)
# Of /proc, beside the process's own folder.
PROC = (
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version"),
    *("/proc/filesystems", "/proc/vmstat", "/proc/zoneinfo", "/proc/sys/vm", "/proc/sys/kernel"),
)
SINK = "/dev/null"

Kind = Literal["read", "list", "write"]


@dataclass(frozen=True)
class Grant:
    """What is allowed on `path` and on everything beneath it; "list" is only the names in folders."""

    path: str
    kind: Kind


def roots(readable: Sequence[Path]) -> list[str]:
    """The paths to be opened, without those that lie in another one of them."""
    paths = {path for path in (*map(os.path.realpath, readable), *SYSTEM) if os.path.exists(path)}
    return sorted(path for path in paths if not any(_lies_in(path, other) for other in paths))


def grants(readable: Sequence[Path], sealed: Sequence[Path]) -> list[Grant]:
    """What Landlock shall allow. It cannot close a folder inside an open one, so the neighbours are opened one by one.

    The names in a folder that holds a sealed one stay visible, and so do those in the sealed one: Python finds no
    module in a folder that it may not list. What the files say is closed.
    """
    closed = {os.path.realpath(path) for path in sealed}
    found = [Grant(path, "read") for path in PROC if os.path.exists(path)] + [Grant(SINK, "write")]
    # Folders that are asked for by name are opened even where they lie in a sealed one.
    for path in dict.fromkeys([*map(os.path.realpath, readable), *roots(readable)]):
        if path not in closed and os.path.exists(path):
            found += _open(path, closed)
    return list(dict.fromkeys(found))


def _open(path: str, closed: set[str]) -> Iterator[Grant]:
    if not any(_lies_in(each, path) for each in closed):
        yield Grant(path, "read")
        return
    yield Grant(path, "list")
    with os.scandir(path) as entries:
        for entry in entries:
            # A grant on a link would open what it points to.
            if not entry.is_symlink() and entry.path not in closed:
                yield from _open(entry.path, closed)


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
