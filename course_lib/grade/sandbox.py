"""The sandbox in which a student's code runs: made once for a slot, entered by one child after another.

Landlock, seccomp, limits and the loss of all privileges are its core, and need no rights at all. Namespaces, a user of
its own and a control group come on top where the kernel grants them.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from course_lib.grade import clean_process, landlock, layers, namespaces, privileges, seccomp
from course_lib.grade.cgroup import Group
from course_lib.grade.confinement import Confinement
from course_lib.grade.grants import SINK, grants, roots
from course_lib.grade.layers import Layer, SandboxRefused
from course_lib.grade.limits import TASKS_OF_OTHERS, Limits, tasks_of_user
from course_lib.grade.private_root import SHM, WORK, PrivateRoot
from course_lib.grade.processes import kill_tree
from course_lib.grade.throwaway import ask
from course_lib.grade.work_folder import SharedMemory, empty, make_own_folder, used_bytes

__all__ = ["Layer", "Limits", "Sandbox", "SandboxRefused", "probe"]

T = TypeVar("T")

_ALLOWED = {"read": landlock.READ, "list": landlock.READ_DIR, "write": landlock.READ_FILE | landlock.WRITE_FILE}
_COUNT_SECONDS = 5.0
_TRIAL_LIMITS = Limits(60, 1 << 30, 32, 64 << 20, 256)


def probe(
    readable: Sequence[Path] = (),
    sealed: Sequence[Path] = (),
    *,
    limits: Limits = _TRIAL_LIMITS,
    allow_shm: bool = False,
) -> tuple[Layer, ...]:
    """Which layers work here: a sandbox is made in a throwaway process, and a child of it tries what is forbidden.

    Python's own folders are readable in the trial, too. On other systems than Linux no layer is active.
    """
    if sys.platform != "linux":
        return layers.not_on(sys.platform)
    folders = [*readable, *map(Path, (sys.prefix, sys.base_prefix))]

    def trial(_: int) -> list[Any]:
        sandbox = Sandbox(readable=folders, sealed=sealed, slot=0, limits=limits, allow_shm=allow_shm)
        sandbox.close()
        return [[each.name, each.active, each.core, each.detail] for each in sandbox.layers]

    return tuple(Layer(*each) for each in ask(trial))


class Sandbox:
    """The sandbox of slot `slot`. Made in its supervisor, a process with one thread, before any student's code runs.

    Children may read `readable`, without the `sealed` folders in it, and what Python needs of the system. They write in
    a work folder that is empty for each of them, and in shared memory where `allow_shm`. The supervisor itself enters
    the namespaces and the control group; it keeps its files. `layers` says what works, as a trial child found it.
    """

    def __init__(
        self, *, readable: Sequence[Path], sealed: Sequence[Path], slot: int, limits: Limits, allow_shm: bool
    ) -> None:
        self._limits, self._allow_shm = limits, allow_shm
        self._folder = make_own_folder(slot)
        self._abi = landlock.abi()
        self._group, self._no_group = _attempt(lambda: Group(str(slot), limits.memory_bytes, limits.n_tasks))
        self._spaces = namespaces.try_out()
        namespaces.enter(self._spaces)
        paths = roots(readable)
        self._root = self._private_root(paths, sealed) if "mount" in self._spaces.granted else None
        self._user, self._no_user = self._choose_user(paths)
        self._program, self._no_filter = _attempt(lambda: seccomp.build(self._needs()))
        self._shm = SharedMemory()
        self._counted_at = -_COUNT_SECONDS
        self._held = [(os.open(each.path, os.O_PATH | os.O_CLOEXEC), each.kind) for each in grants(readable, sealed)]
        self._confinement = Confinement(
            supervisor=os.getpid(),
            limits=limits,
            work=WORK if self._root else str(self._folder / "work"),
            root=self._root,
            user=self._user,
            own_network="network" in self._spaces.granted,
            rules=[landlock.rule(fd, _ALLOWED[kind], self._abi) for fd, kind in self._held],
            allow_shm=allow_shm and os.path.isdir(SHM),
            abi=self._abi,
            program=self._program,
            n_tasks=limits.n_tasks,
        )
        self._renew()
        self.layers = self._found()

    def enter(self, keep_fds: Sequence[int]) -> Path:
        """In a child, right after the fork: give up everything but the work folder, which is returned, for good.

        Descriptors that are not in `keep_fds` are closed; 0, 1 and 2 then lead to nothing. Raises SandboxRefused when
        a core layer does not work; the process must end then.
        """
        if why := layers.lacking(self.layers):
            raise SandboxRefused(f"The sandbox is not complete: {why}.", action="Grade on Linux 5.13 or newer.")
        clean_process.refuse_folders(keep_fds)
        try:
            self._confinement.enter(keep_fds)
        except OSError as error:
            raise SandboxRefused(f"The sandbox could not be entered: {error}.") from error
        return Path(self._confinement.work)

    def end(self, root_pid: int) -> None:
        """When the child `root_pid` is over: kill what came of it, and leave nothing for the next one to find.

        `root_pid` itself stays for the caller to reap, if it was not reaped. Raises OSError when something in the work
        folder cannot be deleted.
        """
        kill_tree(root_pid)
        if self._group is not None:
            self._group.kill_others()
        if self._root is None:
            empty(self._folder)
            if self._allow_shm:
                self._shm.clean(os.getuid() if self._user is None else self._user)
        self._renew()

    def folder_bytes(self) -> int:
        """What the child's files take up, where nothing but a look now and then bounds it; else 0."""
        return 0 if self._root is not None else used_bytes(self._folder, self._limits.folder_bytes)

    def n_killed_for_memory(self) -> int:
        """How many processes the kernel has ended so far because the control group's memory was used up."""
        return 0 if self._group is None else self._group.n_killed()

    def close(self) -> None:
        """Leave nothing behind. The namespaces end with the supervisor."""
        for fd, _ in self._held:
            os.close(fd)
        self._held.clear()
        if self._root is not None:
            self._root.close()
        if self._group is not None:
            self._group.close()
        with contextlib.suppress(OSError):
            empty(self._folder)
            self._folder.rmdir()

    def _private_root(self, paths: Sequence[str], sealed: Sequence[Path]) -> PrivateRoot:
        at = self._folder / "root"
        at.mkdir()
        limits = self._limits
        return PrivateRoot(
            at,
            [*paths, SINK],
            [os.path.realpath(path) for path in sealed],
            limits.folder_bytes,
            with_shm=self._allow_shm,
        )

    def _choose_user(self, paths: Sequence[str]) -> tuple[int | None, str]:
        """A user of its own for the children, or the reason why there is none."""
        if os.geteuid() != 0 or self._spaces.own_user:
            return None, "only root may change the user" if os.geteuid() else "there is one user in a user namespace"
        needed = privileges.SETUID | privileges.SETGID | privileges.KILL
        if self._root is None:
            # To make its folder, and to empty it.
            needed |= privileges.CHOWN | privileges.DAC_OVERRIDE | privileges.FOWNER
        if privileges.capabilities() & needed != needed:
            return None, "root lacks the capabilities that it takes"
        user = privileges.free_user()

        def trial(_: int) -> int:
            if self._root is not None:
                self._root.enter()
            privileges.become_user(user)
            for path in (*paths, os.__file__):
                os.close(os.open(path, os.O_RDONLY))
            return user

        return _attempt(lambda: int(ask(trial)))

    def _needs(self) -> seccomp.Needs:
        scoped = self._abi >= landlock.SCOPE_ABI
        # A socket with a name is reached by its path, an abstract one by the network namespace.
        strangers = self._root is None or not (scoped or "network" in self._spaces.granted)
        return seccomp.Needs(
            own_signals_only=self._user is None and not scoped,
            no_connect=strangers and self._abi < landlock.UNIX_ABI,
            no_truncate=self._abi < landlock.TRUNCATE_ABI,
        )

    def _renew(self) -> None:
        """An empty work folder, and a fresh count of what else the user runs."""
        user, group = (os.geteuid(), os.getegid()) if self._user is None else (self._user, self._user)
        if self._root is not None:
            self._root.renew(user, group)
        else:
            os.mkdir(self._confinement.work, 0o700)
            os.chown(self._confinement.work, user, group)
        if self._user is None and not self._spaces.own_user and time.monotonic() - self._counted_at > _COUNT_SECONDS:
            # The kernel counts everything that the user runs, and the child shares its user.
            self._counted_at = time.monotonic()
            self._confinement.n_tasks = tasks_of_user() + TASKS_OF_OTHERS + self._limits.n_tasks

    def _found(self) -> tuple[Layer, ...]:
        """Every layer as a trial child of this sandbox found it."""
        try:
            problems: dict[str, str] = ask(self._confinement.trial)
        except OSError as error:
            problems = dict.fromkeys(layers.CORE, str(error))
        problems[layers.SECCOMP] = self._no_filter or problems.get(layers.SECCOMP, "")
        problems[layers.USER] = self._no_user or problems.get(layers.USER, "")
        limits = self._limits
        details = {
            layers.LANDLOCK: f"ABI {self._abi}: {', '.join(landlock.restricted(self._abi))}",
            layers.SECCOMP: self._needs().detail,
            layers.LIMITS: f"{limits.cpu_seconds} CPU seconds, {limits.memory_bytes >> 20} MB, {limits.n_tasks} tasks",
            layers.PRIVILEGES: "no capabilities, and none to be had",
            layers.USER: f"user {self._user}",
        }
        for kind in namespaces.KINDS:
            name = f"{kind} namespace"
            details[name] = "one for this slot"
            problems[name] = self._spaces.refused.get(kind) or problems.get(name, "")
        found = [layers.of(name, not problems[name], problems[name] or detail) for name, detail in details.items()]
        group = self._no_group if self._group is None else self._group.detail
        return (*found, layers.of(layers.CGROUP, self._group is not None, group))


def _attempt(make: Callable[[], T]) -> tuple[T | None, str]:
    """What `make` makes, or None and the reason."""
    try:
        return make(), ""
    except OSError as error:
        return None, f"{error}"
