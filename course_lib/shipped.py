"""Where the lessons, solutions and data cards lie: in the clone, or inside the installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from course_lib.errors import NotFound

Kind = Literal["notebooks", "solutions", "datasets"]

PACKAGE = Path(__file__).resolve().parent


def clone_root() -> Path | None:
    """The root of the clone that this package runs from, or None when it was installed from a wheel."""
    root = PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "hatch_build.py").is_file() else None


def shipped(kind: Kind) -> Path:
    """The folder of this kind that belongs to the course in use.

    A wheel carries its own copy in `course_lib/_shipped`; an editable install uses the clone that it points to.
    Raises NotFound when the folder is not there.
    """
    root = clone_root()
    folder = (PACKAGE / "_shipped" if root is None else root) / kind
    if folder.is_dir():
        return folder
    if root is None:
        action = "The installation is incomplete: install every-framework again."
    else:
        action = f'Bring it back with "git checkout -- {kind}", or build it with "course build".'
    raise NotFound(f"The course's {kind} should be in {folder}, and there is no such folder.", action=action)
