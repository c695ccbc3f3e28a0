"""Adapters turn a native answer into one of the kinds. One module per track, the same names in each.

`adapt("torch", "step", answer)` imports `course_lib.adapters.torch` and so the framework; nothing else does.
"""

from __future__ import annotations

import importlib
from typing import Any

from course_lib.errors import NotFound

KINDS = ("function", "model", "step", "loop", "observer", "network", "finetune")


def adapt(track: str, kind: str, answer: Any) -> Any:
    """The `kind` object for an answer of this track.

    Raises NotFound when the track has no adapter for the kind: that is a fault of the lesson, not of the answer.
    """
    module = importlib.import_module(f"course_lib.adapters.{track}")
    table = module.ADAPTERS
    if kind not in table:
        raise NotFound(
            f"The {track} track has no answers of the kind {kind!r}; it has {', '.join(table)}.",
            action="Give this exercise another kind, or leave the track out in the lesson's front matter.",
        )
    return table[kind](answer)
