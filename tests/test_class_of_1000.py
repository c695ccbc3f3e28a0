"""A class of 1,000, one in ten of them hostile; and a grader that is killed on the way and goes on.

Takes some minutes, so it is run where the environment holds COURSE_CLASS_OF_1000.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from course_lib.grade.record import load
from hostile import Hostile, hostile_kinds
from hostile.run import Run, grade_all, launch, neighbour

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif("COURSE_CLASS_OF_1000" not in os.environ, reason="set COURSE_CLASS_OF_1000 to run it"),
    pytest.mark.skipif(sys.platform != "linux", reason="students' code is isolated on Linux only"),
]
N_HOSTILE, EVERY = 100, 10
REPOSITORY = Path(__file__).resolve().parent.parent
MEGABYTE = 1 << 20


def hostile_hundred() -> list[Hostile]:
    """A hundred kinds of one track, always the same ones, of all themes."""
    kinds = [kind for kind in hostile_kinds() if kind.track == "numpy" and kind.place is None and not kind.heavy]
    return random.Random(1).sample(kinds, N_HOSTILE)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("class")
    return grade_all(folder, hostile_hundred(), repository=REPOSITORY, others=9, watch={"sample_memory": True})


def test_nothing_is_lost_and_every_mark_is_right(run: Run) -> None:
    assert len(run.handed) == len(run.records) == 1000
    wrong = []
    for name, handed in run.handed.items():
        record = run.record_of(name)
        assert record is not None, name
        got = {each.exercise: each.mark for each in record.exercises} or dict.fromkeys(handed.marks, 0.0)
        if got != handed.marks:
            wrong.append((name, [(each.exercise, each.reason) for each in record.exercises], record.review))
    assert wrong == []


def test_nothing_is_left(run: Run) -> None:
    assert run.report["left"] == []
    assert run.temporary == []
    assert run.calls == []


def test_memory_stays_flat(run: Run) -> None:
    """The private bytes of each part in its last third are those of its first third, give or take a little."""
    grown = {}
    parts = Counter[str]()
    for name, samples in run.report["memory"].items():
        third = len(samples) // 3
        if third < 5:
            continue
        parts[name.split()[0]] += 1
        first, last = (statistics.median(size for _, size in part) for part in (samples[:third], samples[-third:]))
        if last > first * 1.1 + 16 * MEGABYTE:
            grown[name] = (first / MEGABYTE, last / MEGABYTE)
    assert grown == {}
    assert parts.keys() >= {"coordinator", "slot", "parent"}


def test_a_killed_grader_goes_on_where_it_was(tmp_path: Path) -> None:
    """Killed three times at any moment, it grades what is left: nothing twice, nothing lost, the same marks."""
    submissions, out, temporary = (tmp_path / name for name in ("submissions", "graded", "temporary"))
    for each in (submissions, temporary):
        each.mkdir()
    marks: dict[str, dict[str, float]] = {}
    for number in range(120):
        name, data, marks[f"{name}.ipynb"] = neighbour(number)
        (submissions / f"{name}.ipynb").write_bytes(data)
    rng = random.Random()
    # Once before the first record, then somewhere among them.
    for n_more in (0, rng.randrange(1, 40), rng.randrange(1, 40), rng.randrange(1, 30)):
        before = load(out / "records.jsonl")
        watch = {"kill_after_records": n_more}
        report = launch(tmp_path, submissions, out, temporary, "hst-killed", watch=watch, resume=True)
        assert report["status"] == -signal.SIGKILL
        assert report["left"] == []
        assert load(out / "records.jsonl")[: len(before)] == before
        assert len(load(out / "records.jsonl")) < len(marks)
    report = launch(tmp_path, submissions, out, temporary, "hst-killed", resume=True)
    assert report["status"] == 0, (tmp_path / "log").read_text()
    records = load(out / "records.jsonl")
    assert Counter(each.file for each in records) == dict.fromkeys(marks, 1)
    assert {each.file: {e.exercise: e.mark for e in each.exercises} for each in records} == marks
    before_last = (out / "records.jsonl").read_bytes()
    started = time.monotonic()
    launch(tmp_path, submissions, out, temporary, "hst-killed", resume=True)
    assert (out / "records.jsonl").read_bytes() == before_last
    assert time.monotonic() - started < 30
