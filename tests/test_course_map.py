"""The map shows all lessons, the paths lead through them in a workable order, and both know the learner's progress."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from course_lib import cli, course_map
from course_lib.lessons import Lesson, lesson, lessons
from course_lib.plan import PATHS, PLAN, Path
from course_lib.progress import Progress

# The table of lessons as it was designed, written down a second time: a slip in the plan shows.
DESIGN = """
First hour: 00_start numpy | 01_digits numpy torch fastai keras jax tensorflow
Train: 02_debug torch fastai keras jax tensorflow | 03_modules torch jax keras tensorflow
Train: 04_transfer fastai torch keras jax tensorflow | 05_text transformers torch keras jax tensorflow
Train: 06_language transformers torch keras jax tensorflow
Understand: 07_gradients torch jax tensorflow keras | 08_speed torch jax tensorflow keras | 09_backends keras
Understand: 10_tpu jax keras torch | 11_precision torch jax keras tensorflow fastai
Praised for: 12_diffusion jax torch keras | 13_reinforcement jax torch
Scale: 14_parallel torch tensorflow jax keras | 15_sharding torch jax | 16_cluster torch jax
Ship: 17_serve torch keras jax tensorflow | 18_edge tensorflow keras torch jax | 19_pipeline tensorflow
Decide: 20_choose numpy
"""


def designed() -> list[tuple[str, str, tuple[str, ...]]]:
    rows = []
    for line in DESIGN.strip().split("\n"):
        stage, _, entries = line.partition(": ")
        for entry in entries.split(" | "):
            name, *tracks = entry.split()
            rows.append((stage, name, tuple(tracks)))
    return rows


def solve(lesson_name: str, track: str) -> None:
    progress = Progress.load()
    for exercise in lesson(lesson_name).exercises_of(track):
        kept = "numpy" if exercise.core else track
        progress.record_attempt(exercise.id, kept, passed=True, mark=1, max_mark=1, source=None)


def course(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, list(arguments), prog_name="course")
    return done.exit_code, done.output


def test_the_plan_is_the_design() -> None:
    assert [(each.stage, each.name, each.tracks) for each in PLAN] == designed()


@pytest.mark.parametrize("written", lessons(), ids=lambda each: each.name)
def test_a_written_lesson_keeps_to_the_plan(written: Lesson) -> None:
    planned = {each.name: each for each in PLAN}
    assert written.name in planned
    assert set(written.tracks) == set(planned[written.name].tracks)
    assert set(written.requires) <= set(planned)
    assert all(name < written.name for name in written.requires)


def test_a_lesson_requires_only_what_comes_before_it() -> None:
    order = [each.name for each in PLAN]
    assert order == sorted(order)
    for each in PLAN:
        assert all(name in order[: order.index(each.name)] for name in each.requires), each.name


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_path_stops_at_tracks_that_exist_and_never_before_what_they_require(path: Path) -> None:
    planned = {each.name: each for each in PLAN}
    stops = [step.lesson for step in path.steps]
    assert len({(step.lesson, step.track) for step in path.steps}) == len(stops)
    for number, step in enumerate(path.steps):
        assert step.track in planned[step.lesson].tracks
        assert 3 <= len(step.reason.split()) <= 12
        later = set(stops[number:]) - {step.lesson}
        assert not later & set(planned[step.lesson].requires), f"{step.lesson} comes too early"


def test_written_and_coming_lessons_are_told_apart() -> None:
    drawn = course_map.draw()
    names = {each.name for each in lessons()}
    assert {place.name for place in drawn.places if place.written} == names
    shown = {line.split()[0]: line for line in repr(drawn).splitlines() if line.startswith("  ")}
    for place in drawn.places:
        assert ("to come" in shown[place.name]) == (place.name not in names)
    assert f"21 lessons, {len(names)} of them written" in repr(drawn)
    assert drawn._repr_html_().count("to come</td>") == 21 - len(names)


def test_the_map_counts_core_exercises_in_every_track_and_idioms_in_their_own() -> None:
    for exercise in ("digits/split", "digits/step"):
        Progress.load().record_attempt(exercise, "torch", passed=True, mark=1, max_mark=1, source=None)
    tracks = next(place for place in course_map.draw().places if place.name == "01_digits").tracks
    assert tracks["torch"].solved == ("digits/split", "digits/step")
    assert tracks["jax"].solved == ("digits/split",)
    assert f"torch 2/{tracks['torch'].total}" in repr(course_map.draw())


def test_a_path_names_the_next_step_and_moves_on_when_it_is_done() -> None:
    way = course_map.path("first-network")
    assert way.next is not None
    assert "next: 00_start in numpy. Open it with: course lab 00_start --track numpy" in repr(way)
    solve("00_start", "numpy")
    assert "next: 01_digits in numpy" in repr(course_map.path("first-network"))
    solve("01_digits", "numpy")
    assert "next: 01_digits in torch" in repr(course_map.path("first-network"))


def test_a_path_says_when_its_next_step_is_to_come() -> None:
    for each in lessons():
        for track in each.tracks:
            solve(each.name, track)
    way = course_map.path("scale")
    coming = [stop for stop in way.stops if not stop.place.written]
    assert coming
    assert way.next == coming[0]
    assert "still to come" in way.next_text
    assert "course lab" not in way.next_text


def test_list_prints_json_for_the_map_and_for_a_path() -> None:
    solve("00_start", "numpy")
    code, shown = course("list", "--json")
    document = json.loads(shown)
    assert (code, len(document["lessons"])) == (0, 21)
    assert document["paths"] == [path.name for path in PATHS]
    coming = document["lessons"][-1]
    assert (coming["name"], coming["written"]) == ("20_choose", coming["minutes"] is not None)
    code, shown = course("list", "--path", "first-network", "--json")
    document = json.loads(shown)
    assert (code, document["steps"][0]["done"]) == (0, True)
    assert (document["next"]["lesson"], document["next"]["track"]) == ("01_digits", "numpy")


def test_list_shows_a_path_with_its_reasons_and_the_next_step() -> None:
    code, shown = course("list", "--path", "torch-to-jax")
    assert code == 0
    assert "pure functions where PyTorch has objects" in shown
    assert shown.rstrip().endswith("next: 01_digits in jax. Open it with: course lab 01_digits --track jax")


def test_a_path_that_does_not_exist_names_the_nearest() -> None:
    code, shown = course("list", "--path", "first-netwrk")
    assert code == 2
    assert "Did you mean 'first-network'?" in shown


def test_a_lesson_outside_the_plan_is_shown_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_map, "PLAN", PLAN[1:])
    drawn = course_map.draw()
    assert drawn.places[0].name == "00_start"
    assert drawn.places[0].stage == "Others"
