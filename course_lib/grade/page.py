"""One HTML page that needs nothing but itself: no script, no picture or font from elsewhere, readable on paper too.

Markup and text are two types: whatever is a plain `str` is cleaned and escaped on its way into the page, only `Html`
goes in as it is. So a name, a message or an output of a student's cannot become markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

from course_lib.grade.text import clean, one_line, size

LONG_CHARACTERS, LONG_LINES = 700, 12
OUTPUT_CHARACTERS, OUTPUT_LINES = 20_000, 400

_CODE = re.compile(r"`([^`\n]+)`")
_VOID = frozenset({"meta", "br"})
# Even markup that slipped through could load nothing, send nothing and run nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Html(str):
    """Markup that goes into a page as it is."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """Text as markup: cleaned, and with its special characters escaped. Html stays as it is."""
    return text if isinstance(text, Html) else Html(html.escape(clean(text)))


def together(*parts: str) -> Html:
    """Parts side by side; plain text among them is escaped."""
    return Html("".join(map(escaped, parts)))


def element(tag: str, *children: str, **attributes: str | None) -> Html:
    """An element. Plain children are escaped; `class_` and `aria_label` become `class` and `aria-label`.

    An attribute that is None is left out, one that is "" stands there by its name alone.
    """
    words = [tag]
    for name, value in attributes.items():
        name = name.rstrip("_").replace("_", "-")
        if value is not None:
            words.append(f'{name}="{html.escape(clean(value))}"' if value else name)
    if tag in _VOID:
        return Html(f"<{' '.join(words)}>")
    return Html(f"<{' '.join(words)}>{together(*children)}</{tag}>")


def name_of(text: str) -> Html:
    """A person's name or a file's: shortened, and kept from turning the direction of the words around it."""
    return element("bdi", one_line(text, 90) or "(no name)")


def prose(text: str) -> Html:
    """A sentence as markup: what stands between backticks becomes code, line ends stay."""
    parts = _CODE.split(clean(text).strip())
    marked = (element("code", part) if place % 2 else escaped(part) for place, part in enumerate(parts))
    return Html("".join(marked).replace("\n", "<br>"))


def message(text: str, *, class_: str = "message") -> Html:
    """A message in a paragraph; one that is long shows its beginning, and the whole on request."""
    text = clean(text).strip()
    if len(text) <= LONG_CHARACTERS and text.count("\n") < LONG_LINES:
        return element("p", prose(text), class_=class_)
    beginning = "\n".join(text[: LONG_CHARACTERS // 2].split("\n")[: LONG_LINES // 2]) + " …"
    return together(
        element("p", prose(beginning), class_=class_), details("The whole message", block(text, "The whole message"))
    )


def block(text: str, label: str) -> Html:
    """Text as it was printed, at most 20,000 characters and 400 lines of it; says how much was left out."""
    text = clean(text)
    lines = text[:OUTPUT_CHARACTERS].split("\n")
    shown = "\n".join(lines[:OUTPUT_LINES]).strip("\n")
    # A region that scrolls must be reachable by the keyboard.
    pre = element("pre", shown, tabindex="0", role="region", aria_label=label)
    left_out = len(text.strip("\n")) - len(shown)
    return together(pre, element("p", f"(… {size(left_out)} more)", class_="quiet")) if left_out > 0 else pre


def details(summary: str, *children: str, open_: bool = False) -> Html:
    """A part that opens on request; on paper it is closed or open as on the screen."""
    return element("details", element("summary", summary), *children, open="" if open_ else None)


def table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]], *, numbers: Iterable[int] = ()) -> Html:
    """A table whose first column names the row. `numbers` are the places of the columns that hold numbers.

    On a narrow screen each row becomes a small list; the column's name then stands before each value.
    """
    heads, right = list(heads), set(numbers)
    head = element(
        "tr",
        *(element("th", h, scope="col", class_="number" if i in right else None) for i, h in enumerate(heads)),
    )
    body = [
        element("tr", *(_cell(i, cell, heads[i], i in right) for i, cell in enumerate(row)), role="row") for row in rows
    ]
    return element("table", element("caption", caption), element("thead", head), element("tbody", *body), role="table")


def _cell(place: int, content: str, head: str, is_number: bool) -> Html:
    class_ = "number" if is_number else None
    if place == 0:
        return element("th", content, scope="row", role="rowheader", class_=class_)
    return element("td", content, data_label=str(head), role="cell", class_=class_)


@cache
def style_sheet() -> str:
    """The style of every page."""
    return resources.files("course_lib.grade").joinpath("page.css").read_text(encoding="utf-8")


def page(title: str, *main: str, footer: str, wide: bool = False) -> str:
    """A whole HTML5 document. `title` is its name and is not repeated in `main`, which begins with its own <h1>."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", one_line(title)),
        element("style", Html("\n" + style_sheet())),
    )
    body = element(
        "body",
        element("main", *main, class_="wide" if wide else None),
        element("footer", element("p", footer), class_="wide" if wide else None),
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n{body}\n</html>\n'
