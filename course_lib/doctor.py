"""`course doctor`: what this machine has, what works, and what to do next."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from course_lib import hardware
from course_lib.doctor_steps import Stepped, start
from course_lib.errors import CannotSave, FrameworkBroken, FrameworkMissing
from course_lib.frameworks import TABLE, TRACKS, environment, install_command, keras_backend, repair, status
from course_lib.home import home, home_path, write_text_atomically
from course_lib.process import Ended, run_python

Health = Literal["works", "missing", "broken"]

AT_ONCE = 2
STEP_SECONDS = 240.0
# float32 sums in another order differ by 1e-7 here; an accelerator may multiply in TF32 or bfloat16.
TOLERANCE = {"cpu": 1e-5, "accelerator": 2e-2}
LOW_MEMORY_BYTES, LOW_DISK_BYTES = 2 * 2**30, 2 * 2**30
LAB_PACKAGES = ("jupyterlab", "ipykernel", "ipywidgets", "nbclient")


@dataclass(frozen=True)
class FrameworkHealth:
    """One framework: whether it works, and what one training step in a process of its own gave.

    `max_difference` is the largest absolute difference from NumPy's result in loss, weight or bias, None when it is not
    finite. Seconds are wall time: the import, the first step (with tracing and compilation) and the same step again.
    `threads` are those of the whole process.
    """

    track: str
    health: Health
    version: str | None
    cause: str = ""
    action: str = ""
    device: str = ""
    max_difference: float | None = None
    import_seconds: float | None = None
    first_step_seconds: float | None = None
    step_seconds: float | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Diagnosis:
    """Everything that the doctor found; `home_problem` says why the learner's folder cannot be written, or is ""."""

    machine: hardware.Machine
    frameworks: tuple[FrameworkHealth, ...]
    lab: dict[str, str | None]
    home: str
    home_problem: str
    disk_free_bytes: int

    @property
    def exit_code(self) -> int:
        """0: one beside NumPy works and none is broken; 3: nothing can be saved; 4: none works; 5: one is broken."""
        if self.home_problem:
            return CannotSave.exit_code
        if any(found.health == "broken" for found in self.frameworks):
            return FrameworkBroken.exit_code
        works = any(found.health == "works" and found.track != "numpy" for found in self.frameworks)
        return 0 if works else FrameworkMissing.exit_code

    def next_steps(self) -> list[str]:
        """What to do next, most urgent first, as sentences; the last one is always a way to go on."""
        steps = [self.home_problem] if self.home_problem else []
        steps += [
            f"{TABLE[f.track].title} is broken. {self._repair(f)}" for f in self.frameworks if f.health == "broken"
        ]
        if absent := [name for name, version in self.lab.items() if version is None]:
            steps.append(f"For notebooks, {', '.join(absent)} must be installed: {install_command('lab')}")
        missing = [f for f in self.frameworks if f.health == "missing"]
        works = [f.track for f in self.frameworks if f.health == "works"]
        steps += [f"To take the {f.track} track: {install_command(f.track)}" for f in missing]
        if self.machine.memory_free_bytes < LOW_MEMORY_BYTES:
            steps.append("Less than 2 GiB of memory are free: close other notebooks and programs before you train.")
        if self.disk_free_bytes < LOW_DISK_BYTES:
            steps.append("Less than 2 GiB of disk are free: make room before you install a framework.")
        if len(works) > 1:
            steps.append("Start with: course lab. Then see all your frameworks agree: course run 01_digits")
        elif works:
            steps.append("Start with: course lab. 00_start and the NumPy track need no framework.")
        return steps

    def _repair(self, broken: FrameworkHealth) -> str:
        """What to do about a broken framework: first mend the one that it is built on, if that is broken too."""
        below = {"fastai": "torch", "keras": keras_backend()}.get(broken.track)
        if any(each.track == below and each.health == "broken" for each in self.frameworks):
            return f"It runs on {TABLE[str(below)].title}: mend that first, then see again."
        return broken.action

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as JSON values."""
        return {
            "ok": self.exit_code == 0,
            "python": self.machine.python,
            "machine": asdict(self.machine),
            "home": {"path": self.home, "problem": self.home_problem, "disk_free_bytes": self.disk_free_bytes},
            "lab": self.lab,
            "frameworks": [asdict(found) for found in self.frameworks],
            "next": self.next_steps(),
        }


def diagnose(tracks: tuple[str, ...] = TRACKS, *, on_progress: Callable[[str], None] = lambda _: None) -> Diagnosis:
    """Examine this machine and take one training step per installed framework, two at a time, each in its own process.

    `on_progress` is called with each track's name when it is done, from another thread.
    """
    reference = reference_step()

    def examined(track: str) -> FrameworkHealth:
        found = examine(track, reference)
        on_progress(track)
        return found

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = tuple(pool.map(examined, tracks))
    path = home_path()
    return Diagnosis(
        machine=hardware.detect(),
        frameworks=found,
        lab={name: _version(name) for name in LAB_PACKAGES},
        home=str(path),
        home_problem=_home_problem(),
        disk_free_bytes=shutil.disk_usage(_existing(path)).free,
    )


def reference_step() -> Stepped:
    """NumPy's result of the step, which every framework is compared with."""
    from course_lib.doctor_steps import numpy

    return numpy.step(start())


def examine(track: str, reference: Stepped) -> FrameworkHealth:
    """Missing, or what came of one training step in a process of its own. Raises NotFound for an unknown track."""
    found = status(track, try_import=False)
    if found.state == "missing":
        action = f"Install it: {install_command(track)}"
        return FrameworkHealth(track, "missing", found.version, found.cause, action)
    ended = run_python(
        ["-W", "ignore", "-m", "course_lib.doctor_steps", track], environment(track), timeout_seconds=STEP_SECONDS
    )
    said = _said(ended)
    if "loss" not in said:
        place = "The training step failed" if "import_seconds" in said else "The import failed"
        return FrameworkHealth(track, "broken", found.version, f"{place}.\n{ended.cause}", repair(track))
    difference = Stepped(said["loss"], said["weight"], said["bias"], "").max_difference(reference)
    allowed = TOLERANCE["cpu" if "cpu" in said["device"].lower() else "accelerator"]
    agrees = difference <= allowed
    return FrameworkHealth(
        track,
        "works" if agrees else "broken",
        found.version,
        cause="" if agrees else f"Its step differs from NumPy's by {difference:.1e}; at most {allowed:.0e} is right.",
        action="" if agrees else repair(track),
        device=said["device"],
        max_difference=difference if math.isfinite(difference) else None,
        import_seconds=said["import_seconds"],
        first_step_seconds=said["first_step_seconds"],
        step_seconds=said["step_seconds"],
        threads=said["threads"],
    )


def _said(ended: Ended) -> dict[str, Any]:
    """What the child printed under its mark, all lines together."""
    from course_lib.doctor_steps.__main__ import MARK

    values: dict[str, Any] = {}
    for line in ended.stdout.splitlines():
        _, mark, text = line.partition(MARK)
        if mark:
            values.update(json.loads(text))
    return values


def _home_problem() -> str:
    """Why nothing can be saved in the learner's folder, or ""."""
    try:
        probe = home() / f".doctor-{os.getpid()}"
        write_text_atomically(probe, "")
        probe.unlink(missing_ok=True)
    except CannotSave as error:
        return f"Nothing can be saved: {error}"
    return ""


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
