"""What kind of collection it is, and whose each file is.

A layout is told by what lies at the top of the collection, below at most two folders that hold everything. What a
student put into a folder or zip file of his own never decides it, so nobody can hand in work under another's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from course_lib.grade.leaves import Leaf, Parts, Tree, is_notebook, is_zip
from course_lib.lessons import lessons

FOLDER = "a folder of notebooks"
DEEPEST_TOP = 2


@dataclass(frozen=True)
class Who:
    """Whose a file is: `identity` is the same for the same student, the safe name is made of `key`.

    `late` and `submitted_at` (with its offset) are what the collection says of this file, None where it says nothing.
    """

    identity: str
    key: str
    name: str
    ids: tuple[tuple[str, str], ...] = ()
    late: bool | None = None
    submitted_at: datetime | None = None


@dataclass(frozen=True)
class Layout:
    """A kind of collection: `name` for people, whose a path is (several for a group, nobody's for a stray file).

    `whose` takes a path and whether it is a folder. `expected` are students that the collection names; `strays` says
    whether a notebook that is nobody's here is taken as a plain folder's would be.
    """

    name: str
    whose: Callable[[Parts, bool], tuple[Who, ...]]
    expected: tuple[Who, ...] = ()
    notes: tuple[str, ...] = ()
    strays: bool = True


Read = Callable[[Leaf], bytes]


def layout_of(tree: Tree, read: Read) -> Layout:
    """The layout of a collection; a plain folder of notebooks when it is none of a platform's."""
    from course_lib.grade.layout_files import gradescope, nbgrader
    from course_lib.grade.layout_names import canvas, moodle

    for depth in range(DEEPEST_TOP + 1):
        for probe in (gradescope, nbgrader, moodle, canvas):
            if found := probe(tree, depth, read):
                return found
        if single_folder(tree, depth) is None:
            break
    return folder(tree)


def tops(tree: Tree, depth: int) -> dict[str, bool]:
    """The names at this depth, and whether each is a folder (a zip file counts as one)."""
    found = {leaf.parts[depth]: False for leaf in tree.leaves if len(leaf.parts) == depth + 1 and not leaf.closed}
    found |= {parts[depth]: True for parts in tree.folders if len(parts) > depth}
    return found


def single_folder(tree: Tree, depth: int) -> str | None:
    """The folder that holds everything at this depth, or None."""
    found = list(tops(tree, depth).items())
    return found[0][0] if len(found) == 1 and found[0][1] else None


def folder(tree: Tree) -> Layout:
    """A plain folder: `anna.ipynb`, `anna.zip`, or anything below `anna/`; folders of lessons name no student."""
    depth, notes, lesson_folders = 0, list[str](), _lesson_folders()
    while depth < DEEPEST_TOP and (top := single_folder(tree, depth)) and top not in lesson_folders:
        below = [leaf.parts[depth + 1 :] for leaf in tree.leaves if leaf.is_notebook]
        folders = {parts[0] for parts in below if len(parts) > 1} - lesson_folders
        notebooks = {parts[0] for parts in below if len(parts) == 1}
        is_download = is_zip(top) or (tree.root.is_file() and top.casefold() == tree.root.stem.casefold())
        if len(folders) > 1 or (is_download and len(folders) + len(notebooks) > 1):
            depth, what = depth + 1, "what lies in it is taken by student"
        elif is_zip(top) and folders:
            depth += 1
            continue
        else:
            what = f"it is taken for one student; if it is a class, grade {top} itself"
        notes.append(f"Everything lies in {top}: {what}.")
        break

    def whose(parts: Parts, is_folder: bool) -> tuple[Who, ...]:
        folders = parts[depth:] if is_folder else parts[depth:-1]
        named = [part for part in folders if part not in lesson_folders]
        if named:
            return _named(named[0][:-4] if is_zip(named[0]) else named[0])
        return () if is_folder or len(parts) <= depth else by_name(parts[-1])

    return Layout(FOLDER, whose, notes=tuple(notes))


def by_name(name: str) -> tuple[Who, ...]:
    """Whose a notebook is by its own name; nobody's when it is none."""
    return _named(name[: name.casefold().rindex(".ipynb")]) if is_notebook(name) else ()


def at_depth(layout: Layout, depth: int) -> Layout:
    """A layout for paths below so many folders."""
    return replace(layout, whose=lambda parts, is_folder: layout.whose(parts[depth:], is_folder))


def _named(name: str) -> tuple[Who, ...]:
    return (Who(f"folder:{name}", name, name),)


def _lesson_folders() -> set[str]:
    return {each.name for each in lessons()}
