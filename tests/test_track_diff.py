"""Two tracks side by side: what differs is there, what they share is not, and no answer is shown that is not earned."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from course_lib import cli, track_diff
from course_lib.build.source import Cell
from course_lib.cli import diffing
from course_lib.errors import BadInput, NotFound
from course_lib.kinds import HOLE
from course_lib.lessons import lesson
from course_lib.progress import Progress


def course(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="course")


def solve(exercise: str, track: str) -> None:
    Progress.load().record_attempt(exercise, track, passed=True, mark=1, max_mark=1, source=None)


def cells_of(found: track_diff.TrackDiff) -> list[track_diff.Shown]:
    return [cell for s in found.sections for r in s.rows for cell in (r.left, r.right) if cell is not None]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Cell]]:
    """The cells of two tracks, to be filled by a test, in place of lesson 01's."""
    tracks: dict[str, list[Cell]] = {"torch": [], "jax": []}
    monkeypatch.setattr(track_diff, "read_cells", lambda _, track: tracks[track])
    return tracks


def prose(text: str, id_: str = "p") -> Cell:
    return Cell("markdown", text, id=id_)


def code(text: str, id_: str) -> Cell:
    return Cell("code", text, id=id_)


def pairs(*, prose: bool = False) -> list[tuple[str, str | None, str | None]]:
    found = track_diff.track_diff("01_digits", "torch", "jax", prose=prose)
    return [
        (section.heading, row.left and row.left.source, row.right and row.right.source)
        for section in found.sections
        for row in section.rows
    ]


# --- what stands beside what


def test_shared_cells_and_headings_without_a_difference_are_left_out(toy: dict[str, list[Cell]]) -> None:
    toy["torch"] += [prose("# T\n\n## A"), code("same", "s"), prose("## B"), code("x = torch", "1"), code("same", "t")]
    toy["jax"] += [prose("# T\n\n## A"), code("same", "s"), prose("## B"), code("x = jax", "2"), code("same", "t")]
    assert pairs() == [("B", "x = torch", "x = jax")]


def test_cells_of_one_id_or_exercise_stand_side_by_side_whatever_lies_between(toy: dict[str, list[Cell]]) -> None:
    toy["torch"] += [prose("## A"), code("extra", "1"), code("# exercise: digits/step\na", "2"), code("p", "load")]
    toy["jax"] += [prose("## A"), code("# exercise: digits/step\nb", "3"), code("more", "4"), code("q", "load")]
    assert pairs() == [
        ("A", "extra", None),
        ("A", "# exercise: digits/step\na", "# exercise: digits/step\nb"),
        ("A", None, "more"),
        ("A", "p", "q"),
    ]


def test_a_cell_stays_below_its_own_heading(toy: dict[str, list[Cell]]) -> None:
    toy["torch"] += [prose("## A"), code("a", "1"), prose("## B"), code("b", "2")]
    toy["jax"] += [prose("## A"), prose("## Only here"), code("o", "3"), prose("## B"), code("c", "4")]
    assert pairs() == [("A", "a", None), ("Only here", None, "o"), ("B", "b", "c")]


def test_a_heading_that_comes_twice_is_told_apart(toy: dict[str, list[Cell]]) -> None:
    toy["torch"] += [prose("## A"), code("1", "1"), prose("## A"), code("2", "2")]
    toy["jax"] += [prose("## A"), code("3", "3"), prose("## A"), code("4", "4")]
    assert pairs() == [("A", "1", "3"), ("A", "2", "4")]


def test_prose_is_shown_when_asked_for(toy: dict[str, list[Cell]]) -> None:
    toy["torch"] += [prose("## A"), prose("a module", "m")]
    toy["jax"] += [prose("## A"), prose("a function", "f")]
    assert pairs() == []
    assert pairs(prose=True) == [("A", "a module", "a function")]


def test_every_track_of_a_lesson_can_stand_beside_every_other() -> None:
    found = lesson("01_digits")
    for right in found.tracks[1:]:
        made = track_diff.track_diff("digits", "numpy", right)
        assert [s.heading for s in made.sections][1:3] == ["The data", "The model"]
        assert {cell.exercise for cell in cells_of(made)} >= {"digits/model", "digits/cross_entropy", "digits/train"}


