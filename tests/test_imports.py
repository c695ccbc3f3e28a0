"""Importing the course is nearly free, and its imports point one way.

Every rule is a function of a folder, so that each is also run on a copy with a fault planted in it.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "course_lib"

CPU_SECONDS = 0.1

PROBE = """
import sys, time
import numpy
before, start = set(sys.modules), time.process_time()
import course_lib
print(time.process_time() - start, course_lib.__file__)
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))
"""

FRAMEWORKS = ("torch", "torchvision", "fastai", "fastcore", "keras", "jax", "jaxlib", "flax", "optax", "tensorflow")

# A framework is imported in its track's files, in these folders, and nowhere else.
FRAMEWORK_FOLDERS = ("frameworks", "adapters", "adapters/network", "doctor_steps")
FRAMEWORK_OWNERS: dict[str, tuple[str, ...]] = {
    "torch": ("torch", "torchvision"),
    "fastai": ("fastai", "fastcore", "torch", "torchvision"),
    "keras": ("keras", "jax", "torch", "tensorflow"),
    "jax": ("jax", "jaxlib", "flax", "optax"),
    "tensorflow": ("tensorflow", "keras"),
}

# Imported in these files only, even inside a function.
OWNERS = {"ipywidgets": "widgets*.py", "jupytext": "build*.py"}

# Imported at the top of these files only; elsewhere inside the function that needs them.
TOP_LEVEL_OWNERS = {
    "typer": "cli/*.py",
    "rich": "cli/*.py",
    "ipywidgets": "widgets*.py",
    "jupytext": "build*.py",
    "nbformat": "build*.py",
    "matplotlib": "plot*.py",
    "jupyter_client": "warm/provisioner.py",
}

# Data flows down this list; a module may import what stands above it.
FLOW = (
    ("errors",),
    ("shipped", "home"),
    ("frameworks", "data", "metrics"),
    ("task", "lessons", "session"),
    ("warm",),
    ("record", "measure"),
    ("verdict", "kinds", "adapters", "checks"),
    ("run", "progress", "hardware"),
    ("plot", "mark", "checking", "comparison", "widgets"),
    ("grade",),
    ("cli",),
)
DEPTH = {module: depth for depth, row in enumerate(FLOW) for module in row}


@dataclass(frozen=True)
class Import:
    file: str
    line: int
    name: str
    at_top: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.name}"

    @property
    def root(self) -> str:
        return self.name.split(".")[0]


def probe(path: Path) -> tuple[float, set[str]]:
    """CPU seconds of `import course_lib` after NumPy, and the foreign packages that it loaded, in a fresh process."""
    env = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run([sys.executable, "-c", PROBE], env=env, capture_output=True, text=True, check=True, cwd=path)
    (seconds, file), *names = (line.split() for line in done.stdout.splitlines())
    assert Path(file).parent.parent == path
    return float(seconds), {*names[0]} - {"course_lib", "numpy"}


def imports(package: Path) -> Iterator[Import]:
    """Every import in the package; those under `if TYPE_CHECKING` load nothing and are left out."""
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        if not file.startswith("_shipped/"):
            yield from _imports_of(ast.parse(path.read_text(encoding="utf-8")), file, at_top=True)


def _imports_of(node: ast.AST, file: str, *, at_top: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(file, child.lineno, alias.name, at_top)
        elif isinstance(child, ast.ImportFrom):
            package = ["course_lib", *file.split("/")[:-1]]
            base = ".".join(package[: len(package) + 1 - child.level]) + "." if child.level else ""
            for alias in child.names:
                yield Import(file, child.lineno, f"{base}{child.module or ''}.{alias.name}".replace("..", "."), at_top)
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports_of(child, file, at_top=at_top and not inside)


def module_of(file: str) -> str:
    return file.removesuffix(".py").split("/")[0]


def arrows_that_point_back(package: Path) -> list[str]:
    inner = [i for i in imports(package) if i.root == "course_lib" and i.name.count(".")]
    targets = [(i, module_of(i.file), i.name.split(".")[1]) for i in inner]
    return [str(i) for i, a, b in targets if a in DEPTH and b in DEPTH and DEPTH[b] > DEPTH[a]]


def cycles(package: Path) -> list[str]:
    """Modules that import each other at their top, directly or around corners."""
    graph: dict[str, set[str]] = {}
    for i in imports(package):
        if i.at_top and i.root == "course_lib" and i.name.count(".") and module_of(i.file) != "__init__":
            graph.setdefault(module_of(i.file), set()).add(i.name.split(".")[1])
    reached = {module: _reachable(module, graph) for module in graph}
    return sorted(m for m, found in reached.items() if any(m in reached.get(n, ()) and n != m for n in found))


def _reachable(module: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    queue = [module]
    while queue:
        for following in graph.get(queue.pop(), ()):
            if following not in found:
                found.add(following)
                queue.append(following)
    return found


def misplaced(package: Path) -> list[str]:
    """Imports of frameworks, ipywidgets and jupytext outside the files that own them."""
    wrong = []
    for i in imports(package):
        folder, _, name = i.file.rpartition("/")
        track = name.removesuffix(".py")
        if i.root in FRAMEWORKS:
            ok = folder in FRAMEWORK_FOLDERS and i.root in FRAMEWORK_OWNERS.get(track, ())
        else:
            ok = fnmatch(i.file, OWNERS.get(i.root, "*"))
        if not ok:
            wrong.append(str(i))
    return wrong


def heavy_at_the_top(package: Path) -> list[str]:
    """Imports at a module's top that are neither the standard library, NumPy, the course nor owned by that file."""
    light = {*sys.stdlib_module_names, "numpy", "course_lib"}
    return [
        str(i)
        for i in imports(package)
        if i.at_top
        and i.root not in light
        and not (i.root in FRAMEWORKS and i.file.split("/")[0] in FRAMEWORK_FOLDERS)
        and not fnmatch(i.file, TOP_LEVEL_OWNERS.get(i.root, ""))
    ]


