"""Every check rejects what is wrong, with its message, and accepts what is right, through every track's adapter.

COURSE_SEEDS sets how many fresh inputs each right answer meets (nightly: 1000); a slow answer stops earlier.
"""

import importlib.util
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from course_lib.frameworks import environment, missing_distributions
from course_lib.lessons import lessons

ROOT = Path(__file__).resolve().parent.parent
N_SEEDS = os.environ.get("COURSE_SEEDS", "25")
BUDGET_SECONDS = os.environ.get("COURSE_SEED_SECONDS", "4")
SETS = [(each, track) for each in lessons() for track in each.tracks]
EACH = pytest.mark.parametrize(("lesson", "track"), SETS, ids=[f"{each.slug}-{track}" for each, track in SETS])


@cache
def outcomes(slug: str, track: str) -> list[dict[str, Any]]:
    """What one process of this track found; skips where the framework is not installed."""
    if missing := missing_distributions(track):
        pytest.skip(f"{', '.join(missing)} is not installed")
    command = [sys.executable, "-m", "judge_answers", slug, track, N_SEEDS, BUDGET_SECONDS]
    env = {**os.environ, **environment(track), "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def describe(found: dict[str, Any]) -> str:
    return f"{found['exercise']}, {found['answer']}: {found['reason']}: {found['message']}"


@EACH
def test_right_answers_pass_on_all_fresh_inputs(lesson: Any, track: str) -> None:
    right = [found for found in outcomes(lesson.slug, track) if found["right"]]
    assert [describe(found) for found in right if found["passed"] is not True] == []
    assert all(found["seeds"] >= min(5, int(N_SEEDS)) for found in right)


@EACH
def test_wrong_answers_fail_with_their_message(lesson: Any, track: str) -> None:
    wrong = [found for found in outcomes(lesson.slug, track) if not found["right"]]
    missed = [f for f in wrong if f["passed"] is not False or f["words"] not in f["message"] or f["mark"] != 0]
    assert [describe(found) for found in missed] == []


@EACH
def test_the_grader_over_its_wire_comes_to_the_same_verdicts(lesson: Any, track: str) -> None:
    assert [f"{describe(f)} / over the wire {f['wire']}" for f in outcomes(lesson.slug, track) if f["wire"]] == []


@EACH
def test_each_exercise_has_three_wrong_answers_and_two_right_ones(lesson: Any, track: str) -> None:
    file = f"answers.{lesson.slug}_{track}"
    assert importlib.util.find_spec(file) is not None
    found = outcomes(lesson.slug, track)
    for exercise in lesson.exercises_of(track):
        if exercise.core and track != "numpy":
            continue
        own = {(f["answer"], f["right"]) for f in found if f["exercise"] == exercise.id}
        assert sum(right for _, right in own) >= 2, exercise.id
        assert sum(not right for _, right in own) >= 3, exercise.id
