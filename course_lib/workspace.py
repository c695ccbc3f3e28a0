"""The learner's working copy of the notebooks: brought up to date where unedited, never overwritten where edited.

Beside the notebooks lies `.course/manifest.json`: for each file the fingerprint of what the course laid there, and of
the release that it came from. A file with another fingerprint was edited, and a newer release lands beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.errors import CannotSave, NotFound
from course_lib.home import cannot_read, make_folder, read_json, write_bytes_atomically, write_json
from course_lib.notebook import BadNotebook, answer_cells, parse_notebook
from course_lib.progress import Progress
from course_lib.shipped import shipped

MANIFEST = Path(".course") / "manifest.json"


@dataclass
class CopyReport:
    """What happened to each notebook; paths are relative to `folder`, with forward slashes.

    copied: was not there. refreshed: replaced, because nobody had edited it. kept: already as it should be, or edited.
    beside: edited, so the newer release lies under the second name. filled: answers of core exercises put in.
    """

    folder: Path
    copied: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)
    filled: list[tuple[str, str]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The report in sentences."""
        said = [f"Your notebooks are in {self.folder}"]
        for words, paths in (
            ("copied", self.copied),
            ("brought up to date", self.refreshed),
            ("kept as it is", self.kept),
        ):
            if paths:
                few = ", ".join(paths) if len(paths) <= 3 else f"{len(paths)} files"
                said.append(f"  {words}: {few}")
        for path, new in self.beside:
            said.append(f"  {path} has your edits and was left alone; the newer release lies beside it as {new}")
        for path, exercise in self.filled:
            said.append(f"  {path}: your own answer to {exercise} was put in")
        return said

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "folder": str(self.folder),
            "copied": self.copied,
            "refreshed": self.refreshed,
            "kept": self.kept,
            "beside": [{"kept": kept, "new": new} for kept, new in self.beside],
            "filled": [{"notebook": notebook, "exercise": exercise} for notebook, exercise in self.filled],
        }


def copy_notebooks(dest: Path) -> CopyReport:
    """Lay the course's notebooks into `dest`, or bring them up to date there.

    Answers to core exercises that the learner has solved in another track are filled in where a file is written.
    Raises CannotSave when something cannot be written; what was there before is untouched, and calling again goes on.
    """
    dest = make_folder(Path(dest).expanduser().absolute())
    report = CopyReport(dest)
    progress = Progress.load()
    manifest: dict[str, Any] = _sound(read_json(dest / MANIFEST, {}))
    try:
        for source in _files(shipped("notebooks")):
            _lay(source, report, manifest, progress)
    finally:
        write_json(dest / MANIFEST, manifest)
    return report


def fingerprint(data: bytes) -> str:
    """What tells an edited file from an unedited one: a notebook's cells and outputs, any other file's bytes.

    JupyterLab rewrites metadata, ids and execution counts when it only opens and saves; that is no edit.
    """
    try:
        notebook = parse_notebook(data.decode("utf-8"), Path())
    except (UnicodeDecodeError, BadNotebook):
        return hashlib.sha256(data).hexdigest()
    cells = [
        [cell.get("cell_type"), cell["source"], cell.get("outputs") or [], cell.get("attachments") or {}]
        for cell in notebook["cells"]
    ]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            yield path


def _sound(manifest: Any) -> dict[str, Any]:
    entries = manifest.items() if isinstance(manifest, dict) else ()
    return {path: entry for path, entry in entries if isinstance(entry, dict)}


def _lay(source: Path, report: CopyReport, manifest: dict[str, Any], progress: Progress) -> None:
    path = source.relative_to(shipped("notebooks")).as_posix()
    shipped_bytes = source.read_bytes()
    data, filled = _with_core_answers(shipped_bytes, progress)
    release = fingerprint(shipped_bytes)
    entry = manifest.get(path, {})
    current = _fingerprint_of(report.folder / path)
    if current is None or (current == entry.get("laid") and current != fingerprint(data)):
        (report.copied if current is None else report.refreshed).append(path)
        report.filled += [(path, exercise) for exercise in filled]
        _write(report.folder, path, data, release, manifest)
    elif current in (fingerprint(data), release):
        report.kept.append(path)
        manifest[path] = {"laid": current, "release": release}
    elif entry.get("release") == release:
        report.kept.append(path)
    else:
        report.beside.append((path, _lay_beside(path, data, release, report, manifest)))
        report.filled += [(report.beside[-1][1], exercise) for exercise in filled]
        manifest[path] = {"laid": entry.get("laid"), "release": release}


def _lay_beside(path: str, data: bytes, release: str, report: CopyReport, manifest: dict[str, Any]) -> str:
    """Write under the first name like `digits_torch.new.ipynb` that is free or holds nothing of the learner's."""
    stem, dot, suffix = path.rpartition(".")
    n = 1
    while True:
        name = f"{stem}.new{'' if n == 1 else f'-{n}'}{dot}{suffix}"
        current = _fingerprint_of(report.folder / name)
        if current is None or current == manifest.get(name, {}).get("laid") or current == fingerprint(data):
            _write(report.folder, name, data, release, manifest)
            return name
        n += 1


def _write(folder: Path, path: str, data: bytes, release: str, manifest: dict[str, Any]) -> None:
    write_bytes_atomically(folder / path, data)
    manifest[path] = {"laid": fingerprint(data), "release": release}


def _fingerprint_of(path: Path) -> str | None:
    try:
        return fingerprint(path.read_bytes())
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise CannotSave(
            f"{path} could not be written: a file stands where the folder {path.parent} should be; it was left alone.",
            action="Move that file away, or choose another folder.",
        ) from error
    except OSError as error:
        raise cannot_read(path, error) from error


def _with_core_answers(data: bytes, progress: Progress) -> tuple[bytes, list[str]]:
    """The notebook with the learner's own answers to core exercises, and which exercises these were."""
    try:
        notebook = parse_notebook(data.decode("utf-8"), Path())
    except (UnicodeDecodeError, BadNotebook):
        return data, []
    filled = []
    for exercise, cells in answer_cells(notebook).items():
        answer = progress.answer_source(exercise)
        if answer is not None and _is_core(exercise):
            cells[-1]["source"] = answer
            filled.append(exercise)
    if not filled:
        return data, []
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode("utf-8"), filled


def _is_core(exercise: str) -> bool:
    from course_lib.lessons import exercise as find_exercise

    try:
        return find_exercise(exercise).core
    except NotFound:
        return False
