"""Missing and broken frameworks are told apart, and asking imports nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib import frameworks
from course_lib.errors import BadInput, FrameworkBroken, FrameworkMissing, NotFound
from course_lib.frameworks import Framework, keras_backend, require, status


class Packages:
    """A folder on the import path into which a test puts fake distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, source: str | None, *, version: str = "1.2.3") -> None:
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        if source is not None:
            package = self.folder / name.replace("-", "_")
            package.mkdir()
            (package / "__init__.py").write_text(source)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    """A table with one track, "toy", which needs two distributions that exist nowhere."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))
    toy = Framework("toy", "Toy", "toy", (("toyframework-cpu", "toyframework"), ("toyhelper",)), ("toyframework",))
    monkeypatch.setitem(frameworks.TABLE, "toy", toy)
    return Packages(folder)


@pytest.mark.usefixtures("packages")
def test_no_distribution_metadata_is_missing() -> None:
    found = status("toy")
    assert (found.state, found.version) == ("missing", None)
    with pytest.raises(FrameworkMissing, match="toyframework-cpu and toyhelper are not installed") as caught:
        require("toy")
    assert "pip install" in caught.value.action
    assert "[toy]" in caught.value.action
    assert caught.value.exit_code == 4


def test_a_package_without_metadata_is_missing(packages: Packages) -> None:
    (packages.folder / "toyframework.py").write_text("")
    assert status("toy").state == "missing"


def test_one_of_two_distributions_is_missing_and_named(packages: Packages) -> None:
    packages.add("toyframework", "")
    found = status("toy")
    assert (found.state, found.version) == ("missing", "1.2.3")
    assert found.cause == "toyframework-cpu 1.2.3 is installed, but toyhelper is not."


def test_either_name_of_a_distribution_is_enough(packages: Packages) -> None:
    packages.add("toyframework", "")
    packages.add("toyhelper", None)
    assert (status("toy").state, require("toy").version) == ("ready", "1.2.3")


def test_an_import_that_raises_is_broken_and_keeps_its_cause(packages: Packages) -> None:
    packages.add("toyframework", "raise OSError('libtoy.so.7: cannot open shared object file')")
    packages.add("toyhelper", None)
    found = status("toy")
    assert (found.state, found.version) == ("broken", "1.2.3")
    with pytest.raises(FrameworkBroken, match=r"Toy 1\.2\.3 is installed, but importing it fails: OSError") as caught:
        require("toy")
    assert "libtoy.so.7" in str(caught.value.__cause__)
    assert "Traceback" in str(caught.value.__cause__)
    assert "--force-reinstall" in caught.value.action
    assert "toyframework" in caught.value.action
    assert caught.value.exit_code == 5
    assert require("toy", try_import=False).state == "ready"


def test_metadata_without_the_package_is_broken(packages: Packages) -> None:
    packages.add("toyframework", None)
    packages.add("toyhelper", None)
    found = status("toy")
    assert found.state == "broken"
    assert "No module named 'toyframework'" in found.cause


def test_an_import_that_kills_the_process_is_broken(packages: Packages) -> None:
    packages.add("toyframework", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    packages.add("toyhelper", None)
    found = status("toy")
    assert found.state == "broken"
    assert "SIGSEGV" in found.cause


def test_an_import_that_never_ends_is_broken(packages: Packages) -> None:
    packages.add("toyframework", "import time\ntime.sleep(60)")
    cause = frameworks.import_failure("toy", timeout_seconds=0.5)
    assert "had not ended" in cause


def test_asking_imports_nothing_into_the_caller(packages: Packages) -> None:
    packages.add("toyframework", "")
    packages.add("toyhelper", None)
    assert status("toy").state == "ready"
    assert "toyframework" not in sys.modules
    program = (
        "import sys\nfrom course_lib.frameworks import TRACKS, missing_distributions\n"
        "for track in TRACKS: missing_distributions(track)\n"
        "print([m for m in ('numpy', 'torch', 'fastai', 'keras', 'jax', 'tensorflow') if m in sys.modules])\n"
    )
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert child.stdout.strip() in ("[]", "['numpy']")


def test_a_file_of_the_learners_that_hides_the_package_is_named(
    packages: Packages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add("toyframework", "")
    packages.add("toyhelper", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toyframework.py").write_text("raise SystemError('mine')")
    with pytest.raises(FrameworkBroken) as caught:
        require("toy")
    assert "toyframework.py hides the package toyframework" in caught.value.action


def test_an_unknown_track_is_a_teaching_error() -> None:
    with pytest.raises(NotFound, match="numpy, torch, fastai, keras, jax, tensorflow"):
        status("theano")


def test_numpy_is_always_ready() -> None:
    assert require("numpy").state == "ready"


@pytest.fixture
def keras_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    return tmp_path / "keras.json"


def _install(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    def version(alternatives: tuple[str, ...]) -> str | None:
        return "1.0" if set(alternatives) & set(names) else None

    monkeypatch.setattr(frameworks, "_version", version)


def test_keras_backend_comes_from_the_environment_first(keras_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, "keras", "jax", "torch")
    keras_home.write_text(json.dumps({"backend": "torch"}))
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    assert keras_backend() == "tensorflow"
    assert status("keras", try_import=False).cause == "keras 1.0 is installed, but its backend tensorflow-cpu is not."


def test_keras_backend_comes_from_keras_settings_next(keras_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, "keras", "jax", "torch")
    keras_home.write_text(json.dumps({"backend": "torch"}))
    assert keras_backend() == "torch"
    assert frameworks.environment("keras")["KERAS_BACKEND"] == "torch"


def test_settings_that_name_what_is_not_installed_do_not_count(
    keras_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(monkeypatch, "keras", "torch")
    keras_home.write_text(json.dumps({"backend": "tensorflow"}))
    assert keras_backend() == "torch"


def test_settings_that_keras_wrote_by_itself_are_no_choice(keras_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, "keras", "torch", "tensorflow")
    keras_home.write_text(json.dumps(frameworks.KERAS_UNTOUCHED))
    assert keras_backend() == "torch"
    keras_home.write_text(json.dumps({**frameworks.KERAS_UNTOUCHED, "floatx": "float64"}))
    assert keras_backend() == "tensorflow"


@pytest.mark.parametrize("text", ["{", "[]", '{"backend": 3}'])
def test_damaged_keras_settings_are_no_crash(keras_home: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    _install(monkeypatch, "keras", "tensorflow", "torch")
    keras_home.write_text(text)
    assert keras_backend() == "torch"


@pytest.mark.usefixtures("keras_home")
def test_keras_without_any_backend_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, "keras")
    found = status("keras")
    assert (found.state, found.cause) == ("missing", "keras 1.0 is installed, but its backend jax is not.")


def test_a_backend_that_cannot_train_is_a_teaching_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "openvino")
    with pytest.raises(BadInput, match="openvino"):
        keras_backend()
