"""The check of an answer in the notebook in front of the learner: shown, remembered, and raised when it fails."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from course_lib import answer as answers
from course_lib.errors import BadInput, CheckFailed, CourseError
from course_lib.lessons import Exercise, exercise
from course_lib.progress import Progress
from course_lib.session import Session, current
from course_lib.shipped import shipped
from course_lib.verdict import Verdict, find_check, judge


def _history() -> Sequence[str]:
    """The cells that ran in this notebook, oldest first; empty outside a notebook."""
    try:
        from IPython import get_ipython
    except ImportError:
        return ()
    shell = get_ipython()
    return tuple(shell.user_ns.get("In", ())) if shell is not None else ()


class _ShownFailure(CheckFailed):
    """A failed check whose message is all that a notebook shows: the traceback would only lead into this library."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def check(exercise_id: str, answer: Any, *, seed: int | None = None) -> Verdict:
    """Judge an answer on fresh inputs, show the verdict, remember it, and raise CheckFailed unless it passed.

    `answer` is what the exercise asks for: a function, a class. `seed` makes the inputs repeatable; leave it out.
    Raises NotFound for an unknown exercise, BadInput for one of another track, CheckCrashed when the checker breaks.
    """
    session = current()
    found = exercise(exercise_id)
    if session.track not in found.tracks:
        raise BadInput(
            f"Exercise {exercise_id} belongs to {', '.join(found.tracks)}; this notebook is the {session.track} track.",
            action="Check the exercise whose name stands in your cell's first line.",
        )
    history = _history()
    source = answers.last_cell(exercise_id, history)
    verdict = _foreign(found, session, source, history) or judge(found, answer, session.track, seed=seed)
    verdict = _remember(verdict, found, source)
    if verdict.passed:
        print(verdict)
        return verdict
    raise _ShownFailure(str(verdict), verdict=verdict)


def _foreign(found: Exercise, session: Session, source: str | None, history: Sequence[str]) -> Verdict | None:
    """The verdict on an answer that uses a name from one of the learner's own cells, or None when it does not."""
    if source is None:
        return None
    notebook = shipped("notebooks") / session.lesson.notebook(session.track)
    if not notebook.is_file():
        return None
    names = answers.foreign_names(source, history, answers.course_names(notebook))
    if not names:
        return None
    message = (
        f"your answer uses `{'`, `'.join(names)}`, which another cell of yours defines. Your answer is also "
        "run among the course's own cells, where that cell is missing: move the definition into the answer cell."
    )
    return Verdict(found.id, session.track, False, 0.0, found.marks, "foreign name", message)


def _remember(verdict: Verdict, found: Exercise, source: str | None) -> Verdict:
    """Write the verdict to the learner's progress and add the hint that is due; never stop a check from being shown."""
    track = "numpy" if found.core else verdict.track
    try:
        progress = Progress.load()
        # An answer that was not judged costs no hint.
        if verdict.reason not in ("unanswered", "foreign name"):
            progress.record_attempt(
                found.id, track, passed=verdict.passed, mark=verdict.mark, max_mark=verdict.max_mark, source=source
            )
    except CourseError as error:
        print(f"(Your progress was not saved: {error})")
        progress = Progress()
    if verdict.reason in ("wrong", "error"):
        verdict = verdict.with_hint(
            find_check(found.id).hint(max(1, progress.attempts(found.id, track)), verdict.track)
        )
    if verdict.reason == "unanswered" and found.core and (answer := progress.answer_source(found.id)):
        verdict = verdict.with_hint(f"You have solved it before; your answer was:\n{answer}")
    if path := os.environ.get("COURSE_VERDICTS"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(verdict.to_dict()) + "\n")
    return verdict
