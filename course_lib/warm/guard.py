"""Refuses, in a forked kernel, a variable that comes too late: what was imported ahead has read it already."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

# Read by a library, but by everybody else as well, and again and again.
COMMON = ("HOME", "PATH", "TMPDIR", "TEMP", "TMP", "USER", "LOGNAME", "TERM", "COLUMNS", "LINES", "SHELL", "PWD")
# Between a cell and the system: the environment's own code, and the magics through which a cell sets a variable.
_PASSED = (f"{os.sep}os.py", "<frozen os>", f"{os.sep}_collections_abc.py", "<frozen _collections_abc>")
_MAGICS = os.path.join("IPython", "core", "magics")


def watched(reads: Iterable[str], prefixes: tuple[str, ...], imported: Mapping[str, str]) -> dict[str, str | None]:
    """The value of each variable that was read while importing; those with a prefix count when they are set or not."""
    names = {name for name in reads if name not in COMMON}
    names |= {name for name in imported if name.startswith(prefixes)}
    return {name: imported.get(name) for name in names}


def install(values: Mapping[str, str | None], prefixes: tuple[str, ...], packages: Iterable[str]) -> None:
    """From now on a cell, or a module of one's own, that gives one of these another value gets a TooLate error.

    Installed packages may set what they want: they do so after their own import in any kernel. What is set to the value
    that it had while importing is fine.
    """
    set_variable, remove_variable = os.putenv, os.unsetenv
    told = ", ".join(packages) or "the kernel"
    here = _installed()

    def refuse(name: str, value: str | None) -> None:
        late = name in values or name.startswith(prefixes)
        if late and values.get(name) != value and not _of_a_package(sys._getframe(2), here):
            raise _too_late(name, value, values.get(name), told)

    def putenv(name: Any, value: Any, /) -> None:
        refuse(os.fsdecode(name), os.fsdecode(value))
        set_variable(name, value)

    def unsetenv(name: Any, /) -> None:
        refuse(os.fsdecode(name), None)
        remove_variable(name)

    # `os.environ` calls them by these names.
    os.putenv, os.unsetenv = putenv, unsetenv


def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"], "<frozen"}
    roots |= {entry for entry in sys.path if os.path.basename(entry) in ("site-packages", "dist-packages")}
    return tuple(root if root.startswith("<") else os.path.join(root, "") for root in roots)


def _of_a_package(frame: FrameType | None, here: tuple[str, ...]) -> bool:
    while frame is not None and (frame.f_code.co_filename.endswith(_PASSED) or _MAGICS in frame.f_code.co_filename):
        if _MAGICS in frame.f_code.co_filename:
            return False
        frame = frame.f_back
    if frame is None or str(frame.f_globals.get("__name__", "")).partition(".")[0] == "course_lib":
        return False
    return frame.f_code.co_filename.startswith(here)


def _too_late(name: str, value: str | None, imported: str | None, told: str) -> Exception:
    # The course's own modules are imported here, never ahead.
    from course_lib.errors import TooLate

    def word(text: str | None) -> str:
        return "absent" if text is None else repr(text)

    return TooLate(
        f"{name} should be {word(value)}, but it was {word(imported)} when this warm kernel imported {told} ahead of "
        "you, and nothing reads it again: the new value would be ignored without a word.",
        action="Set it before the kernel starts: in the terminal, before `course lab`, or in a lesson's front matter "
        "(`environment`). Or work in cold kernels: `course lab --cold`.",
    )
