"""The page that a student gets back: the marks in one sentence, then every exercise with what would help next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath

from course_lib.errors import CourseError
from course_lib.frameworks import TABLE
from course_lib.grade.chart import STATES, state_bar
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.exercise_card import exercise_card
from course_lib.grade.page import Html, block, details, element, escaped, name_of, page, prose, together
from course_lib.grade.reasons import EXPLANATIONS, NEXT
from course_lib.grade.record import GradeRecord
from course_lib.grade.student import Student
from course_lib.grade.text import counted, duration, moment, number, one_line, size
from course_lib.grade.totals import StudentTotal
from course_lib.lessons import lesson as find_lesson

UNRECOGNISED = "A notebook that was not recognised"


def student_page(student: Student, totals: Sequence[StudentTotal], settings: ClassSettings) -> str:
    """The feedback page of one student, from this student's totals, one for each lesson. It names nobody else."""
    name = one_line(student.name or student.key, 90)
    head = (
        element("p", f"{settings.name}: feedback" if settings.name else "Feedback", class_="kicker"),
        element("h1", name_of(name)),
        element("p", *_lead(totals), class_="lead"),
        state_bar(_states(totals)),
    )
    sections = [section for total in totals for section in _sections(total, settings)]
    return page(f"Feedback for {name}", *head, *sections, footer=_footer(totals))


def lesson_title(name: str) -> str:
    """The title of a lesson, its name where the course has none such."""
    if not name:
        return UNRECOGNISED
    try:
        return find_lesson(name).title
    except CourseError:
        return name


def track_title(track: str) -> str:
    """How a track is called by people: "PyTorch" for torch."""
    return TABLE[track].title if track in TABLE else track


def _states(totals: Iterable[StudentTotal]) -> list[int]:
    states = [counted.result.state for total in totals for counted in total.results]
    return [states.count(state) for state in STATES]


def _lead(totals: Sequence[StudentTotal]) -> list[str]:
    """The marks in one sentence, and a second one about what is open or was taken off."""
    mark, full, pending, penalty = (
        sum(getattr(total, name) for total in totals) for name in ("mark", "max_mark", "pending", "penalty")
    )
    passed, failed, review = _states(totals)
    if not any(total.handed_in for total in totals):
        return [f"Nothing was handed in: 0 of {counted(full, 'mark')}."]
    unsettled = not review and any(total.needs_review for total in totals)
    final = " They are final once a person has looked at them." if unsettled else ""
    if passed and not failed and not review and not penalty:
        words = f": every answer passed. Well done!{final}"
        return ["You have ", element("strong", f"all {counted(full, 'mark')}"), words]
    told = [f"{passed} of {counted(passed + failed + review, 'exercise')} passed"]
    told += [f"{failed} {'has' if failed == 1 else 'have'} not yet"] if failed else []
    told += [f"{review} {'waits' if review == 1 else 'wait'} for a person to look"] if review else []
    sentence = f": {', '.join(told)}." if passed + failed + review else "."
    parts = ["You have ", element("strong", f"{number(mark)} of {counted(full, 'mark')}"), sentence]
    parts += [f" Up to {number(pending)} more {'is' if pending == 1 else 'are'} open."] if pending else []
    return [*parts, _penalty(mark, penalty), final]


def _penalty(mark: float, penalty: float) -> str:
    if not penalty:
        return ""
    return f" Your answers earned {number(mark + penalty)}; {number(penalty)} went off because it came late."


def _sections(total: StudentTotal, settings: ClassSettings) -> list[Html]:
    """The sections of one lesson: one for each notebook that counts, then those that do not."""
    title = lesson_title(total.lesson)
    deadline = settings.of(total.lesson).deadline
    made = [_notebook(record, total, title, deadline) for record in total.counted]
    if not made:
        none = (
            "No notebook of this lesson has been recognised"
            if total.review
            else "Nothing was handed in for this lesson"
        )
        said = "" if total.handed_in else element("p", f"{none}: 0 of {counted(total.max_mark, 'mark')} so far.")
        made = [element("section", element("h2", title), said, _review(total.review if total.handed_in else ()))]
    if total.set_aside:
        parts = [_not_counted(aside.record, aside.why) for aside in total.set_aside]
        made.append(details(f"Also handed in, and not counted: {counted(len(parts), 'notebook')}", *parts))
    return made


