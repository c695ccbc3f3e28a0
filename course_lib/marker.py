"""Markers of answers as learners leave them: `# exercise: digits/step` in another case, spacing, line or alphabet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from course_lib.answer import exercise_of

# Cyrillic letters, Greek letters, signs: autocorrection, other keyboards and copies from a PDF give them. All are in
# lower case, so that capitals which look alike (В, Н, Т) stand here too.
LOOK_ALIKE = str.maketrans(
    "аеорсхуікѕјԁһӏвнмтɡ" "αεικνορτυχ" "∕⁄⧸꞉∶ː–—−‐‑",
    "aeopcxyiksjdhlbhmtg" "aeikvoptux" "///:::-----",
)  # fmt: skip
MARKER = re.compile(r"#+\s*exercise\s*[:=]?\s*(?P<id>[^:=#]+?)\s*(?:#.*)?")
# Where a marker may stand when other lines were put before it.
HEAD_LINES, HEAD_CHARACTERS = 10, 2_000


@dataclass(frozen=True)
class Marker:
    """The marker of a cell. `exercise` is the id that it means, `text` its line as written, `lines_before` those above.

    `exact` says whether it is written as the course writes it, in the first line.
    """

    exercise: str
    text: str
    exact: bool
    lines_before: int = 0


def find_marker(source: str, exercises: Collection[str]) -> Marker | None:
    """The marker of one of these exercises at the head of a cell's text, or None.

    One that is not exact counts when it stands before any code (comments, magics and empty lines may precede it) and,
    read without regard to case, spacing and alphabet, means just one of the exercises.
    """
    exact = exercise_of(source)
    if exact is not None and exact in exercises:
        return Marker(exact, f"# exercise: {exact}", True)
    for number, line in enumerate(source[:HEAD_CHARACTERS].split("\n")[:HEAD_LINES]):
        text = fold(line)
        if found := MARKER.fullmatch(text):
            wanted = _bare(found["id"])
            meant = [each for each in exercises if _bare(fold(each)) == wanted]
            return Marker(meant[0], line.strip()[:80], False, number) if len(meant) == 1 else None
        if text and not text.startswith(("#", "%", "!")):
            return None
    return None


def fold(text: str) -> str:
    """The text in lower case, without invisible signs, look-alikes of ASCII letters as these; spaces stripped."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(LOOK_ALIKE)
    return "".join(sign for sign in plain if sign.isprintable() or sign.isspace()).strip()


def with_exact_marker(source: str, marker: Marker) -> tuple[str, str]:
    """The cell's text under the marker as the course writes it, and the cell magic that had to be dropped, or "".

    IPython takes `%%time` in a cell's first line only.
    """
    lines = source.split("\n")
    del lines[marker.lines_before]
    return under_marker(marker.exercise, "\n".join(lines))


def under_marker(exercise: str, source: str) -> tuple[str, str]:
    """A text without a marker put under that of the exercise, and the cell magic that had to be dropped, or ""."""
    body = source.lstrip("\n")
    magic = ""
    if body.lstrip().startswith("%%"):
        magic, _, body = body.lstrip().partition("\n")
    return f"# exercise: {exercise}\n{body}", magic.strip()


def is_empty(source: str) -> bool:
    """Whether a cell holds nothing but comments."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in source.split("\n"))


def _bare(exercise: str) -> str:
    return re.sub(r"[\s_-]+", "", exercise)
