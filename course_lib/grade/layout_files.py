"""Collections that tell whose a file is by files of their own: Gradescope and nbgrader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar

from course_lib.errors import CourseError
from course_lib.grade.keys import shown
from course_lib.grade.layouts import Layout, Read, Who, at_depth, tops
from course_lib.grade.leaves import Leaf, Parts, Tree

METADATA, TIMESTAMP = "submission_metadata.yml", "timestamp.txt"
SUBMISSION = re.compile(r"submission_(\d+)")
ENTRY = re.compile(r"""["']?([\w.-]+)["']?:\s*""")
FIELD = re.compile(r"  :?(submitters|created_at):(.*)")
TIME = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(\.\d{1,6})?\d*\s*([+-]\d\d:?\d\d|[A-Za-z/_]*)")
STEPS = {"source", "release", "autograded", "feedback", "solution", "submitted"}


def gradescope(tree: Tree, depth: int, read: Read) -> Layout | None:
    """ "Export submissions" of Gradescope: `assignment_ID_export/` with submission_metadata.yml and `submission_ID/…`.

    Gradescope documents no format. Source: programs that read such exports, and their tests with pieces of real ones:
    each top-level key is a folder's name; `:submitters:` lists `:name:`, `:sid:` (a text or a number) and `:email:`,
    more than one for a group, none for a submission without a student; `:created_at:` is such as
    `2026-04-26 17:34:00.861687000 Z`. The rest (results, history) is long, and written so that strict parsers refuse
    it: a closing quote or a bare `...` at the line's start. So only the two fields are read.
    """
    names = tops(tree, depth)
    metadata = next((leaf for leaf in tree.leaves if leaf.parts[depth:] == (METADATA,)), None)
    folders = [name for name, is_folder in names.items() if is_folder]
    if metadata is None and not (folders and all(map(SUBMISSION.fullmatch, folders))):
        return None
    notes: tuple[str, ...] = ()
    students: dict[str, tuple[Who, ...]] = {}
    try:
        if metadata is None:
            raise CourseError(f"there is no {METADATA}")
        students = dict(_students(read(metadata).decode("utf-8", "replace")))
    except CourseError as error:
        notes = (f"The names of the students are not known: {error.message.rstrip('.')}.",)

    def whose(parts: Parts, is_folder: bool) -> tuple[Who, ...]:
        if not parts or (len(parts) == 1 and not is_folder):
            return ()
        return students.get(parts[0]) or (_nameless(parts[0]) if SUBMISSION.fullmatch(parts[0]) else ())

    groups = [name for name, members in students.items() if len(members) > 1]
    if groups:
        notes += (f"{len(groups)} submissions are of groups ({_some(groups)}): each member gets a record.",)
    expected = tuple(who for members in students.values() for who in members)
    return at_depth(Layout("Gradescope", whose, expected, notes), depth)


def _students(text: str) -> Iterator[tuple[str, tuple[Who, ...]]]:
    for name, lines in _entries(text):
        fields = _yaml("\n".join(lines))
        time = fields.get("created_at")
        # ActiveSupport::TimeWithZone is written as a mapping.
        submitted_at = time_of(str(time.get("utc", "") if isinstance(time, dict) else time))
        members = [each for each in fields.get("submitters") or [] if isinstance(each, dict)]
        found = tuple(_gradescope_student(name, each, submitted_at) for each in members)
        yield name, found or _nameless(name, submitted_at)


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each submission's name, and the lines of the two fields; Ruby indents the fields by two, lists no deeper."""
    name, lines, wanted = "", list[str](), False
    for line in text.splitlines():
        if entry := ENTRY.fullmatch(line):
            if name:
                yield name, lines
            name, lines, wanted = entry[1], [], False
        elif field := FIELD.fullmatch(line):
            wanted = True
            lines.append(f"{field[1]}:{field[2]}")
        elif wanted and line.startswith(("  - ", "    ")):
            lines.append(line.removeprefix("  "))
        else:
            wanted = False
    if name:
        yield name, lines


def _yaml(text: str) -> dict[str, Any]:
    import yaml

    try:
        loaded = yaml.load(text, _loader())
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


@cache
def _loader() -> Any:
    """A safe loader that leaves numbers and times as texts, and reads Ruby's objects as the mappings that they are."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    Loader.add_multi_constructor("!ruby/", lambda loader, _, node: loader.construct_mapping(node, deep=True))
    for tag in ("!binary", "tag:yaml.org,2002:binary"):
        Loader.add_constructor(tag, _binary)
    return Loader


def _binary(loader: Any, node: Any) -> str:
    found: bytes = loader.construct_yaml_binary(node)
    return found.decode("utf-8", "replace")


def _gradescope_student(name: str, member: dict[str, Any], submitted_at: datetime | None) -> Who:
    told = {key.lstrip(":"): shown(str(value)) for key, value in member.items() if isinstance(value, str) and value}
    ids = tuple((key, told[key]) for key in ("email", "sid") if key in told)
    full_name = told.get("name") or told.get("email") or told.get("sid") or name
    identity = told.get("sid") or told.get("email") or f"{name}:{full_name}"
    key = "_".join(each for each in (full_name, told.get("sid")) if each)
    return Who(f"gradescope:{identity}", key, full_name, (*ids, _submission_id(name)), submitted_at=submitted_at)


def _nameless(name: str, submitted_at: datetime | None = None) -> tuple[Who, ...]:
    title = name.replace("_", " ")
    return (Who(f"gradescope:{name}", name, title, (_submission_id(name),), submitted_at=submitted_at),)


def _submission_id(name: str) -> tuple[str, str]:
    return "gradescope_submission_id", name.removeprefix("submission_")


def nbgrader(tree: Tree, depth: int, read: Read) -> Layout | None:
    """A course's folder of nbgrader, or its `submitted` folder: `submitted/STUDENT/ASSIGNMENT/*.ipynb`, timestamp.txt.

    Source: jupyter/nbgrader, docs/source/user_guide/philosophy.rst (18892d6a) for the folders; exchange/abc/exchange.py
    (0d5d6e81) for the time: `%Y-%m-%d %H:%M:%S.%f %Z`, zone UTC, both of which a course may set; utils.py (fe13ed01)
    takes one without a zone as UTC. The other steps' folders (source, release, autograded, feedback) hold no hand-ins.
    """
    names = tops(tree, depth)
    folders = {name for name, is_folder in names.items() if is_folder}
    if "submitted" in folders and folders <= STEPS and _has_notebooks(tree, depth + 3):
        start = depth + 1
    elif _is_submitted(tree, depth, folders):
        start = depth
    else:
        return None
    submitted = (*_above(tree, depth), *(("submitted",) if start > depth else ()))
    times = {leaf.parts[:-1]: _time(leaf, read) for leaf in tree.leaves if _is_timestamp(leaf, start)}
    unread = sorted("/".join(parts) for parts, time in times.items() if time is None)
    note = f"The time in {TIMESTAMP} could not be read for {_some(unread)}: expected such as 2026-01-30 10:30:47 UTC."

    def whose(parts: Parts, is_folder: bool) -> tuple[Who, ...]:
        student = parts[start : len(parts) - (not is_folder)]
        if not student or parts[:start] != submitted:
            return ()
        time = times.get(parts[: start + 2])
        return (
            Who(f"nbgrader:{student[0]}", student[0], student[0], (("nbgrader_student_id", student[0]),), None, time),
        )

    return Layout("nbgrader", whose, notes=(note,) if unread else (), strays=False)


def _above(tree: Tree, depth: int) -> Parts:
    return next((leaf.parts[:depth] for leaf in tree.leaves), ())


def _has_notebooks(tree: Tree, length: int) -> bool:
    return any(leaf.is_notebook and len(leaf.parts) > length for leaf in tree.leaves)


def _is_submitted(tree: Tree, depth: int, folders: set[str]) -> bool:
    """Whether the folder is `submitted` itself: nearly each student's folder holds an assignment with a timestamp."""
    if not folders:
        return False
    stamped = {leaf.parts[depth] for leaf in tree.leaves if _is_timestamp(leaf, depth)}
    return len(stamped) * 2 > len(folders) or (depth == 0 and tree.root.name == "submitted" and _has_notebooks(tree, 2))


def _is_timestamp(leaf: Leaf, start: int) -> bool:
    return len(leaf.parts) == start + 3 and leaf.parts[-1] == TIMESTAMP


def _time(leaf: Leaf, read: Read) -> datetime | None:
    try:
        return time_of(read(leaf)[:200].decode("utf-8", "replace"))
    except CourseError:
        return None


def time_of(text: str) -> datetime | None:
    """A time as these platforms write it, UTC where it names no zone; None for other texts and for zones' names."""
    match = TIME.fullmatch(text.strip())
    if match is None:
        return None
    moment, fraction, zone = match.groups()
    if zone.upper() in ("", "Z", "UTC", "GMT"):
        zone = "+00:00"
    try:
        return datetime.fromisoformat(f"{moment}{(fraction or '.0').ljust(7, '0')}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
