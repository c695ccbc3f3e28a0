"""One submission, from its bytes to a verdict on each exercise.

The student's process is asked; this side judges. What ends the process costs the exercise at which it happened: the
rest is run again without that answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib.errors import CheckCrashed
from course_lib.grade.cells import Cell, all_cells, needed_cells
from course_lib.grade.guard import OUT_OF_TIME, ChildEnded, Ended, Guard
from course_lib.grade.record import ExerciseResult, Reason, State
from course_lib.grade.remote import ChildBroke, remote
from course_lib.grade.wire import BadFrame
from course_lib.lessons import Exercise
from course_lib.verdict import MISSING_ANSWER, find_check, judge_kind

# The answer may miss a name that only a left-out cell of the course binds: then everything is run.
MISSING_NAME = ("NameError", "KeyError", "AttributeError")
NOT_DECIDED = ("not reached", "checker broke", "course cell failed")
NOT_DEFINED = re.compile(r"name '(\w+)' is not defined")
# A message may quote what an answer returned, a name of a megabyte for one.
MAX_MESSAGE = 2000
STARVED = "it left no memory to look at its result."
OUT_OF_MEMORY = ("MemoryError", "_ArrayMemoryError")


@dataclass(frozen=True)
class Paper:
    """What is judged: the course's code cells, the answers to put into them, and the exercises in their order.

    `salt` is what makes this student's inputs: the secret seed, the student and the file, in one string. `elsewhere`
    holds the names that only other cells of the student's define, for a better message.
    """

    lesson: str
    track: str
    course: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    answers: Mapping[str, str]
    salt: str
    elsewhere: frozenset[str] = frozenset()


@dataclass
class Outcome:
    """What came of it. `children` were needed; `ended` counts what they used."""

    results: dict[str, ExerciseResult] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    review: list[str] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)

    @property
    def children(self) -> int:
        return len(self.ended)


class Judge:
    """Judges papers through one guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def judge(self, paper: Paper) -> Outcome:
        """A result for each exercise of the paper."""
        self._guard.begin_submission()
        run = _Run(self._guard, paper)
        run.to_the_end(lambda answers: needed_cells(paper.course, answers, list(answers)))
        if missing := run.missing_names():
            run.forget(missing)
            run.to_the_end(lambda answers: all_cells(paper.course, answers))
        run.conclude()
        return run.outcome


