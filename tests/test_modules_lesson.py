"""Lesson 03: equal curves with an optimizer of one's own, and one trained model that every track takes as it is."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from course_lib.build.source import read_cells, solution, task_source
from course_lib.frameworks import missing_distributions
from course_lib.lessons import lesson
from course_lib.metrics import max_loss_difference
from course_lib.record import Record, load_references, save
from course_lib.run import TaskOptions, run_cells, run_track
from course_lib.session import begin
from course_lib.tensors import keep_model, own_models, shipped_model

LESSON = lesson("03_modules")
TOLERANCE = 1e-5
OTHERS = LESSON.tracks[1:]


def need(track: str) -> None:
    if missing := missing_distributions(track):
        pytest.skip(f"{', '.join(missing)} is not installed")


@cache
def run(track: str, momentum: float) -> Record:
    need(track)
    return run_track(LESSON, track, TaskOptions(n_steps=50, momentum=momentum))


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("track", OTHERS)
def test_loss_curves_agree_with_the_first_track(track: str, momentum: float) -> None:
    record, reference = run(track, momentum), run(LESSON.tracks[0], momentum)
    assert record.n_steps == reference.n_steps == 50
    assert max_loss_difference(record.losses, reference.losses) < TOLERANCE
    assert abs(record.validation_accuracy - reference.validation_accuracy) <= 1 / record.n_validation


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nn.BatchNorm1d(n_hidden)", "nn.BatchNorm1d(n_hidden, eps=1e-4)"),
        ('velocity = group["momentum"] *', 'velocity = 0.9999 * group["momentum"] *'),
    ],
    ids=["another epsilon in the norm", "a momentum off by a ten-thousandth"],
)
def test_a_planted_difference_is_caught(old: str, new: str) -> None:
    need("torch")
    cells = task_source(LESSON, "torch")
    assert sum(old in source for _, source in cells) == 1, "the planted line is gone: plant another"
    planted = [(name, source.replace(old, new)) for name, source in cells]
    record = run_cells(LESSON.name, "torch", planted, TaskOptions(n_steps=50, momentum=0.9))
    assert max_loss_difference(record.losses, run("torch", 0.9).losses) > TOLERANCE


ROUND_TRIP = """
def train_task(task, train_task=train_task):
    from safetensors.numpy import load_file

    arrays = load_file({path!r})
    back = read_arrays(load_arrays(new_network(task), arrays))
    assert set(back) == set(arrays)
    assert all(back[name].dtype == array.dtype and (back[name] == array).all() for name, array in arrays.items())
    return train_task(task)
"""


@pytest.mark.parametrize("track", LESSON.tracks)
def test_the_shipped_model_goes_in_and_comes_out_bit_for_bit(track: str) -> None:
    need(track)
    cells = [*task_source(LESSON, track), ("round-trip", ROUND_TRIP.format(path=str(shipped_model(LESSON.name))))]
    assert run_cells(LESSON.name, track, cells, TaskOptions(n_steps=2)).n_steps == 2


# Also the recipe for a new file: run it with the path of the shipped one, when the task has changed.
KEEP = """
def train_task(task):
    from safetensors.numpy import save_file

    model = new_network(task)
    losses = train(model, Momentum(model.parameters(), task.learning_rate, task.momentum), task.batches)
    save_file(read_arrays(model), {path!r}, metadata={{"trained_by": "PyTorch", "lesson": "03_modules"}})
    return losses, folded(read_arrays(model))
"""


def test_the_shipped_model_is_what_the_first_track_trains(tmp_path: Path) -> None:
    need("torch")
    from safetensors.numpy import load_file

    path = tmp_path / "trained.safetensors"
    cells = [*task_source(LESSON, "torch"), ("keep", KEEP.format(path=str(path)))]
    run_cells(LESSON.name, "torch", cells, TaskOptions())
    shipped, made = load_file(shipped_model(LESSON.name)), load_file(path)
    assert set(shipped) == set(made)
    for name, array in shipped.items():
        np.testing.assert_allclose(made[name], array, atol=1e-3, err_msg=name)


def test_a_kept_model_is_found_by_its_track(course_home: Path) -> None:
    assert own_models("modules") == {}
    begin("03_modules", "torch")
    path = keep_model(b"data")
    assert path.read_bytes() == b"data"
    assert own_models("modules") == {"torch": path}
    assert course_home in path.parents


@pytest.mark.parametrize("own", [(), ("jax",), LESSON.tracks])
def test_the_comparison_runs_with_the_learners_own_records_and_models(own: tuple[str, ...], course_home: Path) -> None:
    for track, reference in load_references(LESSON.name).items():
        if track in own:
            made = reference.with_(origin="notebook", run=f"own-{track}", peak_bytes=None, code_tokens=None)
            save(made, course_home / "records" / LESSON.name)
            begin(LESSON.name, track)
            keep_model(shipped_model(LESSON.name).read_bytes())
    namespace: dict[str, object] = {}
    for cell in read_cells(LESSON, "compare"):
        if cell.kind == "code":
            exec(compile(solution(cell.source), cell.id, "exec"), namespace)
