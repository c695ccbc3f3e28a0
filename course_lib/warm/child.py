"""A process that was just forked becomes an ordinary kernel, and keeps nothing that two kernels would share."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import logging
import multiprocessing.process
import os
import select
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.warm import audience, guard

INLINE = "module://matplotlib_inline.backend_inline"


@dataclass(frozen=True)
class Job:
    """What a kernel is to be: the launcher's arguments, its environment, folder and descriptors.

    `streams` are standard input, output and error; `server` becomes readable when the server ends, or is None;
    `restarted` says that it takes the place of another kernel.
    """

    arguments: Sequence[str]
    environ: Mapping[str, str]
    folder: str
    umask: int
    streams: tuple[int, int, int]
    server: int | None
    restarted: bool = False


@dataclass(frozen=True)
class Imported:
    """What the parent did: the packages it imported, the environment while it did, what they read and changed in it."""

    packages: tuple[str, ...]
    environ: Mapping[str, str]
    reads: frozenset[str]
    changes: Mapping[str, str | None]
    prefixes: tuple[str, ...]


def become_kernel(job: Job, imported: Imported) -> None:
    """Run the kernel to its end, as `python -m ipykernel_launcher` would."""
    _take_streams(job)
    _take_place(job, imported)
    _own_randomness()
    if job.server is not None:
        threading.Thread(target=_end_with, args=(job.server,), name="ends-with-server", daemon=True).start()
    guard.install(
        guard.watched(imported.reads, imported.prefixes, imported.environ), imported.prefixes, imported.packages
    )
    _run(job)


def _take_streams(job: Job) -> None:
    os.setsid()
    for target, descriptor in enumerate(job.streams):
        os.dup2(descriptor, target)
    for descriptor in set(job.streams) - {0, 1, 2}:
        os.close(descriptor)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            stream.reconfigure(line_buffering=True)


def _take_place(job: Job, imported: Imported) -> None:
    """The folder, the environment and the names by which a process knows itself."""
    os.chdir(job.folder)
    os.umask(job.umask)
    values = {**job.environ, **{name: value for name, value in imported.changes.items() if value is not None}}
    gone = {name for name, value in imported.changes.items() if value is None}
    os.environ.clear()
    os.environ.update({name: value for name, value in values.items() if name not in gone})
    tempfile.tempdir = None
    launcher = importlib.util.find_spec("ipykernel_launcher")
    sys.argv = [str(launcher.origin if launcher else "ipykernel_launcher"), *job.arguments]
    # The course's own code is read from the disk, as it is now.
    for name in [name for name in sys.modules if name.partition(".")[0] == "course_lib"]:
        del sys.modules[name]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.enable()


def _own_randomness() -> None:
    """Python's own generator is renewed by the fork itself; JAX has none, Keras and TensorFlow begin theirs later."""
    multiprocessing.process.current_process().authkey = os.urandom(32)
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()


def _end_with(server: int) -> None:
    """End when the server has, whatever runs: there is nobody left to talk to."""
    poller = select.poll()
    poller.register(server, select.POLLIN)
    poller.poll()
    os._exit(1)


def _run(job: Job) -> None:
    from ipykernel.kernelapp import IPKernelApp

    before = (sys.stdout, sys.stderr)
    # The default was read from the environment when ipykernel was imported. 1 means: somebody watches, but not you.
    app: Any = IPKernelApp.instance(parent_handle=1)
    with _handlers_kept() as handlers, audience.awaited() if job.restarted else contextlib.nullcontext():
        app.initialize(list(job.arguments))
    _follow(before, handlers)
    app.start()


@contextlib.contextmanager
def _handlers_kept() -> Iterator[list[Any]]:
    """Setting up its own log, the kernel closes every handler there is; in a fresh process there would be none."""
    references, names = list(logging._handlerList), dict(logging._handlers)  # type: ignore[attr-defined]
    logging._handlerList.clear()  # type: ignore[attr-defined]
    yield [handler for reference in references if (handler := reference()) is not None]
    logging._handlerList[:0] = references  # type: ignore[attr-defined]
    logging._handlers.update(names)  # type: ignore[attr-defined]


def _follow(before: tuple[Any, Any], handlers: list[Any]) -> None:
    """Loggers made while importing write to the notebook, as they would had they been made in it."""
    after = (sys.stdout, sys.stderr)
    for handler in handlers:
        for old, new in zip(before, after, strict=True):
            if getattr(handler, "stream", None) is old:
                handler.stream = new
