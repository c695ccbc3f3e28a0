"""Who is in the class: read from what Canvas or Moodle exports, and matched with those who handed something in.

Headings that are understood, whatever their case. Canvas's gradebook export (lib/gradebook_exporter.rb of
instructure/canvas-lms): Student (or LastName and FirstName), ID, SIS User ID, SIS Login ID, Section; its rows for
points and posting are no students. Moodle's participants and grades (in English): First name, Last name, Email
address, ID number, Username. Moodle's grading worksheet, which is best for hand-ins from Moodle, as it has the numbers
in the names of their folders too: Identifier, Full name, Email address.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput, NotFound
from course_lib.grade.keys import safe_key
from course_lib.grade.student import Student
from course_lib.grade.text import one_line
from course_lib.home import cannot_read

NAMES = {
    "student": "name", "full name": "name", "fullname": "name", "name": "name",
    "lastname": "last", "last name": "last", "surname": "last", "firstname": "first", "first name": "first",
}  # fmt: skip
IDS = {
    "id": "canvas_user_id", "sis user id": "sis_user_id", "sis login id": "sis_login_id", "section": "section",
    "email address": "email", "email": "email", "id number": "id_number", "username": "username",
    "identifier": "moodle_participant_id", "sid": "sid",
}  # fmt: skip

# Platforms call the same thing by different names; within one row a value names one person, whatever its heading.
SAME = {"email": "login", "sis_login_id": "login", "username": "login", "sis_user_id": "number", "id_number": "number"}
SAME |= {"sid": "number", "canvas_user_id": "canvas", "moodle_participant_id": "participant"}


@dataclass(frozen=True)
class Roster:
    """The class list. `students` have keys that are unique and safe as names of files."""

    file: str
    students: tuple[Student, ...]

    def match(self, handed_in: Iterable[Student]) -> tuple[dict[str, Student], dict[str, str]]:
        """Who of those that handed something in is who on the list.

        Returns, by the keys of `handed_in`: the students of the list, and for everybody else why there is none.
        A number, e-mail or login decides; a name does so only where nobody else has it on either side.
        """
        students = list(handed_in)
        by_id = _places(enumerate(map(_id_words, self.students)))
        by_name = _places(enumerate(map(_name_words, self.students)))
        namesakes = Counter(word for student in students for word in _name_words(student))
        found: dict[str, int] = {}
        why: dict[str, str] = {}
        for student in students:
            places = {place for word in _id_words(student) for place in by_id.get(word, ())}
            if not places:
                words = _name_words(student)
                named = {place for word in words for place in by_name.get(word, ())}
                alone = all(namesakes[word] == 1 for word in words)
                places = {place for place in named if alone and not _differ(student, self.students[place])}
            if len(places) == 1:
                [found[student.key]] = places
            else:
                how = "fits several people" if places else "is not found"
                why[student.key] = f"{one_line(student.name or student.key)} {how} in {self.file}."
        for place, times in Counter(found.values()).items():
            if times > 1:
                name = one_line(self.students[place].name)
                for key in [key for key, at in found.items() if at == place]:
                    del found[key]
                    why[key] = f"{times} students of the collection fit {name} in {self.file}."
        return {key: self.students[place] for key, place in found.items()}, why


def read_roster(path: Path) -> Roster:
    """The class list in a CSV file. Raises NotFound, CourseError or BadInput, saying what to do."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(f"There is no roster {path}.", action="Put it beside the class's TOML file.") from error
    except OSError as error:
        raise cannot_read(path, error) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} should be UTF-8; it is not.", action="Save it as “CSV UTF-8”.") from error
    try:
        rows = _rows(text)
    except csv.Error as error:
        raise BadInput(f"{path.name} should be CSV; {error}.", action="Export the class list again.") from error
    headings = [heading.strip().casefold() for heading in rows[0]] if rows else []
    if not set(headings) & NAMES.keys():
        raise BadInput(
            f"The first line of {path.name} should name the columns of a class list, such as Student, ID, SIS Login ID "
            f"or First name, Last name, Email address; received {', '.join(headings[:8]) or 'nothing'}.",
            action="Export Canvas's gradebook, or Moodle's participants in English, and give that file.",
        )
    students: list[Student] = []
    for n, row in enumerate(rows[1:], 2):
        cells = {heading: cell.strip() for heading, cell in zip(headings, row, strict=False) if cell.strip()}
        name = _name(cells)
        if not name or name.startswith("Points Possible"):
            continue
        ids = {IDS[heading]: cell for heading, cell in cells.items() if heading in IDS}
        if "moodle_participant_id" in ids:
            ids["moodle_participant_id"] = re.sub(r"^\D+", "", ids["moodle_participant_id"])
        student = Student(f"row_{n}", one_line(name), ids)
        students.append(Student(key_for(student.name, {s.key for s in students}), student.name, ids))
    return Roster(path.name, tuple(students))


def _rows(text: str) -> list[list[str]]:
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    return [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter) if any(row)]


def _name(cells: Mapping[str, str]) -> str:
    parts = {NAMES[heading]: cell for heading, cell in cells.items() if heading in NAMES}
    return parts.get("name") or f"{parts.get('first', '')} {parts.get('last', '')}".strip()


def key_for(name: str, taken: Iterable[str]) -> str:
    """A key made of a name, safe as the name of a file and different from those taken, whatever the file system."""
    base = safe_key(name)
    folded = {_folded(key) for key in taken}
    n = 1
    while _folded(key := base if n == 1 else f"{base}_{n}") in folded:
        n += 1
    return key


def _folded(key: str) -> str:
    return unicodedata.normalize("NFKC", key).casefold()


def _places(words: Iterable[tuple[int, set[str]]]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for place, each in words:
        for word in each:
            found.setdefault(word, set()).add(place)
    return found


def _id_words(student: Student) -> set[str]:
    return {f"{SAME[key]} {value.strip().casefold()}" for key, value in student.ids.items() if key in SAME and value}


def _differ(one: Student, other: Student) -> bool:
    """Whether a number or address of the same kind tells the two apart, whatever their names say."""
    shared = SAME.keys() & one.ids.keys() & other.ids.keys()
    return any(one.ids[key].strip().casefold() != other.ids[key].strip().casefold() for key in shared)


def _name_words(student: Student) -> set[str]:
    """The ways in which a platform may squeeze a name: "Ada Lovelace" is also "Lovelace, Ada" and "lovelaceada"."""
    last, _, first = student.name.partition(",")
    words = student.name.split()
    turned = f"{first} {last}" if first else " ".join([*words[-1:], *words[:-1]])
    return {_squeezed(name) for name in (student.name, turned)} - {""}


def _squeezed(name: str) -> str:
    folded = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in folded if letter.isalnum())


def merged(student: Student, listed: Student) -> Student:
    """A student of the collection, under its own key, with the list's name and all that either side calls them."""
    return Student(student.key, listed.name, {**student.ids, **listed.ids})


def absent(roster: Roster, found: Iterable[Student], taken: Sequence[str]) -> list[Student]:
    """Those on the list who handed in nothing, under keys that nobody of the collection has."""
    there = {student.key for student in found}
    keys = list(taken)
    missing = []
    for student in roster.students:
        if student.key not in there:
            keys.append(key_for(student.name, keys))
            missing.append(Student(keys[-1], student.name, student.ids))
    return missing
