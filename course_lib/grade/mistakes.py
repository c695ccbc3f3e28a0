"""What a class gets wrong: messages that differ only in numbers, names and values are one mistake."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course_lib.grade.record import ExerciseResult
from course_lib.grade.student import Student
from course_lib.grade.text import ELLIPSIS, one_line

SHAPE_CHARACTERS = 220

# Only states in which the answer itself was at fault; a missing answer is no mistake in it.
NO_MISTAKE = frozenset({"passed", "unanswered", "not handed in", "not reached", "grader ended", "checker broke"})

_QUOTED = re.compile(r"""(?<![\w'"])(?:'[^'\n]*'|"[^"\n]*")(?![\w'"])""")
_PATH = re.compile(r"(?<![\w/])(?:[A-Za-z]:\\|/)[\w.\-/\\]+")
_CODE = re.compile(r"`([^`\n]*)`")
_NUMBER = re.compile(
    r"(?<![\w.])[-+−]?(?:0x[0-9a-f]+|(?:\d+(?:[,_]\d+)*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?j?|inf|nan)(?![\w])",
    re.IGNORECASE,
)
_ROW = re.compile(rf"[(\[{{]\s*{ELLIPSIS}?(?:\s*,?\s*{ELLIPSIS})*,?\s*[)\]}}]")
_LISTED = re.compile(r"(; it has|a dict with) [^.;\n]+")
_RUN = re.compile(rf"{ELLIPSIS}(?:(?:, |\s+|{ELLIPSIS}){ELLIPSIS})+")


@dataclass(frozen=True)
class Mistake:
    """One mistake in one exercise: its shape, an example of it, and the students who made it."""

    exercise: str
    title: str
    reason: str
    shape: str
    example: str
    students: tuple[Student, ...]


def shape_of(message: str, reason: str = "wrong") -> str:
    """A message with an ellipsis for each number, quoted word, path, row of values and piece of a student's code.

    Names in backticks stay when the check chose them (`train` should …), that is, when the answer was judged wrong;
    in an error they are the student's own.

    >>> shape_of("`loss` should be 2.3026 at (0, 3); received -1.5e-3.")
    '`loss` should be … at (…); received …'
    """
    text = one_line(message, 4 * SHAPE_CHARACTERS)
    keep_names = reason == "wrong"
    text = _CODE.sub(lambda m: m[0] if keep_names and m[1].isidentifier() else f"`{ELLIPSIS}`", text)
    text = _PATH.sub(ELLIPSIS, _QUOTED.sub(ELLIPSIS, text))
    text = _LISTED.sub(rf"\1 {ELLIPSIS}", _NUMBER.sub(ELLIPSIS, text))
    text = _RUN.sub(ELLIPSIS, _ROW.sub(f"({ELLIPSIS})", text))
    text = one_line(text, SHAPE_CHARACTERS)
    return text.removesuffix(".") if text.endswith(f"{ELLIPSIS}.") else text


def common_mistakes(results: Iterable[tuple[Student, ExerciseResult]]) -> list[Mistake]:
    """The mistakes in the results of a class, the one that most students made first; each student counts once in it."""
    groups: dict[tuple[str, str, str], list[tuple[Student, ExerciseResult]]] = {}
    for student, result in results:
        if result.reason not in NO_MISTAKE and result.message:
            key = (result.exercise, result.reason, shape_of(result.message, result.reason))
            groups.setdefault(key, []).append((student, result))
    mistakes = [_mistake(key, members) for key, members in groups.items()]
    # Sorting is stable: among equals, the order in which the exercises are met stays.
    return sorted(mistakes, key=lambda mistake: -len(mistake.students))


def _mistake(key: tuple[str, str, str], members: Sequence[tuple[Student, ExerciseResult]]) -> Mistake:
    exercise, reason, shape = key
    students = {student.key: student for student, _ in members}
    shortest = min((result for _, result in members), key=lambda result: len(result.message))
    return Mistake(exercise, shortest.title, reason, shape, shortest.message, tuple(students.values()))
