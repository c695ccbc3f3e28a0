"""One grading run over a folder of hostile and other submissions, and all that it left behind."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.grade.record import GradeRecord, load
from hostile.kind import Hostile, Scene, full_marks, no_marks, without
from hostile.sheet import right_answers, submission, wrong_answers

HALF = ("digits/split", "digits/step", "digits/challenge")
TIMEOUT_SECONDS = 2.0


@dataclass
class Handed:
    """Something that was handed in: a hostile kind, or a neighbour, and where it lies."""

    name: str
    file: str
    sha256: str
    marks: dict[str, float]
    kind: Hostile | None = None


@dataclass
class Run:
    """A run that is over. `report` is the launcher's; `temporary` names what is left in the temporary folder."""

    scene: Scene
    handed: dict[str, Handed]
    records: list[GradeRecord]
    report: dict[str, Any]
    temporary: list[str]
    log: str
    canary_changed: bool
    calls: list[str] = field(default_factory=list)

    def record_of(self, name: str) -> GradeRecord | None:
        """The record of what was handed in by this name, found by its file, else by its content."""
        handed = self.handed[name]
        by_file = [each for each in self.records if (each.file + "/").startswith(handed.file + "/")]
        found = by_file or [each for each in self.records if each.sha256 == handed.sha256]
        assert len(found) <= 1, f"{name} has {len(found)} records"
        return found[0] if found else None


def neighbour(number: int) -> tuple[str, bytes, dict[str, float]]:
    """A submission of somebody who does nothing odd: right, wrong or half right; its name, bytes and marks."""
    right, wrong = right_answers(), wrong_answers()
    word, answers, marks = [
        ("right", right, full_marks()),
        ("half", {**right, **{each: wrong[each] for each in HALF}}, without(*HALF)),
        ("wrong", wrong, no_marks()),
    ][number % 3]
    # Everybody's file is another one.
    answers = {**answers, "digits/split": answers["digits/split"] + f"\n# student {number}\n"}
    return f"neighbour {number:04} {word}", submission(answers), marks


def hand_in(scene: Scene, kinds: Sequence[Hostile], others: float) -> dict[str, Handed]:
    """Lay the kinds down, in their order, with `others` neighbours for each of them; what lies there by name."""
    handed: dict[str, Handed] = {}

    def lay(name: str, file: str, data: bytes, marks: dict[str, float], kind: Hostile | None) -> None:
        path = scene.submissions / file
        if kind is not None and kind.place is not None:
            kind.place(path, data)
        else:
            path.write_bytes(data)
        handed[name] = Handed(name, file, hashlib.sha256(data).hexdigest(), marks, kind)

    n_others = 0
    for number, kind in enumerate(kinds, 1):
        slug = re.sub(r"[^a-z0-9]+", "-", kind.name.lower()).strip("-")[:60]
        lay(kind.name, kind.file_name or f"{len(handed):04} {slug}.ipynb", kind.build(scene), kind.marks, kind)
        while n_others < number * others:
            name, data, marks = neighbour(n_others)
            lay(name, f"{len(handed):04} {name}.ipynb", data, marks, None)
            n_others += 1
    return handed


@contextlib.contextmanager
def listening(folder: Path, stamp: str, calls: list[str]) -> Iterator[tuple[int, str]]:
    """Somebody who listens on every kind of socket; who called is noted at the end."""
    path = str(folder / "listener")
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = tcp.getsockname()[1]
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", port))
        named, abstract = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        named.bind(path)
        abstract.bind(f"\0{stamp}")
        os.chmod(path, 0o666)
        for each in (named, abstract):
            each.listen()
        yield port, path
        for name, each in (("TCP", tcp), ("named", named), ("abstract", abstract), ("UDP", udp)):
            each.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                each.recv(64) if name == "UDP" else each.accept()[0].close()
                calls.append(name)


def grade_all(folder: Path, kinds: Sequence[Hostile], *, repository: Path, others: float = 0.2, **options: Any) -> Run:
    """Hand the kinds in, grade them in a process of its own, and gather what came of it."""
    stamp = f"hst-{secrets.token_hex(4)}"
    calls: list[str] = []
    names = ("submissions", "graded", "temporary", "beside")
    submissions, out, temporary, beside = (folder / name for name in names)
    for each in (submissions, temporary, beside):
        each.mkdir()
    canary = beside / "canary"
    canary.write_text("Nobody has touched this.\n" * 8)
    before = look_at(canary)
    with short_folder() as sockets, listening(sockets, stamp, calls) as (port, path):
        scene = Scene(submissions, out, canary, repository, port, path, stamp)
        handed = hand_in(scene, kinds, others)
        report = launch(folder, submissions, out, temporary, stamp, **options)
    log = folder.joinpath("log").read_text(errors="replace")
    assert report["status"] == 0, log[-4000:]
    left = sorted(str(each.relative_to(temporary)) for each in temporary.rglob("*"))
    changed = look_at(canary) != before or [each.name for each in beside.iterdir()] != ["canary"]
    return Run(scene, handed, load(out / "records.jsonl"), report, left, log, changed, calls)


def look_at(path: Path) -> tuple[object, ...]:
    """What nobody may change of a file."""
    found = path.stat() if path.exists() else None
    return (found and (found.st_mode, found.st_mtime_ns, found.st_uid), path.exists() and path.read_bytes())


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A temporary folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="hst-") as folder:
        yield Path(folder)


def launch(
    folder: Path,
    submissions: Path,
    out: Path,
    temporary: Path,
    stamp: str,
    *,
    watch: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Run the grader through the launcher and return its report."""
    config = {
        "submissions": str(submissions), "out": str(out), "stamp": stamp, "seed": secrets.randbits(40),
        "log": str(folder / "log"), "report": str(folder / "report.json"),
        "options": {"timeout_seconds": TIMEOUT_SECONDS, "jobs": 2, **options}, **(watch or {}),
    }  # fmt: skip
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    environ = {**os.environ, "TMPDIR": str(temporary)}
    launcher = Path(__file__).with_name("launcher.py")
    done = subprocess.run([sys.executable, str(launcher), str(path)], env=environ, check=False)
    assert done.returncode == 0, f"the launcher ended with {done.returncode}: it was killed from outside, or broke"
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report
