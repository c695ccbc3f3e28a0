"""A record: what one run of a task gave, with everything needed to judge and compare it later."""

from __future__ import annotations

import json
import os
import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from course_lib import metrics
from course_lib.errors import BadInput, NotFound
from course_lib.home import home, write_json
from course_lib.shipped import shipped
from course_lib.task import Task

# Fields that a record may lack.
OPTIONAL = {"peak_bytes", "code_tokens", "observed"}


@dataclass(frozen=True)
class Record:
    """One run. `losses` has one value per step, in nats; seconds are wall-clock; `peak_bytes` is growth after imports.

    `origin` says where it comes from: "run" (course run), "notebook", or "reference" (shipped with the course). Records
    with the same `run` were made one after the other on one machine: only their seconds may be compared. `observed` is
    what else the lesson measured in this track, by name.
    """

    lesson: str
    track: str
    losses: tuple[float, ...]
    validation_accuracy: float
    n_validation: int
    learning_rate: float
    momentum: float
    seed: int
    first_step_seconds: float
    step_seconds: float
    versions: dict[str, str]
    machine: str
    created: str
    origin: str
    run: str
    peak_bytes: int | None = None
    code_tokens: int | None = None
    observed: Mapping[str, bool | float | str] | None = None

    @property
    def n_steps(self) -> int:
        return len(self.losses)

    @property
    def final_loss(self) -> float:
        return self.losses[-1]

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    def with_(self, **changes: Any) -> Record:
        """A copy with some fields changed."""
        return replace(self, **changes)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """The record of a JSON object. Raises BadInput when fields are missing or unknown."""
        known = {field.name for field in fields(cls)}
        if set(values) - known or (missing := known - set(values) - OPTIONAL):
            odd = sorted((set(values) - known) or missing)
            raise BadInput(
                f"A record should have the fields of this version; {', '.join(odd)} differ.", action="Train again."
            )
        return cls(**{**values, "losses": tuple(values["losses"])})

    def __str__(self) -> str:
        return (
            f"{self.track}: {self.n_steps} steps, final loss {self.final_loss:.4f}, "
            f"validation accuracy {self.validation_accuracy:.3f} on {self.n_validation} pictures"
        )

    __repr__ = __str__


def machine_description() -> str:
    """The machine in a few words: system, processor type, usable cores. No name of the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()}"


def make_record(
    lesson: str, track: str, task: Task, losses: ArrayLike, parameters: Mapping[str, ArrayLike], *, origin: str,
    run: str = "",
) -> Record:  # fmt: skip
    """The record of a finished run of `task`: `losses` (n_steps,), `parameters` under their neutral names.

    The accuracy is computed here, in NumPy, from the parameters, so that every track is measured with the same ruler.
    Raises BadInput when the losses are not one finite number per step or a parameter has the wrong shape, and NotFound
    when other data stand in for those of the task.
    """
    from course_lib.versions import installed_versions

    if task.stand_in:
        raise NotFound(
            f"A record of {lesson} needs its own data, and here others stand in for them.",
            action="Run course doctor; it names the package that is missing.",
        )
    curve = np.asarray(losses, dtype=np.float64)
    if curve.shape != (task.n_steps,) or not np.isfinite(curve).all():
        raise BadInput(
            f"`losses` should be {task.n_steps} finite numbers, one per step; received shape {curve.shape}.",
            action="Append the loss of every batch, once.",
        )
    for name in task.initial:
        shape, got = task.initial[name].shape, np.shape(parameters[name]) if name in parameters else None
        if got != shape:
            raise BadInput(f"`{name}` should be {shape} as (inputs, outputs); received {got}.", action="Transpose it?")
    seconds = task.step_seconds
    return Record(
        lesson=lesson,
        track=track,
        losses=tuple(float(v) for v in curve),
        validation_accuracy=metrics.accuracy(task.logits(parameters, task.x_validation), task.y_validation),
        n_validation=len(task.y_validation),
        learning_rate=task.learning_rate,
        momentum=task.momentum,
        seed=task.seed,
        first_step_seconds=seconds[0] if seconds else float("nan"),
        step_seconds=float(np.median(seconds[1:])) if len(seconds) > 1 else float("nan"),
        versions=installed_versions(track),
        machine=machine_description(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        origin=origin,
        run=run or secrets.token_hex(4),
    )


def keep_record(
    task: Task, losses: ArrayLike, parameters: Mapping[str, ArrayLike],
    observed: Mapping[str, bool | float | str] | None = None,
) -> Record:  # fmt: skip
    """Make the record of this notebook's run and keep it in the learner's folder, for the compare notebook."""
    from course_lib.session import current

    session = current()
    made = make_record(session.lesson.name, session.track, task, losses, parameters, origin="notebook").with_(
        observed=observed
    )
    save(made, home() / "records" / made.lesson)
    return made


def save(made: Record, folder: Path) -> Path:
    """Write a record to `folder`/<track>.json and return the path. Raises CannotSave."""
    path = folder / f"{made.track}.json"
    write_json(path, made.to_dict())
    return path


def load_records(lesson: str, tracks: Sequence[str]) -> dict[str, Record]:
    """One record per track: the learner's own where there is one, else the course's reference.

    A record's `origin` tells which it is. A learner's record that this version cannot read is skipped, and said.
    """
    found: dict[str, Record] = {}
    for track in tracks:
        own = home() / "records" / lesson / f"{track}.json"
        reference = shipped("solutions") / lesson / "records" / f"{track}.json"
        for path in (own, reference):
            if not path.is_file():
                continue
            try:
                found[track] = Record.from_dict(json.loads(path.read_text(encoding="utf-8")))
                break
            except (ValueError, KeyError, TypeError) as error:
                print(f"(The record {path.name} of your own could not be read and is left out: {error})")
    return found


def load_references(lesson: str) -> dict[str, Record]:
    """The course's own records of a lesson, by track, in the order of the tracks."""
    from course_lib.frameworks import TRACKS

    folder = shipped("solutions") / lesson / "records"
    paths = {track: folder / f"{track}.json" for track in TRACKS}
    return {
        track: Record.from_dict(json.loads(path.read_text(encoding="utf-8")))
        for track, path in paths.items()
        if path.is_file()
    }
