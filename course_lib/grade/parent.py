"""A warm parent: has imported the packages of one track, and forks a supervisor for each slot that is announced to it.

It imports and does nothing else. A framework that has run even one operation before a fork hangs in the children, so no
tensor is made here, and the number of threads is looked at before the first fork.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib import data
from course_lib.grade.child import run_child
from course_lib.grade.processes import children
from course_lib.grade.sandbox import Limits, Sandbox
from course_lib.grade.shell import to_python
from course_lib.grade.supervisor import MAX_LINE, Supervisor
from course_lib.grade.tensor_workers import by_value
from course_lib.grade.unsandboxed import Unsandboxed
from course_lib.lessons import lessons
from course_lib.warm import packages, stillness

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36


def preload(track: str) -> None:
    """Import what the cells of a track import, and nothing that holds a check, a reference or a solution."""
    for name in ("numpy", *packages.of_names([track])):
        importlib.import_module(name)
    engine = {"fastai": "torch", "keras": os.environ.get("KERAS_BACKEND", "")}.get(track, track)
    for name in (*packages.LAZY["numpy"], *packages.LAZY.get(engine, ())):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in dict.fromkeys(("numpy", track)):
        importlib.import_module(f"course_lib.adapters.{name}")
    for name in ("metrics", "plot", "record", "task"):
        importlib.import_module(f"course_lib.{name}")
    if engine == "torch":
        by_value(importlib.import_module("torch"))
    # The cells read these in every notebook; a child could not read the sources.
    lessons()
    data.load("digits")
    to_python("%time 1")


def main(arguments: list[str]) -> None:
    """`python -m course_lib.grade.parent TRACK DESCRIPTOR`: import, say so, and fork supervisors until the end."""
    track, control = arguments[0], socket.socket(fileno=int(arguments[1]))
    settings = json.loads(control.recv(MAX_LINE))
    # JAX warns of every fork of a process that might have threads; here it has none.
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")
    start = time.perf_counter()
    preload(track)
    stillness.freeze()
    n_threads = stillness.n_threads()
    if n_threads > 1:
        _say(control, {"broken": f"importing {track} started {n_threads - 1} threads, which do not survive a fork"})
        return
    _say(control, {"ready": {"seconds": time.perf_counter() - start}})
    supervisors: set[int] = set()
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, lambda *_: bury(supervisors))
    while True:
        text, descriptors, _, _ = socket.recv_fds(control, MAX_LINE, 1)
        if not text:
            return
        # Until it is on the list, a new supervisor would pass for an orphan.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            control.close()
            _supervise(socket.socket(fileno=descriptors[0]), int(json.loads(text)["slot"]), track, settings)
        supervisors.add(pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        for descriptor in descriptors:
            os.close(descriptor)


def bury(supervisors: set[int]) -> None:
    """Reap supervisors that have ended, and kill what one that was killed has left to us; its end calls us again."""
    with contextlib.suppress(ChildProcessError):
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            supervisors.discard(pid)
    for orphan in set(children(os.getpid())) - supervisors:
        with contextlib.suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _supervise(control: socket.socket, slot: int, track: str, settings: Mapping[str, Any]) -> None:
    """Be the supervisor of one slot; never returns."""
    code = 1
    try:
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        _prctl(PR_SET_DUMPABLE, 0)
        limits = Limits(**settings["limits"])
        sandbox = Unsandboxed() if settings["unsafe"] else _sandbox(settings, slot, limits, track)
        named = {lesson.name: lesson for lesson in lessons()}
        _say(control, {"layers": [[each.name, each.active, each.core, each.detail] for each in sandbox.layers]})

        def child(sock: socket.socket, lesson: str) -> None:
            run_child(sock, named[lesson], track)

        Supervisor(control, sandbox, limits, child, max_output_bytes=settings["max_output_bytes"]).serve()
        sandbox.close()
        code = 0
    except BaseException as error:
        _say(control, {"broken": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(code)


def _sandbox(settings: Mapping[str, Any], slot: int, limits: Limits, track: str) -> Sandbox:
    readable, sealed = ([Path(p) for p in settings[name]] for name in ("readable", "sealed"))
    # The workers of a DataLoader hand their tensors over in shared memory.
    shm = track in ("torch", "fastai")
    return Sandbox(readable=readable, sealed=sealed, slot=slot, limits=limits, allow_shm=shm)


def _say(control: socket.socket, message: Mapping[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
