"""The files of a zip file, and of the zip files in it, as leaves of a collection."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from course_lib.grade.archive import BadArchive, Listed, contents, is_bomb, read_member
from course_lib.grade.leaves import Budget, Leaf, Parts, Place, Tree, is_hidden, is_notebook, is_zip

MAX_DEPTH = 40
MAX_NESTING = 3
# No layout asks about deeper folders.
DEEPEST_FOLDER = 6


def in_zip(tree: Tree, zipped: Leaf, stream: BinaryIO, budget: Budget | None) -> Iterator[Leaf]:
    """The leaves of an open zip file that lies at `zipped`; `tree` gets its folders and notes.

    `budget` bounds what a student's own zip file may hold; None stands for the collection's own. Raises BadArchive for
    one that cannot be read, or is made to do harm.
    """
    listed = [each for each in contents(stream, nested=budget is not None) if _is_wanted(each.parts)]
    if budget is not None:
        _refuse_bomb(listed, budget)
    left_out = 0
    for each in listed:
        parts = (*zipped.parts, *each.parts)
        place = Place(zipped.place.disk, (*zipped.place.members, each.member))
        last = min(len(parts) + each.is_folder, len(zipped.parts) + DEEPEST_FOLDER)
        tree.folders.update(parts[:n] for n in range(len(zipped.parts) + 1, last))
        if each.is_folder:
            continue
        if budget is not None and not _spend(budget, parts[-1]):
            left_out += 1
        elif is_zip(parts[-1]) and not each.trouble:
            yield from _in_inner_zip(tree, Leaf(parts, place), stream, budget or Budget())
        else:
            yield Leaf(parts, place, each.trouble)
    if left_out:
        tree.notes.append(f"{zipped.label} holds too many files: {left_out} of them were left out.")


def _in_inner_zip(tree: Tree, leaf: Leaf, stream: BinaryIO, budget: Budget) -> Iterator[Leaf]:
    tree.folders.add(leaf.parts)
    try:
        if len(leaf.place.members) > MAX_NESTING:
            raise BadArchive(f"it lies in {MAX_NESTING} other zip files")
        inner = BytesIO(read_member(stream, leaf.place.members[-1]))
        yield from in_zip(tree, leaf, inner, budget)
    except BadArchive as error:
        yield Leaf(leaf.parts, leaf.place, error.message, closed=True)


def _refuse_bomb(listed: list[Listed], budget: Budget) -> None:
    n_bytes = sum(each.member.n_bytes for each in listed)
    budget.n_bytes -= n_bytes
    if budget.n_bytes < 0 or is_bomb(n_bytes, sum(each.member.packed_bytes for each in listed)):
        raise BadArchive(f"it would unpack to {n_bytes / 1e6:,.0f} MB")


def _spend(budget: Budget, name: str) -> bool:
    """Whether the budget has room for one more file of this kind; it is taken off."""
    kind = "notebooks" if is_notebook(name) else "zip_files" if is_zip(name) else "other_files"
    left = getattr(budget, kind)
    setattr(budget, kind, left - 1)
    return bool(left > 0)


def _is_wanted(parts: Parts) -> bool:
    return 0 < len(parts) <= MAX_DEPTH and not any(map(is_hidden, parts))
