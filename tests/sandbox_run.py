"""`python sandbox_run.py SETTING [ATTACK ...]`: run attacks in a setting, with the sandbox and without; prints JSON.

It stands in for a supervisor: a subreaper that forks a child for each attack, looks at memory five times a second as
the real one does, and then kills the tree and ends the sandbox.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import secrets
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import course_lib
from course_lib.grade import libc
from course_lib.grade.processes import descendants, kill_tree, tree_usage
from course_lib.grade.sandbox import Limits, Sandbox
from sandbox_attacks import ATTACKS
from sandbox_attacks.attack import Attack, World
from sandbox_settings import enter

PACKAGE = Path(course_lib.__file__).parent
LIMITS = Limits(cpu_seconds=1, memory_bytes=512 << 20, n_processes=64, file_bytes=50 << 20, n_open_files=256)
SECONDS = 20.0
TOKEN = "CANVAS_TOKEN"
POLL_SECONDS = 0.2


class Run:
    """One setting: a world to attack, a sandbox, and children in it."""

    def __init__(self, victims: Victims, world: World) -> None:
        self.victims, self.world = victims, world
        self.sandbox: Sandbox | None = None
        self.costs: dict[str, list[float]] = {name: [] for name in ("enter_ms", "enter_cpu_ms", "end_ms", "end_cpu_ms")}

    def box(self) -> None:
        self.sandbox = Sandbox(
            readable=[
                *map(Path, (sys.prefix, sys.base_prefix)),
                PACKAGE,
                PACKAGE.parent / "tests",
                self.world.readable,
            ],
            sealed=[PACKAGE / "checks", PACKAGE / "grade", self.world.readable / "sealed", self.world.folder],
            slot=1,
            limits=LIMITS,
            allow_shm=True,
        )

    def child(self, work: Callable[[int], Any]) -> str:
        """What a child said: "done", or why it was stopped."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._be_child(work, writing)
        os.close(writing)
        said, deadline = b"", time.monotonic() + SECONDS
        too_large = False
        while time.monotonic() < deadline and not too_large:
            if not select.select([reading], [], [], POLL_SECONDS)[0]:
                too_large = self.sandbox is not None and self._is_too_large(pid)
                continue
            part = os.read(reading, 1 << 16)
            said += part
            if not part or b"\n" in said:
                break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        if self.sandbox is not None:
            start, cpu_start = time.perf_counter(), time.process_time()
            self.sandbox.end(pid)
            self.costs["end_ms"].append((time.perf_counter() - start) * 1e3)
            self.costs["end_cpu_ms"].append((time.process_time() - cpu_start) * 1e3)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(reading)
        return said.decode().strip() or f"stopped: {'too large' if too_large else f'ended with {status}'}"

    def _is_too_large(self, pid: int) -> bool:
        usage = tree_usage(pid)
        files = self.sandbox.folder_bytes() if self.sandbox is not None else 0
        return (
            usage.private_bytes > LIMITS.memory_bytes
            or usage.n_processes > LIMITS.n_tasks
            or files > LIMITS.folder_bytes
        )

    def _be_child(self, work: Callable[[int], Any], writing: int) -> None:
        try:
            start, cpu_start = time.perf_counter(), time.process_time()
            if self.sandbox is not None:
                self.sandbox.enter([writing])
            else:
                os.setsid()
                os.chdir(tempfile.mkdtemp(dir=self.world.folder))
                os.environ["TMPDIR"] = os.getcwd()
            cost, cpu_cost = (time.perf_counter() - start) * 1e3, (time.process_time() - cpu_start) * 1e3
            said = work(writing)
            os.write(writing, (said or f"done {cost:.3f} {cpu_cost:.3f}").encode() + b"\n")
        except BaseException as error:
            os.write(writing, f"stopped: {type(error).__name__}: {error}".replace("\n", " ")[:300].encode() + b"\n")
        finally:
            os._exit(0)

    def attack(self, attack: Attack) -> dict[str, Any]:
        """`said` by the child, `damage` to the world, and what the next child finds."""
        world = replace(self.world, victim=self.victims.one(self.world.folder))
        _graded(world)
        start = time.perf_counter()
        try:
            said = self.child(lambda _: _nothing(attack.run(world)))
            result = {"said": said, "damage": attack.damage(world) if attack.damage else "", "next": ""}
            if self.sandbox is not None:
                result["next"] = self.child(_find)
            return result | {"seconds": time.perf_counter() - start}
        finally:
            _clean(world)

    def measure(self) -> None:
        """What entering and ending cost when nothing is attacked."""
        self.costs["end_ms"].clear()
        self.costs["end_cpu_ms"].clear()
        for _ in range(20):
            said = self.child(lambda _: None)
            _, wall_ms, cpu_ms = said.split()
            self.costs["enter_ms"].append(float(wall_ms))
            self.costs["enter_cpu_ms"].append(float(cpu_ms))


def _nothing(_: object) -> None:
    return None


def _find(_: int) -> str:
    """What a child finds of the one before."""
    found = os.listdir(".")
    if os.path.isdir("/dev/shm"):
        found += os.listdir("/dev/shm")
    Path("own").write_text("1")
    return f"found {found}" if found else "nothing"


