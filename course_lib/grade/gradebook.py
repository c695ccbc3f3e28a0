"""grades.csv: one row for each student, one column for each lesson, as both Canvas and Moodle import it.

What they demand, by their source code (instructure/canvas-lms: lib/gradebook_importer.rb and
app/views/gradebook_uploads; moodle/moodle: grade/import/csv/classes/load_data.php):

Canvas wants the columns Student, ID, then SIS User ID and SIS Login ID where there are any, then Section. A student is
found by ID (Canvas's own number), else by SIS User ID, by SIS Login ID, by the name as Canvas writes it; it asks about
the others. Every further column is an assignment, found by a number in brackets at its end, as in "Digits (4711)", or
by its exact title; Canvas asks about the others. Headings that hold "Current Grade", "Final Grade" and the like are
left out. A row "Points Possible" is optional: only a new assignment takes its points from it, and Canvas asks for them
where it is missing. A blank cell takes a mark away. Where a line has more semicolons than commas, they separate.

Moodle wants one column that names the user (the teacher maps it to e-mail address, ID number or username) and ignores
every column that is not mapped. A row whose user it does not know ends the whole import; so does a mark that is no
number, or one above the maximum of the grade item (100 in a new one). Older versions gave a row with a blank user to
the student of the row before.

Hence: no row but students' (a row "Points Possible" would be a foreign one in Moodle; it stands in grades_canvas.csv
for who lets Canvas create the assignments), no blank cell in a column of users, and the words on what needs review
under a heading that both leave alone. In Moodle, SIS Login ID is to be mapped to the e-mail address (or username), or
SIS User ID to the ID number.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.spreadsheet import csv_text, exact, words
from course_lib.grade.student import Student
from course_lib.grade.text import counted
from course_lib.grade.totals import StudentTotal

REVIEW = "Review before Final Grade"
NUMBERS = ("sis_user_id", "id_number", "sid")
LOGINS = ("sis_login_id", "email", "username")


def grades_csv(totals: Sequence[StudentTotal], settings: ClassSettings, *, with_points: bool = False) -> str:
    """The table of a class. A mark is scaled to its column's points; blank where nothing was handed in."""
    lessons = sorted({total.lesson for total in totals} - {""})
    students = {total.student.key: total.student for total in totals}
    by_student: dict[str, dict[str, StudentTotal]] = {key: {} for key in students}
    for total in totals:
        by_student[total.student.key][total.lesson] = total
    number_key, login_key = (_used(list(students.values()), keys) for keys in (NUMBERS, LOGINS))
    titles = [words(settings.of(lesson).column or lesson) for lesson in lessons]
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles, REVIEW]]
    points = {lesson: settings.points(lesson) for lesson in lessons}
    if with_points:
        rows.append(["    Points Possible", "", "", "", "", *map(exact, points.values()), "(read only)"])
    for key, student in students.items():
        own = by_student[key]
        marks = [_mark(own[lesson], points[lesson]) if lesson in own else "" for lesson in lessons]
        rows.append(
            [
                words(student.name or key),
                words(student.ids.get("canvas_user_id", "")),
                _user(student, number_key),
                _user(student, login_key),
                words(student.ids.get("section", "")),
                *marks,
                words(" | ".join(_review(total) for total in own.values() if total.needs_review)),
            ]
        )
    return csv_text(rows)


def _used(students: Sequence[Student], keys: Sequence[str]) -> str:
    """The first of these keys that any student has, "" when none."""
    return next((key for key in keys if any(student.ids.get(key) for student in students)), "")


def _user(student: Student, key: str) -> str:
    """The cell by which a platform finds a student. Never blank where others have one: nobody is found by it then."""
    return words(student.ids.get(key) or f"unknown: {student.key}") if key else ""


def _mark(total: StudentTotal, points: float) -> str:
    if not total.handed_in or not total.max_mark or not total.counted:
        return ""
    return exact(total.mark if points == total.max_mark else total.share * points)


def _review(total: StudentTotal) -> str:
    lesson = f"{total.lesson}: " if total.lesson else ""
    more = f" Up to {counted(total.pending, 'more mark')} open." if total.pending else ""
    return f"{lesson}{' '.join(total.review)}{more}"
