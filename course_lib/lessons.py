"""What lessons, tracks and exercises exist: read from the front matter of the sources, the only registry."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.errors import BadSource, NotFound
from course_lib.frameworks import TRACKS
from course_lib.shipped import shipped

COMPARE = "compare"
RUNTIMES = ("cpu", "gpu", "tpu")


@dataclass(frozen=True)
class Exercise:
    """One exercise. A `core` exercise is solved once per lesson, in NumPy; an idiom exercise once per track."""

    id: str
    title: str
    kind: str
    marks: float
    core: bool
    tracks: tuple[str, ...]


@dataclass(frozen=True)
class Lesson:
    """One lesson, as its source's front matter describes it. `name` is the folder, `slug` starts its exercises' ids.

    `task` is what `load_task` is asked for when the lesson is run. `extras` names, for a track that needs more than its
    own extra, the extra that includes it.
    """

    name: str
    slug: str
    title: str
    tracks: tuple[str, ...]
    minutes: int
    difficulty: int
    requires: tuple[str, ...]
    outcomes: tuple[str, ...]
    claims: tuple[str, ...]
    runtime: str
    exercises: tuple[Exercise, ...]
    folder: Path
    task: str = "digits"
    extras: Mapping[str, str] = field(default_factory=dict, hash=False)
    # Per track, what its kernels need in their environment before anything is imported.
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    # False where the learner chooses a device before the import: then nothing is imported ahead.
    warm: bool = True

    def exercises_of(self, track: str) -> tuple[Exercise, ...]:
        """The exercises of one track, in the order in which they are met."""
        return tuple(e for e in self.exercises if track in e.tracks)

    @property
    def reference_track(self) -> str:
        """The track whose curve the others' are compared with: NumPy where the lesson has it, else the first."""
        return "numpy" if "numpy" in self.tracks else self.tracks[0]

    @property
    def compares(self) -> bool:
        """Whether the lesson has a compare notebook."""
        return (self.folder / "compare.md").is_file()

    @property
    def notebooks(self) -> tuple[str, ...]:
        """The names by which its notebooks are built: each track, then compare."""
        return self.tracks + ((COMPARE,) if self.compares else ())

    def notebook(self, track: str) -> str:
        """The path of a notebook below `notebooks/` or `solutions/`, with forward slashes."""
        return f"{self.name}/{self.slug}_{track}.ipynb"

    def require_track(self, track: str) -> str:
        """Return `track`, or raise NotFound naming those that the lesson has."""
        if track not in self.notebooks:
            raise NotFound(
                f"Lesson {self.name} has no track {track!r}; it has {', '.join(self.notebooks)}.",
                action=_nearest(track, self.notebooks),
            )
        return track


def _nearest(word: str, words: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(words), n=1, cutoff=0.4)
    return f"Did you mean {near[0]!r}?" if near else "Use one of these."


def front_matter(text: str, where: str) -> dict[str, Any]:
    """The YAML between the first two `---` lines. Raises BadSource when there is none."""
    import yaml

    parts = text.split("---\n", 2)
    if len(parts) < 3 or parts[0].strip():
        raise BadSource(f"{where} should begin with front matter between two lines of ---; there is none.")
    loaded = yaml.safe_load(parts[1])
    if not isinstance(loaded, dict):
        raise BadSource(f"The front matter of {where} should be a mapping; it is a {type(loaded).__name__}.")
    return loaded


def source_parts(folder: Path) -> list[Path]:
    """The files that make up a lesson: lesson.md, or lesson.md and numbered parts in their order."""
    parts = sorted(folder.glob("[0-9]*_*.md"), key=lambda p: int(p.name.split("_")[0]))
    return [folder / "lesson.md", *parts]


