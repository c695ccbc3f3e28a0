"""The set-up cell, executed with a stand-in for IPython's magic, and the links."""

from __future__ import annotations

import ast
import dataclasses
import importlib.metadata
import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement

import course_lib
from course_lib import colab
from course_lib.errors import NotFound
from course_lib.lessons import Lesson


class Shell:
    """Records what the cell hands to %pip, its `{names}` filled in as IPython would do."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace, self.pip_lines = namespace, list[str]()

    def run_line_magic(self, name: str, line: str) -> None:
        assert name == "pip"
        self.pip_lines.append(re.sub(r"\{(.+?)\}", lambda m: str(eval(m[1], self.namespace)), line))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The (lesson, track) pairs that `begin` was called with, in an environment that is not Colab's."""
    calls: list[tuple[str, str]] = []
    monkeypatch.setattr(course_lib, "begin", lambda *arguments: calls.append(arguments), raising=False)
    for name in ("COLAB_RELEASE_TAG", "COURSE_WHEEL"):
        monkeypatch.delenv(name, raising=False)
    return calls


@pytest.fixture
def without_course(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "course_lib" else find(name))


def run_cell(cell: str) -> Shell:
    namespace: dict[str, Any] = {}
    shell = Shell(namespace)
    namespace["get_ipython"] = lambda: shell
    exec(TransformerManager().transform_cell(cell), namespace)
    return shell


@pytest.mark.parametrize("track", colab.TRACK_NAMES)
def test_the_cell_is_short_and_valid(track: str) -> None:
    cell = colab.setup_cell("01_digits", track)
    assert len(cell.splitlines()) <= 15
    assert max(map(len, cell.splitlines())) <= 120
    assert cell.startswith("#@title ")
    ast.parse(TransformerManager().transform_cell(cell))


@pytest.mark.parametrize("track", [track for track in colab.TRACK_NAMES if track != "compare"])
def test_two_extras_leave_no_long_line_and_the_whole_command(track: str) -> None:
    cell = colab.setup_cell("04_transfer", track, "pretrained")
    own = [line for line in cell.splitlines() if colab.REPOSITORY not in line]
    assert max(map(len, own)) <= 120
    assert f'pip install -e ".[{colab.TABLE[track].extra},pretrained]", then restart it.' in cell
    ast.parse(TransformerManager().transform_cell(cell))


def test_with_the_course_installed_the_cell_only_begins(begun: list[tuple[str, str]]) -> None:
    assert run_cell(colab.setup_cell("01_digits", "jax")).pip_lines == []
    assert begun == [("01_digits", "jax")]


@pytest.mark.usefixtures("without_course")
def test_elsewhere_the_cell_says_which_command_to_run(begun: list[tuple[str, str]]) -> None:
    with pytest.raises(ImportError, match=re.escape('pip install -e ".[lab]"')):
        run_cell(colab.setup_cell("00_start", "numpy"))
    assert begun == []


@pytest.mark.usefixtures("without_course")
def test_on_colab_the_cell_holds_every_installed_version(
    begun: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release-colab")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (line,) = run_cell(colab.setup_cell("01_digits", "torch")).pip_lines
    file = tmp_path / "course-constraints.txt"
    assert line == f'install -q -c "{file}" "{colab.course_source()}"'
    held = {r.name: str(r.specifier) for r in map(Requirement, file.read_text(encoding="utf-8").splitlines())}
    assert held["numpy"] == f"=={importlib.metadata.version('numpy')}"
    assert len(held) >= len({d.name for d in importlib.metadata.distributions()}) - 1
    assert begun == [("01_digits", "torch")]


@pytest.mark.usefixtures("without_course", "begun")
def test_versions_that_pip_cannot_read_are_left_out_and_the_first_on_the_path_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = [
        ("a", "2.11.0+cu128"),
        ("b", "2.22.1ubuntu1"),
        ("c", "1.1.10.post3"),
        ("a", "1.0"),
        ("d", "5.0.0rc1"),
        (None, ""),
    ]
    fakes = [SimpleNamespace(metadata={"Name": name}, version=version) for name, version in here]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: iter(fakes))
    monkeypatch.setenv("COURSE_WHEEL", "course.whl")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (line,) = run_cell(colab.setup_cell("01_digits", "torch")).pip_lines
    assert line.endswith('"course.whl"')
    text = (tmp_path / "course-constraints.txt").read_text(encoding="utf-8")
    assert text.splitlines() == ["a==2.11.0+cu128", "c==1.1.10.post3", "d==5.0.0rc1"]


def test_an_extra_is_asked_for_where_a_track_needs_it() -> None:
    requirement = Requirement(colab.course_source("text"))
    assert (requirement.name, requirement.extras) == ("every-framework", {"text"})
    assert colab.course_source("text") in colab.setup_cell("05_text", "torch", "text")


@pytest.fixture
def digits(tmp_path: Path) -> Lesson:
    """A lesson of three tracks, whatever lessons exist."""
    return Lesson(
        name="01_digits",
        slug="digits",
        title="Digits",
        tracks=("numpy", "torch", "keras"),
        minutes=60,
        difficulty=1,
        requires=(),
        outcomes=(),
        claims=(),
        runtime="cpu",
        exercises=(),
        folder=tmp_path,
    )


def test_a_link_opens_the_learners_notebook(digits: Lesson) -> None:
    link = colab.colab_link(digits, "keras")
    assert link.startswith("https://colab.research.google.com/github/")
    assert link.endswith("/blob/main/notebooks/01_digits/digits_keras.ipynb")
    assert f"]({link})" in colab.colab_badge(digits, "keras")


def test_a_track_that_the_lesson_lacks_has_no_link(digits: Lesson) -> None:
    with pytest.raises(NotFound, match="jax"):
        colab.colab_link(digits, "jax")


def test_the_table_has_a_link_for_each_track_of_each_lesson(digits: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    other = dataclasses.replace(digits, name="02_debug", slug="debug", tracks=("torch", "jax"))
    monkeypatch.setattr("course_lib.colab.lessons", lambda: [digits, other])
    head, _, *rows = colab.readme_matrix().splitlines()
    assert [cell.strip() for cell in head.split("|")][1:-1] == ["lesson", "minutes", "NumPy", "PyTorch", "Keras", "JAX"]
    assert [[bool(cell.strip()) for cell in row.split("|")][3:-1] for row in rows] == [
        [True, True, True, False],
        [False, True, False, True],
    ]


def test_the_address_of_the_repository_stands_in_one_place(repository: Path) -> None:
    holders = [p for p in repository.rglob("course_lib/**/*.py") if colab.REPOSITORY in p.read_text(encoding="utf-8")]
    assert [p.name for p in holders] == ["colab.py"]
    assert (repository / "course_lib" / "colab.py").read_text(encoding="utf-8").count(colab.REPOSITORY) == 1
