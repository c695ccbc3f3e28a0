"""Records of invented students, for the tests of what is done with records."""

from __future__ import annotations

from typing import Any

from course_lib.grade.record import ExerciseResult, GradeRecord, Reason, State
from course_lib.grade.student import Student
from course_lib.lessons import lesson as find_lesson

ADA = Student("lovelace_ada", "Ada Lovelace", {"canvas_user_id": "101"})
BOB = Student("bob", "Bob", {"canvas_user_id": "102"})

# Everything that a file format, a terminal or a spreadsheet might obey.
HOSTILE = (
    '=HYPERLINK("http://x","y")\x1b[31mred\x1b[0m ]]> </system-out><script>alert(1)</script> & "quoted", \'single\'\r\n'
    "second;line\x00\x08\x1b]0;title\x07\u202e\ud800\ufffe\x85 ]]> <![CDATA[ %s {{x}}"
)


def result(
    exercise: str, state: State = "passed", reason: Reason | None = None, *, max_mark: float = 1.0, **changes: Any
) -> ExerciseResult:
    """A result whose mark follows from its state; the reason too, unless it is given."""
    usual: dict[State, Reason] = {"passed": "passed", "failed": "wrong", "needs review": "checker broke"}
    made = {
        "title": exercise.split("/")[-1].capitalize(),
        "mark": max_mark if state == "passed" else 0.0,
        "message": "" if state == "passed" else f"{exercise} should be 1.0; received 2.0.",
        **changes,
    }
    return ExerciseResult(exercise, state=state, reason=reason or usual[state], max_mark=max_mark, **made)


def record(student: Student = ADA, track: str = "torch", *, lesson: str = "01_digits", **changes: Any) -> GradeRecord:
    """A record in which every exercise of the track passed; `states` changes some of them by id."""
    states: dict[str, State] = changes.pop("states", {})
    known = find_lesson(lesson).exercises_of(track) if lesson and track else ()
    made: dict[str, Any] = {
        "file": f"{student.key}/{lesson}_{track}.ipynb",
        "sha256": "0" * 64,
        "submitted_at": None,
        "late": None,
        "exercises": tuple(result(e.id, states.get(e.id, "passed"), max_mark=e.marks) for e in known),
        "notes": (),
        "review": (),
        "output": "",
        "output_bytes": 0,
        "seconds": 1.5,
        "cpu_seconds": 1.25,
        "peak_bytes": 10_000_000,
        "attempts": 1,
        "graded_at": "2026-12-02T08:00:00+00:00",
        "run": "r1",
        "checks_sha256": "c" * 64,
        "versions": {"numpy": "2.1.0"},
        "sandbox": ("landlock", "seccomp"),
        **changes,
    }
    return GradeRecord(student=student, lesson=lesson, track=track, **made)
