"""Which of the course's own statements a submission needs: what binds, or changes, a name that its answers read.

The other cells show and measure things; leaving them out changes no verdict and saves seconds a submission. Whoever
is not sure (an answer misses a name) runs everything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from course_lib.answer import MAGIC, bound_names, exercise_of, used_names
from course_lib.answer_sheet import BEGIN

CHECK_FUNCTION = "check"


@dataclass(frozen=True)
class Cell:
    """A piece of the notebook to run: `number` counts the code cells from 0; `exercise` is what it answers, or ""."""

    number: int
    source: str
    exercise: str = ""


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a course cell: the names that it binds, changes and reads, and its imports' parts."""

    source: str
    binds: frozenset[str]
    changes: frozenset[str]
    reads: frozenset[str]
    checks: str = ""


def all_cells(course: Sequence[str], answers: Mapping[str, str]) -> list[Cell]:
    """Every code cell of the course with the answers in their places. The set-up cell is the runner's business."""
    return [
        Cell(number, answers.get(exercise_of(source) or "", source), exercise_of(source) or "")
        for number, source in enumerate(course)
        if not BEGIN.search(source)
    ]


def needed_cells(course: Sequence[str], answers: Mapping[str, str], exercises: Sequence[str]) -> list[Cell]:
    """The answer cells, the checks of these exercises, and those statements of the course that they build on.

    The hole of an answer that was not handed in is there for those that call it only.
    """
    needed: set[str] = set()
    found: list[Cell] = []
    for cell in reversed(all_cells(course, answers)):
        if cell.exercise:
            if cell.exercise not in answers and not needed & _bound(cell.source):
                continue
            needed |= used_names(cell.source)
            found.append(cell)
            continue
        kept: list[str] = []
        for statement in reversed(_statements(cell.source)):
            wanted = statement.checks in exercises if statement.checks else _is_needed(statement, needed)
            if wanted:
                needed |= statement.reads
                kept.append(statement.source)
        if kept:
            found.append(Cell(cell.number, "\n".join(reversed(kept))))
    return found[::-1]


def _is_needed(statement: Statement, needed: set[str]) -> bool:
    return bool((statement.binds | statement.changes) & needed)


@cache
def _bound(hole: str) -> frozenset[str]:
    return frozenset(bound_names(hole))


@cache
def _statements(source: str) -> tuple[Statement, ...]:
    """The statements of a course cell. One that is not plain Python (a magic) changes no name that an answer reads."""
    tree = ast.parse(MAGIC.sub("", source))
    return tuple(made for node in tree.body for made in _parts(node))


def _parts(node: ast.stmt) -> Iterator[Statement]:
    """A statement as it stands; an import of several names as one statement for each."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            alone = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
            text = ast.unparse(ast.fix_missing_locations(alone))
            yield Statement(text, frozenset(bound_names(text)), frozenset(), frozenset())
        return
    text = ast.unparse(node)
    binds, reads = frozenset(bound_names(text)), frozenset(used_names(text))
    yield Statement(text, binds, frozenset(_changed(node)), reads, _check(node))


def _check(node: ast.stmt) -> str:
    """The exercise that a statement `check("id", …)` checks, else ""."""
    call = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == CHECK_FUNCTION and call.args:
        first = call.args[0]
        return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    return ""


def _changed(node: ast.stmt) -> Iterator[str]:
    """The names of objects that a statement may change: by a method of theirs, an attribute or an element."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        yield from _root(node.value.func)
        return
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Attribute, ast.Subscript)) and isinstance(inner.ctx, ast.Store):
            yield from _root(inner)


def _root(node: ast.expr) -> Iterator[str]:
    """The name that an attribute or element belongs to; what a call returned has none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
