"""What the commands print with: results on stdout, progress and errors on stderr, and with --json nothing but JSON."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# A pipe has no width; a table broken after 80 columns cannot be searched with grep.
PIPE_COLUMNS = 200


def console() -> Console:
    """A console on stdout, as wide as the terminal, or wide enough for a row in one line when there is none."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return made


def say(text: str = "") -> None:
    """Print a line of the result on stdout, unwrapped and without any markup."""
    print(text)


def note(text: str) -> None:
    """Print a line on stderr: something to know that is not the result."""
    print(text, file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one JSON document and nothing else; what is not a finite number becomes null."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """A progress bar on stderr, only when it is a terminal. Call what it yields with a word whenever a part is done.

    Without `total` it is a spinner that shows the last word.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    with bar:
        job = bar.add_task(title, total=total)

        def part(word: str) -> None:
            bar.update(job, advance=1, description=f"{title}: {word}")

        yield part


@contextlib.contextmanager
def counted(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on stderr, only when it is a terminal; it wants a word, how many are done, and of how many."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    left = (MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), *left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(title, total=None)
        yield lambda word, done, total: bar.update(job, completed=done, total=total, description=f"{title}: {word}")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def number(value: float | int | None, form: str) -> str:
    """A number in this format, or "" when there is none."""
    return "" if value is None or not math.isfinite(value) else format(value, form)


def mebibytes(value: int | None) -> str:
    """Bytes as MiB, or "" when unknown."""
    return "" if value is None else f"{value / 2**20:.1f}"
