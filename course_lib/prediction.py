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
    print(
        f"{name}: predicted {before['guess']:.4g}, measured {number:.4g}, off by {abs(number - before['guess']):.2g}."
    )


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
