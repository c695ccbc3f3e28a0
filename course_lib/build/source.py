"""Reads a lesson source: Jupytext Markdown, cells with track tags. Refuses what would go wrong without a word."""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import Any

from course_lib.answer import exercise_of
from course_lib.errors import BadSource, NotFound
from course_lib.frameworks import TRACKS
from course_lib.kinds import HOLE
from course_lib.lessons import COMPARE, Lesson, source_parts

KNOWN_TAGS = {"task", "parameters", "nbval-ignore-output", "raises-exception"}
FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*(.*)$")
# Between BEGIN and END stands the solution; after INSTEAD, as comments, the faulty lines of a debugging exercise.
BEGIN, INSTEAD, END = "### BEGIN SOLUTION", "### INSTEAD", "### END SOLUTION"
TRACK_LABELS = re.compile(r"^\*\*(NumPy|PyTorch|fastai|Keras|JAX|TensorFlow)\*\*$")


@dataclass(frozen=True)
class Cell:
    """One cell of a source. `tracks` is empty when it belongs to all; `tags` are those that stay in the notebook."""

    kind: str
    source: str
    tracks: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    id: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    def belongs_to(self, track: str) -> bool:
        return not self.tracks or track in self.tracks


def read_cells(lesson: Lesson, track: str) -> list[Cell]:
    """The cells of one track (or of compare), in order, solutions still between their markers.

    Raises BadSource, naming the file and the line or cell, for anything that the build would get wrong silently.
    """
    lesson.require_track(track)
    paths = [lesson.folder / "compare.md"] if track == COMPARE else source_parts(lesson.folder)
    cells: list[Cell] = []
    for path in paths:
        where = f"{lesson.name}/{path.name}"
        text = path.read_text(encoding="utf-8")
        check_fences(text, where)
        cells += parse(text, where)
    own = _with_ids([cell for cell in cells if cell.belongs_to(track)])
    check_exercises(lesson, track, own)
    return own


def check_fences(text: str, where: str) -> None:
    """Refuse fences that Jupytext would turn into something else than what the author sees.

    A fence of another language becomes an executed cell, a python fence inside a region becomes prose.
    """
    fence, region = "", False
    for number, line in enumerate(text.split("\n"), 1):
        found = FENCE.match(line)
        if fence:
            fence = "" if found and found[1].startswith(fence) and not found[2].strip() else fence
        elif found:
            fence, language = found[1], found[2].split(" ")[0].strip()
            if language not in ("python", "text", ""):
                raise BadSource(
                    f"{where}, line {number}: a {language} fence becomes a cell that is run.", action="Use `text`."
                )
            if language == "python" and region:
                raise BadSource(
                    f"{where}, line {number}: a python fence inside a region becomes prose.", action="Move it out."
                )
            if language == "":
                raise BadSource(
                    f"{where}, line {number}: a fence needs a language.", action="Write ```text or ```python."
                )
        elif line.startswith("<!-- #region"):
            region = True
        elif line.startswith("<!-- #endregion"):
            region = False
    if fence:
        raise BadSource(f"{where}: the last fence is never closed.", action="Add the closing line ```.")


def parse(text: str, where: str) -> list[Cell]:
    """All cells of a source text, for all tracks."""
    try:
        import jupytext
    except ImportError as error:
        raise NotFound(
            "Reading a lesson's source needs jupytext, which is not installed.",
            action='Run pip install "every-framework[lab]".',
        ) from error
    cells = [_cell(raw, where) for raw in jupytext.reads(text, fmt="md").cells if raw.cell_type != "raw"]
    return [cell for cell in cells if cell.source.strip()]


def _cell(raw: Any, where: str) -> Cell:
    metadata = dict(raw.metadata)
    tags = list(metadata.pop("tags", []))
    source = str(raw.source)
    title = source.strip().split("\n")[0][:50]
    if unknown := set(tags) - KNOWN_TAGS - set(TRACKS):
        raise BadSource(
            f"{where}, cell {title!r}: unknown tags {', '.join(sorted(unknown))}.",
            action=f"Known: {', '.join(sorted(KNOWN_TAGS | set(TRACKS)))}.",
        )
    given = str(metadata.pop("id", ""))
    if metadata.pop("lines_to_next_cell", None) is not None or metadata:
        allowed = {"colab"}
        if odd := set(metadata) - allowed:
            raise BadSource(
                f"{where}, cell {title!r}: unknown attributes {', '.join(sorted(odd))}.", action="Use tags and id."
            )
    if raw.cell_type == "markdown":
        # Two labels in a row would glue to the prose around them; only one on a line of its own is dropped.
        source = "\n".join(line for line in source.split("\n") if not TRACK_LABELS.match(line.strip())).strip("\n")
    cell = Cell(
        raw.cell_type,
        source,
        frozenset(tags) & frozenset(TRACKS),
        tuple(t for t in tags if t in KNOWN_TAGS),
        given,
        metadata,
    )
    if cell.kind == "code":
        check_code(cell, f"{where}, cell {title!r}")
    return cell


