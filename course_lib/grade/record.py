"""What the grader found in one notebook, and the file of all such records: only ever added to, a line for each."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from course_lib.errors import BadInput
from course_lib.grade.student import Student
from course_lib.home import cannot_read, cannot_save, make_folder

State = Literal["passed", "failed", "needs review"]
Reason = Literal[
    "passed", "wrong", "error", "unanswered", "not handed in", "timeout", "memory", "crash", "exit", "bad reply",
    "not reached", "checker broke", "course cell failed", "not a notebook", "unreadable", "unknown notebook",
    "grader ended",
]  # fmt: skip


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise of one notebook. `mark` is what was earned so far: 0 where the state is "needs review"."""

    exercise: str
    title: str
    state: State
    reason: Reason
    mark: float
    max_mark: float
    message: str
    hint: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class GradeRecord:
    """One graded notebook, with what is needed to judge, repeat and defend its marks.

    `file` is the path inside the collection, `submitted_at` and `graded_at` are ISO 8601 with offset, `late` is the
    word of the platform that the collection comes from (None: it says nothing). `lesson` and `track` are "" where the
    notebook was not recognised. `notes` are odd but harmless, `review` says why a person should look. `output` holds
    at most 20 kB of what the cells printed, `output_bytes` counts all that came. `attempts` is the number of children
    that were needed, `sandbox` names the layers that were active.
    """

    student: Student
    file: str
    sha256: str
    submitted_at: str | None
    late: bool | None
    lesson: str
    track: str
    exercises: tuple[ExerciseResult, ...]
    notes: tuple[str, ...]
    review: tuple[str, ...]
    output: str
    output_bytes: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    attempts: int
    graded_at: str
    run: str
    checks_sha256: str
    versions: dict[str, str]
    sandbox: tuple[str, ...]

    @property
    def mark(self) -> float:
        """The marks earned, before the weights and penalties of a class."""
        return math.fsum(result.mark for result in self.exercises)

    @property
    def max_mark(self) -> float:
        """The marks that could be earned, before the weights of a class."""
        return math.fsum(result.max_mark for result in self.exercises)

    @property
    def needs_review(self) -> bool:
        """Whether a person should look before the marks are final."""
        return bool(self.review) or any(result.state == "needs review" for result in self.exercises)

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> GradeRecord:
        """The record of a JSON object; a field that this version does not know is left out.

        Raises KeyError, TypeError or ValueError when a field is missing or is not what it should be.
        """
        known = _known(cls, raw)
        known["student"] = Student(**_known(Student, raw["student"]))
        known["exercises"] = tuple(_result(one) for one in raw["exercises"])
        for name in ("notes", "review", "sandbox"):
            known[name] = tuple(map(str, raw[name]))
        return cls(**known)


def _known(cls: type[Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: raw[field.name] for field in fields(cls) if field.name in raw}


def _result(raw: Mapping[str, Any]) -> ExerciseResult:
    result = ExerciseResult(**_known(ExerciseResult, raw))
    if result.state not in get_args(State):
        raise ValueError(f"the state {result.state!r} of {result.exercise} is none of {', '.join(get_args(State))}")
    if not (math.isfinite(result.mark) and math.isfinite(result.max_mark)):
        raise ValueError(f"the mark of {result.exercise} is not a finite number")
    return result


def append(path: Path, record: GradeRecord) -> None:
    """Add a record to the file in one write, and have it on the disk before returning. Raises CannotSave.

    What a killed writer left of a last line is cut off first: otherwise two records would share a line.
    """
    line = (json.dumps(record.to_dict(), allow_nan=False, separators=(",", ":")) + "\n").encode("ascii")
    make_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        raise cannot_save(path, error) from error
    try:
        _lock(descriptor)
        end = _cut_half_line(descriptor)
        if os.write(descriptor, line) != len(line):
            os.ftruncate(descriptor, end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError as error:
        raise cannot_save(path, error) from error
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Wait until nobody else is adding a line; closing the descriptor frees it. Windows has no such lock."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _cut_half_line(descriptor: int) -> int:
    """Make the file end in a whole line, and return its length in bytes."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    keep = end
    while keep:
        start = max(0, keep - 65536)
        os.lseek(descriptor, start, os.SEEK_SET)
        newline = os.read(descriptor, keep - start).rfind(b"\n")
        keep = start + newline + 1
        if newline >= 0:
            break
    if keep < end:
        os.ftruncate(descriptor, keep)
    return keep


def load(path: Path) -> list[GradeRecord]:
    """All records of the file, oldest first; none when there is no such file. The file is not changed.

    A last line without its end was being written when the grader was killed: it is left out, and said on stderr.
    Raises BadInput, naming the line, when another one is damaged, and CourseError when the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise cannot_read(path, error) from error
    *lines, rest = data.split(b"\n")
    if rest:
        print(
            f"The last line of {path} is half written ({len(rest)} bytes) and was cut off: its notebook will be "
            "graded again.",
            file=sys.stderr,
        )
    return [_parse(line, n, path) for n, line in enumerate(lines, 1) if line.strip()]


def _parse(line: bytes, n: int, path: Path) -> GradeRecord:
    try:
        return GradeRecord.from_dict(json.loads(line.decode("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(
            f"Line {n} of {path} should be the record of one notebook; it cannot be read "
            f"({type(error).__name__}: {error}).",
            action="Take that line out, and let `course grade --resume` grade its notebook again.",
        ) from error


def place(record: GradeRecord) -> tuple[str, str]:
    """Whose notebook it is and which file: what a later record of the same replaces."""
    return record.student.key, record.file


def newest(records: Iterable[GradeRecord]) -> list[GradeRecord]:
    """One record for each file of each student: the one that was added last, where its file was first met."""
    found: dict[tuple[str, str], GradeRecord] = {}
    for record in records:
        found[place(record)] = record
    return list(found.values())


def already(records: Iterable[GradeRecord], sha256: str, file: str, checks_sha256: str) -> bool:
    """Whether this very content of this file has been graded by these very checks."""
    wanted = (sha256, file, checks_sha256)
    return any((record.sha256, record.file, record.checks_sha256) == wanted for record in records)
