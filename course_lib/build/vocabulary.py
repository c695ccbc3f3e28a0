"""Words that a lesson uses before the lesson that introduces them: a reader meets each idea explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.build.source import parse
from course_lib.glossary import Idea, ideas
from course_lib.lessons import Lesson, source_parts

# What is not prose: code in a line, comments, and where a link leads.
NO_PROSE = re.compile(r"`[^`]*`|<!--.*?-->|<[^>]+>|\]\([^)]*\)", re.DOTALL)
ENDING = r"(?:s|d|ed|ing|ting|ly)?"


@dataclass(frozen=True)
class EarlyWord:
    """A word that stands in a lesson before the one that introduces it."""

    file: str
    word: str
    idea: str
    lesson: str
    context: str

    def __str__(self) -> str:
        return (
            f"{self.file}: “{self.word}” is introduced in {self.lesson}: “…{self.context}…”. "
            f"Say it in other words, name the lesson in this paragraph (lesson {self.lesson[:2]}), or allow it with a "
            "reason in course_lib/glossary.yaml."
        )


def early_words(lesson: Lesson) -> list[EarlyWord]:
    """Every guarded word that this lesson's prose uses too early, all tracks and the comparison.

    A paragraph may use one when it names the lesson that introduces it ("lesson 04", "04_transfer"), and a lesson when
    the glossary allows it.
    """
    later = [idea for idea in ideas() if idea.lesson > lesson.name and lesson.name not in dict(idea.allow)]
    patterns = [(idea, _pattern(word)) for idea in later for word in idea.guard]
    found = []
    for file, paragraph in paragraphs(lesson):
        for idea, pattern in patterns:
            hit = pattern.search(paragraph)
            if hit and not _names(paragraph, idea):
                around = " ".join(paragraph[max(0, hit.start() - 40) : hit.end() + 40].split())
                found.append(EarlyWord(file, hit.group(), idea.idea, idea.lesson, around))
    return list(dict.fromkeys(found))


def paragraphs(lesson: Lesson) -> Iterator[tuple[str, str]]:
    """The lesson's prose, paragraph by paragraph, without code, as (file, text)."""
    paths = source_parts(lesson.folder)
    if lesson.compares:
        paths.append(lesson.folder / "compare.md")
    for path in paths:
        where = f"{lesson.name}/{path.name}"
        for cell in parse(path.read_text(encoding="utf-8"), where):
            if cell.kind == "markdown":
                text = NO_PROSE.sub(" ", cell.source)
                yield from ((where, part) for part in re.split(r"\n\s*\n", text) if part.strip())


def uses(lesson: Lesson, word: str) -> bool:
    """Whether the lesson's prose holds this word."""
    pattern = _pattern(word)
    return any(pattern.search(text) for _, text in paragraphs(lesson))


def _pattern(word: str) -> re.Pattern[str]:
    body = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", word)))
    return re.compile(rf"(?<!\w){body}{ENDING}(?!\w)", re.IGNORECASE)


def _names(paragraph: str, idea: Idea) -> bool:
    number = idea.lesson[:2]
    return idea.lesson in paragraph or bool(re.search(rf"\b[Ll]essons?\b[^.;:]*\b{number}\b", paragraph))
