"""Every Framework: one task, every deep learning framework, the same numbers.

A notebook needs two names, `begin` and `check`. Importing this package loads the standard library and NumPy at most;
each name below loads its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_LAZY: dict[str, str] = {
    "begin": "session",
    "check": "checking",
    "predict": "prediction",
    "measured": "prediction",
    "claim": "claims",
    "load_task": "task",
    "keep_record": "record",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
