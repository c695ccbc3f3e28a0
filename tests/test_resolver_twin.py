"""The resolver twin: pip, told that all of Colab's packages are there, would move none of them for the course."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from colab_versions import FREEZE_FILES, shipped_versions
from twins import clean_environment, colab_python, need_registry, run

pytestmark = pytest.mark.twin

EXTRAS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
)["project"]["optional-dependencies"]
TRACKS = ("torch", "fastai", "keras", "jax", "tensorflow")


@dataclass(frozen=True)
class Phantom:
    """An environment that holds nothing but the metadata of Colab's packages."""

    python: Path
    versions: dict[str, str]

    def would_install(self, *requirements: str) -> tuple[dict[str, str], dict[str, str]]:
        """What pip would change and what it would add: name → version. AssertionError when it cannot resolve."""
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--dry-run", "--quiet"]
        done = subprocess.run(
            [*command, "--report", "-", *requirements],
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        installs = [item["metadata"] for item in json.loads(done.stdout)["install"]]
        found = {canonicalize_name(item["name"]): item["version"] for item in installs}
        changed = {name: version for name, version in found.items() if name in self.versions}
        return changed, {name: version for name, version in found.items() if name not in self.versions}


@pytest.fixture(scope="module", params=FREEZE_FILES, ids=lambda path: path.stem.removeprefix("pip-freeze"))
def phantom(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Phantom:
    folder = tmp_path_factory.mktemp("phantom") / "venv"
    run(colab_python(), "-m", "venv", "--without-pip", str(folder))
    site = next(folder.glob("lib/python*/site-packages"))
    versions = {name: str(version) for name, version in shipped_versions(request.param).items() if name != "pip"}
    for name, version in versions.items():
        info = site / f"{re.sub('[-.]+', '_', name)}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        (info / "RECORD").touch()
        (info / "INSTALLER").write_text("pip\n", encoding="utf-8")
    return Phantom(folder / "bin" / "python", versions)


def asked_by(track: str) -> list[str]:
    """What a track's extra asks of Colab, the lab apart; there TensorFlow is the full package, as off Linux x86-64."""
    wanted = [r for r in map(Requirement, EXTRAS[track]) if r.name not in ("every-framework", "tensorflow-cpu")]
    return [f"{r.name}{r.specifier}" for r in wanted]


def test_the_phantom_holds_every_package_of_the_list(phantom: Phantom) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(phantom.python), "list", "--format", "json"]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert {canonicalize_name(item["name"]): item["version"] for item in listed} == phantom.versions


def test_the_wheel_adds_itself_and_moves_nothing(phantom: Phantom, wheel: Path) -> None:
    changed, added = phantom.would_install(str(wheel))
    assert changed == {}
    assert set(added) == {"every-framework"}


@pytest.mark.parametrize("track", TRACKS)
def test_a_tracks_framework_is_there_and_stays(phantom: Phantom, wheel: Path, track: str) -> None:
    if track == "tensorflow" and track not in phantom.versions:
        pytest.skip("Colab's TPU runtime has no TensorFlow")
    assert asked_by(track)
    changed, added = phantom.would_install(str(wheel), *asked_by(track))
    assert changed == {}
    assert set(added) == {"every-framework"}


def test_a_requirement_that_would_move_a_colab_package_is_caught(phantom: Phantom, wheel: Path) -> None:
    need_registry()
    changed, _ = phantom.would_install(str(wheel), "numpy>=2.3")
    assert "numpy" in changed


def test_with_colabs_versions_as_constraints_such_a_requirement_fails_loudly(
    phantom: Phantom, wheel: Path, tmp_path: Path
) -> None:
    need_registry()
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("".join(f"{n}=={v}\n" for n, v in phantom.versions.items()), encoding="utf-8")
    assert phantom.would_install("-c", str(constraints), str(wheel))[0] == {}
    with pytest.raises(AssertionError, match=r"(?s)numpy.*conflict|ResolutionImpossible"):
        phantom.would_install("-c", str(constraints), str(wheel), "numpy>=2.3")
