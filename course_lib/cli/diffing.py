"""`course diff`: the cells in which two tracks of a lesson differ, side by side."""

from __future__ import annotations

import sys
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

import typer

from course_lib.cli.console import console, note, print_json, say

if TYPE_CHECKING:
    from course_lib.track_diff import Row, Section, Shown, TrackDiff

# Below this width two columns of code would break every other line: the cells then stand one below the other.
SIDE_BY_SIDE_COLUMNS = 110


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("diff")(show)


def show(
    lesson: Annotated[str, typer.Argument(help="A lesson like 01_digits or digits.")],
    left: Annotated[str, typer.Argument(metavar="TRACK", help="The track that you know.")],
    right: Annotated[str, typer.Argument(metavar="TRACK", help="The track that you want to see beside it.")],
    solution: Annotated[
        bool, typer.Option("--solution", help="Show the course's answers of exercises that you have solved.")
    ] = False,
    prose: Annotated[bool, typer.Option("--prose", help="Show the text that differs, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Read one track beside another: the cells of a lesson that differ, heading by heading.

    Cells that both tracks share are left out. Answer cells have their holes; with --solution, an exercise that you have
    solved in a track is shown with the course's answer. In a pipe, plain text.

    **Examples**

    - `course diff 01_digits torch jax`
    - `course diff digits torch jax --solution`
    - `course diff 01_digits numpy torch --json`
    """
    from course_lib.track_diff import track_diff

    found = track_diff(lesson, left, right, solutions=solution, prose=prose)
    if as_json:
        print_json(found.to_dict())
        return
    if sys.stdout.isatty():
        _draw(found)
    else:
        say("\n\n".join(_plain(found, section) for section in found.sections))
    if found.holes:
        what = "You have not solved yet, so they stay hidden" if solution else "Answers are hidden (see --solution)"
        note(f"{what}: {', '.join(found.holes)}")


def _draw(found: TrackDiff) -> None:
    """For a terminal: coloured, in two columns where there is room, else one cell below the other."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table

    out = console()
    wide = out.width >= SIDE_BY_SIDE_COLUMNS
    for section in found.sections:
        out.rule(f"[bold]{_escape(section.heading)}", align="left")
        for row in section.rows:
            sides = [(found.left, row.left), (found.right, row.right)]
            if wide:
                grid = Table.grid(padding=(0, 1), expand=True)
                for _ in sides:
                    grid.add_column(ratio=1)
                grid.add_row(*(f"[dim]{track}" for track, _ in sides))
                grid.add_row(*(_code(cell) for _, cell in sides))
                out.print(Padding(grid, (0, 0, 1, 0)))
            else:
                parts = [part for track, cell in sides for part in (f"[dim]{track}", _code(cell))]
                out.print(Padding(Group(*parts), (0, 0, 1, 0)))


def _code(cell: Shown | None) -> Any:
    from rich.syntax import Syntax
    from rich.text import Text

    if cell is None:
        return Text("(nothing here)", style="dim italic")
    if cell.kind == "markdown":
        return Text(cell.source)
    return Syntax(cell.source, "python", word_wrap=True, background_color="default", theme="ansi_dark")


def _plain(found: TrackDiff, section: Section) -> str:
    """For a pipe: no line is broken or cut, so that whatever reads it can search it."""
    blocks = [_lines(row) for row in section.rows]
    width = max([len(found.left), *(len(one) for block in blocks for one, _ in block)])
    out = [f"## {section.heading}", "", f"{found.left:<{width}} | {found.right}"]
    for block in blocks:
        out.append(f"{'-' * width}-+-{'-' * width}")
        out += [f"{one:<{width}} | {other}".rstrip() for one, other in block]
    return "\n".join(out)


def _lines(row: Row) -> list[tuple[str, str]]:
    left, right = (
        cell.source.split("\n") if cell is not None else ["(nothing here)"] for cell in (row.left, row.right)
    )
    return list(zip_longest(left, right, fillvalue=""))


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)
