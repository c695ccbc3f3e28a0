"""The page that an instructor opens first: how the class did, what it gets wrong, what needs a person's eyes."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

from course_lib.errors import BadInput
from course_lib.grade.class_lesson import Link, lesson_section
from course_lib.grade.class_run import run_sections
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.feedback import doubts, lesson_title, student_page
from course_lib.grade.page import Html, details, element, name_of, page, prose, table, together
from course_lib.grade.reasons import explanation
from course_lib.grade.record import GradeRecord, newest
from course_lib.grade.run_info import RunInfo
from course_lib.grade.student import Student
from course_lib.grade.text import counted, moment, number, one_line
from course_lib.grade.totals import StudentTotal
from course_lib.home import write_text_atomically

FOLDER, CLASS_PAGE = "feedback", "class.html"
# More than this many rows open on request.
LONG_TABLE = 20
WRITERS = 8
REASONS_SHOWN, REASON_CHARACTERS, TITLES_SHOWN = 6, 200, 2


def write_pages(
    out: Path, records: Sequence[GradeRecord], totals: Sequence[StudentTotal], settings: ClassSettings, run: RunInfo
) -> list[Path]:
    """Write `feedback/<key>.html` for each student and `class.html`, each in one step; the paths, `class.html` last.

    A page that is there already, word for word, is left alone. Raises CannotSave, and BadInput for a key that is no
    name of a file.
    """
    of_student: dict[str, list[StudentTotal]] = {}
    for total in totals:
        of_student.setdefault(total.student.key, []).append(total)
    pages = {feedback_path(own[0].student): student_page(own[0].student, own, settings) for own in of_student.values()}
    pages[CLASS_PAGE] = class_page(records, totals, settings, run)
    # Nearly all of the time is waiting for the disk, once for each page: the waits run side by side.
    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(_write, (out / name for name in pages), pages.values()))
    return [out / name for name in pages]


def _write(path: Path, text: str) -> None:
    try:
        if path.read_bytes() == text.encode("utf-8"):
            return
    except OSError:
        pass
    write_text_atomically(path, text)


def feedback_path(student: Student) -> str:
    """Where a student's page lies, seen from the class page. Raises BadInput for a key that is no name of a file."""
    if student.key in ("", ".", "..") or any(c in "/\\:\0" or ord(c) < 32 for c in student.key):
        raise BadInput(f"A student's key should be safe as a file's name; received {student.key!r}.")
    return f"{FOLDER}/{student.key}.html"


def links(totals: Iterable[StudentTotal]) -> Link:
    """What turns a student into a name that leads to the page of feedback; the roster's name, where it has one."""
    names = {total.student.key: total.student.name for total in totals}

    def link(student: Student) -> Html:
        name = names.get(student.key) or student.name or student.key
        return element("a", name_of(name), href=quote(feedback_path(student)))

    return link


def class_page(
    records: Sequence[GradeRecord], totals: Sequence[StudentTotal], settings: ClassSettings, run: RunInfo
) -> str:
    """The page of the whole class. Of several records of one file the newest is shown."""
    records, link = newest(records), links(totals)
    name = settings.name or "The class"
    head = (
        element("p", f"Class results, {moment(run.finished_at or run.started_at)}", class_="kicker"),
        element("h1", one_line(name)),
        element("p", _lead(records, totals), class_="lead"),
        _tiles(records, totals),
    )
    lessons = dict.fromkeys(total.lesson for total in totals if total.lesson)
    sections = [lesson_section(lesson, [t for t in totals if t.lesson == lesson], link) for lesson in lessons]
    told = _told_once(totals)
    body = (_review(told, link), *sections, _students(told, link), *run_sections(records, run, link))
    return page(f"{name}: class results", *head, *body, footer=_footer(run), wide=True)


def _told_once(totals: Sequence[StudentTotal]) -> list[StudentTotal]:
    """Without what was not recognised of a student's, where a lesson of the same student says it too."""
    said = {(total.student.key, reason) for total in totals if total.lesson for reason in total.review}
    return [t for t in totals if t.lesson or not all((t.student.key, reason) in said for reason in t.review)]


def _lead(records: Sequence[GradeRecord], totals: Sequence[StudentTotal]) -> str:
    handed_in = {total.student.key for total in totals if total.handed_in}
    everybody = {total.student.key for total in totals}
    open_ = {total.student.key for total in totals if total.needs_review}
    who = f"{len(handed_in)} of {len(everybody)}" if len(handed_in) < len(everybody) else str(len(handed_in))
    noun = "student" if len(everybody) == 1 else "students"
    if not handed_in:
        return "Nobody has handed in anything yet."
    rest = (
        "All marks are final." if not open_ else f"The marks of {counted(len(open_), 'student')} need a person's eyes."
    )
    return f"{who} {noun} handed in {counted(len(records), 'notebook')}. {rest}"


