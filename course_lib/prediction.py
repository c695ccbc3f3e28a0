"""Predictions: a guess written down before a measurement, and both shown side by side after it."""

from __future__ import annotations

import math
import time
from typing import Any

from course_lib.errors import BadInput, NotFound
from course_lib.home import home, locked, read_json, write_json


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(
            f"`{name}` should be a number; received {value!r} ({type(value).__name__}).", action="Take a guess."
        )
    return number


def _text(number: float) -> str:
    """Three significant digits, and no powers of ten for what people count in thousands."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def predictions() -> dict[str, dict[str, Any]]:
    """All predictions so far: name → guess, measured (once there), and the times of both."""
    found: dict[str, dict[str, Any]] = read_json(home() / "predictions.json", {})
    return found


def _update(name: str, **values: Any) -> dict[str, Any]:
    path = home() / "predictions.json"
    with locked(path):
        every: dict[str, dict[str, Any]] = read_json(path, {})
        entry = every.setdefault(name, {})
        entry.update(values)
        write_json(path, every)
    return entry


def predict(name: str, guess: float) -> None:
    """Write down a guess before the measurement. The first guess counts: after measuring, it no longer changes.

    Raises BadInput when `guess` is no finite number.
    """
    number = _number("guess", guess)
    before = predictions().get(name, {})
    if "measured" in before and before["guess"] != number:
        print(f"Your prediction for {name} was {before['guess']:g}, and it stays: you have seen the measurement since.")
        return
    _update(name, guess=number, guessed_at=time.time())
    print(f"Predicted {name}: {number:g}.")


def measured(name: str, value: float) -> None:
    """Show the measurement beside the guess, and keep both. Raises NotFound when nothing was predicted."""
    number = _number("value", value)
    before = predictions().get(name)
    if before is None:
        raise NotFound(f"Nothing was predicted for {name}.", action=f'Run the cell with predict("{name}", …) first.')
    _update(name, measured=number, measured_at=time.time())
    guess = float(before["guess"])
    print(f"{name}: predicted {_text(guess)}, measured {_text(number)}, off by {_text(abs(number - guess))}.")


def decide(lesson: str, sentence: str) -> None:
    """Keep the decision that a lesson asks for, one sentence, for lesson 20. Raises BadInput when it is empty."""
    if not sentence.strip():
        raise BadInput("`sentence` should say what you decided; it is empty.", action="Write one sentence.")
    path = home() / "decisions.json"
    with locked(path):
        decisions: dict[str, Any] = read_json(path, {})
        decisions.setdefault(lesson, []).append({"sentence": sentence.strip(), "decided_at": time.time()})
        write_json(path, decisions)
    print(f"Kept your decision for {lesson}.")
