"""All files of a collection, in folders and in zip files alike, as labels and places; nothing is unpacked to disk.

Links are never followed, on disk or in an archive: a student could hand in a link to a neighbour's work.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from course_lib.errors import BadInput
from course_lib.grade.archive import BadArchive, Member, read_member
from course_lib.grade.keys import shown
from course_lib.grade.leaves import Budget, Leaf, Parts, Place, Tree, is_hidden, is_zip
from course_lib.grade.zip_tree import in_zip
from course_lib.notebook import MAX_BYTES, UnreadableNotebook, too_large

MAX_FILES = 200_000
MAX_DEPTH = 40


def list_tree(root: Path) -> Tree:
    """Everything in a folder or zip file but hidden files and what systems leave behind (`__MACOSX`, `Thumbs.db`).

    Raises BadInput when the root itself cannot be read, or when it holds more than MAX_FILES files.
    """
    tree = Tree(root)
    times, labels = Counter[Parts](), set[str]()
    for leaf in _in_folder(tree, root, ()) if root.is_dir() else _in_zip_file(tree, Leaf((), Place(root)), None):
        if not leaf.parts:
            raise BadInput(f"{root} cannot be read: {leaf.trouble}.", action="Check its rights, or download it again.")
        while not times[leaf.parts] or leaf.label in labels:
            times[leaf.parts] += 1
            leaf = replace(leaf, nth=times[leaf.parts])
        labels.add(leaf.label)
        tree.leaves.append(leaf)
        if len(tree.leaves) > MAX_FILES:
            raise BadInput(f"{root} holds more than {MAX_FILES:,} files.", action="Name the folder of the hand-ins.")
    tree.leaves.sort(key=lambda leaf: (leaf.parts, leaf.nth))
    return tree


def read_place(place: Place, label: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a file. Raises UnreadableNotebook, with what to do, for whatever prevents it."""
    try:
        if len(place.members) > 1:
            return read_member(BytesIO(_unpacked(place.disk, place.members[:-1])), place.members[-1], limit)
        with _opened(place.disk) as stream:
            data = read_member(stream, place.members[0], limit) if place.members else stream.read(limit + 1)
    except BadArchive as error:
        raise UnreadableNotebook(f"{label} could not be read: {error.message}.", action=error.action) from None
    except OSError as error:
        raise UnreadableNotebook(
            f"{label} could not be read: {error.strerror or error}.",
            action="Give yourself the right to read it, or download the collection again.",
        ) from error
    if len(data) > limit:
        raise too_large(label)
    return data


# Files of one archive are read one after another.
@lru_cache(maxsize=1)
def _unpacked(disk: Path, members: tuple[Member, ...]) -> bytes:
    with _opened(disk) as stream:
        data = read_member(stream, members[0])
    for member in members[1:]:
        data = read_member(BytesIO(data), member)
    return data


def _opened(path: Path) -> BinaryIO:
    """A regular file, opened; never a link, a pipe or a device. Raises OSError otherwise."""
    flags = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no regular file")
    return os.fdopen(descriptor, "rb")


def _in_folder(tree: Tree, folder: Path, parts: Parts) -> Iterator[Leaf]:
    tree.folders.add(parts)
    try:
        if len(parts) > MAX_DEPTH:
            raise OSError("it lies too deep")
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Leaf(parts, Place(folder), f"it could not be looked into ({error.strerror or error})", closed=True)
        return
    entries = [entry for entry in entries if not is_hidden(entry.name)]
    for entry in entries:
        # A name in no encoding stays different from others.
        name = shown(os.fsencode(entry.name).decode("utf-8", "backslashreplace"))
        leaf = Leaf((*parts, name), Place(Path(entry.path)))
        # The download of a whole class, as it came, alone in a folder.
        budget = None if parts == () and len(entries) == 1 else Budget()
        yield from _entry(tree, leaf, entry, budget)


def _entry(tree: Tree, leaf: Leaf, entry: os.DirEntry[str], budget: Budget | None) -> Iterator[Leaf]:
    if entry.is_symlink():
        yield Leaf(leaf.parts, leaf.place, "it is a link, and links are not followed")
    elif entry.is_dir(follow_symlinks=False):
        yield from _in_folder(tree, leaf.place.disk, leaf.parts)
    elif not entry.is_file(follow_symlinks=False):
        tree.notes.append(f"{leaf.label} is neither a file nor a folder: left out.")
    elif is_zip(leaf.parts[-1]):
        yield from _in_zip_file(tree, leaf, budget)
    else:
        yield leaf


def _in_zip_file(tree: Tree, leaf: Leaf, budget: Budget | None) -> Iterator[Leaf]:
    """The files of a zip file on disk: a student's own, or without a budget the collection's."""
    tree.folders.add(leaf.parts)
    try:
        with _opened(leaf.place.disk) as stream:
            yield from in_zip(tree, leaf, stream, budget)
    except BadArchive as error:
        yield Leaf(leaf.parts, leaf.place, error.message, closed=True)
    except OSError as error:
        yield Leaf(leaf.parts, leaf.place, error.strerror or str(error), closed=True)