def _notebook(record: GradeRecord, total: StudentTotal, title: str, deadline: datetime | None) -> Html:
    """A notebook that counts: its exercises with the marks of the class, then what was noticed and printed."""
    counting = [c.result for c in total.results if c.track == record.track]
    known = {result.exercise for result in counting}
    others = [replace(result, hint="") for result in record.exercises if result.exercise not in known]
    cards = [exercise_card(result) for result in counting]
    cards += [exercise_card(result, counts=False) for result in others]
    first = record is total.counted[0]
    return element(
        "section",
        element("h2", f"{title}: {track_title(record.track)}" if record.track else title),
        _facts(record, deadline),
        _remarks("About these marks", total.notes if first else ()),
        _review([*record.review, *(doubts(total) if first and total.lesson else ())]),
        element("ol", *cards, class_="exercises") if cards else "",
        _remarks("Also noticed", record.notes),
        _printed(record),
    )


def _facts(record: GradeRecord, deadline: datetime | None) -> Html:
    """Which file, when it came, told in the time zone of the deadline, and how long it ran."""
    zone = deadline.tzinfo if deadline else None
    came = f", handed in {moment(record.submitted_at, zone)}" if record.submitted_at else ""
    due = f", due {moment(deadline.isoformat())}" if deadline and record.submitted_at else ""
    spent = f" It ran for {duration(record.seconds)}." if record.seconds else ""
    return element("p", name_of(PurePosixPath(record.file).name), f"{came}{due}.{spent}", class_="facts")


def _review(sentences: Sequence[str]) -> Html:
    """Why a person will look at a notebook as a whole."""
    if not sentences:
        return Html("")
    items = (element("li", _reason(sentence)) for sentence in sentences)
    title = element("h3", "A person will look at this notebook")
    return element("div", title, element("ul", *items, class_="plain"), element("p", NEXT), class_="next")


def _reason(sentence: str) -> Html:
    """A sentence of why; one that begins with a reason code is told in that reason's own words too."""
    code, colon, rest = one_line(sentence, 400).partition(": ")
    if not colon or code not in EXPLANATIONS:
        return prose(one_line(sentence, 400))
    known = EXPLANATIONS[code]
    rest += "" if rest.endswith((".", "!", "?")) else "."
    return together(element("b", f"{known.label}."), " ", prose(rest), " ", prose(known.why))


def doubts(total: StudentTotal) -> list[str]:
    """What a person will look at beside notebooks and exercises, which say so themselves."""
    told = {sentence for record in total.counted for sentence in record.review}
    undecided = tuple(f"{c.result.exercise} (" for c in total.results if c.result.state == "needs review")
    return [s for s in total.review if s not in told and not (undecided and s.startswith(undecided))]


def _remarks(title: str, sentences: Sequence[str]) -> Html:
    if not sentences:
        return Html("")
    items = (element("li", prose(one_line(sentence, 400))) for sentence in sentences)
    return element("div", element("h3", title), element("ul", *items, class_="plain"), class_="aside")


def _printed(record: GradeRecord) -> Html:
    if not record.output.strip():
        return Html("")
    kept = len(record.output.encode("utf-8", "replace"))
    more = f"; the first {size(kept)} of it are kept" if record.output_bytes > kept else ""
    label = f"What the cells printed ({size(max(record.output_bytes, kept))}{more})"
    return details(label, block(record.output, "What the cells printed"))


def _not_counted(record: GradeRecord, why: str) -> Html:
    cards = [exercise_card(replace(result, hint=""), "h4", counts=False) for result in record.exercises]
    name = element("h3", name_of(PurePosixPath(record.file).name))
    listed = element("ol", *cards, class_="exercises") if cards else escaped("")
    return element("div", name, element("p", prose(one_line(why, 400))), listed, class_="aside")


def _footer(totals: Sequence[StudentTotal]) -> str:
    records = [record for total in totals for record in total.counted]
    when = max(records, key=lambda record: record.graded_at, default=None)
    marked = f"Marked {moment(when.graded_at)}, run {when.run}. " if when else ""
    return (
        f"{marked}Every answer was checked with inputs made for it alone; marks come from these checks, never "
        "from what a cell prints. If a verdict looks wrong to you, tell your instructor and name exercise and run."
    )
