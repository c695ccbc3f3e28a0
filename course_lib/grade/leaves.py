"""The files of a collection as labels and places, and how much a student's own zip file may hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from course_lib.grade.archive import Member

SYSTEM_NAMES = {"__macosx", "thumbs.db", "desktop.ini", "__pycache__"}
Parts = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Where the bytes of a file are: a file on disk, and the way through the zip files in it."""

    disk: Path
    members: tuple[Member, ...] = ()


@dataclass(frozen=True)
class Leaf:
    """One file: its path inside the collection (zip files count as folders), its place, and why it cannot be read.

    `closed` marks a folder or zip file that could not be looked into. `nth` is above 1 where a zip file holds the same
    path several times.
    """

    parts: Parts
    place: Place
    trouble: str = ""
    closed: bool = False
    nth: int = 1

    @property
    def label(self) -> str:
        """The path for people, different for each file of a collection."""
        return "/".join(self.parts) + (f" (no. {self.nth} of this name)" if self.nth > 1 else "")

    @property
    def is_notebook(self) -> bool:
        return not self.closed and is_notebook(self.parts[-1])


@dataclass
class Tree:
    """What stands in a collection: its files in the order of their paths, its folders, and what was left out."""

    root: Path
    leaves: list[Leaf] = field(default_factory=list)
    folders: set[Parts] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


@dataclass
class Budget:
    """What may still be taken out of a student's own zip file and the zip files in it."""

    n_bytes: int = 1_000_000_000
    notebooks: int = 100
    other_files: int = 20
    zip_files: int = 20


def is_notebook(name: str) -> bool:
    """Whether a file's name says that it is a notebook; browsers and mail add endings: `x.ipynb.txt`, `x.ipynb (1)`."""
    head, dot, tail = name.casefold().rpartition(".ipynb")
    return bool(dot and head.strip()) and (tail.strip() in ("", ".txt", ".json") or tail.strip(" ()").isdigit())


def is_zip(name: str) -> bool:
    """Whether a file's name says that it is a zip file."""
    return name.casefold().endswith(".zip")


def is_hidden(name: str) -> bool:
    """Whether a file or folder is a system's or an editor's own: `.ipynb_checkpoints`, `__MACOSX`, `._x.ipynb`."""
    return name.startswith(".") or name.casefold() in SYSTEM_NAMES
