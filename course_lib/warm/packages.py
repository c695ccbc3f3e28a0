"""What a process imports before it forks: what a kernel imports for itself, and what a track's cells import."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from course_lib.frameworks import TABLE

# What the frameworks import only when they are first used; the names are private, and may go. For the grader alone: in
# a kernel the cells' own clocks shall see the first use as it is.
LAZY = {
    "numpy": ("numpy.random", "numpy.ma", "numpy.linalg", "numpy.fft"),
    "torch": ("torch._dynamo", "torch._subclasses.schema_check_mode"),
    "jax": ("jaxlib.mlir.dialects.mhlo", "jaxlib.mlir.dialects.builtin", "jax.scipy.special"),
}

# What a kernel has imported by the time it answers.
KERNEL = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
    "tornado.queues",
    "sqlite3",
    "pdb",
)

# What the course's own modules import in the first cells of every notebook.
COMPANIONS = ("numpy", "matplotlib.pyplot", "yaml")


def of_track(track: str) -> tuple[str, ...]:
    """The packages that the course's notebooks of a track import; "compare" stands for those that need no framework."""
    own = TABLE[track].imports if track in TABLE else ()
    return tuple(dict.fromkeys((*COMPANIONS, *own)))


def of_names(names: Iterable[str]) -> tuple[str, ...]:
    """Packages out of a mixture of track names and package names."""
    found = [package for name in names for package in (TABLE[name].imports if name in TABLE else (name,))]
    return tuple(dict.fromkeys(found))


def load(names: Iterable[str]) -> list[str]:
    """Import these modules in order; those that this installation does not have are returned.

    An error inside a module that is there is raised as it is.
    """
    missing = []
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not error.name or not (name == error.name or name.startswith(f"{error.name}.")):
                raise
            missing.append(name)
    return missing
