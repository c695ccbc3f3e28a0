"""A verdict follows from numbers and a threshold, noise included, and nothing ends without one of the two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from course_lib.errors import BadInput
from course_lib.ruling import Threshold, combined, rule

AT_MOST, AT_LEAST = Threshold(at_most=1.5, unit="×"), Threshold(at_least=0.9)


@pytest.mark.parametrize(
    ("measured", "threshold", "verdict"),
    [
        (True, None, "confirmed"),
        (np.bool_(False), None, "refuted"),
        (1.5, AT_MOST, "confirmed"),
        (1.51, AT_MOST, "refuted"),
        (np.float32(0.95), AT_LEAST, "confirmed"),
        (0.89, AT_LEAST, "refuted"),
        (-0.1, Threshold(at_least=0.0), "refuted"),
        ([1.1, 1.2, 1.15, 1.12, 1.18], AT_MOST, "confirmed"),
        (np.array([1.9, 2.0, 2.1]), AT_MOST, "refuted"),
        ([1.2, 1.5, 1.8], AT_MOST, "too noisy to say"),
        ({"a small step": 2.3, "a large step": 1.1}, AT_MOST, "depends"),
        ({"a small step": 1.4, "a large step": 1.1}, AT_MOST, "confirmed"),
        ({"eager": False, "compiled": False}, None, "refuted"),
        ({"eager": True, "compiled": False}, None, "depends"),
        ({"one": [1.2, 1.5, 1.8], "two": 1.1}, AT_MOST, "too noisy to say"),
    ],
)
def test_the_verdict_follows_from_the_numbers(measured: Any, threshold: Threshold | None, verdict: str) -> None:
    assert rule(measured, threshold).verdict == verdict


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((0.91, 0.97), "confirmed"), ((0.85, 0.97), "too noisy to say"), ((0.94, 0.94), "confirmed")],
)
def test_an_interval_around_the_threshold_is_too_noisy(interval: tuple[float, float], verdict: str) -> None:
    assert rule(0.94, AT_LEAST, interval).verdict == verdict
    assert rule(0.94, Threshold(at_most=0.5), interval).verdict == "refuted"


def test_the_interval_of_repeats_is_that_of_students_t() -> None:
    from scipy import stats

    for n in (3, 5, 10, 11, 12, 32):
        values = np.random.default_rng(n).normal(10, size=n)
        half = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / math.sqrt(n)
        shown = rule(values, AT_MOST).measured
        low, high = (float(word) for word in shown.split("interval ")[1].split(" to "))
        assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), rel=0.005)
        assert f"the mean of {n}" in shown


def test_the_measurement_is_said_with_its_conditions() -> None:
    ruling = rule({"a large step": 1.08, "a small step": 2.31}, AT_MOST)
    assert ruling.measured == "holds for a large step (1.08); not for a small step (2.31)"
    assert ruling.by_number
    told = rule({"eager code": True, "a graph": False}, None)
    assert (told.measured, told.by_number) == ("holds for eager code; not for a graph", False)


@pytest.mark.parametrize(
    ("measured", "threshold", "interval", "words"),
    [
        (1.2, None, None, "nothing says where the claim begins to hold"),
        ([1.2, 1.3], AT_MOST, None, "at least 3 repeats"),
        ([1.2], AT_MOST, None, "received 1 repeat"),
        ([1.2, 1.3, 1.4], AT_MOST, (1.1, 1.5), "and an interval"),
        (float("nan"), AT_MOST, None, "finite numbers"),
        ("much", AT_MOST, None, "finite numbers"),
        (None, AT_MOST, None, "finite numbers"),
        (1.2, AT_MOST, (1.3, 1.1), "around the measured 1.2"),
        (1.2, AT_MOST, (1.3, 1.4), "around the measured 1.2"),
        (True, None, (0.0, 1.0), "yes or no"),
        ({}, AT_MOST, None, "at least one condition"),
        ({"a": 1.0}, AT_MOST, (0.9, 1.1), "without `interval`"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    measured: Any, threshold: Threshold | None, interval: tuple[float, float] | None, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        rule(measured, threshold, interval)


def test_several_verdicts_become_one_word() -> None:
    assert combined(["confirmed", "confirmed"]) == "confirmed"
    assert combined(["confirmed", "refuted"]) == "depends"
    assert combined(["confirmed", "depends"]) == "depends"
    assert combined(["refuted", "too noisy to say"]) == "too noisy to say"
    assert combined(["confirmed", "not testable here"]) == "confirmed"
    assert combined(["not testable here"]) == "not testable here"


def test_a_threshold_is_said_with_its_unit() -> None:
    assert [str(AT_MOST), str(AT_LEAST)] == ["at most 1.5 ×", "at least 0.9"]
