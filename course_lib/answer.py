"""Answer cells: found by their first line `# exercise: <id>`, and the names that they define and use."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

MARKER = re.compile(r"\A\s*#\s*exercise:\s*(?P<id>[\w./-]+)[ \t]*$", re.MULTILINE)
# IPython's own lines are no Python, and define nothing.
MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)


def exercise_of(source: str) -> str | None:
    """The exercise that a cell's text answers, by its first line, or None."""
    match = MARKER.match(source)
    return match["id"] if match else None


def last_cell(exercise: str, history: Sequence[str]) -> str | None:
    """The text of the answer cell that ran last for this exercise, or None. `history` is oldest first."""
    return next((source for source in reversed(history) if exercise_of(source) == exercise), None)


def defined_names(source: str) -> set[str]:
    """The functions and classes that a cell defines at its top level; none when it is not valid Python."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    tree = _parse(source)
    return {node.name for node in tree.body if isinstance(node, kinds)} if tree else set()


def bound_names(source: str) -> set[str]:
    """Every name that a cell binds at its top level: functions, classes, imports and variables."""
    tree = _parse(source)
    return set() if tree is None else set(_bound(tree))


@cache
def course_names(notebook: Path) -> frozenset[str]:
    """Every name that the cells of a notebook bind. Raises BadNotebook and NotFound as read_notebook does."""
    from course_lib.notebook import code_cells, read_notebook

    return frozenset(name for cell in code_cells(read_notebook(notebook)) for name in bound_names(cell["source"]))


def foreign_names(source: str, history: Sequence[str], course: frozenset[str]) -> list[str]:
    """The names that an answer uses and that only other cells of the learner's define, sorted.

    `history` holds the cells that ran, `course` the names of the course's own cells.
    """
    elsewhere = {name for cell in history if exercise_of(cell) is None for name in bound_names(cell)}
    return sorted((used_names(source) & elsewhere) - course - bound_names(source) - set(dir(builtins)))


def used_names(source: str) -> set[str]:
    """The global names that a cell reads, in its functions and classes too; none when it is not valid Python."""
    try:
        table = symtable.symtable(MAGIC.sub("pass", source), "<answer>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return set(_used(table))


def _used(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _used(inner)


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(MAGIC.sub("pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _bound(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child.name
            continue
        if isinstance(child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif isinstance(child, ast.alias):
            yield (child.asname or child.name).partition(".")[0]
        yield from _bound(child)
