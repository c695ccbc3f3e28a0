"""What came of a student's process: who belongs to it, what it uses, and how all of it ends.

Linux only; elsewhere, and for processes that are gone, there is nothing to find. A supervisor is a subreaper, so that
everything a child started stays below it, whatever sessions and double forks were used.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from typing import NamedTuple

KILL_SECONDS = 10.0
_KIB = 1024


class Usage(NamedTuple):
    """Of a child with everything it started: CPU seconds so far, bytes that it does not share, living processes."""

    cpu_seconds: float
    private_bytes: int
    n_processes: int


class _Stat(NamedTuple):
    pid: int
    state: str
    parent: int
    ticks: int
    started: int


def tree_usage(pid: int, *, exact: bool = False) -> Usage:
    """What the child `pid` and everything that its parent has besides it use now; zeros when it is gone.

    A child shares the imports of its parent, page by page, until one of the two writes. The quick count is what each
    process has more than the parent (0.2 ms a process), so that pages it inherited and wrote to are not seen.
    `exact` reads the kernel's own count (30 ms a process for 900 MB of imports), where it may be read.
    """
    stat = _stat(pid)
    if stat is None:
        return Usage(0.0, 0, 0)
    inherited = _memory(stat.parent)[0]
    found = [stat, *(other for p in descendants(stat.parent) if p != pid and (other := _stat(p)))]
    alive = [each for each in found if each.state not in "ZX"]
    private = sum(_private_bytes(each.pid, inherited, exact=exact) for each in alive)
    seconds = sum(each.ticks for each in found) / os.sysconf("SC_CLK_TCK")
    return Usage(seconds, private, len(alive))


def descendants(pid: int) -> list[int]:
    """Every process below `pid`, those that wait to be reaped included, parents before their children."""
    return list(_walk(pid))


def kill_tree(pid: int) -> None:
    """Kill everything below the calling process, and reap it, except that `pid` itself is left for the caller to reap.

    The caller is a subreaper, so that orphans come to it. They are stopped first: who is stopped starts nobody. Returns
    after ten seconds even if something withstands, which only the kernel can cause.
    """
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        found = []
        for each in _walk(os.getpid()):
            _signal(each, signal.SIGSTOP)
            found.append(each)
        for each in found:
            _signal(each, signal.SIGKILL)
        if _all_gone(pid):
            return
        time.sleep(0.0005)


def _all_gone(spared: int) -> bool:
    """Reap the dead, but for one; True when nobody else is left.

    A list of processes may miss one that is just changing its parent. That there is no child at all, or none beside a
    dead one, is said in one moment, and without a child there is no descendant.
    """
    stat = _stat(spared)
    if stat is None or stat.parent != os.getpid():
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        return False
    for child in list(children(os.getpid())):
        if child != spared:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
    return stat.state in "ZX" and list(children(os.getpid())) == [spared]


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _walk(pid: int) -> Iterator[int]:
    """Processes below `pid`; each is handed out before its own children are looked for."""
    seen: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children(waiting.pop()):
            if child not in seen:
                seen.add(child)
                yield child
                waiting.append(child)


def children(pid: int) -> Iterator[int]:
    """The processes that `pid` has started or taken over, those that wait to be reaped included."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        text = _read(f"/proc/{pid}/task/{thread}/children")
        if text is None and thread == str(pid) and not os.path.exists(f"/proc/{pid}/task/{thread}/children"):
            yield from _children_by_search(pid)
        yield from map(int, (text or "").split())


def _children_by_search(pid: int) -> Iterator[int]:
    """For kernels that keep no list of children."""
    for name in os.listdir("/proc"):
        if name.isdigit() and (stat := _stat(int(name))) and stat.parent == pid:
            yield stat.pid


def _stat(pid: int) -> _Stat | None:
    text = _read(f"/proc/{pid}/stat")
    if not text:
        return None
    # The name, in parentheses, may hold anything, spaces and parentheses included.
    fields = text[text.rindex(")") + 2 :].split()
    return _Stat(pid, fields[0], int(fields[1]), sum(map(int, fields[11:15])), int(fields[19]))


def _memory(pid: int) -> tuple[int, int]:
    """Resident bytes of a process: of its own (anonymous) and shared ones (shared mappings, tmpfs)."""
    sizes = {"RssAnon:": 0, "RssShmem:": 0}
    for line in (_read(f"/proc/{pid}/status") or "").splitlines():
        name, _, value = line.partition("\t")
        if name in sizes:
            sizes[name] = int(value.split()[0]) * _KIB
    return sizes["RssAnon:"], sizes["RssShmem:"]


def _private_bytes(pid: int, inherited: int, *, exact: bool) -> int:
    anonymous, shared = _memory(pid)
    if exact and (rollup := _read(f"/proc/{pid}/smaps_rollup")):
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in rollup.splitlines()[1:]}
        return (sizes["Private_Clean"] + sizes["Private_Dirty"] + sizes["Pss_Shmem"]) * _KIB
    return max(0, anonymous - inherited) + shared


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return None
