"""The glossary: each idea in one plain sentence, its name in every framework, and the lesson that introduces it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.errors import BadSource, NotFound
from course_lib.frameworks import TABLE, TRACKS

SOURCE = Path(__file__).with_name("glossary.yaml")
NEEDED = {"idea", "lesson", "says", *TRACKS}


@dataclass(frozen=True)
class Idea:
    """One idea. `names` has an entry for each track, names of that framework between backticks.

    `guard` are words that no lesson before `lesson` may use; `allow` names lessons that may, with the reason.
    """

    idea: str
    lesson: str
    says: str
    names: dict[str, str]
    guard: tuple[str, ...] = ()
    allow: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"idea": self.idea, "lesson": self.lesson, "says": self.says, "names": self.names}

    def __str__(self) -> str:
        width = max(len(TABLE[track].title) for track in self.names)
        names = (f"  {TABLE[track].title:<{width}}  {text.replace('`', '')}" for track, text in self.names.items())
        return "\n".join([f"{self.idea} (lesson {self.lesson})", f"  {self.says}", *names])


@cache
def ideas() -> tuple[Idea, ...]:
    """All ideas, in the order in which the lessons introduce them. Raises BadSource for an entry that is not whole."""
    import yaml

    return tuple(_idea(raw) for raw in yaml.safe_load(SOURCE.read_text(encoding="utf-8")))


def find(word: str) -> tuple[Idea, ...]:
    """The ideas of this name; else all that mention the word, framework names included.

    Raises NotFound, naming the nearest, when there is none.
    """
    wanted = _plain(word)
    if exact := tuple(each for each in ideas() if wanted in {_plain(each.idea), *map(_plain, each.guard)}):
        return exact
    found = tuple(
        each for each in ideas() if any(wanted in _plain(text) for text in (each.idea, each.says, *each.names.values()))
    )
    if wanted and found:
        return found
    names = {_plain(name): name for each in ideas() for name in (each.idea, *each.guard)}
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.5)
    action = f"Did you mean {names[near[0]]!r}?" if near else "See all of them with: course glossary"
    raise NotFound(f"The glossary does not have {word!r}.", action=action)


def _idea(raw: Any) -> Idea:
    where = f"glossary.yaml, {raw.get('idea', raw)!r}" if isinstance(raw, dict) else f"glossary.yaml, {raw!r}"
    if not isinstance(raw, dict) or (odd := NEEDED ^ (set(raw) - {"guard", "allow"})):
        fields = ", ".join(sorted(odd)) if isinstance(raw, dict) else "everything"
        raise BadSource(f"{where}: missing or unknown: {fields}.", action=f"Give each of {', '.join(sorted(NEEDED))}.")
    if wrong := [key for key in NEEDED if not isinstance(raw[key], str) or not raw[key].strip()]:
        raise BadSource(f"{where}: {', '.join(sorted(wrong))} should be text.", action="Put it between quotes.")
    allow = tuple((str(lesson), str(reason)) for lesson, reason in raw.get("allow", {}).items())
    names = {track: raw[track] for track in TRACKS}
    return Idea(raw["idea"], raw["lesson"], raw["says"], names, tuple(raw.get("guard", ())), allow)


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.replace("`", "").casefold()).strip()