def _world() -> World:
    folder = Path(tempfile.mkdtemp(prefix="sandbox-world-"))
    folder.chmod(0o755)
    readable = folder / "open"
    (readable / "sealed").mkdir(parents=True)
    (folder / "submissions" / "other").mkdir(parents=True)
    secret = os.environ[TOKEN]
    other = folder / "submissions" / "other" / "answers.ipynb"
    other.write_text(secret)
    (readable / "sealed" / "secret").write_text(secret)
    (readable / "module").write_text("pass\n\n")
    (readable / "link").symlink_to(readable / "sealed")
    # Descriptors that a careless caller leaves open.
    kept = os.open(other, os.O_RDONLY)
    os.set_inheritable(kept, True)
    os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    solution = next((PACKAGE.parent / "solutions").glob("*/lesson.md"))
    check = next(path for path in sorted((PACKAGE / "checks").glob("*.py")) if path.stat().st_size)
    name = f"sandbox-{secret}"
    _listen_unix(folder / "socket", name)
    return World(
        folder=folder,
        readable=readable,
        other_student=other,
        sealed=readable / "sealed",
        solution=solution,
        check=check,
        named_socket=str(folder / "socket"),
        abstract_socket=name,
        port=_listen(socket.AF_INET, "127.0.0.1"),
        port6=_listen(socket.AF_INET6, "::1"),
        victim=0,
        grader=os.getpid(),
        secret=secret,
    )


_OPEN: list[socket.socket] = []


def _listen(family: int, host: str) -> int:
    with contextlib.suppress(OSError):
        server = socket.create_server((host, 0), family=family, backlog=100)
        _OPEN.append(server)
        return int(server.getsockname()[1])
    return 0


def _listen_unix(path: Path, name: str) -> None:
    for address in (str(path), f"\0{name}"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
        server.listen(100)
        _OPEN.append(server)
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    datagrams.bind(f"{path}.datagrams")
    _OPEN.append(datagrams)
    for file in (path, Path(f"{path}.datagrams")):
        file.chmod(0o777)


class Victims:
    """Makes processes of the grader's user, each in a session of its own, which write down that they got a signal.

    They come from a process beside the supervisor, since everything below the supervisor is killed after each child.
    """

    def __init__(self) -> None:
        asked, self._ask = os.pipe()
        self._told, tell = os.pipe()
        if os.fork() == 0:
            os.close(self._ask)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            while folder := os.read(asked, 4096):
                self._make(folder.decode(), tell)
            os._exit(0)
        os.close(asked)

    def _make(self, folder: str, tell: int) -> None:
        if os.fork() == 0:
            os.setsid()
            libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.signal(signal.SIGURG, lambda *_: Path(folder, "signalled").write_text("1"))
            os.write(tell, str(os.getpid()).encode())
            while True:
                time.sleep(30)

    def one(self, folder: Path) -> int:
        os.write(self._ask, str(folder).encode())
        return int(os.read(self._told, 100))


def _graded(world: World) -> None:
    graded = world.folder / "graded"
    graded.write_text(world.secret)
    graded.chmod(0o600)
    os.utime(graded, (1_000_000_000, 1_000_000_000))


def _clean(world: World) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(world.victim, signal.SIGKILL)
    kill_tree(0)
    for name in ("graded", "elsewhere", "planted", "signalled"):
        with contextlib.suppress(FileNotFoundError):
            (world.folder / name).unlink()
    (world.readable / "planted").unlink(missing_ok=True)
    module = world.readable / "module"
    module.chmod(0o644)
    module.write_text("pass\n\n")
    left = Path("/dev/shm/left-behind")
    if left.is_dir():
        left.chmod(0o700)
    (shutil.rmtree if left.is_dir() else os.unlink)(left) if left.exists() else None


def supervise(victims: Victims, world: World, names: list[str], writing: int, *, boxed: bool) -> None:
    """Be the supervisor, with a sandbox or without, and write down what became of the attacks; never returns."""
    said: dict[str, Any] = {}
    try:
        libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
        gc.freeze()
        run = Run(victims, replace(world, grader=os.getpid()))
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
        if boxed:
            run.box()
        chosen = [attack for name, attack in ATTACKS.items() if (not names or name in names) and (boxed or attack.free)]
        said["attacks"] = {attack.name: run.attack(attack) for attack in chosen}
        if run.sandbox is not None:
            run.measure()
            said["layers"] = [[each.name, each.active, each.core, each.detail] for each in run.sandbox.layers]
            run.sandbox.close()
        said |= {"costs": run.costs, "left": descendants(os.getpid())}
    except BaseException:
        said["broken"] = traceback.format_exc()
    os.write(writing, json.dumps(said).encode())
    os._exit(0)


def _in_a_process(victims: Victims, world: World, names: list[str], *, boxed: bool) -> dict[str, Any]:
    reading, writing = os.pipe()
    if os.fork() == 0:
        supervise(victims, world, names, writing, boxed=boxed)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        said: dict[str, Any] = json.load(file)
    os.wait()
    return said


def main(setting: str, names: list[str]) -> None:
    enter(setting)
    victims = Victims()
    world = _world()
    said = {"boxed": _in_a_process(victims, world, names, boxed=True)}
    if setting == "as it is":
        said["free"] = _in_a_process(victims, world, names, boxed=False)
    shutil.rmtree(world.folder, ignore_errors=True)
    print(json.dumps(said))


if __name__ == "__main__":
    if TOKEN not in os.environ:
        # Once more, so that the secret stands in the environment with which the process was started.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, TOKEN: secrets.token_hex(8)})
    main(sys.argv[1], sys.argv[2:])
