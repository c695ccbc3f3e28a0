"""What this learner has solved: one local JSON file, safe against crashes and against two notebooks at once."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course_lib.home import cannot_read, damaged_path, home, locked, write_bytes_atomically, write_json

FORMAT = 1


def progress_path() -> Path:
    """The file that holds the progress. Raises CannotSave when the learner's folder cannot be made."""
    return home() / "progress.json"


@dataclass
class Progress:
    """A snapshot of the learner's progress, keyed `lesson/exercise@track`, for example "digits/step@torch".

    Reading asks the snapshot; `record_attempt` reads the file again under a lock, so no other process's entry is lost.
    `damaged` says what happened when the file could not be read in full, else it is None.
    """

    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    damaged: str | None = None

    @classmethod
    def load(cls) -> Progress:
        """Read the learner's progress.

        A damaged file is moved aside, never lost, and this is said once on stderr; the copy from before the last
        attempt then stands in. Raises CannotSave when the learner's folder cannot be made.
        """
        document, damaged = _peek(), None
        if document is None:
            with locked(progress_path()):
                document, damaged = _read_or_rescue()
        if damaged is not None:
            print(damaged, file=sys.stderr)
        return cls(_entries(document), damaged)

    def record_attempt(
        self, exercise: str, track: str, *, passed: bool, mark: float, max_mark: float, source: str | None
    ) -> None:
        """Add one attempt and save it at once.

        `mark` and `max_mark` are in points; `source` is the answer cell's text, kept when it passed. What was passed
        once stays passed, and the best mark stays. Raises CannotSave, the file as it was before, when saving fails.
        """
        path = progress_path()
        with locked(path):
            document, damaged = _read_or_rescue()
            before = {**document, "exercises": {key: dict(entry) for key, entry in _entries(document).items()}}
            entry = document["exercises"].setdefault(_key(exercise, track), {})
            _add_attempt(entry, passed=passed, mark=mark, max_mark=max_mark, source=source)
            if before["exercises"]:
                write_json(_previous(path), before)
            write_json(path, document)
        if damaged is not None:
            print(damaged, file=sys.stderr)
        self.entries, self.damaged = _entries(document), damaged or self.damaged

    def attempts(self, exercise: str, track: str) -> int:
        """How often the exercise failed in this track since it last passed."""
        return int(self.entries.get(_key(exercise, track), {}).get("failed_since_pass", 0))

    def passed(self, exercise: str, track: str) -> bool:
        """Whether the exercise was ever passed in this track."""
        return bool(self.entries.get(_key(exercise, track), {}).get("passed", False))

    def passed_anywhere(self, exercise: str) -> bool:
        """Whether the exercise was ever passed, in whatever track: what counts for a core exercise."""
        return any(entry.get("passed") for _, entry in self._tracks_of(exercise))

    def answer_source(self, exercise: str) -> str | None:
        """The text of the answer cell that passed last, in whatever track, or None when there is none."""
        found = [(str(entry.get("passed_at", "")), str(entry["source"])) for _, entry in self._tracks_of(exercise)
                 if entry.get("passed") and entry.get("source")]  # fmt: skip
        return max(found)[1] if found else None

    def _tracks_of(self, exercise: str) -> list[tuple[str, dict[str, Any]]]:
        return [(key, entry) for key, entry in self.entries.items() if key.rpartition("@")[0] == exercise]


def _key(exercise: str, track: str) -> str:
    return f"{exercise}@{track}"


def _previous(path: Path) -> Path:
    return path.with_name("progress.previous.json")


def _add_attempt(entry: dict[str, Any], *, passed: bool, mark: float, max_mark: float, source: str | None) -> None:
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    entry["tries"] = int(entry.get("tries", 0)) + 1
    entry["failed_since_pass"] = 0 if passed else int(entry.get("failed_since_pass", 0)) + 1
    entry["passed"] = bool(entry.get("passed", False)) or passed
    entry["mark"] = max(float(entry.get("mark", 0.0)), float(mark))
    entry["max_mark"] = float(max_mark)
    entry["tried_at"] = now
    if passed:
        entry["passed_at"] = now
        if source is not None:
            entry["source"] = source


def _peek() -> dict[str, Any] | None:
    """The progress document when it is sound (or not there yet), None when it is damaged; changes nothing."""
    try:
        document = json.loads(progress_path().read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return {"format": FORMAT, "exercises": {}}
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return None
    except OSError as error:
        raise cannot_read(progress_path(), error) from error
    return document if _is_sound(document) else None


def _read_or_rescue() -> tuple[dict[str, Any], str | None]:
    """The progress document, and a sentence when it had to be rescued. The caller holds the lock."""
    document = _peek()
    if document is not None:
        return document, None
    path, kept = progress_path(), damaged_path(progress_path())
    # A copy, not a rename: on a full disk the damaged file must stay where the next attempt finds it.
    write_bytes_atomically(kept, path.read_bytes())
    entries = _rescue(path) or _rescue(_previous(path))
    document = {"format": FORMAT, "exercises": entries}
    write_json(path, document)
    return document, (
        f"Your progress file {path} was damaged. It was kept as {kept.name}, and the course goes on with the "
        f"{len(entries)} exercise{'' if len(entries) == 1 else 's'} that could still be read from it or from the copy "
        "before it."
    )


def _is_sound(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("exercises"), dict) and all(
        isinstance(entry, dict) for entry in document["exercises"].values()
    )  # fmt: skip


def _rescue(path: Path) -> dict[str, dict[str, Any]]:
    """Every entry that can be read from this file, none when it is no JSON or not there."""
    try:
        document = json.loads(path.read_bytes().decode("utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    exercises = document.get("exercises") if isinstance(document, dict) else None
    entries = exercises.items() if isinstance(exercises, dict) else ()
    return {key: entry for key, entry in entries if isinstance(entry, dict)}


def _entries(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = document["exercises"]
    return entries