def check_code(cell: Cell, where: str) -> None:
    """Refuse a cell that is not valid Python with and without its solution, or whose hole is outside a function."""
    from IPython.core.inputtransformer2 import TransformerManager

    for text in (solution(cell.source), with_hole(cell.source, where)):
        try:
            tree = ast.parse(TransformerManager().transform_cell(text))  # type: ignore[no-untyped-call]
        except SyntaxError as error:
            raise BadSource(
                f"{where}: not valid Python, line {error.lineno}: {error.msg}.", action="Mend the cell."
            ) from error
        for node in tree.body:
            if isinstance(node, ast.Raise) and BEGIN in cell.source:
                raise BadSource(
                    f"{where}: a hole outside a function takes every later cell down.", action="Put it into a function."
                )


def solution(source: str) -> str:
    """The cell with its solution: without the marker lines, and without what a learner gets instead."""
    return "\n".join(line for part, line in _parts(source, "the cell") if part in ("around", "solution"))


def with_hole(source: str, where: str) -> str:
    """The learner's cell: a solution gives way to `raise NotImplementedError`, or to the lines after INSTEAD."""
    parts = _parts(source, where)
    out: list[str] = []
    for number, (part, line) in enumerate(parts):
        if part in ("around", "instead"):
            # A faulty line stands in the source as a comment, so that the source itself is right code.
            out.append(line.replace("# ", "", 1) if part == "instead" else line)
        elif part == "end" and not any(p == "instead" for p, _ in _block(parts, number)):
            pad = line[: len(line) - len(line.lstrip())]
            name = exercise_of(source) or "your turn"
            out.append(f'{pad}raise NotImplementedError("{name}: {HOLE}")')
    return "\n".join(out)


def _block(parts: list[tuple[str, str]], end: int) -> list[tuple[str, str]]:
    """The parts of the block that ends here."""
    begin = max(i for i in range(end) if parts[i][0] == "begin")
    return parts[begin:end]


def _parts(source: str, where: str) -> list[tuple[str, str]]:
    """Each line with its part: around, begin, solution, instead-mark, instead, end. Lone markers raise BadSource."""
    part, out = "around", []
    follows = {
        ("around", BEGIN): "solution",
        ("solution", INSTEAD): "instead",
        ("solution", END): "around",
        ("instead", END): "around",
    }
    names = {BEGIN: "begin", INSTEAD: "instead-mark", END: "end"}
    for line in source.split("\n"):
        mark = line.strip()
        if mark not in names:
            out.append((part, line))
            continue
        if (part, mark) not in follows:
            raise BadSource(
                f"{where}: {mark} is out of place.", action=f"Write {BEGIN}, then {END}, around each solution."
            )
        part = follows[part, mark]
        out.append((names[mark], line))
    if part != "around":
        raise BadSource(f"{where}: {BEGIN} without {END}.", action="Add the end.")
    return out


def check_exercises(lesson: Lesson, track: str, cells: list[Cell]) -> None:
    """The answer cells of a track must be the exercises that the front matter names for it, each once."""
    if track == COMPARE:
        return
    found = [e for cell in cells if cell.kind == "code" and (e := exercise_of(cell.source))]
    wanted = [e.id for e in lesson.exercises_of(track)]
    if sorted(found) != sorted(wanted):
        odd = sorted(set(found) ^ set(wanted)) or sorted({e for e in found if found.count(e) > 1})
        raise BadSource(
            f"{lesson.name}, track {track}: answer cells and front matter disagree about {', '.join(odd)}.",
            action="Each exercise of the track needs one cell that begins with `# exercise: <id>`.",
        )


def _with_ids(cells: list[Cell]) -> list[Cell]:
    """Give each cell of a track an id, its own or one from its content: the same source gives the same notebook."""
    seen: dict[str, int] = {}
    out = []
    for cell in cells:
        key = cell.id or hashlib.sha256(f"{cell.kind}{cell.source}".encode()).hexdigest()[:10]
        seen[key] = seen.get(key, 0) + 1
        if cell.id and seen[key] > 1:
            raise BadSource(f"The cell id {cell.id!r} stands twice in one track.", action="Give each cell its own.")
        out.append(replace(cell, id=key if seen[key] == 1 else f"{key}-{seen[key]}"))
    return out


def task_source(lesson: Lesson, track: str) -> list[tuple[str, str]]:
    """The track's cells that are tagged `task`, solutions in place: (cell id, code). They define `train(task)`."""
    cells = [c for c in read_cells(lesson, track) if c.kind == "code" and "task" in c.tags]
    if not cells:
        raise NotFound(
            f"Lesson {lesson.name} has no task to run in the {track} track.", action="Choose another lesson."
        )
    return [(cell.id, solution(cell.source)) for cell in cells]