class _Run:
    """The state of one paper's judging, over as many children as it takes."""

    def __init__(self, guard: Guard, paper: Paper) -> None:
        self._guard, self._paper = guard, paper
        self._by_id = {exercise.id: exercise for exercise in paper.exercises}
        self._answers = dict(paper.answers)
        self._skipped: set[int] = set()
        self._errors: dict[str, str] = {}
        self._course_error = ""
        self._attempt = 0
        self.outcome = Outcome()

    def to_the_end(self, cells_of: Callable[[Mapping[str, str]], list[Cell]]) -> None:
        """Run the cells in one child after another until one comes to the end."""
        while not self._guard.out_of_time:
            cells = [cell for cell in cells_of(self._answers) if cell.number not in self._skipped]
            if self._come_to_the_end(cells):
                return

    def _come_to_the_end(self, cells: Sequence[Cell]) -> bool:
        self._attempt += 1
        place = _Place()
        self._guard.start(self._paper.lesson)
        try:
            self._guard.send(cells=[[cell.number, cell.source] for cell in cells])
            self._listen(cells, place)
            return True
        except ChildEnded as ended:
            self._blame(cells, place, ended.reason, ended.message)
        except BadFrame as error:
            self._blame(cells, place, "bad reply", f"its process answered the grader with what is no answer: {error}.")
            self.outcome.review.append(f"{place.exercise or 'A cell'}: the process did not keep to the protocol.")
        finally:
            self.outcome.ended.append(self._guard.stop())
        return False

    def _listen(self, cells: Sequence[Cell], place: _Place) -> None:
        by_number = {cell.number: cell for cell in cells}
        begun: set[int] = set()
        while "end" not in (message := self._guard.receive()):
            if "cell" in message:
                cell = by_number.get(_whole(message["cell"]))
                # Only a cell that has not begun before gets time of its own: who says it again gains nothing.
                if cell is not None and cell.number not in begun:
                    begun.add(cell.number)
                    self._guard.begin_unit()
                    place.enter(cell)
            elif "failed" in message:
                self._note_failure(by_number.get(_whole(message["failed"])), message)
            elif "reached" in message:
                if self._judge(str(message["reached"]), place):
                    self._guard.begin_unit()
                self._guard.send(done=True)
            else:
                raise BadFrame(f"a message of no known kind: {str(message)[:60]}")

    def _judge(self, exercise_id: str, place: _Place) -> bool:
        """Judge it if it is to be judged, and say whether it was. Who ends the child meanwhile is still `judging`."""
        exercise = self._by_id.get(exercise_id)
        if exercise is None or exercise_id in self.outcome.results or exercise_id not in self._paper.answers:
            return False
        place.judging = exercise_id
        self._guard.begin_unit()
        adapter = "numpy" if exercise.core else self._paper.track
        try:
            verdict = judge_kind(
                exercise,
                lambda: remote(self._guard, adapter, exercise.kind),
                self._paper.track,
                self._fresh(exercise_id),
            )
        except CheckCrashed as crash:
            if isinstance(crash.__cause__, BadFrame):
                raise crash.__cause__ from None
            # Whoever takes all memory away has it missing where the adapter needs it, too.
            starved = isinstance(crash.__cause__, ChildBroke) and any(word in str(crash) for word in OUT_OF_MEMORY)
            self._put(exercise, "memory" if starved else "checker broke", STARVED if starved else str(crash))
            place.judging = ""
            return True
        place.judging = ""
        reason: Reason = verdict.reason if verdict.reason != "foreign name" else "error"
        if reason == "error" and any(word in verdict.message for word in OUT_OF_MEMORY):
            reason = "memory"
        if reason == "unanswered" and MISSING_ANSWER in verdict.message:
            reason = "error"
        self._put(exercise, reason, verdict.message, seconds=verdict.seconds)
        return True

    def _fresh(self, exercise_id: str) -> np.random.Generator:
        """Inputs that nobody has seen: from the secret, the student, the exercise and the attempt."""
        digest = hashlib.sha256(f"{self._paper.salt}\0{exercise_id}\0{self._attempt}".encode()).digest()
        return np.random.default_rng(np.frombuffer(digest, np.uint32))

    def _put(self, exercise: Exercise, reason: Reason, message: str, seconds: float = 0.0) -> None:
        if reason == "error" and (name := NOT_DEFINED.search(message)) and name[1] in self._paper.elsewhere:
            message += (
                f" Another cell of yours defines `{name[1]}`, but only answer cells are taken: move it into this one."
            )
        passed = reason == "passed"
        state: State = "passed" if passed else "needs review" if reason in NOT_DECIDED else "failed"
        hint = find_check(exercise.id).hint(1, self._paper.track) if reason in ("wrong", "error") else ""
        mark = exercise.marks if passed else 0.0
        self.outcome.results[exercise.id] = ExerciseResult(
            exercise.id,
            exercise.title,
            state,
            reason,
            mark,
            exercise.marks,
            message[:MAX_MESSAGE],
            hint,
            round(seconds, 4),
        )

    def _note_failure(self, cell: Cell | None, message: Mapping[str, object]) -> None:
        text, line = str(message.get("text", ""))[:500], str(message.get("line", ""))[:200]
        told = f"{text}{f' at `{line}`' if line else ''}"
        if cell is not None and cell.exercise:
            self._errors.setdefault(cell.exercise, told)
        elif cell is not None:
            self._course_error = self._course_error or told

    def _blame(self, cells: Sequence[Cell], place: _Place, reason: Reason, message: str) -> None:
        """Put the failure on the exercise at hand, and take what caused it out of the next run."""
        before = [cell.exercise for cell in cells if cell.exercise and cell.number <= place.number]
        culprit = place.judging or place.exercise or (before[-1] if before else "")
        exercise = self._by_id.get(culprit)
        if exercise is not None and culprit not in self.outcome.results:
            self._put(exercise, reason, message)
        if culprit in self._answers:
            del self._answers[culprit]
            self.outcome.notes.append(f"{culprit}: {message} The other answers were run again without it.")
        else:
            self._skipped.add(place.number)
            if place.number < 0:
                self.outcome.review.append(f"Its process ended before the first cell: {message}")

    def missing_names(self) -> list[str]:
        """The exercises that ended with an error such as a left-out cell could cause."""
        judged = [r.exercise for r in self.outcome.results.values() if r.reason == "error" and _misses(r.message)]
        return judged + [e for e, text in self._errors.items() if _misses(text) and e not in self.outcome.results]

    def forget(self, exercises: Sequence[str]) -> None:
        """Judge these again in the next run, and no others."""
        for exercise in exercises:
            self.outcome.results.pop(exercise, None)
            self._errors.pop(exercise, None)
        self._course_error = ""

    def conclude(self) -> None:
        """A result for every exercise that never came to a check."""
        for exercise in self._paper.exercises:
            if exercise.id in self.outcome.results:
                continue
            if exercise.id not in self._paper.answers:
                self._put(exercise, "not handed in", "its answer cell is not in the notebook.")
            elif self._guard.out_of_time:
                self._put(exercise, "timeout", OUT_OF_TIME)
            elif exercise.id in self._errors:
                self._put(exercise, "error", f"running your cell raised {self._errors[exercise.id]}.")
            else:
                why = f" ({self._course_error})" if self._course_error else ""
                self._put(exercise, "not reached", f"its check was not reached{why}.")
        order = {exercise.id: place for place, exercise in enumerate(self._paper.exercises)}
        results = sorted(self.outcome.results.items(), key=lambda pair: order[pair[0]])
        self.outcome.results = dict(results)


class _Place:
    """Where the child is: the cell, the exercise that the cell answers, the exercise under judgement."""

    def __init__(self) -> None:
        self.number, self.exercise, self.judging = -1, "", ""

    def enter(self, cell: Cell) -> None:
        self.number, self.exercise = cell.number, cell.exercise


def _whole(value: object) -> int:
    return value if type(value) is int else -1


def _misses(text: str) -> bool:
    return any(name in text for name in MISSING_NAME)
