"""The working copy: nothing that a learner edited is ever overwritten."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from course_lib import lessons, workspace
from course_lib.errors import CannotSave, NotFound
from course_lib.progress import Progress
from course_lib.workspace import copy_notebooks

TORCH, JAX = "01_digits/digits_torch.ipynb", "01_digits/digits_jax.ipynb"
SPLIT, STEP = "# exercise: digits/split\ndef split(): ...", "# exercise: digits/step\ndef step(): ..."


def notebook(*sources: str, **metadata: Any) -> str:
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for n, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small course of two notebooks, which a test may change into a newer release."""
    folder = tmp_path / "release"
    (folder / "01_digits").mkdir(parents=True)
    (folder / TORCH).write_text(notebook("1", SPLIT, STEP))
    (folder / JAX).write_text(notebook("2", SPLIT, STEP))
    monkeypatch.setattr(workspace, "shipped", lambda _: folder)

    def find(exercise: str) -> lessons.Exercise:
        if exercise not in ("digits/split", "digits/step"):
            raise NotFound(exercise)
        return lessons.Exercise(exercise, "", "function", 1.0, exercise == "digits/split", ("torch", "jax"))

    monkeypatch.setattr(lessons, "exercise", find)
    return folder


@pytest.fixture
def mine(tmp_path: Path, release: Path) -> Path:
    """A learner's folder with the first release in it."""
    assert release.is_dir()
    folder = tmp_path / "mine"
    assert copy_notebooks(folder).copied == [JAX, TORCH]
    return folder


def test_a_second_copy_keeps_everything(mine: Path) -> None:
    before = (mine / TORCH).read_bytes()
    report = copy_notebooks(mine)
    assert report.kept == [JAX, TORCH]
    assert not report.copied
    assert (mine / TORCH).read_bytes() == before


def test_an_unedited_notebook_is_brought_up_to_date(mine: Path, release: Path) -> None:
    (release / TORCH).write_text(notebook("newer"))
    assert copy_notebooks(mine).refreshed == [TORCH]
    assert (mine / TORCH).read_text() == notebook("newer")


def test_an_edited_notebook_is_never_overwritten_and_the_new_one_lies_beside(mine: Path, release: Path) -> None:
    (mine / TORCH).write_text(notebook("my work"))
    assert copy_notebooks(mine).kept == [JAX, TORCH]
    (release / TORCH).write_text(notebook("newer"))
    report = copy_notebooks(mine)
    assert report.beside == [(TORCH, "01_digits/digits_torch.new.ipynb")]
    assert any("digits_torch.new.ipynb" in line and "has your edits" in line for line in report.lines())
    assert (mine / TORCH).read_text() == notebook("my work")
    assert (mine / "01_digits/digits_torch.new.ipynb").read_text() == notebook("newer")
    assert copy_notebooks(mine).beside == []


def test_an_edited_new_one_is_never_overwritten_either(mine: Path, release: Path) -> None:
    (mine / TORCH).write_text(notebook("my work"))
    (release / TORCH).write_text(notebook("second"))
    copy_notebooks(mine)
    (release / TORCH).write_text(notebook("third"))
    assert copy_notebooks(mine).beside == [(TORCH, "01_digits/digits_torch.new.ipynb")]
    (mine / "01_digits/digits_torch.new.ipynb").write_text(notebook("my second work"))
    (release / TORCH).write_text(notebook("fourth"))
    assert copy_notebooks(mine).beside == [(TORCH, "01_digits/digits_torch.new-2.ipynb")]
    assert (mine / TORCH).read_text() == notebook("my work")
    assert (mine / "01_digits/digits_torch.new.ipynb").read_text() == notebook("my second work")


