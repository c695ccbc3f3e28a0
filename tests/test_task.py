"""A task is the same for everyone: data, split, initial parameters, batches."""

import time

import numpy as np
import pytest

from course_lib import data
from course_lib.errors import BadInput, NotFound
from course_lib.task import PARAMETER_NAMES, batch_order, load_task


def test_the_same_seed_gives_the_same_task_and_another_seed_another() -> None:
    one, two, other = load_task(), load_task(), load_task(seed=1)
    for name in PARAMETER_NAMES:
        assert np.array_equal(one.initial[name], two.initial[name])
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(one.batches, two.batches, strict=True))
    assert not np.array_equal(one.initial["hidden_weight"], other.initial["hidden_weight"])
    assert not np.array_equal(one.batches[0][0], other.batches[0][0])


def test_no_picture_is_on_both_sides() -> None:
    task = load_task()
    assert len(task.x_train) + len(task.x_validation) == len(data.load("digits"))
    train = {row.tobytes() for row in task.x_train}
    assert not any(row.tobytes() in train for row in task.x_validation)


def test_an_epoch_uses_each_row_at_most_once_and_epochs_differ() -> None:
    order = batch_order(np.random.default_rng(0), 10, n_steps=6, batch_size=3)
    assert order.shape == (6, 3)
    assert len(set(order[:3].ravel())) == 9
    assert not np.array_equal(order[:3], order[3:])


def test_data_cannot_be_changed_by_a_lesson() -> None:
    with pytest.raises(ValueError, match="read-only"):
        data.load("digits").images[0] = 0


def test_batches_time_each_step_between_two_requests() -> None:
    batches = load_task(n_steps=3).batches
    for _ in batches:
        time.sleep(0.01)
    assert len(batches.step_seconds) == 3
    assert min(batches.step_seconds) >= 0.01
    assert len(batches[:2]) == 2


def test_a_task_can_change_its_rows_and_keep_its_batches() -> None:
    task = load_task("waves", n_steps=4, n_train=64)
    assert (len(task.x_train), task.n_classes, task.n_inputs) == (64, 4, 40)
    assert np.array_equal(task.x_validation, load_task("waves").x_validation)
    changed = task.with_rows(y_train=3 - task.y_train)
    for (x, y), (same_x, other_y) in zip(task.batches, changed.batches, strict=True):
        assert np.array_equal(x, same_x)
        assert np.array_equal(other_y, 3 - y)


@pytest.mark.parametrize("size", [{"batch_size": 0}, {"batch_size": 2000}, {"n_steps": 0}])
def test_impossible_sizes_are_named(size: dict[str, int]) -> None:
    with pytest.raises(BadInput, match=str(next(iter(size.values())))):
        load_task(**size)  # type: ignore[arg-type]


def test_unknown_names_are_named() -> None:
    with pytest.raises(NotFound, match="mnist"):
        load_task("mnist")
    with pytest.raises(BadInput, match="hiden"):
        load_task(hiden=3)
    with pytest.raises(NotFound, match="digits"):
        data.load("mnits")


def test_data_that_differ_from_their_card_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data.load.cache_clear()
    monkeypatch.setattr(data, "card", lambda name: {"sha256": "0" * 64})
    with pytest.raises(BadInput, match="000000000000"):
        data.load("digits")
    data.load.cache_clear()
