"""`course grade`: a class, graded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.console import console, counted, note, print_json, say, table

if TYPE_CHECKING:
    from course_lib.grade.record import GradeRecord


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("grade")(grade_class)


def grade_class(
    submissions: Annotated[Path, typer.Argument(help="A folder, a zip or one notebook, as your platform gave it.")],
    out: Annotated[Path, typer.Option("--out", help="Where records, tables and feedback are written.")],
    lesson: Annotated[
        str | None, typer.Option("--lesson", help="Grade this lesson only, for example 01_digits.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The secret behind the inputs; leave it out.")] = None,
    checks: Annotated[Path | None, typer.Option("--checks", help="A folder with the class's own checks.")] = None,
    class_file: Annotated[Path | None, typer.Option("--class", help="The class's settings, a TOML file.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Notebooks at once; default: your cores.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an earlier run was ended.")] = False,
    timeout_seconds: Annotated[float, typer.Option("--timeout", min=0.5, help="Seconds an exercise may compute.")] = 20,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="Run the submissions without isolation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Grade a whole class: run each notebook's answers in isolation, on fresh inputs, and write marks and feedback.

    SUBMISSIONS is what Canvas, Moodle, Gradescope or nbgrader hand out, or a folder of notebooks. In OUT you find
    `grades.csv` for Canvas and Moodle, a feedback page per student, `class.html`, and a record of every notebook.
    Only the answer cells are taken from a notebook; nothing in it is changed. Students' code sees no network, no other
    submission, no check and no mark.

    Exit code 0: graded, nothing for you to look at; 1: some need review (listed); 9: no isolation on this machine.

    **Examples**

    - `course grade submissions.zip --out marks`
    - `course grade submissions/ --out marks --resume`
    - `course grade submissions/ --out marks --checks my-class --lesson 01_digits`
    """
    from course_lib.grade.grading import grade
    from course_lib.grade.rounds import GradeOptions

    options = GradeOptions(
        lesson=lesson,
        seed=seed,
        checks=checks,
        class_file=class_file,
        jobs=jobs or os.cpu_count() or 1,
        resume=resume,
        unsafe=unsafe,
        timeout_seconds=timeout_seconds,
    )
    with counted("Grading") as part:
        records = grade(submissions, out, options, on_progress=part)
    if as_json:
        print_json([record.to_dict() for record in records])
    else:
        _show(records, out)
    raise typer.Exit(1 if any(record.needs_review for record in records) else 0)


def _show(records: list[GradeRecord], out: Path) -> None:
    rows = table("lesson", "track", "notebooks", "full marks", "need review", right=("notebooks", "full marks"))
    kinds = sorted({(record.lesson, record.track) for record in records})
    for kind in kinds:
        own = [record for record in records if (record.lesson, record.track) == kind]
        full = sum(record.mark == record.max_mark > 0 for record in own)
        review = sum(record.needs_review for record in own)
        rows.add_row(kind[0] or "not recognised", kind[1], str(len(own)), str(full), str(review))
    console().print(rows)
    for record in (each for each in records if each.needs_review):
        why = [*record.review, *(e.message for e in record.exercises if e.state == "needs review")]
        note(f"Needs review: {record.student.name}, {record.file}: {why[0]}")
    say(f"Marks: {out / 'grades.csv'} · the class: {out / 'class.html'} · feedback: {out / 'feedback'}")
