"""The hostile collection: submissions that cheat, break or burden a grader, each with the marks that it must get."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache

from hostile import (
    edits,
    endings,
    endless,
    files,
    forgers,
    greedy,
    leftovers,
    liars,
    notes,
    patches,
    spies,
    tensors,
    thieves,
    words,
    zips,
)
from hostile.heavy import HEAVY
from hostile.kind import Hostile, Scene

THEMES = (
    edits,
    files,
    words,
    liars,
    endings,
    endless,
    greedy,
    patches,
    forgers,
    leftovers,
    thieves,
    spies,
    tensors,
    zips,
)


@cache
def hostile_kinds() -> tuple[Hostile, ...]:
    """Every kind that can be laid down here, in the order in which they are handed in."""
    kinds = [*notes.WRITERS, *(kind for theme in THEMES for kind in theme.KINDS), *notes.READERS]
    assert {kind.name for kind in kinds} >= HEAVY
    heavy = [replace(kind, heavy=kind.heavy or kind.name in HEAVY or kind.track != "numpy") for kind in kinds]
    # To root no file is unreadable.
    return tuple(kind for kind in heavy if kind.name != "a file without rights" or os.geteuid() != 0)


__all__ = ["Hostile", "Scene", "hostile_kinds"]
