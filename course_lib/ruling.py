"""How a measurement and a threshold become a verdict on a claim: by numbers, and with noise taken into account."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from course_lib.errors import BadInput

Word = Literal["confirmed", "refuted", "depends", "too noisy to say", "not testable here"]
WORDS: tuple[Word, ...] = get_args(Word)

# Student's t at 97.5 % for 2 to 9 degrees of freedom.
T_975 = (4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
FEWEST = 3


@dataclass(frozen=True)
class Threshold:
    """Where a claim begins to hold: at or below `at_most`, or at or above `at_least`; `unit` says of what."""

    at_most: float | None = None
    at_least: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        side, value = ("at most", self.at_most) if self.at_most is not None else ("at least", self.at_least)
        return f"{side} {value:g}{f' {self.unit}' if self.unit else ''}"

    def holds_for(self, value: float) -> bool:
        """Whether the claim holds for this one value."""
        return value <= self.at_most if self.at_most is not None else value >= float(self.at_least or 0.0)


@dataclass(frozen=True)
class Ruling:
    """A verdict and the measurement that it rests on, in words; `by_number` when a threshold had a say."""

    verdict: Word
    measured: str
    by_number: bool = False


def rule(measured: Any, threshold: Threshold | None, interval: tuple[float, float] | None = None) -> Ruling:
    """The verdict on a measurement.

    `measured` is yes or no (True: the claim holds), a number, at least three repeated measurements of one number, or a
    mapping from conditions, each named by a noun, to any of these. A number needs `threshold`; with `interval`, or for
    repeats with the 95 % interval of their mean, the verdict is "too noisy to say" when the threshold lies inside.
    Conditions that end differently make it "depends". Raises BadInput when numbers and threshold do not fit together.
    """
    if not isinstance(measured, Mapping):
        return _rule_one(measured, threshold, interval)
    if not measured or interval is not None:
        raise BadInput(
            "`measured` should name at least one condition, and goes without `interval`.",
            action="Give each condition its repeated measurements.",
        )
    parts = {str(name): _rule_one(value, threshold, None) for name, value in measured.items()}
    by_verdict: dict[Word, list[str]] = {}
    for name, part in parts.items():
        by_verdict.setdefault(part.verdict, []).append(f"{name} ({part.measured})" if part.by_number else name)
    lead = {"confirmed": "holds for ", "refuted": "not for ", "too noisy to say": "too noisy for "}
    text = "; ".join(f"{lead[word]}{', '.join(by_verdict[word])}" for word in WORDS if word in by_verdict)
    return Ruling(combined(by_verdict), text, any(part.by_number for part in parts.values()))


def combined(verdicts: Iterable[Word]) -> Word:
    """One word for several verdicts: they agree, or it depends, or a part of it is too noisy.

    What is not testable counts only when there is nothing else.
    """
    found = set(verdicts)
    told = found - {"not testable here"} or found
    if len(told) == 1:
        return told.pop()
    return "depends" if "depends" in told or {"confirmed", "refuted"} <= told else "too noisy to say"


def _rule_one(measured: Any, threshold: Threshold | None, interval: tuple[float, float] | None) -> Ruling:
    if isinstance(measured, (bool, np.bool_)):
        if interval is not None:
            raise BadInput("`measured` is yes or no, and that has no interval.", action="Leave `interval` out.")
        return Ruling("confirmed" if measured else "refuted", "yes" if measured else "no")
    if threshold is None:
        raise BadInput(
            f"`measured` is {measured!r}, and nothing says where the claim begins to hold.",
            action="Write at_most=… or at_least=… before you measure.",
        )
    values = _numbers(measured)
    if len(values) > 1 or np.ndim(measured) > 0:
        if interval is not None or len(values) < FEWEST:
            raise BadInput(
                f"`measured` should be one number with its interval, or at least {FEWEST} repeats without one; "
                f"received {len(values)} repeat{'' if len(values) == 1 else 's'}"
                f"{' and an interval' if interval is not None else ''}.",
                action="Measure again with other seeds.",
            )
        mean, half = _mean_and_half(values)
        return _ruled(mean, (mean - half, mean + half), threshold, f", the mean of {len(values)}")
    low_high = None if interval is None else _interval(values[0], interval)
    return _ruled(values[0], low_high, threshold, "")


def _ruled(value: float, interval: tuple[float, float] | None, threshold: Threshold, note: str) -> Ruling:
    text = f"{value:.3g}{note}"
    if interval is None:
        return Ruling("confirmed" if threshold.holds_for(value) else "refuted", text, by_number=True)
    text += f", 95 % interval {interval[0]:.3g} to {interval[1]:.3g}"
    ends = {threshold.holds_for(end) for end in interval}
    if len(ends) > 1:
        return Ruling("too noisy to say", text, by_number=True)
    return Ruling("confirmed" if ends.pop() else "refuted", text, by_number=True)


def _numbers(measured: Any) -> list[float]:
    try:
        values = [float(value) for value in np.ravel(np.asarray(measured, dtype=np.float64))]
    except (TypeError, ValueError):
        values = [math.nan]
    if not values or not all(map(math.isfinite, values)):
        raise BadInput(
            f"`measured` should be finite numbers, yes or no, or a dict of these; received {measured!r}.",
            action="Look at what was measured; a NaN is no measurement.",
        )
    return values


def _interval(value: float, interval: tuple[float, float]) -> tuple[float, float]:
    low, high = _numbers(interval) if np.shape(interval) == (2,) else (math.inf, -math.inf)
    if not low <= value <= high:
        raise BadInput(
            f"`interval` should be (low, high) around the measured {value:g}; received {interval!r}.",
            action="Give the ends in this order.",
        )
    return low, high


def _mean_and_half(values: list[float]) -> tuple[float, float]:
    """The mean, and half of its 95 % interval: t · s / √n with s from n − 1.

    Source of the expansion of t: Abramowitz and Stegun 1964, "Handbook of Mathematical Functions", 26.7.5.
    """
    n = len(values)
    t = T_975[n - FEWEST] if n - FEWEST < len(T_975) else 1.95996 + 2.3723 / (n - 1) + 2.8225 / (n - 1) ** 2
    return float(np.mean(values)), t * float(np.std(values, ddof=1)) / math.sqrt(n)
