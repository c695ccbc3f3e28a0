"""Imports ahead of the kernels, as their own cells would, and keeps account of what that read and changed."""

from __future__ import annotations

import os
import sys

from course_lib.warm import environment_reads, keys, packages, stillness
from course_lib.warm.child import Imported
from course_lib.warm.stand_in import in_a_notebook


class CannotServe(Exception):
    """Why no kernel can come from this process."""


def import_ahead(names: tuple[str, ...]) -> tuple[Imported, set[str]]:
    """Import the kernel's modules and these packages as a notebook's cell would; the second are the kernel's alone.

    Raises CannotServe when threads of theirs would not survive a fork, and whatever an import raises.
    """
    environ = dict(os.environ)
    packages.load(packages.KERNEL)
    bare = set(sys.modules)
    with environment_reads.recorded() as reads, in_a_notebook():
        packages.load(names)
    changes = {n: os.environ.get(n) for n in {*environ, *os.environ} if os.environ.get(n) != environ.get(n)}
    if (n_threads := stillness.threads_after_a_fork()) > 1:
        raise CannotServe(f"importing {', '.join(names)} leaves {n_threads - 1} threads, which do not survive a fork")
    stillness.freeze()
    roots = {name.partition(".")[0] for name in names}
    more = [each for root, found in keys.COMPILED_OF.items() if root in roots | set(sys.modules) for each in found]
    return Imported(names, environ, frozenset(reads), changes, (*keys.COMPILED, *more)), bare