def _exercise(raw: dict[str, Any], slug: str, tracks: tuple[str, ...], where: str) -> Exercise:
    own = tuple(raw.get("tracks", tracks))
    if unknown := set(own) - set(tracks):
        raise BadSource(f"{where}: exercise {raw.get('id')} names tracks that the lesson lacks: {', '.join(unknown)}.")
    if not str(raw["id"]).startswith(f"{slug}/"):
        raise BadSource(f"{where}: exercise ids begin with {slug}/; received {raw['id']}.")
    return Exercise(raw["id"], raw["title"], raw["kind"], float(raw.get("marks", 1)), bool(raw.get("core", False)), own)


@cache
def _read(path: Path) -> Lesson:
    where = f"{path.parent.name}/{path.name}"
    raw = front_matter(path.read_text(encoding="utf-8"), where)
    needed = (
        "title",
        "slug",
        "tracks",
        "minutes",
        "difficulty",
        "requires",
        "outcomes",
        "claims",
        "runtime",
        "exercises",
    )
    if missing := [key for key in needed if key not in raw]:
        raise BadSource(f"The front matter of {where} lacks {', '.join(missing)}.", action="See CONTRIBUTING.md.")
    tracks = tuple(raw["tracks"])
    if unknown := set(tracks) - set(TRACKS):
        raise BadSource(f"{where}: unknown tracks {', '.join(unknown)}; the course has {', '.join(TRACKS)}.")
    if raw["runtime"] not in RUNTIMES:
        raise BadSource(f"{where}: `runtime` should be one of {', '.join(RUNTIMES)}; received {raw['runtime']!r}.")
    return Lesson(
        name=path.parent.name,
        slug=raw["slug"],
        title=raw["title"],
        tracks=tracks,
        minutes=int(raw["minutes"]),
        difficulty=int(raw["difficulty"]),
        requires=tuple(raw["requires"]),
        outcomes=tuple(raw["outcomes"]),
        claims=tuple(raw["claims"]),
        runtime=raw["runtime"],
        exercises=tuple(_exercise(e, raw["slug"], tracks, where) for e in raw["exercises"]),
        folder=path.parent,
        task=str(raw.get("task", "digits")),
        extras=dict(raw.get("extras", {})),
        environment=_environment(raw.get("environment", {}), tracks, where),
        warm=bool(raw.get("warm", True)),
    )


def _environment(raw: Any, tracks: tuple[str, ...], where: str) -> dict[str, dict[str, str]]:
    """`environment:` of the front matter, a mapping of variables for each track that needs some."""
    if not isinstance(raw, dict) or set(raw) - set(tracks) or not all(isinstance(v, dict) for v in raw.values()):
        raise BadSource(
            f"{where}: `environment` should name variables per track of the lesson; received {raw!r}.",
            action='Write it as: environment: {jax: {JAX_NUM_CPU_DEVICES: "8"}}',
        )
    if bare := [name for values in raw.values() for name, value in values.items() if not isinstance(value, str)]:
        raise BadSource(
            f"{where}: the values in `environment` should be text; that of {bare[0]} is not.",
            action="Put it between quotation marks.",
        )
    return {track: dict(values) for track, values in raw.items()}


def lessons() -> list[Lesson]:
    """All lessons, in their fixed order."""
    return [_read(path) for path in sorted(shipped("solutions").glob("[0-9]*_*/lesson.md"))]


def lesson(name: str) -> Lesson:
    """The lesson of this folder name or slug. Raises NotFound, naming the nearest."""
    known = lessons()
    for candidate in known:
        if name in (candidate.name, candidate.slug):
            return candidate
    names = [candidate.name for candidate in known]
    raise NotFound(f"There is no lesson {name!r}; the course has {', '.join(names)}.", action=_nearest(name, names))


def exercise(exercise_id: str) -> Exercise:
    """The exercise of this id, such as "digits/step". Raises NotFound, naming the nearest."""
    every = {e.id: e for each in lessons() for e in each.exercises}
    if exercise_id not in every:
        raise NotFound(f"There is no exercise {exercise_id!r}.", action=_nearest(exercise_id, every))
    return every[exercise_id]
