"""Trains a lesson's task in every track from the same start, each in a process of its own: the lesson's own cells."""

from __future__ import annotations

import json
import linecache
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib import lessons as registry
from course_lib.errors import CourseError, FrameworkMissing
from course_lib.lessons import Lesson
from course_lib.record import Record, make_record, save

RUN_SECONDS = 600


class TrackFailed(CourseError):
    """A track's own process failed; the message holds the end of its output."""


@dataclass(frozen=True)
class TaskOptions:
    """How the task is set: passed on to `load_task`."""

    n_steps: int = 300
    momentum: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Run:
    """The outcome of one track: a record, or the reason why there is none ("missing" or "failed")."""

    track: str
    record: Record | None
    max_loss_difference: float | None = None
    state: str = "done"
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object; the record's fields stand beside the track's."""
        own = {
            "track": self.track,
            "state": self.state,
            "reason": self.reason,
            "max_loss_difference": self.max_loss_difference,
        }
        if self.record is None:
            return own
        extra = {"n_steps": self.record.n_steps, "final_loss": self.record.final_loss}
        return {**own, **self.record.to_dict(), **extra}


def run_lesson(
    name: str, tracks: list[str] | None = None, *, options: TaskOptions | None = None,
    folder: Path | None = None, on_progress: Callable[[str], None] = lambda text: None,
) -> list[Run]:  # fmt: skip
    """Train the task of a lesson in these tracks (None: all that the lesson has); its reference track always runs.

    Records are kept in `folder`/<lesson>, by default among the learner's own. A missing framework gives a Run without a
    record. Raises NotFound for a lesson or track that does not exist.
    """
    from course_lib.home import home
    from course_lib.metrics import max_loss_difference

    lesson = registry.lesson(name)
    chosen = [lesson.require_track(track) for track in tracks or lesson.tracks]
    runs: list[Run] = []
    reference: Record | None = None
    run = secrets.token_hex(4)
    for track in [lesson.reference_track, *(t for t in chosen if t != lesson.reference_track)]:
        on_progress(track)
        try:
            record = run_track(lesson, track, options).with_(run=run)
        except FrameworkMissing as error:
            runs.append(Run(track, None, state="missing", reason=str(error)))
            continue
        except TrackFailed as error:
            runs.append(Run(track, None, state="failed", reason=str(error)))
            continue
        reference = record if track == lesson.reference_track else reference
        difference = max_loss_difference(record.losses, reference.losses) if reference else None
        save(record, (folder or home() / "records") / lesson.name)
        runs.append(Run(track, record, difference))
    return [run for run in runs if run.track in chosen]


def run_track(lesson: Lesson, track: str, options: TaskOptions | None = None) -> Record:
    """The record of one track's run, in a fresh process. Raises FrameworkMissing and TrackFailed."""
    from course_lib.build.source import task_source

    return run_cells(lesson.name, track, task_source(lesson, track), options or TaskOptions())


def run_cells(lesson: str, track: str, cells: list[tuple[str, str]], options: TaskOptions) -> Record:
    """Run these (name, source) cells, which define `train(task)`, in a fresh process and return its record."""
    from course_lib.frameworks import environment, require
    from course_lib.measure import code_tokens

    require(track, try_import=False)
    with tempfile.TemporaryDirectory() as folder:
        order, result = Path(folder, "order.json"), Path(folder, "record.json")
        order.write_text(json.dumps({"lesson": lesson, "track": track, "cells": cells, "options": vars(options)}))
        env = environment(track)
        command = [sys.executable, "-m", "course_lib.run", str(order), str(result)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, env=env)
        except subprocess.TimeoutExpired as error:
            raise TrackFailed(
                f"{track}: no result after {RUN_SECONDS} seconds.", action="Run `course doctor`."
            ) from error
        if done.returncode or not result.is_file():
            tail = "\n".join(done.stderr.strip().splitlines()[-12:])
            raise TrackFailed(
                f"{track}: its process ended with {done.returncode}.\n{tail}", action="Run `course doctor`."
            )
        record = Record.from_dict(json.loads(result.read_text()))
    return record.with_(code_tokens=sum(code_tokens(source) for _, source in cells))


def _main(order_path: str, result_path: str) -> None:
    """The child's side: execute the cells, then train, measured."""
    from course_lib.measure import PeakMemory
    from course_lib.task import load_task

    order = json.loads(Path(order_path).read_text())
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for name, source in order["cells"]:
        filename = f"<{order['lesson']}, {order['track']}, cell {name}>"
        # Tracebacks then show the cell's own line.
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        exec(compile(source, filename, "exec"), namespace)
    task = load_task(registry.lesson(order["lesson"]).task, **order["options"])
    with PeakMemory() as memory:
        losses, parameters = namespace["train_task"](task)
    record = make_record(order["lesson"], order["track"], task, losses, parameters, origin="run")
    Path(result_path).write_text(json.dumps(record.with_(peak_bytes=memory.peak_bytes).to_dict()))


if __name__ == "__main__":
    _main(*sys.argv[1:])
