"""What Colab needs of the course: the repository's address, the links and the set-up cell of every notebook."""

from __future__ import annotations

from course_lib.frameworks import TABLE
from course_lib.lessons import COMPARE, Lesson, lessons

# The only place where the address of the repository stands: links and the set-up cells are generated from it.
REPOSITORY = "https://github.com/every-framework/every-framework"
BRANCH = "main"

TITLE = '#@title Set up (run once) { display-mode: "form" }'

TRACK_NAMES = {**{track: framework.title for track, framework in TABLE.items()}, COMPARE: COMPARE}

# Debian's own packages have versions that pip cannot read (2.22.1ubuntu1); one of them would spoil the whole file.
_SETUP = r"""{title}
import importlib.metadata, importlib.util, os, pathlib, re, tempfile
if importlib.util.find_spec("course_lib") is None:
    if not os.environ.keys() & {{"COLAB_RELEASE_TAG", "COURSE_WHEEL"}}:
        raise ImportError({missing})
    course = os.environ.get("COURSE_WHEEL", "{source}")
    # Each version that is here becomes a constraint: pip adds what is missing and changes nothing, or says why not.
    there = {{(d.metadata["Name"] or "").lower(): d.version for d in reversed([*importlib.metadata.distributions()])}}
    readable = re.compile(r"[\d.]+(\.?(a|b|rc|post|dev)\d+)*(\+[\w.]+)?")
    keep = pathlib.Path(tempfile.gettempdir(), "course-constraints.txt")
    keep.write_text("\n".join(f"{{n}}=={{v}}" for n, v in sorted(there.items()) if n and readable.fullmatch(v)))
    %pip install -q -c "{{keep}}" "{{course}}"
    importlib.invalidate_caches()
import course_lib
course_lib.begin("{lesson}", "{track}")"""
_MISSING = """'No course in this kernel. In the clone: pip install -e ".[{needs}]", then restart it.'"""
_WIDTH, _BEFORE = 120, len("        raise ImportError()")


def colab_link(lesson: Lesson, track: str) -> str:
    """Address that opens the learner's notebook of this track in Colab.

    Raises NotFound when the lesson has no such track.
    """
    repository = REPOSITORY.removeprefix("https://github.com/")
    notebook = lesson.notebook(lesson.require_track(track))
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/notebooks/{notebook}"


def colab_badge(lesson: Lesson, track: str) -> str:
    """Markdown of the "Open in Colab" picture with its link."""
    picture = "https://colab.research.google.com/assets/colab-badge.svg"
    return f"[![Open this notebook in Colab]({picture})]({colab_link(lesson, track)})"


def course_source(extra: str = "") -> str:
    """What pip installs on Colab: the course from its repository, with `extra` where Colab lacks what a track needs."""
    name = f"every-framework[{extra}] @ " if extra else ""
    return f"{name}git+{REPOSITORY}@{BRANCH}"


def setup_cell(lesson: str, track: str, extra: str = "") -> str:
    """Source of the first code cell: makes `course_lib` importable where it is not, then begins the lesson.

    On Colab it installs the course with every installed version as a constraint, so that no package of Colab's moves
    and no restart is needed. COURSE_WHEEL (a path or a requirement) replaces the repository as the source, anywhere.
    Elsewhere, without the course, the cell raises ImportError with the command to run.
    """
    needs = ",".join(filter(None, (TABLE[track].extra if track in TABLE else "lab", extra)))
    missing = _MISSING.format(needs=needs)
    if _BEFORE + len(missing) > _WIDTH:
        missing = f"\n            {missing}\n        "
    return _SETUP.format(title=TITLE, missing=missing, source=course_source(extra), lesson=lesson, track=track)


def readme_matrix() -> str:
    """The table lesson × track of Colab links, as it stands in the README."""
    known = lessons()
    tracks = [track for track in TRACK_NAMES if any(track in lesson.notebooks for lesson in known)]
    head = ["lesson", "minutes", *(TRACK_NAMES[track] for track in tracks)]
    rows = [head, ["---"] * len(head), *(_row(lesson, tracks) for lesson in known)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(lesson: Lesson, tracks: list[str]) -> list[str]:
    links = [f"[{TRACK_NAMES[t]}]({colab_link(lesson, t)})" if t in lesson.notebooks else "" for t in tracks]
    return [f"[{lesson.name}](solutions/{lesson.name}) {lesson.title}", str(lesson.minutes), *links]
