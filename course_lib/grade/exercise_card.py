"""One exercise on a feedback page: the verdict in words, what was expected and what came, and where to look next."""

from __future__ import annotations

import re

from course_lib.grade.page import LONG_CHARACTERS, Html, element, escaped, message, prose, together
from course_lib.grade.reasons import NEXT, explanation
from course_lib.grade.record import ExerciseResult
from course_lib.grade.text import clean, counted, number, one_line

SYMBOLS = {"passed": "✓", "failed": "✗", "needs review": "?"}

# How checks say it: "`loss` should be 2.3 at (0,); received 1.7. Advice that begins with a capital letter."
_RECEIVED = re.compile(r"(?P<expected>.*?); received (?P<received>.*?)(?:\.\s+(?=[A-Z])(?P<advice>.*))?", re.S)
_HINT = re.compile(r"(Hint \d+ of \d+): ")


def badge(state: str, words: str) -> Html:
    """A state in words, with its symbol; the colour only repeats it."""
    symbol = element("span", SYMBOLS.get(state, "?"), aria_hidden="true")
    return element("span", symbol, Html("&nbsp;"), words, class_=f"badge {class_of(state)}")


def class_of(state: str) -> str:
    """The name by which the style sheet knows a state."""
    return state.replace(" ", "-")


def exercise_card(result: ExerciseResult, heading: str = "h3", *, counts: bool = True) -> Html:
    """A list item about one exercise; one that passed takes a single line. `heading` is the level of its title."""
    label = "Needs review" if result.state == "needs review" else explanation(result.reason).label
    head = element(
        "header",
        element(heading, one_line(result.title or result.exercise)),
        badge(result.state, label),
        element("span", _marks(result) if counts else "does not count", class_="marks-of"),
    )
    body = () if result.state == "passed" else (_told(result), _next(result), _hint(result.hint))
    return element("li", head, *body, class_=f"exercise {class_of(result.state)}")


def _marks(result: ExerciseResult) -> str:
    if not result.max_mark:
        return "no marks"
    if result.state == "needs review":
        return f"{counted(result.max_mark, 'mark')} open"
    return f"{number(result.mark)} of {counted(result.max_mark, 'mark')}"


def _told(result: ExerciseResult) -> Html:
    """What happened, first in the words of the check, then what may be behind it."""
    why = explanation(result.reason).why
    return together(compared(result.message, result.reason), element("p", prose(why)) if why else "")


def compared(text: str, reason: str) -> Html:
    """A message, with what was expected above what came where a check says both."""
    text = clean(text).strip()
    if not text:
        return Html("")
    found = _RECEIVED.fullmatch(text) if reason == "wrong" and len(text) <= LONG_CHARACTERS else None
    if found is None:
        return message(_sentence(text))
    rows = together(
        element("dt", "Expected"),
        element("dd", prose(_sentence(found["expected"]))),
        element("dt", "What came"),
        element("dd", prose(found["received"].rstrip("."))),
    )
    advice = found["advice"]
    return together(element("dl", rows, class_="compared"), element("p", prose(advice)) if advice else "")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _next(result: ExerciseResult) -> Html:
    return element("p", NEXT, class_="next") if result.state == "needs review" else Html("")


def _hint(hint: str) -> Html:
    if not hint:
        return Html("")
    found = _HINT.match(hint)
    start, rest = (f"{found[1]}.", hint[found.end() :]) if found else ("Hint.", hint)
    return element("p", element("b", start), escaped(" "), prose(rest), class_="hint")
