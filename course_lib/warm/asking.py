"""Asks a parent for a kernel, and starts that parent when there is none and memory allows."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from course_lib.warm import folder, memory, wire
from course_lib.warm.child import INLINE
from course_lib.warm.handle import WarmProcess
from course_lib.warm.keys import Command, key
from course_lib.warm.wanted import Wanted

ANSWER_SECONDS = 10.0
START_SECONDS = 60.0
PAUSE_SECONDS = 0.02

Stream = int | IO[Any] | None


@dataclass(frozen=True)
class Kernel:
    """The kernel that is asked for, as it would be started cold. `independent`: it shall outlive whoever asks.

    `restarted`: it takes the place of another, and clients of that one wait for it.
    """

    command: Command
    environ: Mapping[str, str]
    folder: str
    stdout: Stream = None
    stderr: Stream = None
    independent: bool = False
    restarted: bool = False


class Cold(Exception):
    """Why an ordinary kernel has to do; `worth_telling` when a person should hear of it."""

    def __init__(self, reason: str, *, worth_telling: bool = False) -> None:
        super().__init__(reason)
        self.worth_telling = worth_telling


def launch(place: Path, kernel: Kernel, wanted: Wanted, *, wait_seconds: float, start_seconds: float) -> WarmProcess:
    """A kernel forked from a parent in the folder `place`. Raises Cold when there is none to be had.

    A parent that is importing already is waited for, `wait_seconds` at most; one that has to be started first,
    `start_seconds`.
    """
    also: dict[str, str | None] = {}
    name = key(kernel.command, wanted.packages, kernel.environ)
    deadline = time.monotonic() + wait_seconds
    while True:
        answer = ask(place / f"{name}.sock", kernel)
        if isinstance(answer, WarmProcess):
            return answer
        if files := answer.get("shadowed"):
            raise Cold(f"{files[0]} in the notebook's folder hides a package of the same name", worth_telling=True)
        if names := answer.get("differing"):
            if also:
                raise Cold(f"{', '.join(names)} differ")
            also = {each: kernel.environ.get(each) for each in names}
            name = key(kernel.command, wanted.packages, kernel.environ, names)
            continue
        state = state_of(place, name)
        if state == "none":
            start(place, name, kernel.command, kernel.environ, wanted.packages)
            deadline = time.monotonic() + start_seconds
        if time.monotonic() >= deadline:
            raise Cold("the packages are still being imported")
        time.sleep(PAUSE_SECONDS)


def ask(path: Path, kernel: Kernel) -> WarmProcess | dict[str, Any]:
    """The kernel that the parent at `path` forked, or why not: {} when there is no parent that answers."""
    try:
        connection = wire.connect(path, ANSWER_SECONDS)
    except OSError:
        return {}
    opened: list[int] = []
    kept = False
    try:
        request = {
            "arguments": list(kernel.command.arguments),
            "environ": dict(kernel.environ),
            "folder": kernel.folder,
            "umask": _umask(),
            "restarted": kernel.restarted,
        }
        wire.send(connection, request, _descriptors(kernel, opened))
        answer, descriptors = wire.receive(connection)
        if "pid" in answer and descriptors:
            kept = True
            return WarmProcess(int(answer["pid"]), descriptors[0], connection)
        return answer
    except (OSError, EOFError, ValueError):
        return {}
    finally:
        wire.close(opened)
        if not kept:
            connection.close()


def start(place: Path, name: str, command: Command, environ: Mapping[str, str], packages: Iterable[str]) -> None:
    """Start a parent; it imports while the caller goes on. Raises Cold when it may not, or did not, start."""
    import json

    if memory.is_short():
        raise Cold("too little memory is free to import packages ahead", worth_telling=True)
    words = [command.interpreter, *command.options, "-m", "course_lib.warm.parent", str(place), name]
    values = {n: v for n, v in environ.items() if not n.startswith(("JPY_", "PYTEST_"))}
    # A kernel sets it before any cell runs, and matplotlib reads it when it is imported.
    values.setdefault("MPLBACKEND", INLINE)
    try:
        done = subprocess.run(
            [*words, json.dumps(list(packages))],
            env=values,
            cwd=place,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_SECONDS,
            check=False,
        )
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] if done.returncode else []
    except (OSError, subprocess.SubprocessError) as error:
        said = [str(error)]
    if said:
        (place / f"{name}.broken").write_text(said[0])
        raise Cold(said[0], worth_telling=True)


def state_of(place: Path, name: str) -> str:
    """`starting`, or `none` when a parent can be started. Raises Cold when one has tried in vain."""
    broken = place / f"{name}.broken"
    if broken.is_file():
        raise Cold(broken.read_text(), worth_telling=True)
    with folder.lock(place / f"{name}.lock") as free:
        if not free:
            return "starting"
    if (place / f"{name}.log").exists() and not (place / f"{name}.sock").exists():
        reason = "the process that imports packages ahead ended while it did"
        broken.write_text(reason)
        raise Cold(reason, worth_telling=True)
    return "none"


def _descriptors(kernel: Kernel, opened: list[int]) -> list[int]:
    """Standard input, output and error of the kernel, and this process; what was opened for it is added to `opened`."""
    opened.append(os.open(os.devnull, os.O_RDONLY))
    found = [opened[0], _descriptor(kernel.stdout, 1, opened)]
    found.append(found[1] if kernel.stderr == subprocess.STDOUT else _descriptor(kernel.stderr, 2, opened))
    if not kernel.independent:
        opened.append(os.pidfd_open(os.getpid()))
        found.append(opened[-1])
    return found


def _descriptor(stream: Stream, ours: int, opened: list[int]) -> int:
    if isinstance(stream, int) and stream >= 0:
        return stream
    if stream is not None and not isinstance(stream, int):
        return int(stream.fileno())
    try:
        if stream is None:
            os.fstat(ours)
            return ours
    except OSError:
        # A process without this stream hands on what leads nowhere.
        pass
    opened.append(os.open(os.devnull, os.O_WRONLY))
    return opened[-1]


def _umask() -> int:
    """This process's umask, read without changing it."""
    with open("/proc/self/status") as lines:
        return next((int(line.split()[1], 8) for line in lines if line.startswith("Umask:")), 0o022)
