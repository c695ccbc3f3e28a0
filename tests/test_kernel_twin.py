"""The kernel twin: Colab's Python, kernel and widgets; the set-up cell installs the wheel in it and the lessons run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course_lib.colab import setup_cell
from twins import colab_pins, kept_environment, overlay, run

pytestmark = [pytest.mark.twin, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parent.parent
KERNEL = ("ipykernel", "ipython", "ipywidgets", "nbclient", "nbformat", "jupytext")
CORE = ("numpy", "scikit-learn", "matplotlib", "typer", "rich", "psutil", "pyyaml")
COLAB = {"COLAB_RELEASE_TAG": "release-colab-twin", "MPLBACKEND": "agg"}

EXECUTE = """
import json, sys
import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

with open(sys.argv[1]) as cells:
    notebook = new_notebook(cells=[new_code_cell(source) for source in json.load(cells)])
NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
print(json.dumps([[output.get("text") or output.get("data", {}).get("text/plain") or "" for output in cell.outputs]
                  for cell in notebook.cells]))
"""


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh session: Colab's versions, its `google.colab` (empty), no course."""
    kept = kept_environment("kernel", [*colab_pins(*KERNEL, *CORE), "nbval>=0.11"])
    python = overlay(kept, tmp_path_factory.mktemp("colab") / "venv")
    package = next(python.parent.parent.glob("lib/python*/site-packages")) / "google" / "colab"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    return python


def execute(python: Path, cells: list[str], folder: Path, **environment: str) -> list[str]:
    """The output text of each cell, run in a kernel of that Python."""
    (folder / "cells.json").write_text(json.dumps(cells), encoding="utf-8")
    printed = run(python, "-c", EXECUTE, "cells.json", cwd=folder, **COLAB, **environment)
    return ["\n".join(outputs) for outputs in json.loads(printed.splitlines()[-1])]


def freeze(python: Path) -> set[str]:
    return set(run(python, "-m", "pip", "list", "--format", "freeze").splitlines())


def test_the_set_up_cell_installs_the_course_and_begins(
    colab: Path, wheel: Path, course_home: Path, tmp_path: Path
) -> None:
    before = freeze(colab)
    cells = [
        setup_cell("00_start", "numpy"),
        "import course_lib, numpy; print(course_lib.__file__, course_lib.__version__, numpy.__version__)",
        "from course_lib.session import current; print(current())",
        setup_cell("00_start", "numpy"),
    ]
    where = {"COURSE_WHEEL": str(wheel), "COURSE_HOME": str(course_home)}
    _, versions, session, _ = execute(colab, cells, tmp_path, **where)
    file, version, numpy_version = versions.split()
    assert file.startswith(str(colab.parent.parent)), "the course came from elsewhere"
    assert (version, f"numpy=={numpy_version}") == ("0.1.0", *colab_pins("numpy"))
    assert "00_start" in session
    assert freeze(colab) - before == {"every-framework==0.1.0"}
    assert before <= freeze(colab)


def test_without_the_wheel_the_cell_fails_and_says_what_pip_said(
    colab: Path, course_home: Path, tmp_path: Path
) -> None:
    run(colab, "-m", "pip", "uninstall", "-q", "-y", "every-framework")
    where = {"COURSE_WHEEL": str(tmp_path / "no-such-course.whl"), "COURSE_HOME": str(course_home)}
    with pytest.raises(AssertionError, match=r"no-such-course\.whl"):
        execute(colab, [setup_cell("00_start", "numpy")], tmp_path, **where)


@pytest.mark.parametrize("notebook", ["00_start/start_numpy.ipynb", "01_digits/digits_numpy.ipynb"])
def test_a_solution_runs_there_and_shows_the_same(
    colab: Path, wheel: Path, course_home: Path, tmp_path: Path, notebook: str
) -> None:
    solution = REPOSITORY / "solutions" / notebook
    copy = tmp_path / solution.name
    copy.write_bytes(solution.read_bytes())
    nbval = ["-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), "-q", "--nbval", "--nbval-current-env"]
    where = {"COURSE_WHEEL": str(wheel), "COURSE_HOME": str(course_home)}
    said = run(colab, *nbval, "--nbval-cell-timeout=240", copy.name, cwd=tmp_path, **COLAB, **where)
    assert " passed" in said
