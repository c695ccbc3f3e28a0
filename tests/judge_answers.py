"""Judges the answers of one lesson and track in a process of its own, and prints the outcomes as JSON.

One process per track, since two frameworks in one process disturb each other.
"""

import importlib
import json
import sys
import time

import numpy as np

from course_lib.errors import CheckCrashed
from course_lib.grade.child import Hand
from course_lib.grade.remote import remote
from course_lib.grade.wire import HEADER, decode, encode, lengths
from course_lib.lessons import exercise
from course_lib.verdict import judge, judge_kind


class Pipe:
    """The grader's way to an answer, with both of its ends in this process: every call and every reply is a frame."""

    def __init__(self, answer: object) -> None:
        self.hand = Hand(answer)

    def call(self, method: str, *arguments: object, **named: object) -> dict[str, object]:
        message = through({"method": method, "arguments": list(arguments), "named": named})
        return through(self.hand.reply(message))


def through(message: dict[str, object]) -> dict[str, object]:
    frame = encode(message)
    n_text, _ = lengths(frame[: HEADER.size])
    return decode(frame[HEADER.size : HEADER.size + n_text], frame[HEADER.size + n_text :])


def differs_over_the_wire(exercise_id: str, answer: object, track: str, here: dict[str, object]) -> str:
    """How the verdict on seed 0 differs when the answer is driven as the grader drives it; "" when it does not."""
    found = exercise(exercise_id)
    adapter = "numpy" if found.core else track
    try:
        verdict = judge_kind(
            found, lambda: remote(Pipe(answer), adapter, found.kind), track, np.random.default_rng(0)
        ).to_dict()
    except CheckCrashed as error:
        return f"crashed: {error}"
    # Frameworks number what has no name, so that two messages about one fault may differ.
    keys = ("passed", "mark", "reason")
    return "" if all(verdict[key] == here[key] for key in keys) else f"{verdict['reason']}: {verdict['message']}"


def outcome(exercise_id: str, answer: object, track: str, seed: int) -> dict[str, object]:
    try:
        return judge(exercise(exercise_id), answer, track, seed=seed).to_dict()
    except CheckCrashed as error:
        return {"passed": None, "reason": "crashed", "message": f"{error} {error.__cause__!r}", "seconds": 0.0}


def judge_right(exercise_id: str, answer: object, track: str, n_seeds: int, budget_seconds: float) -> dict[str, object]:
    """The first outcome that did not pass, else the last; `seeds` says how many there were before the time was up."""
    start, last = time.perf_counter(), {}
    for seed in range(n_seeds):
        last = {**outcome(exercise_id, answer, track, seed), "seeds": seed + 1}
        if not last["passed"] or (seed >= 4 and time.perf_counter() - start > budget_seconds):
            break
    return last


def main(slug: str, track: str, n_seeds: int, budget_seconds: float) -> list[dict[str, object]]:
    module = importlib.import_module(f"answers.{slug}_{track}")
    found = []
    for exercise_id, answers in module.RIGHT.items():
        for answer in answers:
            result = judge_right(exercise_id, answer, track, n_seeds, budget_seconds)
            first = outcome(exercise_id, answer, track, 0)
            result["wire"] = differs_over_the_wire(exercise_id, answer, track, first)
            found.append({**result, "exercise": exercise_id, "answer": answer.__name__, "right": True, "words": ""})
    for exercise_id, pairs in module.WRONG.items():
        for answer, words in pairs:
            for seed in range(3):
                result = {**outcome(exercise_id, answer, track, seed), "seeds": 1}
                result["wire"] = "" if seed else differs_over_the_wire(exercise_id, answer, track, result)
                result |= {"exercise": exercise_id, "answer": answer.__name__, "right": False, "words": words}
                found.append(result)
    return found


if __name__ == "__main__":
    outcomes = main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    print("\n" + json.dumps(outcomes))