def _tiles(records: Sequence[GradeRecord], totals: Sequence[StudentTotal]) -> Html:
    """Four numbers. The median is over those who handed in, in percent of full marks."""
    there = [total for total in totals if total.handed_in and total.max_mark]
    median = f"{100 * statistics.median(total.share for total in there):.0f} %" if there else "–"
    full = sum(total.share >= 1 for total in there)
    tiles = (
        ("median of full marks", median),
        ("with full marks", str(full)),
        ("late", str(sum(total.days_late > 0 for total in totals))),
        ("to be looked at", str(len({total.student.key for total in totals if total.needs_review}))),
    )
    return element(
        "dl", *(element("div", element("dt", n), element("dd", v), class_="tile") for n, v in tiles), class_="tiles"
    )


def _review(totals: Sequence[StudentTotal], link: Link) -> Html:
    """Who has to be looked at, and why, with the way there."""
    rows = [
        (link(total.student), lesson_title(total.lesson), _why(total), _open(total))
        for total in totals
        if total.needs_review
    ]
    if not rows:
        return Html("")
    say = (
        "None of this has been counted as wrong. Each name leads to the feedback, with what came and what was printed."
    )
    caption, heads = "Who is to be looked at, and why", ("Student", "Lesson", "Why", "Open")
    first, rest = rows[:LONG_TABLE], rows[LONG_TABLE:]
    more = details(f"{len(rest)} more", _by_lesson(caption, heads, rest, totals, 3)) if rest else ""
    shown = _by_lesson(caption, heads, first, totals, 3)
    return element("section", element("h2", "Needs review"), element("p", say), shown, more)


def _by_lesson(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], totals: Iterable[StudentTotal], *numbers: int
) -> Html:
    """A table whose second column is the lesson; where there is only one lesson it is left out."""
    if len({total.lesson for total in totals}) > 1:
        return table(caption, heads, rows, numbers=numbers)
    kept = [(row[0], *row[2:]) for row in rows]
    return table(caption, (heads[0], *heads[2:]), kept, numbers=[place - 1 for place in numbers])


def _why(total: StudentTotal) -> Html:
    """What has to be looked at: exercises that were not decided, notebooks, and what the count could not decide."""
    undecided: dict[tuple[str, str], list[str]] = {}
    for result in (each.result for each in total.results):
        if result.state == "needs review":
            undecided.setdefault((result.reason, result.message), []).append(result.title)
    reasons = [_undecided(titles, *why) for why, titles in undecided.items()]
    notebooks = [sentence for record in total.counted for sentence in record.review] if total.lesson else []
    reasons += [prose(one_line(sentence, REASON_CHARACTERS)) for sentence in (*notebooks, *doubts(total))]
    shown = [element("li", reason) for reason in reasons[:REASONS_SHOWN]]
    if len(reasons) > len(shown):
        shown.append(element("li", f"and {len(reasons) - len(shown)} more"))
    return element("ul", *shown, class_="plain") if len(shown) > 1 else together(*reasons)


def _undecided(titles: Sequence[str], reason: str, message: str) -> Html:
    """The exercises that were left open by the same thing."""
    what = ", ".join(titles) if len(titles) <= TITLES_SHOWN else counted(len(titles), "exercise")
    text = one_line(message, REASON_CHARACTERS)
    label = explanation(reason).label.lower()
    return together(element("b", f"{what}: {label}."), " ", prose(text[:1].upper() + text[1:]))


def _open(total: StudentTotal) -> str:
    return counted(total.pending, "mark") if total.pending else "–"


def _students(totals: Sequence[StudentTotal], link: Link) -> Html:
    """Everybody, with marks, one row for each lesson."""
    rows = [
        (
            link(total.student),
            lesson_title(total.lesson),
            f"{number(total.mark)} of {number(total.max_mark)}",
            _passed(total),
            _remark(total),
        )
        for total in totals
    ]
    heads = ("Student", "Lesson", "Marks", "Passed", "Remarks")
    everybody = _by_lesson("Marks after weights and penalties", heads, rows, totals, 2, 3)
    title = f"{counted(len({t.student.key for t in totals}), 'student')}, by name"
    return element("section", element("h2", "Students"), details(title, everybody, open_=len(rows) <= LONG_TABLE))


def _passed(total: StudentTotal) -> str:
    states = [each.result.state for each in total.results]
    return f"{states.count('passed')} of {len(states)}" if states else "–"


def _remark(total: StudentTotal) -> str:
    told = ["needs review"] if total.needs_review else []
    told += [f"{counted(total.days_late, 'day')} late"] if total.days_late else []
    told += ["nothing handed in"] if not total.handed_in else []
    return ", ".join(told) or "–"


def _footer(run: RunInfo) -> str:
    return f"Run {run.run}. This page names students and holds the class's results: keep it among those who teach."
