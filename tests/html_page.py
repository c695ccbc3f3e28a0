"""An HTML page as a test sees it: its elements, its text, and what in it is not closed as it should be."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br"}
INLINE = {"a", "b", "strong", "bdi", "code", "text", "tspan"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "footer", "section", "h1", "h2", "h3", "h4",
    "p", "a", "b", "strong", "bdi", "code", "pre", "br", "span", "div", "ol", "ul", "li", "dl", "dt", "dd", "details",
    "summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "desc", "rect",
    "line", "text", "tspan",
}  # fmt: skip


@dataclass
class Element:
    """One element: its name, its attributes, the names of those around it, and all text inside."""

    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A parsed page. `faults` names end tags that close nothing and elements that stay open."""

    source: str
    elements: list[Element] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.source)
        self.close()
        self.faults += [f"<{each.tag}> is not closed" for each in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        found = Element(tag, dict(attrs), tuple(each.tag for each in self._open))
        self.elements.append(found)
        if tag not in VOID:
            self._open.append(found)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which must be this one."""
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
            if tag not in INLINE:
                # What stands in a box of its own is no part of the word before it.
                self.handle_data(" ")
        else:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        """Give text to every element around it."""
        for each in self._open:
            each.text += data

    def all(self, tag: str, class_: str = "") -> list[Element]:
        """The elements of a name, and of a class where one is given."""
        return [e for e in self.elements if e.tag == tag and class_ in ("", *str(e.attributes.get("class")).split())]

    def one(self, tag: str, class_: str = "") -> Element:
        """The only such element."""
        found = self.all(tag, class_)
        assert len(found) == 1, f"{len(found)} × <{tag} {class_}>"
        return found[0]

    @property
    def words(self) -> str:
        """All that is read on the page, with single spaces."""
        return " ".join(self.one("body").text.split())

    def assert_harmless(self) -> None:
        """No element, attribute or address by which a page does anything or fetches anything; all is closed."""
        assert self.faults == []
        assert {each.tag for each in self.elements} <= ALLOWED
        for each in self.elements:
            assert not any(name.startswith("on") or name in ("src", "srcdoc", "action") for name in each.attributes)
            assert each.attributes.get("href") is None or re.fullmatch(
                r"feedback/[\w%.-]+\.html", each.attributes["href"]
            )
            assert re.fullmatch(r"(width:[\d.]+%)?", each.attributes.get("style") or "")
        css = "".join(each.text for each in self.all("style"))
        assert not re.search(r"url\(|@import|https?:|//[a-z]", css)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", self.source)

    def heading_levels(self) -> list[int]:
        """The levels of the headings, in their order."""
        return [int(each.tag[1]) for each in self.elements if re.fullmatch("h[1-6]", each.tag)]
