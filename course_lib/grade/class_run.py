"""The second half of the class page: what was odd, what it took, and behind which walls the answers ran."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from course_lib.grade.feedback import track_title
from course_lib.grade.mistakes import shape_of
from course_lib.grade.page import Html, details, element, prose, table, together
from course_lib.grade.record import GradeRecord
from course_lib.grade.run_info import RunInfo
from course_lib.grade.student import Student
from course_lib.grade.text import counted, duration, moment, one_line, size

Link = Callable[[Student], Html]

NOTES_SHOWN, NAMES_SHOWN = 12, 4


def run_sections(records: Sequence[GradeRecord], run: RunInfo, link: Link) -> tuple[Html, ...]:
    """Notes, time and memory, isolation, and the facts of the run."""
    return _notes(records, run, link), _costs(records, link), _isolation(run), _facts(records, run)


def _notes(records: Sequence[GradeRecord], run: RunInfo, link: Link) -> Html:
    """What was odd but harmless, the same thing once for all who did it; first about the collection itself."""
    groups: dict[str, dict[str, tuple[Student, str]]] = {}
    for record in records:
        for note in record.notes:
            groups.setdefault(shape_of(note), {}).setdefault(record.student.key, (record.student, note))
    by_size = sorted(groups.values(), key=len, reverse=True)
    rows = [(_note(list(group.values())), _names(list(group.values()), link)) for group in by_size]
    collection = [element("li", prose(one_line(note, 400))) for note in run.notes]
    if not rows and not collection:
        return Html("")
    parts = [element("h2", "Odd, and no harm done")]
    parts += [element("ul", *collection, class_="plain")] if collection else []
    heads = ("What", "Whose")
    parts += [table("In the notebooks", heads, rows[:NOTES_SHOWN])] if rows else []
    if rest := rows[NOTES_SHOWN:]:
        parts.append(details(f"{len(rest)} more", table("Seen less often", heads, rest)))
    return element("section", *parts)


def _note(group: Sequence[tuple[Student, str]]) -> Html:
    example = one_line(group[0][1], 300)
    shape = shape_of(example)
    if len(group) == 1 or shape == example:
        return prose(example)
    return together(prose(shape), " ", element("span", "such as: ", prose(example), class_="id"))


def _names(group: Sequence[tuple[Student, str]], link: Link) -> Html:
    shown: list[str] = [piece for student, _ in group[:NAMES_SHOWN] for piece in (", ", link(student))][1:]
    more = len(group) - NAMES_SHOWN
    return together(*shown, f" and {more} more" if more > 0 else "")


def _costs(records: Sequence[GradeRecord], link: Link) -> Html:
    """Time and memory of a notebook, by track."""
    ran = [record for record in records if record.seconds]
    if not ran:
        return Html("")
    tracks: dict[str, list[GradeRecord]] = {}
    for record in ran:
        tracks.setdefault(record.track, []).append(record)
    rows = [_cost(track, own, link) for track, own in sorted(tracks.items())]
    heads = ("Track", "Notebooks", "Median time", "Longest", "Median memory", "Most")
    again = sum(record.attempts > 1 for record in ran)
    flooded = sum(record.output_bytes > len(record.output.encode("utf-8", "replace")) for record in ran)
    told = (
        [f"{counted(again, 'notebook')} had to be run more than once, because a cell ended the process."]
        if again
        else []
    )
    told += [f"{counted(flooded, 'notebook')} printed more than is kept."] if flooded else []
    by_track = table("A notebook, from its first cell to its last verdict", heads, rows, numbers=range(1, 6))
    return element("section", element("h2", "Time and memory"), by_track, element("p", " ".join(told)) if told else "")


def _cost(track: str, records: Sequence[GradeRecord], link: Link) -> tuple[str, ...]:
    slowest = max(records, key=lambda record: record.seconds)
    largest = max(records, key=lambda record: record.peak_bytes)
    return (
        track_title(track) or "not recognised",
        str(len(records)),
        duration(statistics.median(record.seconds for record in records)),
        together(duration(slowest.seconds), " ", element("span", link(slowest.student), class_="id")),
        size(statistics.median(record.peak_bytes for record in records)),
        together(size(largest.peak_bytes), " ", element("span", link(largest.student), class_="id")),
    )


def _isolation(run: RunInfo) -> Html:
    """Which layers stood between a student's code and everything else."""
    rows = [
        (layer.name, ("✓ active" if layer.active else "✗ not active"), one_line(layer.detail, 300) or "–")
        for layer in run.sandbox
    ]
    active = sum(layer.active for layer in run.sandbox)
    if not rows:
        say = "Answers ran without any isolation: whatever they did, they did with the rights of who graded them."
        return element("section", element("h2", "Isolation"), element("p", say, class_="next"))
    say = f"{active} of {counted(len(rows), 'layer')} stood between the answers and everything else."
    walls = table("What each layer does, or why it is not there", ("Layer", "State", "Details"), rows)
    return element("section", element("h2", "Isolation"), element("p", say), walls)


def _facts(records: Sequence[GradeRecord], run: RunInfo) -> Html:
    facts = {
        "Run": run.run,
        "Began": moment(run.started_at),
        "Took": _took(records, run),
        "At the same time": counted(run.n_slots, "notebook"),
        "Collection": run.layout,
        "Tracks": ", ".join(map(track_title, run.tracks)),
        "Time for one exercise": duration(run.timeout_seconds) if run.timeout_seconds else "",
        "Versions": ", ".join(f"{name} {version}" for name, version in run.versions.items()),
        "Checks (SHA-256)": run.checks_sha256[:16],
        "Seed, keep it to yourself": "" if run.seed is None else str(run.seed),
    }
    rows = [(name, one_line(value)) for name, value in facts.items() if value]
    return element(
        "section", element("h2", "This run"), table("What is needed to do it again", ("What", "Value"), rows)
    )


def _took(records: Sequence[GradeRecord], run: RunInfo) -> str:
    """How long the run took, and how many notebooks it did a minute; a resumed run did not do them all."""
    if run.seconds is None:
        return "not finished"
    n = sum(record.run == run.run for record in records)
    pace = f": {60 * n / run.seconds:.0f} notebooks a minute" if n and run.seconds >= 1 else ""
    return f"{duration(max(run.seconds, 0))}{pace}"
