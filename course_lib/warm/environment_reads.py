"""Which environment variables the imports of a process read: those that come too late when they are set afterwards."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, KeysView
from types import FrameType

# `os.environ.get`, `in` and `items` stand in these files.
_BETWEEN = (f"{os.sep}os.py", "<frozen os>", f"{os.sep}_collections_abc.py", "<frozen _collections_abc>")
# Whoever takes all of them decides on none.
_WHOLESALE = ("__iter__", "copy")


@contextlib.contextmanager
def recorded() -> Iterator[set[str]]:
    """The names of the variables that Python code asks `os.environ` for while the block runs.

    What compiled code reads with `getenv` is not seen; see `keys.COMPILED`.
    """
    names: set[str] = set()
    ours = type(os.environ)
    real = ours.__getitem__
    # Where somebody asked for the names: `dict(os.environ)` then asks for each value from the same instruction.
    listing: list[tuple[FrameType, int]] = []

    def keys(self: os._Environ[str]) -> KeysView[str]:
        frame = sys._getframe(1)
        listing[:] = [(frame, frame.f_lasti)]
        return KeysView(self)

    def reading(self: os._Environ[str], name: str) -> str:
        frame = sys._getframe(1)
        inside = frame.f_code.co_filename.endswith(_BETWEEN)
        if (frame, frame.f_lasti) not in listing and not (inside and frame.f_code.co_name in _WHOLESALE):
            names.add(os.fsdecode(name))
        return real(self, name)

    ours.__getitem__, ours.keys = reading, keys  # type: ignore[method-assign,assignment]
    try:
        yield names
    finally:
        ours.__getitem__ = real  # type: ignore[method-assign]
        del ours.keys
        listing.clear()
