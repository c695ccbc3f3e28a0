"""A class's hand-ins, found in whatever way they were collected. Nothing is unpacked to disk, nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from course_lib.errors import BadInput, NotFound
from course_lib.grade.keys import shown, unique_keys
from course_lib.grade.layouts import Layout, Who, by_name, layout_of
from course_lib.grade.leaves import Leaf, Place, Tree, is_notebook, is_zip
from course_lib.grade.student import Student
from course_lib.grade.tree import list_tree, read_place
from course_lib.notebook import UnreadableNotebook

ONE_NOTEBOOK = "one notebook"
COLLECTIONS = (
    "Name a notebook, a folder of them, or what Canvas, Moodle, Gradescope or nbgrader gave, folder or zip file."
)


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    `file` is its path inside the collection, different for each: zip files count as folders in it, and "(for KEY)"
    follows for all members of a group but the first. `submitted_at` (with its offset) and `late` are the collection's
    own words, None where it says nothing.
    """

    student: Student
    file: str
    submitted_at: datetime | None = None
    late: bool | None = None
    place: Place = field(default=Place(Path()), repr=False)
    trouble: str = ""

    def read_bytes(self) -> bytes:
        """The notebook's bytes. Raises UnreadableNotebook (a BadNotebook): no right to read it, a damaged or locked zip
        file, a link, more than 200 MB.
        """
        if self.trouble:
            raise UnreadableNotebook(
                f"{self.file} could not be read: {self.trouble}.",
                action="See to your right to read it, or ask for it again as the notebook itself.",
            )
        return read_place(self.place, self.file)


@dataclass(frozen=True)
class Collection:
    """All hand-ins, in the order of their paths. `layout` is the kind of collection, for people.

    `notes` say what was left out and why. `empty_handed` are students of whom the collection holds no notebook.
    """

    layout: str
    submissions: tuple[Submission, ...]
    notes: tuple[str, ...] = ()
    empty_handed: tuple[Student, ...] = ()


def find_submissions(path: Path) -> Collection:
    """The hand-ins in a notebook, a folder or a zip file, as they are or as a learning platform packed them.

    An unreadable file becomes a submission whose read_bytes fails. Raises NotFound when there is no such path and
    BadInput when it is no collection, or cannot be read at all.
    """
    try:
        root = path.resolve(strict=True)
    except FileNotFoundError:
        raise NotFound(f"There is no {path}.", action=COLLECTIONS) from None
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{path} cannot be read ({error}).", action="Check its rights.") from error
    if root.is_file() and not is_zip(root.name):
        return _one_notebook(path, root)
    tree = list_tree(root)
    return _Sorting(tree, layout_of(tree, lambda leaf: read_place(leaf.place, leaf.label))).collection()


def _one_notebook(path: Path, root: Path) -> Collection:
    name = shown(path.name)
    if not is_notebook(name):
        raise BadInput(f"{path} is neither a notebook nor a zip file.", action=COLLECTIONS)
    [who] = by_name(name)
    student = Student(unique_keys({who.identity: who.key})[who.identity], who.name)
    return Collection(ONE_NOTEBOOK, (Submission(student, name, place=Place(root)),))


class _Sorting:
    """The files of a collection, sorted by student."""

    def __init__(self, tree: Tree, layout: Layout) -> None:
        self._layout = layout
        self._students: dict[str, Who] = {who.identity: who for who in layout.expected}
        self._notebooks: list[tuple[Leaf, Who]] = []
        self._others: dict[str, list[str]] = {}
        self._nobodys: list[str] = []
        self._notes = [*tree.notes, *layout.notes]
        for folder in sorted(tree.folders):
            for who in layout.whose(folder, True):
                self._students.setdefault(who.identity, who)
        for leaf in tree.leaves:
            self._sort(leaf)

    def _sort(self, leaf: Leaf) -> None:
        wanted = leaf.is_notebook or leaf.closed
        owners = self._layout.whose(leaf.parts, leaf.closed)
        if not owners and wanted and self._layout.strays:
            owners = by_name(leaf.parts[-1]) or by_name(f"{leaf.parts[-1]}.ipynb")
            self._notes.append(
                f"{leaf.label} is not named as {self._layout.name} names files: its name is the student's."
            )
        if not owners:
            self._nobodys.append(leaf.label)
        for who in owners:
            self._students.setdefault(who.identity, who)
            if wanted:
                self._notebooks.append((leaf, who))
            else:
                self._others.setdefault(who.identity, []).append(leaf.label)

    def collection(self) -> Collection:
        keys = unique_keys({who.identity: who.key for who in self._students.values()})
        people = {
            identity: Student(keys[identity], shown(who.name), dict(who.ids))
            for identity, who in self._students.items()
        }
        submissions = tuple(
            Submission(people[who.identity], file, who.submitted_at, who.late, leaf.place, leaf.trouble)
            for leaf, who, file in self._labelled(people)
        )
        busy = {who.identity for _, who in self._notebooks}
        empty_handed = tuple(people[identity] for identity in people if identity not in busy)
        notes = [*self._notes, *(note for identity in people for note in self._note(identity, people, busy))]
        if self._nobodys:
            notes.append(f"Left out, being no notebook of a student's: {_some(self._nobodys)}.")
        if not submissions:
            notes.append("There is no notebook in it (a file ending in .ipynb).")
        return Collection(self._layout.name, submissions, tuple(notes), empty_handed)

    def _labelled(self, people: dict[str, Student]) -> Iterator[tuple[Leaf, Who, str]]:
        """Each notebook, whose it is, and its path; a group's members share a notebook, and each gets a label."""
        last = None
        for leaf, who in self._notebooks:
            yield leaf, who, leaf.label if leaf is not last else f"{leaf.label} (for {people[who.identity].key})"
            last = leaf

    def _note(self, identity: str, people: dict[str, Student], busy: set[str]) -> list[str]:
        others, name = self._others.get(identity, []), people[identity].name
        if identity not in busy:
            return [f"{name} handed in no notebook" + (f", only {_some(others)}." if others else ".")]
        return [f"{name}: no notebook, so it was not read: {_some(others)}."] if others else []


def _some(labels: list[str]) -> str:
    return ", ".join(labels[:5]) + (f" and {len(labels) - 5} more" if len(labels) > 5 else "")
