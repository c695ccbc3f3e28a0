"""What a kernel needs imported, and with which settings: told by the caller, or read from its notebook."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.frameworks import TABLE, settings
from course_lib.lessons import COMPARE, lesson
from course_lib.warm.packages import of_names, of_track

# A lesson and a track, as "01_digits/torch", or packages, as "torch,pandas".
TRACK = "COURSE_WARM_TRACK"
PRELOAD = "COURSE_WARM_PRELOAD"
# Set by Jupyter Server: the path of the notebook.
NOTEBOOK = "JPY_SESSION_NAME"
MAX_NOTEBOOK_BYTES = 64 << 20


@dataclass(frozen=True)
class Wanted:
    """Packages to import, and the environment variables that the lesson declares for its kernels."""

    packages: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


def wanted(environ: MutableMapping[str, str]) -> Wanted:
    """What a kernel with this environment needs; COURSE_WARM_TRACK is taken out of it.

    Without any word about it nothing but the kernel itself is imported ahead.
    """
    if named := environ.pop(TRACK, ""):
        name, _, track = named.rpartition("/")
        return _of(name, track, environ)
    found = of_notebook(Path(environ[NOTEBOOK]), environ) if environ.get(NOTEBOOK) else None
    if found is not None:
        return found
    return Wanted(of_names(part.strip() for part in environ.get(PRELOAD, "").split(",") if part.strip()))


def of_notebook(path: Path, environ: Mapping[str, str] = os.environ) -> Wanted | None:
    """What the notebook at `path` needs; None when it says nothing.

    One of the course's says so in its metadata, any other by the framework that it imports; `"course": {"warm": false}`
    in the metadata asks for nothing but the kernel.
    """
    document = _read(path)
    own = _course(document)
    if own.get("warm") is False:
        return Wanted()
    if own.get("track"):
        return _of(str(own.get("lesson", "")), str(own["track"]), environ)
    tracks = _tracks_imported(document.get("cells", []))
    # Two frameworks in one process is what nobody here has tried.
    return Wanted(of_names(tracks)) if len(tracks) == 1 else None


def track_of(path: Path) -> str:
    """The value of COURSE_WARM_TRACK for the notebook at `path`, "" when it is none of the course's."""
    return track_in(_read(path))


def track_in(notebook: Mapping[str, Any]) -> str:
    """As track_of, for the JSON document of a notebook."""
    own = _course(notebook)
    return f"{own['lesson']}/{own['track']}" if {"lesson", "track"} <= own.keys() else ""


def _course(document: Mapping[str, Any]) -> dict[str, Any]:
    metadata = document.get("metadata")
    own = metadata.get("course") if isinstance(metadata, dict) else None
    return own if isinstance(own, dict) else {}


def _of(name: str, track: str, environ: Mapping[str, str]) -> Wanted:
    if track not in TABLE and track != COMPARE:
        return Wanted()
    try:
        found = lesson(name) if name else None
        needed = settings(track, environ) if track in TABLE else {}
    except CourseError:
        return Wanted()
    if found is not None and not found.warm:
        return Wanted((), found.environment.get(track, {}))
    return Wanted(of_track(track), {**needed, **(found.environment.get(track, {}) if found else {})})


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_NOTEBOOK_BYTES:
            return {}
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _tracks_imported(cells: Iterable[Any]) -> list[str]:
    """The frameworks that a notebook of somebody's own imports; NumPy does not count, nor fastai's torch."""
    sources = (
        "".join(cell.get("source", "")) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"
    )
    names = {name for source in sources for name in _imported(source)}
    found = [track for track in TABLE if track != "numpy" and names & _roots(track)]
    return [track for track in found if not (track == "torch" and "fastai" in found)]


def _roots(track: str) -> set[str]:
    return {name.partition(".")[0] for name in TABLE[track].imports}


def _imported(source: str) -> set[str]:
    lines = [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!", "?"))]
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return set()
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in names}
