"""One lesson on the class page: how the marks are spread, how each exercise went, what most got wrong."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from course_lib.grade.attempt import CountedResult
from course_lib.grade.chart import STATES, marks_picture, state_bar, state_words
from course_lib.grade.exercise_card import compared
from course_lib.grade.feedback import lesson_title, track_title
from course_lib.grade.mistakes import Mistake, common_mistakes
from course_lib.grade.page import Html, details, element, prose, table, together
from course_lib.grade.reasons import explanation
from course_lib.grade.student import Student
from course_lib.grade.text import counted, duration, number, one_line
from course_lib.grade.totals import StudentTotal

Link = Callable[[Student], Html]

ENOUGH_FOR_QUARTERS = 8
MISTAKES_SHOWN, MISTAKES_LISTED, NAMES_SHOWN = 8, 60, 5


def lesson_section(lesson: str, totals: Sequence[StudentTotal], link: Link) -> Html:
    """The section of a lesson; `totals` are those of this lesson, `link` leads to a student's page."""
    there = [total for total in totals if total.handed_in]
    if not there:
        return Html("")
    results = [(total.student, each) for total in there for each in total.results]
    return element(
        "section",
        element("h2", lesson_title(lesson)),
        _marks(there, lesson),
        _exercises([counted for _, counted in results]),
        _mistakes(common_mistakes((student, each.result) for student, each in results), len(there), link),
    )


def _marks(there: Sequence[StudentTotal], lesson: str) -> Html:
    shares = [total.share for total in there if total.max_mark]
    if not shares:
        return Html("")
    quarters = statistics.quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else shares * 3
    low, middle, high = (f"{100 * share:.0f}" for share in quarters)
    caption = (
        f"How many of {counted(len(shares), 'student')} got which share of full marks, after weights and penalties. "
        f"The median is {middle} %"
    )
    caption += f"; half of them lie between {low} and {high} %." if len(shares) >= ENOUGH_FOR_QUARTERS else "."
    if waiting := sum(total.pending > 0 for total in there):
        caption += f" The open marks of {counted(waiting, 'student')} are not in it yet."
    picture = marks_picture(shares, f"marks-{lesson}")
    return element("figure", picture, element("figcaption", caption))


@dataclass
class _Row:
    """All counted results of one exercise."""

    title: str
    results: list[CountedResult] = field(default_factory=list)

    def counts(self, track: str | None = None) -> list[int]:
        states = [each.result.state for each in self.results if track in (None, each.track)]
        return [states.count(state) for state in STATES]


def _exercises(results: Sequence[CountedResult]) -> Html:
    rows = in_order(results)
    cells = [_cells(name, row) for name, row in rows.items()]
    heads = ("Exercise", "How it went", "Mean mark", "Median time", "Longest")
    head = element("h3", "Exercises")
    return together(head, table("In the order of the notebook", heads, cells, numbers=[2, 3, 4])) if cells else Html("")


def in_order(results: Sequence[CountedResult]) -> dict[str, _Row]:
    """The results by exercise, in the order of the notebooks: what only one track has stands where it stands there."""
    order: list[str] = []
    rows: dict[str, _Row] = {}
    before = ""
    for each in results:
        name = each.result.exercise
        if name not in rows:
            rows[name] = _Row(each.result.title or name)
            order.insert(order.index(before) + 1 if before else 0, name)
        rows[name].results.append(each)
        before = name
    return {name: rows[name] for name in order}


def _cells(name: str, row: _Row) -> tuple[str, ...]:
    counts = row.counts()
    marks = [each.result.mark for each in row.results if each.result.state != "needs review"]
    full = max(each.result.max_mark for each in row.results)
    seconds = [each.result.seconds for each in row.results if each.result.seconds]
    return (
        together(one_line(row.title), " ", element("span", name, class_="id")),
        element(
            "div",
            state_bar(counts, "answer"),
            element("span", state_words(counts), class_="quiet"),
            " ",
            _tracks(row),
            class_="shares",
        ),
        f"{statistics.fmean(marks):.2f} of {number(full)}" if marks else "–",
        duration(statistics.median(seconds)) if seconds else "–",
        duration(max(seconds)) if seconds else "–",
    )


def _tracks(row: _Row) -> Html:
    """How many passed in each track, where there are several."""
    tracks = list(dict.fromkeys(each.track for each in row.results))
    if len(tracks) < 2:
        return Html("")
    parts = [f"{track_title(track)} {row.counts(track)[0]}/{sum(row.counts(track))}" for track in sorted(tracks)]
    return element("span", f"by track: {', '.join(parts)}", class_="id")


def _mistakes(mistakes: Sequence[Mistake], n_students: int, link: Link) -> Html:
    if not mistakes:
        return Html("")
    heads = ("Mistake", "Exercise", "Students")
    rows = [_mistake(mistake, n_students, link) for mistake in mistakes[:MISTAKES_LISTED]]
    say = "Messages that differ only in numbers, names and values are one mistake; … stands for what differs."
    parts = [element("h3", "Common mistakes"), element("p", say, class_="quiet")]
    parts.append(table("The most common first", heads, rows[:MISTAKES_SHOWN], numbers=[2]))
    if rest := rows[MISTAKES_SHOWN:]:
        unlisted = len(mistakes) - len(rows)
        more = element("p", f"And {unlisted} more that are rarer still.", class_="quiet") if unlisted else ""
        parts.append(details(f"{len(rest)} rarer ones", table("Rarer mistakes", heads, rest, numbers=[2]), more))
    return together(*parts)


def _mistake(mistake: Mistake, n_students: int, link: Link) -> tuple[str, ...]:
    label = "" if mistake.reason == "wrong" else element("b", f"{explanation(mistake.reason).label}. ")
    shown = together(label, prose(mistake.shape[:1].upper() + mistake.shape[1:]))
    who = together(*_commas([link(student) for student in mistake.students[:NAMES_SHOWN]]))
    more = f" and {len(mistake.students) - NAMES_SHOWN} more" if len(mistake.students) > NAMES_SHOWN else ""
    names = element("p", who, more, class_="quiet")
    if mistake.shape == mistake.example:
        example = details("Who", names)
    else:
        example = details("An example, and who", compared(mistake.example, mistake.reason), names)
    n = len(mistake.students)
    return (
        together(shown, example),
        together(one_line(mistake.title), " ", element("span", mistake.exercise, class_="id")),
        together(str(n), " ", element("span", f"{100 * n / n_students:.0f} %", class_="id")),
    )


def _commas(parts: Sequence[Html]) -> list[str]:
    return [piece for part in parts for piece in (", ", part)][1:]
