"""docs/glossary.md, built from the glossary's one table."""

from __future__ import annotations

from course_lib.frameworks import TABLE, TRACKS
from course_lib.glossary import Idea, ideas
from course_lib.lessons import lessons
from course_lib.plan import PLAN

HEAD = """# Glossary

One idea a row: what it is, and what each framework calls it, in the versions that the course is tested with. Each
idea stands below the lesson that introduces it. In a terminal: `course glossary WORD`.

Built by `course build` from `course_lib/glossary.yaml`; a test resolves every name in the framework itself.
"""


def glossary_page() -> str:
    """The whole page; a lesson that is written is linked."""
    parts = [HEAD]
    for name in dict.fromkeys(idea.lesson for idea in ideas()):
        rows = [_row(idea) for idea in ideas() if idea.lesson == name]
        head = f"| idea | {' | '.join(TABLE[track].title for track in TRACKS)} |"
        parts.append("\n".join([f"## {_heading(name)}", "", head, f"|{' --- |' * (len(TRACKS) + 1)}", *rows, ""]))
    return "\n".join(parts)


def _heading(name: str) -> str:
    titles = {each.name: each.title for each in PLAN}
    written = {each.name: each.title for each in lessons()}
    if name in written:
        return f"[{name}](../solutions/{name}) {written[name]}"
    return f"{name} {titles[name]} (to come)"


def _row(idea: Idea) -> str:
    return f"| **{idea.idea}**: {idea.says} | {' | '.join(idea.names[track] for track in TRACKS)} |"
