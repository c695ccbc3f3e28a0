"""Foreign text made fit to be read: what a terminal or a page would obey is taken out, what a person reads stays."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

ELLIPSIS = "…"

# Terminal sequences: CSI (colours, cursor), OSC (titles, links), and the two-character ones. Source: ECMA-48, 5th ed.
_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]")
# Controls but tab and newline; marks that turn the direction of the text after them; lone surrogates, non-characters.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]")
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_LINE_ENDS = re.compile("\r\n|\u2028|\u2029")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\r\n])", re.MULTILINE)
_MARK = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_HEAPED_MARKS = re.compile(f"([{_MARK}]{{3}})[{_MARK}]+")


def clean(text: str) -> str:
    """Text without terminal codes, control characters, turned directions, half characters and heaps of accents.

    Tabs and newlines stay. Where a carriage return went back to the start of a line (progress bars), the last version
    of the line stays.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", _ANSI.sub("", text))
    text = _CONTROL.sub("", _OVERWRITTEN.sub("", text))
    return _HEAPED_MARKS.sub(r"\1", _NO_CHARACTER.sub("\ufffd", text))


def one_line(text: str, limit: int = 200) -> str:
    """Clean text on one line, at most `limit` characters; what was cut off is shown by an ellipsis."""
    words = " ".join(clean(text[: 20 * limit]).split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + ELLIPSIS


def number(value: float) -> str:
    """A mark as people write it: at most two decimals, no zeros at the end."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value == value else "?"


def counted(n: float, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 mark", "2 marks"."""
    return f"{number(n)} {noun if n == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Seconds as people say them: "40 ms", "3.2 s", "2 min 5 s", "1 h 4 min", "2 days 3 h"."""
    if seconds < 0.9995:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    for unit, size, next_unit, next_size in (("day", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            n, rest = divmod(whole, size)
            head = counted(n, "day") if unit == "day" else f"{n} {unit}"
            return f"{head} {rest // next_size} {next_unit}" if rest // next_size else head
    return f"{whole} s"


def size(n_bytes: float) -> str:
    """Bytes as people say them, in powers of 1000: "950 bytes", "20 kB", "1.4 GB"."""
    for unit, scale, digits in (("GB", 1e9, 1), ("MB", 1e6, 0), ("kB", 1e3, 0)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.{digits}f} {unit}"
    return counted(n_bytes, "byte")


def moment(iso: str, zone: tzinfo | None = None) -> str:
    """An ISO 8601 moment as "1 December 2026, 22:14 (UTC+01:00)", in `zone` when one is given and the moment has one.

    Text that is no moment comes back cleaned.
    """
    try:
        when = datetime.fromisoformat(iso)
        when = when.astimezone(zone) if zone and when.tzinfo else when
    except (ValueError, OverflowError):
        return one_line(iso, 60)
    offset = f" (UTC{when.isoformat()[-6:].replace('+00:00', '')})" if when.tzinfo else ""
    return f"{when.day} {when:%B %Y, %H:%M}{offset}"
