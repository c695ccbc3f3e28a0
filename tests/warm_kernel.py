"""Kernels started as Jupyter does, warm and cold, in a folder of parents that belongs to one test."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from course_lib.warm import folder, switch
from course_lib.warm.handle import WarmProcess


class CellFailed(Exception):
    """A cell raised; the message is its error's name and text."""


class Kernel:
    """A running kernel. `text` runs a cell and gives what it printed."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager, self.client = manager, client

    @property
    def process(self) -> Any:
        return self.manager.provisioner.process

    @property
    def is_warm(self) -> bool:
        return isinstance(self.process, WarmProcess)

    @property
    def parent(self) -> psutil.Process:
        """The process that this kernel was forked from."""
        return psutil.Process(psutil.Process(self.process.pid).ppid())

    def text(self, source: str, seconds: float = 60) -> str:
        return "".join(output.get("text", "") for output in self.outputs(source, seconds))

    def outputs(self, source: str, seconds: float = 60) -> list[dict[str, Any]]:
        """The content of each output message of a cell. Raises CellFailed when it raised."""
        found: list[dict[str, Any]] = []

        def keep(message: dict[str, Any]) -> None:
            if message["msg_type"] in ("stream", "display_data", "execute_result"):
                found.append(message["content"])

        reply = self.client.execute_interactive(source, timeout=seconds, output_hook=keep)["content"]
        if reply["status"] != "ok":
            raise CellFailed(f"{reply.get('ename')}: {reply.get('evalue')}")
        return found

    def restart(self) -> None:
        self.manager.restart_kernel()
        self.client.wait_for_ready(timeout=60)


@contextlib.contextmanager
def kernel(
    track: str = "", *, cold: bool = False, cwd: Path | None = None, settled: bool = True, **environ: str
) -> Iterator[Kernel]:
    """A kernel for a track, such as "numpy" or "01_digits/torch"; shut down at the end.

    Waiting for it, this client pauses for 0.2 s once it is ready, to hear whether anything is left to be read; with
    `settled` false it does not.
    """
    from jupyter_client.manager import KernelManager

    values = {**os.environ, "COURSE_WARM_TRACK": track, **environ}
    manager = KernelManager(kernel_name="python3")
    before = os.environ.get(switch.OFF)
    try:
        os.environ[switch.OFF] = "0" if cold else "1"
        manager.start_kernel(env=values, **({"cwd": str(cwd)} if cwd else {}))
    finally:
        os.environ.pop(switch.OFF)
        if before is not None:
            os.environ[switch.OFF] = before
    client = manager.client()
    client.start_channels()
    try:
        if settled:
            client.wait_for_ready(timeout=60)
        else:
            client.kernel_info()
            client.get_shell_msg(timeout=60)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A folder of parents for one test; they are gone at its end."""
    made = folder.make()
    before = os.environ.get(folder.FOLDER)
    os.environ[folder.FOLDER] = str(made)
    try:
        yield made
    finally:
        os.environ.pop(folder.FOLDER)
        if before is not None:
            os.environ[folder.FOLDER] = before
        for each in parents(made):
            each.kill()
        shutil.rmtree(made, ignore_errors=True)


def parents(place: Path) -> list[psutil.Process]:
    """The parents of a folder; a kernel has the command line of its parent, and is none."""
    found = []
    for each in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            if str(place) in (each.info["cmdline"] or []) and each.parent() not in found:
                found.append(each)
    numbers = {each.pid for each in found}
    return [each for each in found if each.is_running() and each.ppid() not in numbers]


def eventually(what: str, found: Callable[[], Any], seconds: float = 30) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.05)
    raise TimeoutError(f"{what} did not come within {seconds:.0f} s")


def ended(pid: int) -> bool:
    """Whether this process has gone, or waits as a zombie for its parent."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
