"""Predictions: a guess written down before a measurement, and both shown side by side after it."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from course_lib.errors import BadInput, NotFound
from course_lib.home import home, locked, read_json, write_json

YES_NO = {True: "yes", False: "no"}


def _guess(name: str, value: Any) -> float | bool:
    """A finite number, or yes or no as it came."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(
            f"`{name}` should be a number, or True or False; received {value!r} ({type(value).__name__}).",
            action="Take a guess.",
        )
    return number


def _sureness(guess: float | bool, confidence: float | None) -> float | None:
    if confidence is None:
        return None
    share = float(_guess("confidence", confidence))
    if not isinstance(guess, bool):
        raise BadInput("`confidence` goes with a guess of True or False.", action="Leave it out for a number.")
    if not 0.5 <= share <= 1:
        raise BadInput(
            f"`confidence` should lie between 0.5 (a coin) and 1 (certain); received {share:g}.",
            action="Below 0.5 you believe the other answer: guess that.",
        )
    return share


def _text(number: float | bool) -> str:
    """Three significant digits, and no powers of ten for what people count in thousands."""
    if isinstance(number, bool):
        return YES_NO[number]
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def predictions() -> dict[str, dict[str, Any]]:
    """All predictions so far: name → guess, guessed_at, and once there confidence, measured, measured_at.

    A guess is a number, or True or False; times are seconds since 1970.
    """
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


def predict(name: str, guess: float | bool, *, confidence: float | None = None) -> None:
    """Write down a guess before the measurement. The first guess counts: after measuring, it no longer changes.

    `guess` is a number, or True or False; with the latter, `confidence` from 0.5 to 1 says how sure you are. Raises
    BadInput when they are something else.
    """
    value = _guess("guess", guess)
    sure = _sureness(value, confidence)
    before = predictions().get(name, {})
    said = _said(value, sure)
    if "measured" in before:
        kept = _said(before["guess"], before.get("confidence"))
        if kept == said:
            print(f"Predicted {name}: {said}.")
        else:
            print(f"Your prediction for {name} was {kept}, and it stays: you have seen the measurement since.")
        return
    _update(name, guess=value, confidence=sure, guessed_at=time.time())
    print(f"Predicted {name}: {said}.")


def _said(guess: float | bool, confidence: float | None) -> str:
    text = _text(guess) if isinstance(guess, bool) else f"{guess:g}"
    return text if confidence is None else f"{text}, {confidence:.0%} sure"


def measured(name: str, value: float | bool) -> None:
    """Show the measurement beside the guess, and keep both.

    Raises NotFound when nothing was predicted, BadInput when one is a number and the other yes or no.
    """
    result = _guess("value", value)
    before = predictions().get(name)
    if before is None:
        raise NotFound(f"Nothing was predicted for {name}.", action=f'Run the cell with predict("{name}", …) first.')
    guess = before["guess"]
    if isinstance(guess, bool) != isinstance(result, bool):
        raise BadInput(
            f"{name} was predicted as {_text(guess)} and measured as {_text(result)}: one is a number, one yes or no.",
            action="Predict what is measured.",
        )
    _update(name, measured=result, measured_at=time.time())
    if isinstance(result, bool):
        said = _said(guess, before.get("confidence"))
        print(f"{name}: predicted {said}; measured {_text(result)}, {'right' if guess == result else 'wrong'}.")
    else:
        print(f"{name}: predicted {_text(guess)}, measured {_text(result)}, off by {_text(abs(result - guess))}.")


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
