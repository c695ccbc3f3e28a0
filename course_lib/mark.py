"""Marks a learner's notebook: its answers are run among the course's own cells, and the checks' verdicts are summed."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from course_lib.answer import exercise_of
from course_lib.answer_sheet import AnswerSheet, collect, fill, recognise_with_note
from course_lib.errors import BadInput, CheckCrashed
from course_lib.frameworks import TABLE, environment, require
from course_lib.kernel import KernelRun, run_notebook
from course_lib.lessons import Exercise
from course_lib.notebook import BadNotebook, answer_cells, code_cells, read_notebook
from course_lib.shipped import shipped

NOT_REACHED = "not reached"
CHECK = re.compile(r"""\bcheck\(\s*["']([\w/.-]+)["']""")


@dataclass(frozen=True)
class ExerciseMark:
    """One exercise's verdict. `reason` is the verdict's, or "not reached" when its check never came to one."""

    exercise: str
    title: str
    passed: bool
    mark: float
    max_mark: float
    reason: str
    message: str


@dataclass(frozen=True)
class Marks:
    """The marks of one notebook. `notes` say what was odd about it, for example a marker that was removed."""

    path: str
    lesson: str
    track: str
    exercises: tuple[ExerciseMark, ...]
    notes: tuple[str, ...]

    @property
    def mark(self) -> float:
        return sum(each.mark for each in self.exercises)

    @property
    def max_mark(self) -> float:
        return sum(each.max_mark for each in self.exercises)

    @property
    def passed(self) -> bool:
        return all(each.passed for each in self.exercises)

    def to_dict(self) -> dict[str, Any]:
        """The marks as JSON values, with the totals."""
        return {**asdict(self), "mark": self.mark, "max_mark": self.max_mark, "passed": self.passed}


def mark_notebook(
    path: Path, *, timeout_seconds: int = 120, on_progress: Callable[[str], None] = lambda _: None
) -> Marks:
    """Mark a learner's notebook; nothing in it, nor in the learner's progress, is changed.

    Only answer cells are taken from it. They stand in for the holes of the course's own notebook of that lesson and
    track, which runs in a fresh kernel; `timeout_seconds` is what one cell may take. An answer that kills the kernel
    costs only its own marks. Raises NotFound for a file that is not there, BadNotebook for one that is no notebook of
    the course, FrameworkMissing when the track's framework is not installed, CheckCrashed when a cell of the course's
    own fails before any answer.
    """
    path = Path(path)
    learners = read_notebook(path)
    lesson, track, odd = recognise_with_note(learners, path)
    exercises = lesson.exercises_of(track)
    if not exercises:
        raise BadNotebook(
            f"{path} has nothing to mark: its lesson has no exercises in {track}.", action="Mark another."
        )
    if timeout_seconds < 1:
        raise BadInput(f"`timeout_seconds` should be at least 1; received {timeout_seconds}.", action="Leave it out.")
    if track in TABLE:
        require(track, try_import=False)
    course = read_notebook(shipped("notebooks") / lesson.notebook(track))
    sheet = collect(learners, course, [each.id for each in exercises])
    verdicts, failures, notes = _run_all(course, sheet, track, timeout_seconds, on_progress)
    marks = tuple(_mark(each, verdicts.get(each.id), failures.get(each.id, "")) for each in exercises)
    return Marks(str(path), lesson.name, track, marks, ((odd,) if odd else ()) + sheet.notes + notes)


def _run_all(
    course: dict[str, Any], sheet: AnswerSheet, track: str, timeout_seconds: int, on_progress: Callable[[str], None]
) -> tuple[dict[str, dict[str, Any]], dict[str, str], tuple[str, ...]]:
    """Verdicts and failures by exercise, and notes; an answer that kills the kernel is left out of the next run."""
    answers, failures, notes = dict(sheet.answers), dict[str, str](), list[str]()
    while True:
        filled = fill(course, answers)
        ran, verdicts = _run(filled, track, timeout_seconds, on_progress)
        _demand_sound_course(filled, ran)
        culprit = None if ran.died_in is None else _exercise_at(filled, ran.died_in)
        if culprit is None or culprit not in answers:
            break
        del answers[culprit]
        failures[culprit] = "running it ended Python itself (a crash, or exit)"
        notes.append(f"{culprit}: {failures[culprit]}; the other answers were run again without it.")
    if ran.stopped:
        notes.append("Two cells took too long; the cells after them were not run.")
    for number, error in sorted(ran.errors.items()):
        if exercise := _exercise_at(filled, number):
            failures.setdefault(exercise, error)
    for culprit in failures.keys() - answers.keys():
        verdicts.pop(culprit, None)
    return verdicts, failures, tuple(notes)


def _run(
    filled: dict[str, Any], track: str, timeout_seconds: int, on_progress: Callable[[str], None]
) -> tuple[KernelRun, dict[str, dict[str, Any]]]:
    """Run the notebook with an empty learner's home; the last verdict of each exercise counts."""
    total = len(code_cells(filled))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = Path(folder, "verdicts.jsonl")
        environ = environment(track) | {
            "COURSE_HOME": str(Path(folder, "home")),
            "COURSE_VERDICTS": str(file),
            "COURSE_WIDGETS": "0",
        }
        ran = run_notebook(
            filled, environ, timeout_seconds=timeout_seconds, on_cell=lambda n: on_progress(f"cell {n + 1} of {total}")
        )
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return ran, {verdict["exercise"]: verdict for line in lines if (verdict := _verdict(line))}


def _verdict(line: str) -> dict[str, Any] | None:
    """A verdict from its line; None for one that a dying kernel wrote half."""
    try:
        verdict = json.loads(line)
    except ValueError:
        return None
    return verdict if isinstance(verdict, dict) and "exercise" in verdict else None


def _demand_sound_course(filled: dict[str, Any], ran: KernelRun) -> None:
    """A cell of the course's own that fails before the first answer is nobody's wrong answer."""
    for number, cell in enumerate(code_cells(filled)):
        if exercise_of(cell["source"]) is not None:
            return
        expected = "raises-exception" in cell.get("metadata", {}).get("tags", ())
        if number == ran.died_in or (number in ran.errors and not expected):
            raise CheckCrashed(
                "A cell of the course's own failed before any answer was run: "
                f'{ran.errors.get(number, "Python ended")}. It begins with "{cell["source"].strip().splitlines()[0]}".',
                action="See whether your installation works: course doctor",
            )


def _exercise_at(notebook: dict[str, Any], number: int) -> str | None:
    """The exercise that a code cell answers or checks, or whose answer stands last before it."""
    cells = code_cells(notebook)
    checked = CHECK.search(cells[number]["source"])
    if checked and checked[1] in answer_cells(notebook):
        return checked[1]
    return next((e for cell in reversed(cells[: number + 1]) if (e := exercise_of(cell["source"]))), None)


def _mark(exercise: Exercise, verdict: dict[str, Any] | None, failure: str) -> ExerciseMark:
    if verdict is None:
        message = failure or "its check was not run"
        return ExerciseMark(exercise.id, exercise.title, False, 0.0, exercise.marks, NOT_REACHED, message)
    passed = bool(verdict.get("passed"))
    mark = min(float(verdict.get("mark", 0.0)), exercise.marks)
    reason, message = str(verdict.get("reason", "")), str(verdict.get("message", ""))
    return ExerciseMark(exercise.id, exercise.title, passed, mark, exercise.marks, reason, message)
