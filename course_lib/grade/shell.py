"""What stands in for IPython in a child: magics and `!` commands are read and change nothing.

A timing magic runs its statement once, so that the names which it binds are there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

TIMING = ("time", "timeit", "prun", "capture")
# The only thing that IPython changes and that is Python as it stands: `In [1]: x = 1`, copied with its prompt.
PROMPT = re.compile(r"^\s*In \[", re.MULTILINE)


def to_python(source: str) -> str:
    """A cell's text as plain Python: magics and commands become calls of `get_ipython()`, as IPython itself does it."""
    if _is_python(source):
        # IPython leaves it as it is, after a millisecond.
        return source
    from IPython.core.inputtransformer2 import TransformerManager

    python: str = TransformerManager().transform_cell(source)  # type: ignore[no-untyped-call]
    return python


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not PROMPT.search(source)


class Shell:
    """The few methods that such cells call."""

    def __init__(self, execute: Callable[[str], None], namespace: dict[str, Any]) -> None:
        self._execute = execute
        self.user_ns = namespace

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> None:
        """Run a timed statement once; leave everything else."""
        words = line.split()
        while words and words[0].startswith("-"):
            words.pop(0)
        if name in TIMING and words:
            self._execute(line[line.index(words[0]) :])

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Run a timed cell once; leave everything else."""
        if name in TIMING:
            self._execute(cell)

    def system(self, command: str) -> None:
        """A command that is not run."""

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        """The output of a command that is not run."""
        return []
