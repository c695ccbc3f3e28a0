"""Records keep what a run gave, refuse what it cannot have given, and are found again."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib import begin, comparison, keep_record, load_task
from course_lib.checks import reference
from course_lib.errors import BadInput, NotFound
from course_lib.prediction import decide, measured, predict, predictions
from course_lib.record import Record, load_records, make_record
from course_lib.task import Task


@pytest.fixture
def task() -> Task:
    return load_task(n_steps=4)


@pytest.fixture
def made(task: Task) -> Record:
    losses, parameters = reference.train(task.initial, list(task.batches), task.learning_rate)
    return make_record("01_digits", "numpy", task, losses, parameters, origin="run")


def test_a_record_survives_json(made: Record) -> None:
    assert Record.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert made.n_steps == 4
    assert made.step_seconds > 0


def test_a_record_of_another_version_is_refused(made: Record) -> None:
    with pytest.raises(BadInput, match="loss_of_yore"):
        Record.from_dict({**made.to_dict(), "loss_of_yore": 1})
    with pytest.raises(BadInput, match="losses"):
        Record.from_dict({k: v for k, v in made.to_dict().items() if k != "losses"})


def test_losses_and_parameters_that_do_not_fit_the_task_are_refused(task: Task) -> None:
    with pytest.raises(BadInput, match=r"\(3,\)"):
        make_record("01_digits", "numpy", task, [1.0, 2.0, 3.0], task.initial, origin="run")
    with pytest.raises(BadInput, match="finite"):
        make_record("01_digits", "numpy", task, [1.0, np.nan, 3.0, 4.0], task.initial, origin="run")
    transposed = {**task.initial, "hidden_weight": task.initial["hidden_weight"].T}
    with pytest.raises(BadInput, match=r"hidden_weight.*\(32, 64\)"):
        make_record("01_digits", "numpy", task, [1.0] * 4, transposed, origin="run")
    with pytest.raises(BadInput, match="output_bias"):
        make_record("01_digits", "numpy", task, [1.0] * 4, {"hidden_weight": task.initial["hidden_weight"],
                    "hidden_bias": task.initial["hidden_bias"], "output_weight": task.initial["output_weight"]},
                    origin="run")  # fmt: skip


def test_the_learners_own_record_goes_before_the_courses(
    task: Task, course_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_records("01_digits", ["numpy"])["numpy"].origin == "reference"
    begin("01_digits", "numpy")
    keep_record(task, [1.0] * 4, task.initial)
    assert load_records("01_digits", ["numpy"])["numpy"].origin == "notebook"
    (course_home / "records/01_digits/numpy.json").write_text("{half")
    assert load_records("01_digits", ["numpy"])["numpy"].origin == "reference"
    assert "left out" in capsys.readouterr().out


def test_seconds_of_different_runs_are_not_mixed(made: Record) -> None:
    fast, slow = made.with_(step_seconds=1.0, run="a"), made.with_(track="torch", step_seconds=3.0, run="a")
    alone = made.with_(track="jax", step_seconds=0.1, run="b")
    ratios = comparison.time_ratios({"numpy": fast, "torch": slow, "jax": alone})
    assert ratios == {"numpy": 1.0, "torch": 3.0, "jax": None}
    shown = comparison.table({"numpy": fast, "torch": slow, "jax": alone})
    assert "× 3.0" in repr(shown)
    assert "ran alone" in shown._repr_html_()


def test_curves_of_different_tasks_are_not_compared(made: Record) -> None:
    other = made.with_(track="torch", momentum=0.9)
    with pytest.raises(BadInput, match="momentum"):
        comparison.loss_differences({"numpy": made, "torch": other})
    with pytest.raises(BadInput, match="--track numpy"):
        comparison.loss_differences({"torch": other})
    differences = comparison.loss_differences({"numpy": made, "torch": made.with_(track="torch")})
    assert differences["torch"].max() == 0.0


def test_a_prediction_is_kept_beside_its_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotFound, match="Nothing was predicted"):
        measured("digits/x", 0.5)
    predict("digits/x", 0.9)
    measured("digits/x", 0.5)
    predict("digits/x", 0.5)
    assert predictions()["digits/x"]["guess"] == 0.9
    out = capsys.readouterr().out
    assert "predicted 0.9, measured 0.5, off by 0.4" in out
    assert "it stays" in out


def test_a_prediction_is_a_number_and_a_decision_a_sentence() -> None:
    for wrong in ("much", None, float("nan")):
        with pytest.raises(BadInput, match="guess"):
            predict("digits/x", wrong)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="empty"):
        decide("01_digits", " ")
    decide("01_digits", "NumPy, since it is small.")
