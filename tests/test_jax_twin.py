"""The JAX twin: Colab's jax, flax, optax and keras on its NumPy run the notebooks of the tracks that use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.lessons import Lesson, lessons
from twins import colab_pins, kept_environment, overlay, run

pytestmark = [pytest.mark.twin, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = (
    *("jax", "jaxlib", "flax", "optax", "keras"),
    *("ipykernel", "ipython", "ipywidgets", "nbclient", "nbformat", "jupytext"),
    *("numpy", "scikit-learn", "matplotlib", "typer", "rich", "psutil", "pyyaml", "safetensors"),
)
# Colab lacks it; the set-up cell of the notebook that needs it installs it.
ADDED = ("dm-haiku",)
NOTEBOOKS = [(each, track) for each in lessons() for track in each.tracks if track in ("numpy", "jax", "keras")]

EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
print(sum(cell.cell_type == "code" for cell in notebook.cells), "cells ran")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The Python of a fresh session with the course installed."""
    folder = tmp_path_factory.mktemp("jax")
    session = overlay(kept_environment("jax", [*colab_pins(*PACKAGES), *ADDED]), folder / "venv")
    run(session, "-m", "pip", "install", "-q", "--no-deps", str(wheel))
    return session


def test_the_twin_has_colabs_versions(python: Path) -> None:
    code = "import importlib.metadata as m, sys; print(*(f'{n}=={m.version(n)}' for n in sys.argv[1:]))"
    names = ("jax", "flax", "optax", "keras", "numpy")
    assert run(python, "-c", code, *names).split() == list(colab_pins(*names))


@pytest.mark.parametrize(("lesson", "track"), NOTEBOOKS, ids=[each.notebook(track) for each, track in NOTEBOOKS])
def test_the_solution_runs_there_without_an_error(
    python: Path, course_home: Path, tmp_path: Path, lesson: Lesson, track: str
) -> None:
    solution = REPOSITORY / "solutions" / lesson.notebook(track)
    copy = tmp_path / solution.name
    copy.write_bytes(solution.read_bytes())
    where = {"COURSE_HOME": str(course_home), "MPLBACKEND": "agg"}
    assert "cells ran" in run(python, "-c", EXECUTE, copy.name, cwd=tmp_path, **where)
