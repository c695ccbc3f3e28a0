"""A whole collection, graded: found, sorted by track, judged by slots, recorded at once, reported at the end."""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from course_lib import __version__
from course_lib.errors import BadInput
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.intake import Collection, find_submissions
from course_lib.grade.private_checks import class_settings
from course_lib.grade.record import GradeRecord, load, newest
from course_lib.grade.report import write_reports
from course_lib.grade.rounds import GradeOptions, Progress, Rounds, now
from course_lib.grade.run_info import Layer, RunInfo
from course_lib.grade.sandbox import SandboxRefused, probe
from course_lib.grade.walls import PACKAGE
from course_lib.home import locked, read_json, write_json
from course_lib.versions import installed_versions

__all__ = ["GradeOptions", "NotIsolated", "grade"]

RECORDS, RUN = "records.jsonl", "run.json"


class NotIsolated(SandboxRefused):
    """This machine cannot keep a student's code apart from everything else."""


def grade(
    submissions: Path, out: Path, options: GradeOptions | None = None, *, on_progress: Progress = lambda *_: None
) -> list[GradeRecord]:
    """Grade a collection into the folder `out`, and return the record of each of its notebooks.

    A record is on the disk as soon as its notebook is graded, so that `resume` goes on after any end. Raises
    NotIsolated, FrameworkMissing, and CheckCrashed when the course's own solution does not pass here.
    """
    options = options or GradeOptions()
    layers = _demand_isolation(options.unsafe)
    collection = find_submissions(submissions)
    settings = class_settings(options.checks, options.class_file)
    out.mkdir(parents=True, exist_ok=True)
    with locked(out / RECORDS):
        done = _earlier(out, options.resume)
        info = _run_info(out, options, collection, layers, settings)
        write_json(out / RUN, info.to_dict())
        work = Rounds(out / RECORDS, options, info, (submissions, out, *_paths(options)), on_progress)
        work.grade(collection.submissions, done)
        info = replace(
            info,
            finished_at=now(),
            sandbox=work.layers or info.sandbox,
            tracks=tuple(work.tracks),
            versions=info.versions
            | {name: v for track in work.tracks for name, v in installed_versions(track).items()},
        )
        write_json(out / RUN, info.to_dict())
        records = newest(load(out / RECORDS))
        write_reports(out, records, settings, info, collection.empty_handed)
    return records


def _demand_isolation(unsafe: bool) -> tuple[Layer, ...]:
    layers = probe()
    lacking = [layer for layer in layers if layer.core and not layer.active]
    if lacking and not unsafe:
        why = "; ".join(f"{layer.name}: {layer.detail}" for layer in lacking)
        raise NotIsolated(
            f"Students' code cannot be isolated here ({why}).",
            action="Grade on Linux (5.13 or newer, or in a container of it) with the extra `grade` installed, or add "
            "--unsafe if you trust every submission.",
        )
    return tuple(Layer(each.name, each.active, each.detail) for each in layers)


def _earlier(out: Path, resume: bool) -> list[GradeRecord]:
    records = load(out / RECORDS)
    if records and not resume:
        raise BadInput(
            f"{out} holds the records of an earlier run ({len(records)} of them).",
            action="Go on with it: --resume. Or give another folder: --out",
        )
    return records


def _run_info(
    out: Path, options: GradeOptions, collection: Collection, layers: Sequence[Layer], settings: ClassSettings
) -> RunInfo:
    """This run's facts. A resumed run keeps the secret of the first, so that it asks everybody the same."""
    before = read_json(out / RUN, {}) if options.resume else {}
    seed = options.seed if options.seed is not None else before.get("seed")
    return RunInfo(
        run=secrets.token_hex(6),
        started_at=now(),
        seed=secrets.randbits(63) if seed is None else seed,
        n_slots=options.jobs,
        sandbox=tuple(layers),
        versions={"course_lib": __version__, "python": platform.python_version()},
        checks_sha256=_checks_sha256(options.checks, settings),
        timeout_seconds=options.timeout_seconds,
        layout=collection.layout,
        notes=tuple(collection.notes),
    )


def _paths(options: GradeOptions) -> list[Path]:
    return [path for path in (options.checks, options.class_file) if path is not None]


def _checks_sha256(checks: Path | None, settings: ClassSettings) -> str:
    """One hash of all that decides about verdicts: checks, kinds, adapters, and the class's own. Not its deadlines."""
    files = [path for name in ("checks", "adapters") for path in (PACKAGE / name).glob("*.py")]
    files += [PACKAGE / name for name in ("expect.py", "kinds.py", "verdict.py", "metrics.py")]
    files += [] if checks is None else checks.glob("*.py")
    digest = hashlib.sha256(repr(settings.private).encode())
    for path in sorted(files):
        digest.update(json.dumps([path.name, hashlib.sha256(path.read_bytes()).hexdigest()]).encode())
    return digest.hexdigest()
