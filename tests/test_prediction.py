"""Predictions keep their times and do not change after the measurement; their calibration is shown."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from course_lib import cli
from course_lib.calibration import BANDS, Guess, calibration
from course_lib.errors import BadInput
from course_lib.prediction import measured, predict, predictions


def course(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, list(arguments), prog_name="course")
    return done.exit_code, done.output


def kept(*rows: tuple[Any, ...]) -> dict[str, dict[str, Any]]:
    """Entries as they are kept, from (guess, measured) or (guess, measured, confidence)."""
    return {
        f"toy/{n}": {"guess": row[0], "measured": row[1], "confidence": row[2] if len(row) > 2 else None}
        for n, row in enumerate(rows)
    }


# --- what is kept


def test_a_guess_and_its_measurement_keep_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    for now, do in [
        (10.0, lambda: predict("digits/x", 0.5)),
        (20.0, lambda: predict("digits/x", 0.6)),
        (30.0, lambda: measured("digits/x", 0.7)),
        (40.0, lambda: predict("digits/x", 0.6)),
        (50.0, lambda: predict("digits/x", 0.7)),
    ]:
        monkeypatch.setattr(time, "time", lambda now=now: now)
        do()
    entry = predictions()["digits/x"]
    assert (entry["guess"], entry["guessed_at"]) == (0.6, 20.0)
    assert (entry["measured"], entry["measured_at"]) == (0.7, 30.0)


def test_running_the_cell_again_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    predict("digits/x", 0.6)
    measured("digits/x", 0.7)
    capsys.readouterr()
    predict("digits/x", 0.6)
    assert capsys.readouterr().out == "Predicted digits/x: 0.6.\n"


def test_yes_or_no_is_predicted_with_a_confidence(capsys: pytest.CaptureFixture[str]) -> None:
    predict("debug/stops", True, confidence=0.8)
    measured("debug/stops", np.bool_(False))
    out = capsys.readouterr().out
    assert "Predicted debug/stops: yes, 80% sure." in out
    assert "predicted yes, 80% sure; measured no, wrong." in out
    predict("debug/stops", True, confidence=0.5)
    assert "was yes, 80% sure, and it stays" in capsys.readouterr().out
    assert predictions()["debug/stops"]["confidence"] == 0.8


def test_what_is_no_prediction_is_refused() -> None:
    with pytest.raises(BadInput, match="Leave it out for a number"):
        predict("digits/x", 0.5, confidence=0.8)
    for share in (0.4, 1.1):
        with pytest.raises(BadInput, match=r"between 0\.5"):
            predict("digits/x", True, confidence=share)
    assert predictions() == {}
    predict("digits/x", True)
    with pytest.raises(BadInput, match="one is a number, one yes or no"):
        measured("digits/x", 0.7)


# --- calibration


@pytest.mark.parametrize(
    ("guess", "truth", "band"),
    [
        (0.95, 1.0, "close"),
        (1.09, 1.0, "close"),
        (0.7, 1.0, "too low"),
        (1.5, 1.0, "too high"),
        (0.4, 1.0, "far too low"),
        (500, 8734, "far too low"),
        (3.0, 1.0, "far too high"),
        (-3.0, -6.7, "far too high"),
        (-7.0, -6.7, "close"),
        (0.0, 0.0, "close"),
        (-1.0, 1.0, "far too low"),
    ],
)
def test_a_guess_falls_into_a_band_on_the_right_side(guess: float, truth: float, band: str) -> None:
    assert Guess("toy/x", guess, truth).band == band


def test_the_deviation_is_relative_to_the_larger_of_both() -> None:
    assert Guess("toy/x", 2.0, 1.0).deviation == 0.5
    assert Guess("toy/x", 1.0, 2.0).deviation == -0.5


def test_counts_leaning_and_the_median() -> None:
    found = calibration({**kept((2, 1), (3, 1), (1, 1), (1, 2), (9, 1)), "toy/waits": {"guess": 1.0}})
    assert (found.n_predicted, found.n_measured, found.n_too_high, found.n_too_low) == (6, 5, 3, 1)
    assert found.n_in_band == dict(zip(BANDS, (0, 1, 1, 1, 2), strict=True))
    assert found.median_deviation == 0.5
    assert "overestimate more often: 3 too high, 1 too low" in repr(found)
    assert "far too high ■■ 2" in repr(found)
    assert calibration(kept((2, 1), (1, 1))).median_deviation == 0.25
    assert "neither side" in repr(calibration(kept((2, 1), (1, 2))))
    assert "underestimate more often" in repr(calibration(kept((1, 2))))


def test_the_brier_score_is_the_mean_squared_distance_of_sureness_from_the_truth() -> None:
    found = calibration(kept((True, True, 0.9), (True, False, 0.7), (False, False, 1.0), (True, False)))
    assert found.brier == pytest.approx((0.01 + 0.49 + 0.0) / 3)
    text = repr(found)
    assert "Yes or no (4): 2 right." in text
    assert "60% to 80% sure: said 70%, right 0% of 1" in text
    assert "95% to 100% sure: said 100%, right 100% of 1" in text
    assert "better than a coin" in text
    assert "no better than a coin" in repr(calibration(kept((True, False, 0.9))))
    assert calibration(kept((True, True))).brier is None


def test_nothing_measured_yet_is_said() -> None:
    assert "none so far" in repr(calibration())
    predict("digits/x", 1.0)
    assert "1 waiting for their measurement" in repr(calibration())


# --- course predictions


def test_course_predictions_shows_each_with_its_day_and_the_picture() -> None:
    predict("start/x", 500)
    measured("start/x", 8734)
    predict("digits/y", True, confidence=0.75)
    code, shown = course("predictions")
    assert code == 0
    row = next(line for line in shown.splitlines() if line.startswith("start/x"))
    assert ("500" in row, "8,734" in row, time.strftime("%Y-%m-%d") in row) == (True, True, True)
    assert "yes (75% sure)" in shown
    assert "not yet" in shown
    assert "far too low  ■ 1" in shown
    code, shown = course("predictions", "digits")
    assert (code, "start/x" in shown) == (0, False)


def test_course_predictions_prints_json_and_refuses_a_lesson_that_does_not_exist() -> None:
    predict("start/x", 2)
    measured("start/x", 1)
    document = json.loads(course("predictions", "--json")[1])
    assert (document["n_measured"], document["median_deviation"]) == (1, 0.5)
    assert document["predictions"][0]["name"] == "start/x"
    code, shown = course("predictions", "01_digitz")
    assert code == 2
    assert "There is no lesson" in shown
