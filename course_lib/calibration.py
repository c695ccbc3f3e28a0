"""How good this learner's predictions are: how close, whether too high or too low, and how well sureness was judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.prediction import predictions

# Bands of the relative deviation, from below; the middle one counts as close.
CLOSE, FAR = 0.1, 0.5
BANDS = ("far too low", "too low", "close", "too high", "far too high")
# Bands of sureness for yes and no; 1 belongs to the last.
SURENESS = ((0.5, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.0))
COIN = 0.25


@dataclass(frozen=True)
class Guess:
    """One number that was guessed and measured."""

    name: str
    guess: float
    measured: float

    @property
    def deviation(self) -> float:
        """(guess − measured) over the larger of both sizes: 0 is right, 0.5 is double, −0.5 is half. In −2…2."""
        size = max(abs(self.guess), abs(self.measured))
        return (self.guess - self.measured) / size if size else 0.0

    @property
    def band(self) -> str:
        """One of BANDS."""
        d = self.deviation
        return BANDS[2] if abs(d) <= CLOSE else BANDS[(0 if d < 0 else 4) if abs(d) > FAR else (1 if d < 0 else 3)]


@dataclass(frozen=True)
class Call:
    """One yes or no that was guessed and measured. `confidence` is None when the learner gave none."""

    name: str
    right: bool
    confidence: float | None


@dataclass(frozen=True)
class Calibration:
    """All predictions that have met their measurement. It prints as a small picture in text."""

    n_predicted: int
    guesses: tuple[Guess, ...]
    calls: tuple[Call, ...]

    @property
    def n_measured(self) -> int:
        return len(self.guesses) + len(self.calls)

    @property
    def n_in_band(self) -> dict[str, int]:
        """How many numbers fell into each of BANDS."""
        return {band: sum(guess.band == band for guess in self.guesses) for band in BANDS}

    @property
    def n_too_high(self) -> int:
        return sum(self.n_in_band[band] for band in BANDS[3:])

    @property
    def n_too_low(self) -> int:
        return sum(self.n_in_band[band] for band in BANDS[:2])

    @property
    def median_deviation(self) -> float | None:
        """The middle one of the sizes of the relative deviations, 0 for a perfect one; None without numbers."""
        sizes = sorted(abs(guess.deviation) for guess in self.guesses)
        n = len(sizes)
        return (sizes[(n - 1) // 2] + sizes[n // 2]) / 2 if n else None

    @property
    def brier(self) -> float | None:
        """The mean of (confidence − right)², over the calls with a confidence: 0 is perfect, 0.25 is a coin.

        Source: Brier 1950, "Verification of forecasts expressed in terms of probability", for two outcomes.
        """
        squares = [(call.confidence - call.right) ** 2 for call in self.calls if call.confidence is not None]
        return sum(squares) / len(squares) if squares else None

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"n_predicted": self.n_predicted, "n_measured": self.n_measured, "n_in_band": self.n_in_band,
                "median_deviation": self.median_deviation, "n_yes_no": len(self.calls),
                "n_yes_no_right": sum(call.right for call in self.calls), "brier": self.brier}  # fmt: skip

    def __repr__(self) -> str:
        if not self.n_measured:
            waiting = f"{self.n_predicted} waiting for their measurement" if self.n_predicted else "none so far"
            return f"Predictions: {waiting}. Lesson 00_start asks for the first ones."
        parts = [f"Predictions: {self.n_predicted}, of which {self.n_measured} measured."]
        return "\n".join(parts + self._numbers() + self._yes_no())

    def _numbers(self) -> list[str]:
        if not self.guesses:
            return []
        lines = ["", f"Numbers ({len(self.guesses)}), guess against measurement:"]
        lines += [f"  {band:<13}{'■' * n}{' ' if n else ''}{n}" for band, n in self.n_in_band.items()]
        lines.append("  (close: within a tenth of the larger of both; far: beyond half of it)")
        lines.append(f"  Half of them are off by at most {self.median_deviation:.0%}. {self._lean()}")
        return lines

    def _lean(self) -> str:
        high, low = self.n_too_high, self.n_too_low
        if high == low:
            return "You lean to neither side."
        return f"You {'over' if high > low else 'under'}estimate more often: {high} too high, {low} too low."

    def _yes_no(self) -> list[str]:
        if not self.calls:
            return []
        right = sum(call.right for call in self.calls)
        lines = ["", f"Yes or no ({len(self.calls)}): {right} right."]
        for low, high in SURENESS:
            own = [c for c in self.calls if c.confidence is not None and _in_band(c.confidence, low, high)]
            if own:
                said = sum(call.confidence or 0.0 for call in own) / len(own)
                share = sum(call.right for call in own) / len(own)
                lines.append(f"  {low:.0%} to {high:.0%} sure: said {said:.0%}, right {share:.0%} of {len(own)}")
        if self.brier is not None:
            better = "better than a coin" if self.brier < COIN else "no better than a coin"
            lines.append(f"  Brier score {self.brier:.3f} (0 is perfect, {COIN} a coin): {better}")
        return lines


def calibration(kept: Mapping[str, Mapping[str, Any]] | None = None) -> Calibration:
    """How well this learner predicts: from `kept` (name → entry, as `predictions()` gives), else from all there are."""
    entries = predictions() if kept is None else kept
    guesses, calls = [], []
    for name, entry in entries.items():
        if "measured" not in entry:
            continue
        guess, measured = entry["guess"], entry["measured"]
        if isinstance(guess, bool):
            calls.append(Call(name, guess == measured, entry.get("confidence")))
        else:
            guesses.append(Guess(name, float(guess), float(measured)))
    return Calibration(len(entries), tuple(guesses), tuple(calls))


def _in_band(confidence: float, low: float, high: float) -> bool:
    return low <= confidence < high or confidence == high == SURENESS[-1][1]
