"""Follow the articles' decision tree, and seal the answers until the last lesson."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from course_lib.decision_tree import ANSWERS, FIRST, QUESTIONS, Answer, Option, Question
from course_lib.errors import BadInput, CourseError, NotFound
from course_lib.home import home, locked, read_json, write_json

__all__ = [
    "Answer",
    "Option",
    "Question",
    "Recommendation",
    "follow",
    "next_question",
    "open_seal",
    "questions",
    "seal",
]

RECORDED = ("every-framework", "numpy", "scikit-learn", "torch", "fastai", "keras", "jax", "flax", "tensorflow")


@dataclass(frozen=True)
class Recommendation:
    """Where the answers led: the articles' answer and the way to it, as (question's text, chosen option's text)."""

    answer: Answer
    way: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        steps = [f"  {question} {option}." for question, option in self.way]
        claims = f"Claim{'s' if len(self.answer.claims) > 1 else ''} {', '.join(self.answer.claims)}"
        lessons = f"lesson{'s' if len(self.answer.lessons) > 1 else ''} {', '.join(self.answer.lessons)}"
        end = f"The articles answer: {self.answer.text}."
        return "\n".join([*steps, end, f"{claims}: what the articles say, not what was measured; tested in {lessons}."])


def questions() -> tuple[Question, ...]:
    """Every question of the tree; the first is where each way begins."""
    return QUESTIONS


def next_question(answers: Mapping[str, str]) -> Question | None:
    """The question that comes after these answers, or None when the way has ended.

    `answers` maps a question's id to the key of an option. Raises BadInput for an option that does not exist.
    """
    _, place = _walk(answers)
    return place if isinstance(place, Question) else None


def way(answers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The steps taken so far, as (question's text, chosen option's text). Raises BadInput as `next_question` does."""
    steps, _ = _walk(answers)
    return tuple((question.text, option.text) for question, option in steps)


def follow(answers: Mapping[str, str]) -> Recommendation:
    """What the articles recommend to someone who answers like this.

    Raises BadInput when a question on the way is unanswered, an option does not exist, or an answer belongs to a
    question that this way does not reach.
    """
    steps, place = _walk(answers)
    if isinstance(place, Question):
        keys = ", ".join(repr(option.key) for option in place.options)
        raise BadInput(
            f"The way is not at its end: {place.text} ({place.id!r}) has no answer yet.",
            action=f"Answer it with one of {keys}.",
        )
    reached = {question.id for question, _ in steps}
    if strays := [name for name in answers if name not in reached]:
        raise BadInput(
            f"`answers` should hold the questions on one way ({', '.join(reached)}); received {strays[0]!r} too.",
            action=f"Take {strays[0]!r} out: this way does not pass it.",
        )
    return Recommendation(place, way(answers))


def seal(
    answers: Mapping[str, str],
    *,
    expected: str = "",
    now: datetime | None = None,
    say: Callable[[str], None] = print,
) -> Path:
    """Store the answers, the articles' answer and the track that the learner expects to like; returns the file.

    The first seal stays: a second call changes nothing and says so through `say`. The record holds the time, the
    versions and a digest that shows later changes. Raises BadInput for answers that lead nowhere, CannotSave when
    nothing can be written.
    """
    recommendation = follow(answers)
    path = _seal_path()
    with locked(path):
        if (first := read_json(path, None)) is not None:
            say(f"Already sealed at {_sealed_at(first)}; the first answers stay, these were not written.")
            return path
        content = {
            "format": 1,
            "sealed_at": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
            "answers": dict(answers),
            "articles_answer": recommendation.answer.text,
            "tracks": list(recommendation.answer.tracks),
            "claims": list(recommendation.answer.claims),
            "expected": expected,
            "versions": _versions(),
        }
        write_json(path, {**content, "sha256": _digest(content)})
    say(f"Sealed in {path.name} until lesson 20. It does not show its answers again before that.")
    return path


def open_seal() -> dict[str, Any]:
    """What was sealed in the first hour: sealed_at, answers, articles_answer, tracks, claims, expected, versions.

    Raises NotFound when nothing was sealed and CourseError when the file was changed after it was sealed.
    """
    path = _seal_path()
    record = read_json(path, None)
    if record is None:
        raise NotFound(f"Nothing is sealed in {path}.", action="Answer the decision tree in lesson 00_start first.")
    content = {name: value for name, value in record.items() if name != "sha256"} if isinstance(record, dict) else {}
    if not content or record.get("sha256") != _digest(content):
        raise CourseError(
            f"{path} is not what was sealed: its digest does not fit its content.",
            action="Undo the change, or move the file away and answer the tree again: it is no first guess any more.",
        )
    return content


def _walk(answers: Mapping[str, str]) -> tuple[list[tuple[Question, Option]], Question | Answer]:
    by_id: dict[str, Question | Answer] = {question.id: question for question in QUESTIONS}
    by_id.update({answer.id: answer for answer in ANSWERS})
    if unknown := [name for name in answers if not isinstance(by_id.get(name), Question)]:
        known = ", ".join(question.id for question in QUESTIONS)
        raise BadInput(f"There is no question {unknown[0]!r}; the tree asks {known}.", action="Check the spelling.")
    steps: list[tuple[Question, Option]] = []
    place = by_id[FIRST]
    while isinstance(place, Question) and place.id in answers:
        option = place.option(answers[place.id])
        if option is None:
            keys = ", ".join(repr(option.key) for option in place.options)
            raise BadInput(
                f"{place.text} ({place.id!r}) should be answered with one of {keys}; received {answers[place.id]!r}.",
                action="Use one of these keys.",
            )
        steps.append((place, option))
        place = by_id[option.then]
    return steps, place


def _seal_path() -> Path:
    return home() / "sealed" / "choice.json"


def _sealed_at(record: Any) -> str:
    return str(record.get("sealed_at", "an unknown time")) if isinstance(record, dict) else "an unknown time"


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in RECORDED:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
