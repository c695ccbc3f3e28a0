"""The wheel carries the course, an editable install carries no stale copy, and no floor is above Colab's versions."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from colab_versions import FREEZE_FILES, shipped_versions

REPOSITORY = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
TRACK_EXTRAS = ("torch", "fastai", "keras", "jax", "tensorflow")


def run_python(code: str, *, cwd: Path, path: Path | None = None) -> str:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | ({"PYTHONPATH": str(path)} if path else {})
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def course_files() -> set[str]:
    """What the wheel must carry, as paths inside the clone."""
    patterns = ("notebooks/*/*.ipynb", "solutions/*/*.md", "solutions/*/records/*.json", "datasets/*.md")
    return {p.relative_to(REPOSITORY).as_posix() for pattern in patterns for p in REPOSITORY.glob(pattern)}


def test_the_wheel_carries_the_lessons_and_nothing_that_is_for_developers(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"course_lib/_shipped/{name}" for name in course_files()} <= names
    assert {name.split("/")[0] for name in names} == {"course_lib", "every_framework-0.1.0.dist-info"}
    assert not [name for name in names if name.startswith("course_lib/_shipped/solutions/") and name.endswith(".ipynb")]
    assert not [name for name in names if ".ipynb_checkpoints" in name or "__pycache__" in name]


def test_an_installed_wheel_finds_its_own_copy(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    kinds = sorted({name.split("/")[0] for name in course_files()})
    code = f"from course_lib.shipped import shipped; print(*map(shipped, {kinds}), sep='\\n')"
    found = run_python(code, cwd=tmp_path, path=site).splitlines()
    assert found == [str(site / "course_lib" / "_shipped" / kind) for kind in kinds]


def test_an_editable_install_has_no_copy_and_does_not_make_the_clone_importable(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel:editable", "-d", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=REPOSITORY)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as editable:
        names = editable.namelist()
        assert not [name for name in names if "_shipped" in name]
        paths = [editable.read(name).decode() for name in names if name.endswith(".pth")]
    assert paths
    assert not [line for text in paths for line in text.splitlines() if line.strip() == str(REPOSITORY)]
    assert not (REPOSITORY / "course_lib" / "_shipped").exists()


def test_data_cards_are_not_taken_for_the_library_of_that_name(tmp_path: Path) -> None:
    code = (
        "import importlib.util as u, course_lib; s = u.find_spec('datasets'); print(s is None or s.origin is not None)"
    )
    assert run_python(code, cwd=tmp_path) == "True"


@pytest.mark.parametrize("extra", TRACK_EXTRAS)
def test_each_framework_extra_brings_the_lab(extra: str) -> None:
    assert "every-framework[lab]" in EXTRAS[extra]


def test_all_is_every_framework_and_the_lab() -> None:
    (everything,) = map(Requirement, EXTRAS["all"])
    assert everything.extras == {*TRACK_EXTRAS, "haiku", "lab"}


def test_nothing_is_pinned_or_capped() -> None:
    wanted = [*PROJECT["dependencies"], *(r for requirements in EXTRAS.values() for r in requirements)]
    assert {s.operator for r in wanted for s in Requirement(r).specifier} == {">="}


@pytest.mark.parametrize("freeze", FREEZE_FILES, ids=lambda p: p.stem)
def test_no_floor_is_above_what_colab_ships(freeze: Path) -> None:
    colab = shipped_versions(freeze)
    wanted = [Requirement(r) for r in (*PROJECT["dependencies"], *(r for t in TRACK_EXTRAS for r in EXTRAS[t]))]
    too_new = {
        r.name: (colab[r.name], str(r.specifier))
        for r in wanted
        if r.name in colab and colab[r.name] not in r.specifier
    }
    assert not too_new
    assert {"numpy", "typer", "torch", "jax", "keras", "fastai"} <= {r.name for r in wanted if r.name in colab}


def test_the_version_stands_in_both_places() -> None:
    import course_lib

    assert course_lib.__version__ == PROJECT["version"]