# --- answers


def test_answers_are_hidden_unless_solved_and_asked_for() -> None:
    solve("digits/step", "jax")
    solve("digits/split", "numpy")
    hidden = track_diff.track_diff("01_digits", "torch", "jax")
    assert all((HOLE in cell.source) == cell.hole for cell in cells_of(hidden) if cell.exercise != "digits/repair")
    assert "digits/step@jax" in hidden.holes
    shown = track_diff.track_diff("01_digits", "torch", "jax", solutions=True)
    by_name = {(cell.exercise, HOLE in cell.source) for cell in cells_of(shown)}
    assert {("digits/step", True), ("digits/step", False), ("digits/train", True)} <= by_name
    assert ("digits/train", False) not in by_name
    assert set(hidden.holes) - set(shown.holes) == {"digits/step@jax"}
    source = next(c.source for c in cells_of(shown) if c.exercise == "digits/step" and not c.hole)
    assert "value_and_grad" in source
    assert not any("SOLUTION" in cell.source for cell in cells_of(shown))


def test_a_debugging_exercise_keeps_its_fault_until_it_is_solved() -> None:
    def repair(*, solutions: bool) -> str:
        found = track_diff.track_diff("01_digits", "torch", "jax", solutions=solutions)
        return next(c.source for c in cells_of(found) if c.exercise == "digits/repair")

    faulty = repair(solutions=True)
    solve("digits/repair", "torch")
    assert repair(solutions=False) == faulty
    assert repair(solutions=True) != faulty


@pytest.mark.parametrize(
    ("tracks", "error", "words"),
    [
        (("torch", "troch"), NotFound, "Did you mean 'torch'"),
        (("torch", "compare"), NotFound, "source of its own"),
        (("jax", "jax"), BadInput, "jax twice"),
    ],
)
def test_what_cannot_be_compared_is_refused(tracks: tuple[str, str], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        track_diff.track_diff("01_digits", *tracks)


# --- course diff


def test_a_pipe_gets_plain_text_with_whole_lines() -> None:
    done = course("diff", "01_digits", "torch", "jax")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert "\n## One step\n" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("def step(model, optimizer, x, y):"))
    assert row.index("|") > len("def step(model, optimizer, x, y):")
    longest = max(track_diff.track_diff("digits", "torch", "jax").sections[0].rows[0].left.source.split("\n"), key=len)  # type: ignore[union-attr]
    assert longest in done.stdout
    assert "Answers are hidden (see --solution): digits/model@torch, digits/model@jax" in done.stderr


def test_solution_names_what_stays_hidden() -> None:
    solve("digits/step", "jax")
    done = course("diff", "01_digits", "torch", "jax", "--solution")
    assert "value_and_grad" in done.stdout
    assert "You have not solved yet" in done.stderr
    assert "digits/step@torch" in done.stderr
    assert "digits/step@jax" not in done.stderr


def test_json_holds_the_rows_of_both_tracks() -> None:
    document = json.loads(course("diff", "01_digits", "numpy", "torch", "--json").stdout)
    assert (document["lesson"], document["tracks"]) == ("01_digits", ["numpy", "torch"])
    section = next(each for each in document["sections"] if each["heading"] == "One step")
    assert {row["numpy"]["exercise"] for row in section["rows"] if row["numpy"]} >= {"digits/step"}
    assert "digits/gradients@numpy" in document["hidden"]


@pytest.mark.parametrize(("width", "in_one_line"), [(160, True), (80, False)])
def test_a_terminal_gets_two_columns_only_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch, width: int, in_one_line: bool
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(diffing, "console", lambda: Console(file=out, width=width, highlight=False))
    diffing._draw(track_diff.track_diff("01_digits", "torch", "jax"))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert any("torch" in line and line.rstrip().endswith("jax") for line in text.splitlines()) == in_one_line
    assert "One step ─" in text
    assert "def make_step(loss, optimizer):" in text
    assert "(nothing here)" in text


def test_an_unknown_lesson_or_track_is_2() -> None:
    assert course("diff", "01_digitz", "torch", "jax").exit_code == 2
    assert course("diff", "01_digits", "torch", "troch").exit_code == 2
    assert course("diff", "01_digits", "torch").exit_code == 2
