"""Virtual environments that stand for a part of Colab: kept between runs under a key of what is in them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pytest

from colab_versions import FREEZE_FILES, shipped_versions
from course_lib.warm import switch
from course_lib.warm.folder import FOLDER

COLAB_PYTHON = (3, 13)


def cache_folder() -> Path:
    """Where the environments are kept: $COURSE_TEST_CACHE, or a folder in the user's cache."""
    return Path(os.environ.get("COURSE_TEST_CACHE") or Path.home() / ".cache" / "every-framework-tests")


@lru_cache(maxsize=1)
def colab_python() -> Path:
    """An interpreter of Colab's Python version; skips the test where there is none."""
    version = ".".join(map(str, COLAB_PYTHON))
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for candidate in (sys.executable, *map(str, pyenv), shutil.which(f"python{version}")):
        if candidate and _version_of(candidate) == version:
            return Path(candidate)
    pytest.skip(f"Python {version}, which Colab runs, is not on this machine")


def _version_of(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


@lru_cache(maxsize=1)
def need_registry() -> None:
    """Skips the test where pip reaches no package registry."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed", "-q"]
    done = subprocess.run(
        [*command, "--retries", "1", "--timeout", "15", "iniconfig"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no package registry can be reached: " + done.stderr.strip().splitlines()[-1])


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without what would lead a child back to this Python, or to kernels forked from it."""
    ours = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COURSE_WHEEL", "COLAB_RELEASE_TAG"}
    ours |= {switch.CHOSEN, switch.WAIT, FOLDER}
    kept = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith("PYTEST_")}
    return kept | more


def run(python: Path, *arguments: str, cwd: Path | None = None, **environment: str) -> str:
    """Run `python arguments…` and return its output; an exit code other than 0 fails the test with all that it said."""
    done = subprocess.run(
        [str(python), *arguments],
        cwd=cwd,
        env=clean_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{python.name} {' '.join(arguments)[:200]}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def colab_pins(*names: str) -> tuple[str, ...]:
    """`name==version` for each name, at the version of Colab's CPU runtime, without its local part (+cpu)."""
    shipped = shipped_versions(next(path for path in FREEZE_FILES if path.name == "pip-freeze.txt"))
    return tuple(f"{name}=={shipped[name].public}" for name in names)


def kept_environment(name: str, requirements: Sequence[str]) -> Path:
    """The Python of an environment of Colab's version with these requirements, built when it is not in the cache."""
    need_registry()
    base = colab_python()
    key = hashlib.sha256("\n".join([str(base.resolve()), *requirements]).encode()).hexdigest()[:12]
    folder = cache_folder() / f"{name}-{key}"
    with _lock(folder.with_suffix(".lock")):
        python, complete = folder / "bin" / "python", folder / "complete"
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            run(base, "-m", "venv", str(folder))
            run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements)
            complete.write_text("\n".join(requirements), encoding="utf-8")
    return python


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def overlay(python: Path, folder: Path) -> Path:
    """The Python of an environment that sees the packages of another and installs into its own folder.

    As a fresh Colab session does: what a test installs is gone with `folder`, and the kept environment stays as it was.
    """
    run(python, "-m", "venv", "--without-pip", str(folder))
    site = next(folder.glob("lib/python*/site-packages"))
    below = next(python.parent.parent.glob("lib/python*/site-packages"))
    (site / "below.pth").write_text(f"{below}\n", encoding="utf-8")
    return folder / "bin" / "python"
