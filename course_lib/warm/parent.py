"""A warm parent: imports the packages of one key, runs none of their operations, and forks a kernel for whoever asks.

`python -m course_lib.warm.parent FOLDER KEY PACKAGES` detaches itself, so that nobody has to wait for it. It ends when
the folder's owner ends, when what it imported has changed on the disk, or when nobody has needed it for a while; its
kernels live on.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import socket
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.warm import folder, freshness, keys, memory, wire
from course_lib.warm.child import INLINE, Imported, Job, become_kernel
from course_lib.warm.importing import import_ahead

IDLE = "COURSE_WARM_IDLE_SECONDS"
IDLE_SECONDS = 600.0
TICK_SECONDS = 15.0
HELLO_SECONDS = 5.0


class Parent:
    """Waits for requests. `serve` returns in each kernel that it forks, with what that kernel is to be."""

    def __init__(self, path: Path, owner: int, imported: Imported, bare: set[str]) -> None:
        self._path = path
        self._imported = imported
        self._own = set(sys.modules) - bare
        self._installed = freshness.installed(sys.path)
        self._sources = freshness.own_sources()
        self._idle_seconds = float(imported.environ.get(IDLE, IDLE_SECONDS))
        self._used = time.monotonic()
        self._stale = False
        # Process number, pidfd and connection of each kernel; the connection is None once nobody listens.
        self._kernels: dict[int, tuple[int, socket.socket | None]] = {}
        self._listener = wire.listen(path)
        self._owner = owner
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, ("ask", 0))
        self._selector.register(owner, selectors.EVENT_READ, ("end", 0))

    def serve(self) -> Job | None:
        """Until a kernel was forked (in that kernel: its job) or this process has to end (None)."""
        while True:
            for found, _ in self._selector.select(min(TICK_SECONDS, self._idle_seconds)):
                kind, pid = found.data
                if kind == "end":
                    return None
                if kind == "exited":
                    self._report(pid)
                elif kind == "closed":
                    self._forget(pid)
                elif (job := self._answer()) is not None:
                    return job
                elif self._stale:
                    return None
            if self._is_idle():
                return None

    def _is_idle(self) -> bool:
        if not self._path.exists():
            return True
        if self._kernels:
            self._used = time.monotonic()
            return False
        return time.monotonic() - self._used > self._idle_seconds or memory.is_short(share=0.5)

    def _answer(self) -> Job | None:
        connection, _ = self._listener.accept()
        descriptors: list[int] = []
        try:
            if not wire.is_own(connection):
                raise PermissionError
            connection.settimeout(HELLO_SECONDS)
            request, descriptors = wire.receive(connection)
            if refusal := self._refusal(request):
                wire.send(connection, refusal)
            else:
                return self._fork(connection, request, descriptors)
        except (OSError, EOFError, ValueError, LookupError, TypeError):
            pass
        wire.close(descriptors)
        connection.close()
        return None

    def _refusal(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Why a cold kernel, or another parent, would do other than this one; {} when it would not."""
        if freshness.installed(sys.path) != self._installed or freshness.changed(self._sources):
            self._stale = True
            return {"stale": True}
        environ = {"MPLBACKEND": INLINE, **request["environ"]}
        if names := keys.differing(self._imported.reads, self._imported.environ, environ):
            return {"differing": names}
        if files := freshness.shadowed(self._own, request["folder"]):
            return {"shadowed": files}
        return {}

    def _fork(self, connection: socket.socket, request: Mapping[str, Any], descriptors: list[int]) -> Job | None:
        # Whatever is wrong with a request is found before there are two of us.
        job = _job(request, descriptors)
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # JAX warns of every fork of a process that might have threads; here it has none.
            warnings.simplefilter("ignore")
            pid = os.fork()
        if pid == 0:
            self._let_go()
            connection.close()
            return job
        self._used = time.monotonic()
        pidfd = os.pidfd_open(pid)
        self._kernels[pid] = (pidfd, connection)
        self._selector.register(pidfd, selectors.EVENT_READ, ("exited", pid))
        self._selector.register(connection, selectors.EVENT_READ, ("closed", pid))
        wire.close(descriptors)
        # Whoever has gone in the meantime closes the connection, and that is seen.
        with contextlib.suppress(OSError):
            wire.send(connection, {"pid": pid}, [pidfd])
        return None

    def _report(self, pid: int) -> None:
        """A kernel ended: say how, and keep its number until nobody holds it any more."""
        pidfd, connection = self._kernels[pid]
        self._selector.unregister(pidfd)
        if connection is None:
            self._reap(pid)
            return
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        if ended is None:
            return
        code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        with contextlib.suppress(OSError):
            wire.send(connection, {"exit_code": code})

    def _forget(self, pid: int) -> None:
        """Nobody holds this kernel any more; it may live on."""
        pidfd, connection = self._kernels[pid]
        if connection is not None:
            self._selector.unregister(connection)
            connection.close()
        self._kernels[pid] = (pidfd, None)
        if pidfd not in self._selector.get_map():
            self._reap(pid)

    def _reap(self, pid: int) -> None:
        pidfd, _ = self._kernels.pop(pid)
        os.close(pidfd)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)

    def _let_go(self) -> None:
        """In a kernel: close what belongs to the parent."""
        self._selector.close()
        self._listener.close()
        os.close(self._owner)
        for pidfd, connection in self._kernels.values():
            os.close(pidfd)
            if connection is not None:
                connection.close()
        self._kernels.clear()


def _job(request: Mapping[str, Any], descriptors: list[int]) -> Job:
    """What a kernel is to be. Raises LookupError or TypeError for a request that does not say so."""
    words = [str(word) for word in request["arguments"]]
    environ = {str(name): str(value) for name, value in request["environ"].items()}
    streams = (descriptors[0], descriptors[1], descriptors[2])
    server = descriptors[3] if len(descriptors) > 3 else None
    restarted = bool(request["restarted"])
    return Job(words, environ, str(request["folder"]), int(request["umask"]), streams, server, restarted)


def _hold(path: Path) -> bool:
    """Take the lock that says that a parent of this key is there or on its way; it is kept until the process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for _ in range(20):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _held.append(descriptor)
            return True
        except OSError:
            time.sleep(0.02)
    os.close(descriptor)
    return False


_held: list[int] = []


def main(arguments: list[str]) -> None:
    """Serve until the end. In a kernel it returns when that kernel has."""
    place, key, names = Path(arguments[0]), arguments[1], tuple(json.loads(arguments[2]))
    # `python -m` puts the folder it was started in first; a kernel looks in its own.
    if not sys.flags.safe_path:
        sys.path.pop(0)
    owner = folder.open_owner(place)
    if owner is None or not folder.is_private(place) or not _hold(place / f"{key}.lock"):
        return
    if os.fork():
        os._exit(0)
    os.setsid()
    log = os.open(place / f"{key}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    job, imported = None, None
    try:
        # What a parent that was killed left behind.
        (place / f"{key}.sock").unlink(missing_ok=True)
        imported, bare = import_ahead(names)
        job = Parent(place / f"{key}.sock", owner, imported, bare).serve()
    except Exception as error:
        (place / f"{key}.broken").write_text(f"{type(error).__name__}: {error}")
    if job is None or imported is None:
        folder.leave(place, key)
        os._exit(0)
    os.close(_held.pop())
    become_kernel(job, imported)


if __name__ == "__main__":
    main(sys.argv[1:])
