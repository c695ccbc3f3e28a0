"""A TOML file whose values are taken by name and type; whatever is wrong is told with its key and its line."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from course_lib.errors import BadInput, NotFound
from course_lib.home import cannot_read

Key = tuple[str | int, ...]

_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_.\- ])+?)\s*=""")


@dataclass(frozen=True)
class Table:
    """One table of the file: `values` as tomllib read them, `at` the way to it, `lines` where each key stands."""

    file: Path
    values: Mapping[str, Any]
    lines: Mapping[Key, int]
    at: Key = ()

    def wrong(self, key: str, expected: str, action: str) -> BadInput:
        """The error for a value: what it should be, what came, and where."""
        return BadInput(f"{self._where(key)} should be {expected}; received {_shown(self.values[key])}.", action=action)

    def refused(self, key: str, sentence: str, action: str) -> BadInput:
        """The error for a key that should not be there as it is; `sentence` goes on after the key's name."""
        return BadInput(f"{self._where(key)} {sentence}", action=action)

    def lacks(self, key: str, action: str) -> BadInput:
        """The error for a key that should be there."""
        return BadInput(f"{self._where(None)} lacks `{key}`.", action=action)

    def only(self, *known: str) -> None:
        """Raise BadInput for the first key that is not one of these."""
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
                hint = f"Did you mean `{near[0]}`?" if near else f"It may be one of {', '.join(known)}."
                raise self.refused(key, "is not a setting that the grader knows.", hint)

    def text(self, key: str, default: str | None = None) -> str:
        """Text that is not empty; `default` where the key is not there (None: it must be)."""
        if key not in self.values:
            if default is None:
                raise self.lacks(key, f'Add {key} = "…".')
            return default
        value = self.values[key]
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, "text between quotes", f'Write {key} = "…".')
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """One of some words."""
        value = self.text(key, default)
        if value not in allowed:
            words = " or ".join(f'"{word}"' for word in allowed)
            raise self.wrong(key, words, f'Write {key} = "{allowed[0]}".')
        return value

    def number(self, key: str, default: float, *, high: float = math.inf, above: bool = False) -> float:
        """A finite number from 0 to `high`; with `above`, 0 itself is refused."""
        value = self.values.get(key, default)
        fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not fits or not (0 <= value <= high) or (above and value == 0):
            span = f"from 0 to {high:g}" if high < math.inf else "above 0" if above else "of 0 or more"
            raise self.wrong(key, f"a number {span}", "Write it in digits, without quotes or a % sign.")
        return float(value)

    def whole(self, key: str) -> int | None:
        """A whole number of 0 or more, None where the key is not there."""
        value = self.values.get(key)
        if value is not None and (type(value) is not int or value < 0):
            raise self.wrong(key, "a whole number of 0 or more", f"Write {key} = 3, without quotes.")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", f"Write {key} = true, without quotes.")
        return value

    def names(self, key: str, known: Iterable[str], what: str) -> tuple[str, ...] | None:
        """A list of different names out of `known`, None where the key is not there."""
        if key not in self.values:
            return None
        value, known = self.values[key], tuple(known)
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            raise self.wrong(key, f"a list of {what}s", f'Write {key} = ["{known[0]}", …], or leave it out.')
        for n, name in enumerate(value):
            if name not in known:
                raise self.refused(key, f"names {name!r}, which is no {what} here.", nearest(name, known))
            if name in value[:n]:
                raise self.refused(key, f"names {name!r} twice.", "Take one of them out.")
        return tuple(value)

    def moment(self, key: str) -> datetime | None:
        """A date and time with its offset from UTC, None where the key is not there."""
        value = self.values.get(key)
        if value is None or (isinstance(value, datetime) and value.tzinfo is not None):
            return value
        example = (
            "Write it as 2026-12-01T23:59:00+01:00 (without quotes; +01:00 is how far your clock is ahead of UTC)."
        )
        raise self.wrong(key, "a date and time with its offset from UTC", example)

    def table(self, key: str) -> Table:
        """A table below this one; an empty one where the key is not there."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "a table", f"Begin it with a line [{'.'.join(map(str, (*self.at, key)))}].")
        return Table(self.file, value, self.lines, (*self.at, key))

    def tables(self, key: str) -> list[Table]:
        """The tables of a list, such as each [[exercise]]."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.wrong(key, "a list of tables", f"Begin each of them with a line [[{key}]].")
        return [Table(self.file, one, self.lines, (*self.at, key, n)) for n, one in enumerate(value)]

    def _where(self, key: str | None) -> str:
        at = self.at if key is None else (*self.at, key)
        place = next((at[:n] for n in range(len(at), 0, -1) if at[:n] in self.lines), None)
        line = f", line {self.lines[place]}" if place else ""
        names = [f"{part + 1}" if isinstance(part, int) else part for part in self.at]
        inside = f"[{'.'.join(names)}]" if names else ""
        if key is None:
            return f"{self.file.name}{line}: {inside or 'the file'}"
        return f"{self.file.name}{line}: `{key}`{' in ' + inside if inside else ''}"


def read_toml(path: Path) -> Table:
    """The whole file as a table. Raises NotFound, CourseError when it cannot be read, BadInput when it is no TOML."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(text)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}.", action="Give the path of the class's TOML file.") from error
    except OSError as error:
        raise cannot_read(path, error) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} should be UTF-8 text; it is not.", action="Save it again as UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(
            f"{path.name} should be TOML; it cannot be read: {error}.",
            action="Mend that line; text stands between quotes, and each key once.",
        ) from error
    return Table(path, values, _lines(text))


def nearest(word: str, words: Iterable[str]) -> str:
    """One thing to do about a name that is not known."""
    words = tuple(words)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.4)
    return f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(words)}."


def _shown(value: Any) -> str:
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "a truth value"), (int, "a whole number"), (float, "a number"), (str, "text"), (list, "a list"),
        (dict, "a table"), (datetime, "a moment without offset"), (date, "a date without time"), (time, "a time only"),
    )  # fmt: skip
    kind = next((name for known, name in kinds if isinstance(value, known)), type(value).__name__)
    word = str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, date) else repr(value)
    return f"{word[:60]} ({kind})"


def _lines(text: str) -> dict[Key, int]:
    """Where each key stands, 1 for the first line; tomllib does not tell. Keys within one-line tables are left out."""
    found: dict[Key, int] = {}
    current: Key = ()
    counts: dict[Key, int] = {}
    for n, line in enumerate(text.splitlines(), 1):
        is_header = line.lstrip().startswith("[")
        match = None if is_header else _KEY.match(line)
        try:
            path, in_list = _path(tomllib.loads(line if is_header else f"{match[1]} = 0" if match else ""))
        except tomllib.TOMLDecodeError:
            continue
        if is_header and path:
            if in_list:
                counts[path] = counts.get(path, -1) + 1
                path = (*path, counts[path])
            current = path
        elif path:
            path = (*current, *path)
        if path:
            found.setdefault(path, n)
    return found


def _path(values: Any) -> tuple[Key, bool]:
    """The names down to the innermost table of a header, or to the 0 of a key; and whether it is one of a list."""
    path: Key = ()
    while isinstance(values, dict) and values:
        [(key, values)] = values.items()
        path = (*path, key)
        if isinstance(values, list):
            return path, True
    return path, False
