"""Kernels of the same packages and settings share a process; a setting that comes too late is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import BadSource
from course_lib.frameworks import missing_distributions
from course_lib.lessons import _environment
from course_lib.warm import environment_reads, switch
from course_lib.warm.keys import Command, decides, differing, key
from course_lib.warm.wanted import Wanted, of_notebook, track_of, wanted
from warm_kernel import CellFailed, kernel, own_folder

forks = pytest.mark.skipif(bool(reason := switch.why_not()), reason=reason or "warm")
COMMAND = Command("/usr/bin/python", ("-Xfrozen_modules=off",), ("-f", "a.json"))


def needs(track: str) -> pytest.MarkDecorator:
    missing = missing_distributions(track)
    return pytest.mark.skipif(bool(missing), reason=f"{missing} not installed")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with own_folder() as made:
        yield made


# --- keys


@pytest.mark.parametrize(
    ("command", "packages", "environ"),
    [
        (Command("/other/python", COMMAND.options, ()), ("torch",), {}),
        (Command(COMMAND.interpreter, (), ()), ("torch",), {}),
        (COMMAND, ("jax",), {}),
        (COMMAND, ("torch",), {"KERAS_BACKEND": "jax"}),
        (COMMAND, ("torch",), {"JAX_ENABLE_X64": "1"}),
        (COMMAND, ("torch",), {"XLA_FLAGS": "--x"}),
        (COMMAND, ("torch",), {"OMP_NUM_THREADS": "1"}),
        (COMMAND, ("torch",), {"TF_ENABLE_ONEDNN_OPTS": "0"}),
        (COMMAND, ("torch",), {"PYTHONHASHSEED": "0"}),
        (COMMAND, ("torch",), {"LC_ALL": "C"}),
    ],
)
def test_what_is_read_at_import_time_keeps_kernels_apart(command: Command, packages: Any, environ: Any) -> None:
    assert key(command, packages, environ) != key(COMMAND, ("torch",), {})


def test_a_kernels_own_variables_and_arguments_do_not() -> None:
    other = Command(COMMAND.interpreter, COMMAND.options, ("-f", "b.json"))
    environ = {"JPY_SESSION_NAME": "a.ipynb", "COURSE_HOME": "/a", "IPYTHONDIR": "/b", "SHELL": "/bin/sh"}
    assert key(other, ("torch",), environ) == key(COMMAND, ("torch",), {})
    assert not any(map(decides, environ))


def test_only_the_launcher_of_kernels_is_understood() -> None:
    words = ["/usr/bin/python", "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "a.json"]
    assert Command.of(words) == COMMAND
    for other in (
        ["R", "--slave"],
        ["python", "-m", "xeus"],
        ["python", "-W", "error", "-m", "ipykernel_launcher"],
        ["-m"],
    ):
        assert Command.of(other) is None


def test_reads_are_seen_and_wholesale_copies_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv("LISTED", "1")
    with environment_reads.recorded() as names:
        _ = dict(os.environ), {"A": "1"} | os.environ
        os.environ.get("ASKED")
        _ = "TESTED" in os.environ, os.getenv("GOT")
        _ = os.environ.copy(), list(os.environ.items()), {**os.environ}
    os.environ.get("LATER")
    assert names == {"ASKED", "TESTED", "GOT"}
    assert differing(names, {"GOT": "1"}, {"GOT": "2", "LISTED": "1"}) == ["GOT"]


# --- what a notebook wants


def write(path: Path, metadata: Any, *sources: str) -> Path:
    cells = [{"cell_type": "code", "source": source.splitlines(keepends=True)} for source in sources]
    path.write_text(json.dumps({"metadata": metadata, "cells": cells}))
    return path


def test_one_of_the_courses_notebooks_says_what_it_wants(repository: Path) -> None:
    path = repository / "notebooks/01_digits/digits_jax.ipynb"
    found = of_notebook(path, {})
    assert found is not None
    assert {"jax", "flax", "optax", "numpy"} <= set(found.packages)
    assert found.settings["TF_CPP_MIN_LOG_LEVEL"] == "3"
    assert track_of(path) == "01_digits/jax"
    environ = {"COURSE_WARM_TRACK": "01_digits/jax", "PATH": "/bin"}
    assert wanted(environ) == found
    assert environ == {"PATH": "/bin"}
    assert wanted({"JPY_SESSION_NAME": str(path)}) == found


@pytest.mark.parametrize(
    ("source", "packages"),
    [
        ("%matplotlib inline\nimport torch.nn as nn\n!ls", ("torch",)),
        ("from fastai.vision.all import *\nimport torch", ("fastai.basics",)),
        ("import numpy", None),
        ("import torch\nimport jax", None),
        ("this is no Python: import torch", None),
    ],
)
def test_any_other_notebook_gets_the_framework_that_it_imports(tmp_path: Path, source: str, packages: Any) -> None:
    found = of_notebook(write(tmp_path / "mine.ipynb", {}, source), {})
    assert (found.packages if found else None) == packages


def test_a_notebook_can_ask_for_nothing_ahead(tmp_path: Path) -> None:
    assert of_notebook(write(tmp_path / "a.ipynb", {"course": {"warm": False}}, "import torch"), {}) == Wanted()


def test_broken_notebooks_want_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{")
    assert of_notebook(tmp_path / "a.ipynb") is None
    assert of_notebook(write(tmp_path / "b.ipynb", [1]), {}) is None
    assert wanted({"COURSE_WARM_TRACK": "no/such"}) == Wanted()
    assert wanted({"COURSE_WARM_PRELOAD": "torch, json"}).packages == ("torch", "json")


@pytest.mark.parametrize("raw", [["JAX"], {"caffe": {}}, {"jax": "a"}, {"jax": {"JAX_NUM_CPU_DEVICES": 8}}])
def test_a_lessons_environment_is_checked(raw: Any) -> None:
    with pytest.raises(BadSource, match="environment"):
        _environment(raw, ("jax", "torch"), "a/lesson.md")


# --- too late


@forks
def test_a_variable_that_was_read_is_refused_from_then_on(place: Path, tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text("import os\nvalue = os.environ.get('READER_MODE', 'none')\n")
    environ = {"PYTHONPATH": str(tmp_path), "COURSE_WARM_PRELOAD": "reader"}
    with kernel(**environ) as running:
        assert running.is_warm
        for late in (
            "os.environ['READER_MODE'] = 'a'",
            "os.environ.setdefault('READER_MODE', 'a')",
            "%env READER_MODE=a",
        ):
            with pytest.raises(
                CellFailed, match=r"TooLate: READER_MODE should be 'a', but it was absent .* imported reader"
            ):
                running.text(f"import os\n{late}")
        assert running.text("print('READER_MODE' in os.environ)") == "False\n"
        assert running.text("os.environ['OTHER'] = '1'; print(os.environ.pop('READER_MODE', 'fine'))") == "fine\n"
    with kernel(READER_MODE="b", **environ) as running:
        assert running.is_warm, "another parent, imported with this value"
        assert running.text("import reader, os; os.environ['READER_MODE'] = 'b'; print(reader.value)") == "b\n"
        with pytest.raises(CellFailed, match="TooLate: READER_MODE should be absent"):
            running.text("del os.environ['READER_MODE']")


@forks
def test_what_compiled_code_reads_is_refused_too(place: Path) -> None:
    with kernel("numpy") as running, pytest.raises(CellFailed, match="TooLate: OMP_NUM_THREADS"):
        running.text("import os; os.environ['OMP_NUM_THREADS'] = '1'")
    with kernel("numpy", cold=True) as running:
        running.text("import os; os.environ['OMP_NUM_THREADS'] = '1'")


@forks
@needs("jax")
def test_jax_settings_come_with_the_kernel_or_not_at_all(place: Path) -> None:
    with kernel("jax", JAX_NUM_CPU_DEVICES="2", JAX_ENABLE_X64="1") as running:
        assert running.is_warm
        assert running.text("import jax; print(jax.device_count(), jax.numpy.ones(1).dtype)") == "2 float64\n"
        for name in ("JAX_ENABLE_X64", "JAX_NUM_CPU_DEVICES", "JAX_PLATFORMS"):
            with pytest.raises(CellFailed, match=f"TooLate: {name}"):
                running.text(f"import os; os.environ['{name}'] = '4'")


@forks
@needs("jax")
def test_a_flag_that_is_read_at_the_first_operation_still_counts(place: Path) -> None:
    with kernel("jax") as running:
        running.text("import os; os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=3'")
        assert running.text("import jax; print(jax.device_count())") == "3\n"
