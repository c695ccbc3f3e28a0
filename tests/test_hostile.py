"""A class of cheats, breakers and burdens: each gets the marks that it must get, and nobody else's marks move."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.grade.record import GradeRecord
from hostile import Hostile, hostile_kinds
from hostile.kind import full_marks
from hostile.run import TIMEOUT_SECONDS, Run, grade_all

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="students' code is isolated on Linux only")
QUICK = tuple(kind for kind in hostile_kinds() if not kind.heavy)
HEAVY = tuple(kind for kind in hostile_kinds() if kind.heavy)
EACH = pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, id=kind.name, marks=[pytest.mark.slow] * kind.heavy) for kind in hostile_kinds()],
)
BOTH = pytest.mark.parametrize("heavy", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["quick", "heavy"])
MAX_OUTPUT = 20_000
MAX_MESSAGE = 4_000
# The grader gives a submission ten times the limit of an exercise; the rest is starting and ending processes.
MAX_SECONDS = 10 * TIMEOUT_SECONDS + 10


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Run]:
    """The grading run over the quick kinds (False) or the heavy ones (True); each is done once, failed or not."""
    done: dict[bool, Run | Exception] = {}

    def run(heavy: bool) -> Run:
        if heavy not in done:
            folder = tmp_path_factory.mktemp("heavy" if heavy else "quick")
            repository = Path(__file__).resolve().parent.parent
            try:
                done[heavy] = grade_all(folder, HEAVY if heavy else QUICK, repository=repository)
            except Exception as error:
                done[heavy] = error
        found = done[heavy]
        if isinstance(found, Exception):
            raise found
        return found

    return run


def told(record: GradeRecord) -> str:
    """A record as a failing test shows it."""
    lines = [f"{each.exercise}: {each.mark:g} {each.reason}: {each.message[:200]!r}" for each in record.exercises]
    return "\n".join([*lines, f"notes {record.notes}", f"review {record.review}", f"output {record.output[:600]!r}"])


@EACH
def test_gets_the_marks_that_it_must_get(kind: Hostile, runs: Callable[[bool], Run]) -> None:
    record = runs(kind.heavy).record_of(kind.name)
    if record is None:
        assert not any(kind.marks.values()), "it was lost"
        assert kind.review is None, "it was passed over without a word"
        return
    got = {each.exercise: each.mark for each in record.exercises} or dict.fromkeys(kind.marks, 0.0)
    assert got == kind.marks, told(record)
    for each in record.exercises:
        if each.exercise in kind.reasons:
            assert each.reason in kind.reasons[each.exercise].split("|"), f"{each.exercise}\n{told(record)}"
    if kind.review is not None:
        assert record.needs_review is kind.review, told(record)
    for word in kind.notes:
        assert word in " ".join(record.notes), told(record)


@BOTH
def test_neighbours_keep_their_marks(heavy: bool, runs: Callable[[bool], Run]) -> None:
    run = runs(heavy)
    for name, handed in run.handed.items():
        if handed.kind is None:
            record = run.record_of(name)
            assert record is not None, f"{name} was lost"
            assert {each.exercise: each.mark for each in record.exercises} == handed.marks, told(record)
            assert not record.needs_review, told(record)


@BOTH
def test_nothing_is_lost_and_nothing_graded_twice(heavy: bool, runs: Callable[[bool], Run]) -> None:
    run = runs(heavy)
    files = [each.file for each in run.records]
    assert len(set(files)) == len(files)
    # What is no file of its own (a folder, a circle of links) may be passed over.
    n_files = sum(handed.kind is None or handed.kind.place is None for handed in run.handed.values())
    assert n_files <= len(files) <= len(run.handed)


@BOTH
def test_nobody_holds_the_grader_up(heavy: bool, runs: Callable[[bool], Run]) -> None:
    long = {each.file: each.seconds for each in runs(heavy).records if each.seconds > MAX_SECONDS}
    assert long == {}


@BOTH
def test_no_process_and_no_file_is_left(heavy: bool, runs: Callable[[bool], Run]) -> None:
    run = runs(heavy)
    assert run.report["left"] == []
    assert run.temporary == []
    for folder in ("/tmp", "/var/tmp", "/dev/shm", str(Path.home()), str(run.scene.repository)):
        assert [each.name for each in Path(folder).glob("hst-*") if each.name == run.scene.stamp] == []


@BOTH
def test_nobody_outside_was_touched(heavy: bool, runs: Callable[[bool], Run]) -> None:
    run = runs(heavy)
    assert run.calls == []
    assert not run.canary_changed
    for path in run.scene.out.rglob("*"):
        # The stamp stands in paths that were printed or refused; alone, it was written by a student's process.
        assert path.name != run.scene.stamp
    assert run.scene.out.joinpath("records.jsonl").read_bytes().count(b"\n") == len(run.records)


@BOTH
def test_records_are_bounded_and_can_be_read_by_everybody(heavy: bool, runs: Callable[[bool], Run]) -> None:
    for record in runs(heavy).records:
        assert len(record.output) <= MAX_OUTPUT
        texts = [*record.notes, *record.review, *(each.message for each in record.exercises)]
        assert max(map(len, texts), default=0) <= MAX_MESSAGE, record.file
        json.dumps(record.to_dict(), ensure_ascii=False, allow_nan=False).encode("utf-8")


@BOTH
def test_pages_show_what_students_wrote_as_text(heavy: bool, runs: Callable[[bool], Run]) -> None:
    out = runs(heavy).scene.out
    pages = list(out.rglob("*.html"))
    assert pages
    for page in pages:
        text = page.read_text("utf-8")
        assert "<script>alert(1)" not in text, page
        assert "<img src=x" not in text, page
        assert "\x1b" not in text, page
        assert "\u202e" not in text, page
    for table in out.rglob("*.csv"):
        cells = table.read_text("utf-8").replace('"', "").replace("\n", ",").split(",")
        assert [cell for cell in cells if cell.startswith(("=", "+", "@"))] == [], table


def test_the_output_of_a_flood_is_counted_and_cut(runs: Callable[[bool], Run]) -> None:
    record = runs(False).record_of("100 MB to stdout")
    assert record is not None
    assert record.output_bytes >= 100_000_000
    assert len(record.output) <= MAX_OUTPUT


def test_there_are_many_kinds_and_each_has_a_name_of_its_own() -> None:
    names = [kind.name for kind in hostile_kinds()]
    assert len(set(names)) == len(names) >= 50
    assert all(set(kind.marks) == set(full_marks(kind.track)) for kind in hostile_kinds())
