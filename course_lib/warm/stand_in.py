"""Stands for the notebook's shell while packages are imported, before there is one.

Packages ask at their import whether they are in a notebook: fastai for its progress bars, JAX for its printing, pandas
for its tables. A package that goes further and registers something with the shell cannot be imported ahead of it: what
it registered would be lost.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from course_lib.errors import CourseError

# Looking does no harm. The `_trait` names are those by which the class itself looks something up.
HARMLESS = ("__class__", "__dict__", "__doc__", "kernel", "config", "has_trait", "trait_names", "traits")
CONFIG: dict[str, Any] = {"IPKernelApp": {}}


class RegistersItself(CourseError, AttributeError):
    """A package wants more of the shell than to know that it is there."""


def _refusal(name: str) -> RegistersItself:
    frame, where = sys._getframe(3), ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module and not module.startswith((__name__, "traitlets", "importlib", "IPython", "_frozen")):
            where = module
            break
        frame = frame.f_back  # type: ignore[assignment]
    return RegistersItself(
        f"{where or 'a package'} uses the notebook's shell ({name}) while it is imported, so it cannot be imported "
        "before the notebook is there."
    )


@contextlib.contextmanager
def in_a_notebook() -> Iterator[None]:
    """While the block runs, `get_ipython()` gives the stand-in, and nothing of it stays afterwards.

    Raises RegistersItself at the end when a package wanted more than to look, whatever became of its own attempt.
    """
    from ipykernel.zmqshell import ZMQInteractiveShell

    refused: list[RegistersItself] = []

    def refuse(name: str) -> RegistersItself:
        refused.append(_refusal(name))
        return refused[-1]

    class Kernel:
        def __getattr__(self, name: str) -> Any:
            raise refuse(f"kernel.{name}")

    class StandIn(ZMQInteractiveShell):
        def __getattribute__(self, name: str) -> Any:
            if name == "kernel":
                return Kernel()
            if name == "config":
                return CONFIG
            if name in HARMLESS or name.startswith(("_trait", "_cross_validation")):
                return super().__getattribute__(name)
            raise refuse(name)

    StandIn.__name__ = StandIn.__qualname__ = ZMQInteractiveShell.__name__
    StandIn.__module__ = ZMQInteractiveShell.__module__
    # Not set up: it holds nothing.
    stand_in = object.__new__(StandIn)
    singletons = list(ZMQInteractiveShell._walk_mro())
    for each in singletons:
        each._instance = stand_in  # type: ignore[assignment]
    builtins.get_ipython = lambda: stand_in  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for each in singletons:
            each._instance = None
        del builtins.get_ipython  # type: ignore[attr-defined]
    if refused:
        raise refused[0]
