"""One student's results as Gradescope and as PrairieLearn read them.

Gradescope: "Autograder Specifications" (gradescope-autograders.readthedocs.io/en/latest/specs/). `score` overrides the
sum of the tests; a test's `status` is "passed" or "failed"; text is shown as it is where its format is "text", while
the output of the whole would be taken for HTML by default.

PrairieLearn: "External grading" (docs/externalGrading.md of PrairieLearn/PrairieLearn) and its element
pl-external-grader-results. `score` is from 0 to 1; with `gradable` false no points are given or taken and the words in
`format_errors` are shown; the file may have 1 MB.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from course_lib.grade.attempt import CountedResult
from course_lib.grade.text import clean, number, one_line
from course_lib.grade.totals import StudentTotal

# Of all messages together, so that the file stays below PrairieLearn's 1 MB even where JSON needs six bytes a letter.
MAX_LETTERS = 100_000
MAX_MESSAGE = 4_000
UNDECIDED = "Not decided by the grader: a person will look at it. It has not been counted as wrong."


def gradescope(totals: Sequence[StudentTotal]) -> dict[str, Any]:
    """results.json of a Gradescope autograder for one student's totals."""
    every = _tests(totals)
    limit = _limit(len(every))
    tests = [
        {
            "name": _name(total, counted),
            "score": round(counted.result.mark, 9),
            "max_score": round(counted.result.max_mark, 9),
            "status": "passed" if counted.result.state == "passed" else "failed",
            "output": _message(counted, limit),
            "tags": [counted.result.state],
            "visibility": "visible",
            "extra_data": {"exercise": counted.result.exercise, "reason": counted.result.reason},
        }
        for total, counted in every
    ]
    return {
        "score": round(math.fsum(total.mark for total in totals), 9),
        "execution_time": round(math.fsum(r.seconds for total in totals for r in total.counted), 3),
        "output": _summary(totals),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"needs_review": any(total.needs_review for total in totals)},
    }


def prairielearn(totals: Sequence[StudentTotal]) -> dict[str, Any]:
    """results.json of a PrairieLearn external grader for one student's totals.

    Not gradable is what has no exercise that the grader could decide: it costs the student nothing.
    """
    every = _tests(totals)
    limit = _limit(len(every))
    max_mark = math.fsum(total.max_mark for total in totals)
    decided = any(counted.result.state != "needs review" for _, counted in every)
    made: dict[str, Any] = {"gradable": decided and max_mark > 0, "message": _summary(totals)}
    if made["gradable"]:
        made["score"] = round(min(1.0, math.fsum(total.mark for total in totals) / max_mark), 9)
    else:
        made["format_errors"] = [one_line(why, MAX_MESSAGE) for total in totals for why in total.review]
    made["tests"] = [
        {
            "name": _name(total, counted),
            "points": round(counted.result.mark, 9),
            "max_points": round(counted.result.max_mark, 9),
            "message": _message(counted, limit),
        }
        for total, counted in every
    ]
    return made


def _tests(totals: Sequence[StudentTotal]) -> list[tuple[StudentTotal, CountedResult]]:
    return [(total, counted) for total in totals for counted in total.results]


def _limit(n_tests: int) -> int:
    return min(MAX_MESSAGE, MAX_LETTERS // max(1, n_tests))


def _name(total: StudentTotal, counted: CountedResult) -> str:
    state = "Needs review: " if counted.result.state == "needs review" else ""
    title = f"{state}{counted.result.title} ({counted.result.exercise}, {counted.track})"
    return one_line(f"{total.lesson}: {title}")


def _message(counted: CountedResult, limit: int) -> str:
    result = counted.result
    parts = [UNDECIDED if result.state == "needs review" else "", result.message, result.hint]
    return clean("\n".join(part for part in parts if part) or "Passed.")[:limit]


def _summary(totals: Sequence[StudentTotal]) -> str:
    lines = []
    for total in totals:
        if total.max_mark:
            off = f", {number(total.penalty)} taken off for lateness" if total.penalty else ""
            more = f", up to {number(total.pending)} more once it has been reviewed" if total.pending else ""
            lines.append(f"{total.lesson}: {number(total.mark)} of {number(total.max_mark)} marks{off}{more}.")
        lines += [f"Needs review: {why}" for why in total.review]
        lines += total.notes
    return "\n".join(one_line(line, MAX_MESSAGE) for line in lines)
