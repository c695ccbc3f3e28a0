"""The work itself: submissions are sorted by track, and each track is graded by slots under one warm parent."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course_lib import __version__
from course_lib.errors import CheckCrashed, CourseError
from course_lib.frameworks import TABLE, require
from course_lib.grade.intake import Submission
from course_lib.grade.pool import Job, Parent, Pool
from course_lib.grade.record import GradeRecord, already, append
from course_lib.grade.run_info import Layer, RunInfo
from course_lib.grade.walls import parent_environment, parent_settings
from course_lib.lessons import lesson
from course_lib.versions import installed_versions

# Compiling the solution once pays for itself when a few others compile the same.
WARM_FROM = 4
COMPILING = ("jax", "keras")
# A whole submission may take this many times the limit of one exercise, in seconds of wall time.
SUBMISSION_FACTOR = 10

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class GradeOptions:
    """How a collection is graded. `timeout_seconds` is the computing time of one cell or one exercise."""

    lesson: str | None = None
    seed: int | None = None
    checks: Path | None = None
    class_file: Path | None = None
    jobs: int = 2
    resume: bool = False
    unsafe: bool = False
    timeout_seconds: float = 20.0


class Rounds:
    """One run over the submissions; `closed` are folders that no student's process may see."""

    def __init__(
        self, records: Path, options: GradeOptions, info: RunInfo, closed: Sequence[Path], on_progress: Progress
    ) -> None:
        self._records, self._options, self._info, self._on_progress = records, options, info, on_progress
        self._closed = [path.absolute() for path in closed]
        self.layers: tuple[Layer, ...] = ()
        self.tracks: list[str] = []

    def grade(self, submissions: Sequence[Submission], done: Sequence[GradeRecord]) -> None:
        """Sort what is not graded yet by track, and grade track after track."""
        by_track: dict[str, list[tuple[Submission, str]]] = {}
        for submission, result in self._recognise(submissions, done):
            if "problem" in result:
                self._keep_unread(submission, *result["problem"])
            elif self._options.lesson in (None, result["lesson"], lesson(result["lesson"]).slug):
                by_track.setdefault(result["track"], []).append((submission, result["lesson"]))
        for track in by_track:
            require(track, try_import=False)
        for track in sorted(by_track, key=list(TABLE).index):
            self._grade_track(track, by_track[track])

    def _recognise(
        self, submissions: Sequence[Submission], done: Sequence[GradeRecord]
    ) -> Iterator[tuple[Submission, dict[str, Any]]]:
        """Which lesson and track each is of; what cannot be read is a problem, what has been graded is left out."""
        readable: list[Submission] = []
        for submission in submissions:
            try:
                digest = hashlib.sha256(submission.read_bytes()).hexdigest()
            except CourseError as error:
                yield submission, {"problem": ["unreadable", str(error)]}
                continue
            if not already(done, digest, submission.file, self._info.checks_sha256):
                readable.append(submission)
        with self._pool(None, "", len(readable)) as pool:
            jobs = (_job("recognise", each) for each in readable)
            for job, result in pool.run(jobs):
                yield job.what, result

    def _grade_track(self, track: str, work: Sequence[tuple[Submission, str]]) -> None:
        self.tracks.append(track)
        self._on_progress(f"starting {track}", 0, len(work))
        with tempfile.TemporaryDirectory(prefix="course-run-") as folder:
            home = Path(folder, "home")
            home.mkdir()
            cache = Path(folder, "compiled") if track in COMPILING and len(work) >= WARM_FROM else None
            if cache is not None:
                cache.mkdir()
                self._compile(track, {name for _, name in work}, home, cache)
            with (
                self._parent(track, home, cache, unsafe=self._options.unsafe) as parent,
                self._pool(parent, track, len(work)) as pool,
            ):
                self.layers = tuple(Layer(name, active, detail) for name, active, _, detail in pool.layers)
                self._prove(pool, track, {name for _, name in work})
                self._grade_all(pool, track, [submission for submission, _ in work])

    def _grade_all(self, pool: Pool, track: str, work: Sequence[Submission]) -> None:
        jobs = (_job("grade", each) for each in work)
        for n, (job, result) in enumerate(pool.run(jobs), 1):
            if "problem" in result:
                self._keep_unread(job.what, *result["problem"])
            else:
                append(self._records, GradeRecord.from_dict(result))
            self._on_progress(f"{track}: {job.message['file']}", n, len(work))

    def _compile(self, track: str, names: set[str], home: Path, cache: Path) -> None:
        """Run the course's own solution, which may be trusted, so that its compiled steps lie in the cache."""
        with self._parent(track, home, cache, unsafe=True) as parent, self._pool(parent, track, 1) as pool:
            self._prove(pool, track, names)

    def _prove(self, pool: Pool, track: str, names: set[str]) -> None:
        """The course's own solution must get full marks here, or nobody's marks mean anything."""
        jobs = [Job({"do": "solution", "lesson": name, "track": track}) for name in sorted(names)]
        for job, result in pool.run(iter(jobs)):
            missed = [each for each in result.get("results", ()) if each["state"] != "passed"]
            if missed or "problem" in result:
                why = missed[0]["message"] if missed else result["problem"][1]
                what = missed[0]["exercise"] if missed else job.message["lesson"]
                raise CheckCrashed(
                    f"The course's own solution does not pass here ({track}, {what}: {why}) Nobody was graded in it.",
                    action="If a case of your own asks more than the solution gives, take it out of --checks; else run "
                    "`course doctor` and report it.",
                )

    @contextmanager
    def _parent(self, track: str, home: Path, cache: Path | None, *, unsafe: bool) -> Iterator[Parent]:
        settings = parent_settings(self._closed, unsafe=unsafe, compile_cache=cache)
        parent = Parent(track, parent_environment(track, home, cache), settings)
        try:
            yield parent
        finally:
            parent.close()

    @contextmanager
    def _pool(self, parent: Parent | None, track: str, n_jobs: int) -> Iterator[Pool]:
        timeout = self._options.timeout_seconds
        settings = {
            "secret": str(self._info.seed),
            "timeout_seconds": timeout,
            "submission_seconds": SUBMISSION_FACTOR * timeout,
            "checks": None if self._options.checks is None else str(self._options.checks.absolute()),
            "class_file": None if self._options.class_file is None else str(self._options.class_file.absolute()),
            "record": self._record_facts(track) if track else {},
        }
        n_slots = max(1, min(self._options.jobs, n_jobs))
        pool = Pool(n_slots, settings, parent, job_seconds=2 * SUBMISSION_FACTOR * timeout + 60)
        try:
            yield pool
        finally:
            pool.close()

    def _record_facts(self, track: str) -> dict[str, Any]:
        return {
            "run": self._info.run,
            "checks_sha256": self._info.checks_sha256,
            "versions": {"course_lib": __version__, **installed_versions(track)},
            "sandbox": [] if self._options.unsafe else [each.name for each in self._info.sandbox if each.active],
        }

    def _keep_unread(self, submission: Submission, reason: str, message: str) -> None:
        """A record without marks for what was not graded: a person has to look."""
        try:
            digest = hashlib.sha256(submission.read_bytes()).hexdigest()
        except CourseError:
            digest = ""
        facts = self._record_facts("numpy")
        record = GradeRecord(
            **_facts(submission),
            sha256=digest,
            lesson="",
            track="",
            exercises=(),
            notes=(),
            review=(f"{reason}: {message}",),
            output="",
            output_bytes=0,
            seconds=0.0,
            cpu_seconds=0.0,
            peak_bytes=0,
            attempts=0,
            graded_at=now(),
            **{**facts, "sandbox": tuple(facts["sandbox"])},
        )
        append(self._records, record)


def _facts(submission: Submission) -> dict[str, Any]:
    submitted = submission.submitted_at
    return {
        "student": submission.student,
        "file": submission.file,
        "submitted_at": None if submitted is None else submitted.isoformat(),
        "late": submission.late,
    }


def _job(do: str, submission: Submission) -> Job:
    message = {"do": do, **_facts(submission)}
    message["student"] = asdict(submission.student)
    return Job(message, submission.read_bytes, submission)


def now() -> str:
    """This moment, ISO 8601 with offset, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