def test_outputs_alone_are_the_learners_too(mine: Path, release: Path) -> None:
    document = json.loads((mine / TORCH).read_text())
    document["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "my result"}]
    (mine / TORCH).write_text(json.dumps(document))
    (release / TORCH).write_text(notebook("newer"))
    assert copy_notebooks(mine).beside
    assert "my result" in (mine / TORCH).read_text()


def test_opening_and_saving_is_no_edit(mine: Path, release: Path) -> None:
    document = json.loads((mine / TORCH).read_text())
    document["metadata"]["kernelspec"] = {"name": "python3"}
    for cell in document["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    (mine / TORCH).write_text(json.dumps(document))
    (release / TORCH).write_text(notebook("newer"))
    assert copy_notebooks(mine).refreshed == [TORCH]


def test_files_without_a_manifest_count_as_edited(mine: Path, release: Path) -> None:
    (mine / workspace.MANIFEST).write_text("{half")
    (mine / TORCH).write_text(notebook("my work"))
    (release / JAX).write_text(notebook("newer"))
    report = copy_notebooks(mine)
    assert report.beside == [
        (JAX, "01_digits/digits_jax.new.ipynb"),
        (TORCH, "01_digits/digits_torch.new.ipynb"),
    ]
    assert (mine / TORCH).read_text() == notebook("my work")
    assert (mine / ".course/manifest.json.damaged-1").read_text() == "{half"


@pytest.mark.parametrize("damaged", ["", "{", "[]", "\x00\x01"])
def test_a_damaged_notebook_of_the_learners_is_kept(mine: Path, release: Path, damaged: str) -> None:
    (mine / TORCH).write_text(damaged)
    (release / TORCH).write_text(notebook("newer"))
    assert copy_notebooks(mine).beside
    assert (mine / TORCH).read_text() == damaged


def test_a_deleted_notebook_comes_back_and_other_files_stay(mine: Path) -> None:
    (mine / TORCH).unlink()
    (mine / "01_digits/notes.txt").write_text("mine")
    assert copy_notebooks(mine).copied == [TORCH]
    assert (mine / "01_digits/notes.txt").read_text() == "mine"


def test_solved_core_answers_are_filled_in_and_idiom_answers_are_not(tmp_path: Path, release: Path) -> None:
    answer = "# exercise: digits/split\ndef split():\n    return 'mine'"
    for exercise in ("digits/split", "digits/step"):
        Progress.load().record_attempt(exercise, "numpy", passed=True, mark=1, max_mark=1, source=answer)
    report = copy_notebooks(tmp_path / "mine")
    assert (TORCH, "digits/split") in report.filled
    cells = json.loads((tmp_path / "mine" / TORCH).read_text())["cells"]
    assert "".join(cells[1]["source"]) == answer
    assert "".join(cells[2]["source"]) == STEP
    assert copy_notebooks(tmp_path / "mine").kept == [JAX, TORCH]
    (release / TORCH).write_text(notebook("newer", SPLIT))
    assert copy_notebooks(tmp_path / "mine").refreshed == [TORCH]


def test_a_file_in_the_place_of_a_folder_is_a_teaching_error(tmp_path: Path, release: Path) -> None:
    assert release.is_dir()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CannotSave):
        copy_notebooks(tmp_path / "file")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/01_digits").write_text("mine")
    with pytest.raises(CannotSave, match="stands where the folder"):
        copy_notebooks(tmp_path / "mine")
    assert (tmp_path / "mine/01_digits").read_text() == "mine"


def test_a_full_disk_half_way_loses_nothing_and_the_next_copy_goes_on(
    mine: Path, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine / JAX).write_text(notebook("my work"))
    before = {path: (mine / path).read_bytes() for path in (TORCH, JAX)}
    for path in (TORCH, JAX):
        (release / path).write_text(notebook("newer"))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CannotSave, match="No space left"):
            copy_notebooks(mine)
    assert {path: (mine / path).read_bytes() for path in (TORCH, JAX)} == before
    report = copy_notebooks(mine)
    assert (report.refreshed, report.beside) == ([TORCH], [(JAX, "01_digits/digits_jax.new.ipynb")])
