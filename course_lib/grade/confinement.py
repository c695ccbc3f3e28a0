"""What a child gives up when it enters the sandbox, in this order, and the trial of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.grade import clean_process, landlock, layers, libc, privileges, seccomp
from course_lib.grade.limits import Limits, apply, be_first_to_go
from course_lib.grade.private_root import SHM, PrivateRoot


@dataclass
class Confinement:
    """All that a child must know to confine itself; made by its supervisor, whose process number is `supervisor`.

    `rules` are those of Landlock, `abi` is its version, `program` the filter of system calls. With
    `user` None the child keeps its user, with `root` None it sees all names. `n_tasks` counts those of its user.
    """

    supervisor: int
    limits: Limits
    work: str
    root: PrivateRoot | None
    user: int | None
    own_network: bool
    rules: list[bytes]
    allow_shm: bool
    abi: int
    program: bytes | None
    n_tasks: int

    def enter(self, keep_fds: Sequence[int]) -> None:
        """Confine the calling process for good. Raises OSError when something withstands; the process must end then."""
        self._confine(keep_fds)
        self._filter()

    def trial(self, reply_fd: int) -> dict[str, str]:
        """Confine this throwaway process and try what each layer forbids: per layer what went wrong, or ""."""
        self._confine([reply_fd])
        found = {
            layers.LANDLOCK: layers.try_files(self.abi, self.supervisor),
            layers.LIMITS: layers.try_limits(self.limits),
            layers.PRIVILEGES: layers.try_privileges(),
            layers.USER: layers.try_user(self.user),
            layers.MOUNTS: layers.try_names(self.root.at) if self.root is not None else "",
            layers.NETWORK: layers.try_network() if self.own_network else "",
        }
        self._filter()
        return found | {layers.SECCOMP: layers.try_calls() if self.program else ""}

    def _confine(self, keep_fds: Sequence[int]) -> None:
        with contextlib.suppress(PermissionError):
            os.setsid()
        # The supervisor cannot be looked into, and a child inherits that; /proc/self would then be root's.
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
        be_first_to_go()
        clean_process.set_environment(clean_process.environment(os.environ, self.work))
        if self.root is not None:
            self.root.enter()
        apply(self.limits, self.n_tasks)
        if self.user is not None:
            privileges.become_user(self.user)
            libc.prctl(libc.PR_SET_DUMPABLE, 1)
        # The folder is this user's; not even root may enter it where root lacks the capability.
        os.chdir(self.work)
        privileges.end_with_parent(self.supervisor)
        privileges.drop_capabilities()
        privileges.no_new_privileges()
        self._give_up_files(keep_fds)

    def _give_up_files(self, keep_fds: Sequence[int]) -> None:
        # Held open: the kernel could forget the folder otherwise, and the grant with it.
        own = os.open("/proc/self/", os.O_PATH | os.O_CLOEXEC)
        if self.abi < 1:
            clean_process.close_all_but(keep_fds)
            return
        write = landlock.writing(self.abi)
        with landlock.Ruleset(self.abi) as rules:
            for each in self.rules:
                rules.add(each)
            rules.grant(own, landlock.READ)
            rules.grant(self.work, write)
            if self.allow_shm:
                rules.grant(SHM, write)
            clean_process.close_all_but([*keep_fds, own, rules.fileno()])
            rules.enforce()

    def _filter(self) -> None:
        if self.program is not None:
            seccomp.load(self.program)