RULES = (arrows_that_point_back, cycles, misplaced, heavy_at_the_top)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A copy of the package to plant faults in."""
    shutil.copytree(PACKAGE, tmp_path / "course_lib", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "course_lib"


def plant(file: Path, line: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text((file.read_text(encoding="utf-8") if file.exists() else "") + f"\n{line}\n", encoding="utf-8")


def test_importing_the_course_loads_only_the_standard_library_and_numpy() -> None:
    assert probe(REPOSITORY)[1] == set()


def test_importing_the_course_costs_next_to_nothing() -> None:
    assert min(probe(REPOSITORY)[0] for _ in range(5)) < CPU_SECONDS


def test_a_planted_import_is_caught(planted: Path) -> None:
    plant(planted / "__init__.py", "import sklearn")
    assert "sklearn" in probe(planted.parent)[1]


def test_a_planted_delay_is_caught(planted: Path) -> None:
    plant(planted / "__init__.py", "import time\nwhile time.process_time() < 2 * 0.1 + 1: pass")
    assert min(probe(planted.parent)[0] for _ in range(2)) > CPU_SECONDS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_imports_keep_the_rule(rule: object) -> None:
    assert callable(rule)
    assert rule(PACKAGE) == []


@pytest.mark.parametrize(
    ("rule", "file", "line"),
    [
        (arrows_that_point_back, "data.py", "from course_lib import task"),
        (arrows_that_point_back, "task.py", "from course_lib.record import Record"),
        (arrows_that_point_back, "verdict.py", "def f() -> None:\n    from .cli import app"),
        (cycles, "errors.py", "from course_lib.shipped import shipped"),
        (misplaced, "metrics.py", "def f() -> None:\n    import torch"),
        (misplaced, "adapters/jax.py", "from tensorflow import keras"),
        (misplaced, "session.py", "def f() -> None:\n    import ipywidgets"),
        (misplaced, "cli/app.py", "def f() -> None:\n    from jupytext import read"),
        (heavy_at_the_top, "data.py", "import sklearn.datasets"),
        (heavy_at_the_top, "lessons.py", "try:\n    import yaml\nexcept ImportError: pass"),
        (heavy_at_the_top, "session.py", "from rich.console import Console"),
    ],
)
def test_a_planted_fault_breaks_the_rule(planted: Path, rule: object, file: str, line: str) -> None:
    assert callable(rule)
    plant(planted / file, line)
    assert [found for found in rule(planted) if file.removesuffix(".py") in found]
