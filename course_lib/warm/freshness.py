"""Whether what a process imported is still what lies on the disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

Stamp = tuple[str, int]


def installed(paths: Iterable[str]) -> set[Stamp]:
    """Name, with its version, and time of every distribution installed in the folders of `sys.path`."""
    found: set[Stamp] = set()
    for path in paths:
        try:
            with os.scandir(path or ".") as entries:
                found |= {
                    (e.path, e.stat().st_mtime_ns) for e in entries if e.name.endswith((".dist-info", ".egg-info"))
                }
        except OSError:
            continue
    return found


def own_sources() -> set[Stamp]:
    """File and time of every imported module that is not an installed package's: code that somebody may be writing."""
    inside = (
        *(p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")),
        os.path.dirname(os.__file__),
    )
    files = {str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())}
    return {stamp for file in files if file and not file.startswith(inside) and (stamp := _stamp(file))}


def _stamp(file: str) -> Stamp | None:
    try:
        return file, os.stat(file).st_mtime_ns
    except OSError:
        return None


def changed(stamps: Iterable[Stamp]) -> list[str]:
    """The files that have another time now, or are gone."""
    return sorted(file for file, time in stamps if _stamp(file) != (file, time))


def shadowed(modules: Iterable[str], folder: str) -> list[str]:
    """The files in a notebook's folder that bear the name of a module imported ahead: a cold kernel would take them."""
    roots = {name.partition(".")[0] for name in modules}
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if _module(folder, name) in roots)


def _module(folder: str, name: str) -> str:
    if os.path.isfile(os.path.join(folder, name, "__init__.py")):
        return name
    stem, dot, ending = name.partition(".")
    return stem if dot and (ending == "py" or ending.endswith((".so", ".pyd"))) else ""
