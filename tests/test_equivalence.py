"""Equal data, weights and batches give equal loss curves in every track, from the lesson's own cells."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from course_lib.build.source import task_source
from course_lib.checks import reference
from course_lib.frameworks import missing_distributions
from course_lib.lessons import lesson
from course_lib.metrics import max_loss_difference
from course_lib.record import Record
from course_lib.run import TaskOptions, TrackFailed, run_cells, run_track
from course_lib.task import Task, load_task

LESSON = lesson("01_digits")
TOLERANCE = 1e-5
OTHERS = [track for track in LESSON.tracks if track != "numpy"]


@cache
def run(track: str, momentum: float) -> Record:
    if missing := missing_distributions(track):
        pytest.skip(f"{', '.join(missing)} is not installed")
    return run_track(LESSON, track, TaskOptions(n_steps=50, momentum=momentum))


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("track", OTHERS)
def test_loss_curves_agree_with_numpy(track: str, momentum: float) -> None:
    record, reference = run(track, momentum), run("numpy", momentum)
    assert record.n_steps == reference.n_steps == 50
    assert max_loss_difference(record.losses, reference.losses) < TOLERANCE
    assert abs(record.validation_accuracy - reference.validation_accuracy) <= 1 / record.n_validation


def test_fastai_equals_torch_exactly() -> None:
    assert np.array_equal(run("fastai", 0.0).losses, run("torch", 0.0).losses)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("track", lesson("02_debug").tracks)
def test_the_waves_are_trained_alike_everywhere(track: str, momentum: float) -> None:
    record = run_waves(track, momentum)
    losses = numpy_losses(load_task("waves", n_steps=50, momentum=momentum))
    assert record.n_steps == 50
    assert max_loss_difference(record.losses, losses) < TOLERANCE


@pytest.mark.parametrize("track", lesson("02_debug").tracks)
def test_a_breakpoint_in_eager_code_shows_numbers_in_each_of_three_calls(track: str) -> None:
    observed = run_waves(track, 0.0).observed
    assert observed is not None
    assert observed["eager: stops that show numbers"] == 3


def run_waves(track: str, momentum: float) -> Record:
    if missing := missing_distributions(track):
        pytest.skip(f"{', '.join(missing)} is not installed")
    return _run_waves(track, momentum)


@cache
def _run_waves(track: str, momentum: float) -> Record:
    return run_track(lesson("02_debug"), track, TaskOptions(n_steps=50, momentum=momentum))


def numpy_losses(task: Task) -> list[float]:
    """The curve in NumPy and float64, for a lesson that has no NumPy track."""
    parameters: dict[str, Any] = dict(task.initial)
    velocity = {name: np.zeros_like(value) for name, value in parameters.items()}
    losses = []
    for x, y in task.batches:
        loss, gradient = reference.gradients(parameters, x, y)
        losses.append(loss)
        for name, slope in gradient.items():
            velocity[name] = task.momentum * velocity[name] + slope
            parameters[name] = parameters[name] - task.learning_rate * velocity[name]
    return losses


def planted(old: str, new: str) -> list[tuple[str, str]]:
    cells = task_source(LESSON, "numpy")
    assert sum(old in source for _, source in cells) == 1, "the planted line is gone: plant another"
    return [(name, source.replace(old, new)) for name, source in cells]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("d_before.sum(axis=0),", "0.999 * d_before.sum(axis=0),"),
        ("train(step, task.initial, task.batches, task.learning_rate)",
         "train(step, task.initial, task.batches, 1.0001 * task.learning_rate)"),
        ("train(step, task.initial, task.batches, task.learning_rate)",
         "train(step, task.initial, [task.batches[(i + 1) % 50] for i in range(50)], task.learning_rate)"),
    ],
    ids=["a gradient off by a thousandth", "a learning rate off by a ten-thousandth", "batches in another order"],
)  # fmt: skip
def test_a_planted_difference_is_caught(old: str, new: str) -> None:
    record = run_cells("01_digits", "numpy", planted(old, new), TaskOptions(n_steps=50))
    assert max_loss_difference(record.losses, run("numpy", 0.0).losses) > TOLERANCE


def test_a_failing_cell_is_shown_with_its_line() -> None:
    cells: Any = planted("losses.append(float(loss))", "losses.append(float(loss)); undefined_name")
    with pytest.raises(TrackFailed, match="undefined_name"):
        run_cells("01_digits", "numpy", cells, TaskOptions(n_steps=2))
