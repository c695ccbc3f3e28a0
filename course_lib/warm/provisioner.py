"""Starts Jupyter's Python kernels: forked from a warm parent where there is one, ordinary ones otherwise."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from course_lib.warm import asking, folder, switch
from course_lib.warm.handle import WarmProcess
from course_lib.warm.keys import Command
from course_lib.warm.wanted import Wanted, wanted

# A learner's kernel waits so long for a parent that is importing already.
PATIENCE_SECONDS = 2.0
# What a forked kernel can be given; anything else that Popen understands takes an ordinary one.
UNDERSTOOD = {"env", "cwd", "stdin", "stdout", "stderr", "independent", "extra_arguments", "kernel_id"}

_told: set[str] = set()


class WarmProvisioner(LocalProvisioner):
    """As LocalProvisioner; restarts, signals and the kernel's end work alike for both sorts of kernels."""

    _launched = _restarted = False

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel. Whatever prevents a warm one, an ordinary one comes."""
        environ = dict(kwargs.get("env") or os.environ)
        needed = wanted(environ)
        # A lesson's declared settings hold for its cold kernels as well.
        environ.update(needed.settings)
        kwargs["env"] = environ
        self._restarted, self._launched = self._launched, True
        try:
            process = await asyncio.to_thread(self._launch, cmd, kwargs, needed)
        except asking.Cold as reason:
            self._tell(reason)
            return await super().launch_kernel(cmd, **kwargs)
        self.process, self.pid, self.pgid = process, process.pid, process.pid  # type: ignore[assignment]
        self.cwd = kwargs.get("cwd") or Path.cwd()
        return self.connection_info

    def _launch(self, cmd: list[str], kwargs: dict[str, Any], needed: Wanted) -> WarmProcess:
        if reason := switch.why_not():
            raise asking.Cold(reason, worth_telling=not switch.is_off())
        command = Command.of(cmd)
        more = {name for name, value in kwargs.items() if name not in UNDERSTOOD and value}
        if command is None or more or subprocess.PIPE in (kwargs.get("stdout"), kwargs.get("stderr")):
            raise asking.Cold("it is to be started in a way of its own")
        place = folder.inherited() or _own_folder()
        independent = bool(kwargs.get("independent"))
        environ = dict(kwargs["env"])
        if not independent:
            environ["JPY_PARENT_PID"] = str(os.getpid())
        kernel = asking.Kernel(
            command,
            environ,
            str(kwargs.get("cwd") or Path.cwd()),
            kwargs.get("stdout"),
            kwargs.get("stderr"),
            independent,
            self._restarted,
        )
        batch = float(os.environ.get(switch.WAIT, 0))
        return asking.launch(place, kernel, needed, wait_seconds=max(batch, PATIENCE_SECONDS), start_seconds=batch)

    async def send_signal(self, signum: int) -> None:
        """Send it to the kernel's group, unless the numbers may belong to strangers by now."""
        process: Any = self.process
        if isinstance(process, WarmProcess) and not process.owns_number:
            return
        await super().send_signal(signum)

    def _tell(self, reason: asking.Cold) -> None:
        text = str(reason)
        if reason.worth_telling and text not in _told:
            _told.add(text)
            self.log.warning("Kernels start cold, as ordinary ones: %s", text)


def _own_folder() -> Path:
    """For a process that chose this provisioner without any of the course's commands."""
    if reason := switch.turn_on(os.environ):
        raise asking.Cold(reason, worth_telling=True)
    return Path(os.environ[folder.FOLDER])
