"""The doctor tells missing, broken and working frameworks apart, and ends in what to do next."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from course_lib import frameworks, hardware
from course_lib.doctor import Diagnosis, FrameworkHealth, diagnose, examine, reference_step
from course_lib.doctor_steps import Stepped, start


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A track "toy" whose framework is installed in a folder of the test's, and whose step is NumPy's."""
    (tmp_path / "toyframework-1.2.3.dist-info").mkdir()
    (tmp_path / "toyframework-1.2.3.dist-info/METADATA").write_text("Name: toyframework\nVersion: 1.2.3\n")
    # A step module of this track, put where the child looks for the course's own.
    (tmp_path / "sitecustomize.py").write_text(
        "import course_lib.doctor_steps as steps\nsteps.__path__.append({!r})\n".format(str(tmp_path / "steps"))
    )
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps/toy.py").write_text("import toyframework\nfrom course_lib.doctor_steps.numpy import step\n")
    (tmp_path / "toyframework.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    toy = frameworks.Framework("toy", "Toy", "toy", (("toyframework",),), ("toyframework",))
    monkeypatch.setitem(frameworks.TABLE, "toy", toy)
    return tmp_path


def test_the_reference_step_is_one_step_of_gradient_descent() -> None:
    begin, after = start(), reference_step()

    def loss(weight: np.ndarray, bias: np.ndarray) -> float:
        logits = begin.x.astype(np.float64) @ weight + bias
        log_sum = np.log(np.exp(logits).sum(axis=1))
        return float((log_sum - logits[np.arange(len(begin.y)), begin.y]).mean())

    weight, bias = begin.weight.astype(np.float64), begin.bias.astype(np.float64)
    assert after.loss == pytest.approx(loss(weight, bias), abs=1e-6)
    nudge = np.zeros_like(weight)
    nudge[3, 4] = 1e-5
    slope = (loss(weight + nudge, bias) - loss(weight - nudge, bias)) / 2e-5
    assert after.weight[3, 4] == pytest.approx(weight[3, 4] - begin.learning_rate * slope, abs=1e-6)


def test_a_working_framework_took_the_step_in_its_own_process(toy: Path) -> None:
    assert toy.is_dir()
    found = examine("toy", reference_step())
    assert (found.health, found.version, found.max_difference) == ("works", "1.2.3", 0.0)
    assert "toyframework" not in sys.modules


def test_missing_and_broken_are_told_apart(toy: Path) -> None:
    (toy / "toyframework.py").write_text("raise OSError('libtoy.so.7: cannot open shared object file')")
    broken = examine("toy", reference_step())
    assert (broken.health, broken.version) == ("broken", "1.2.3")
    assert broken.cause.startswith("The import failed.")
    assert "libtoy.so.7" in broken.cause
    assert "--force-reinstall toyframework" in broken.action
    (toy / "toyframework-1.2.3.dist-info/METADATA").unlink()
    (toy / "toyframework-1.2.3.dist-info").rmdir()
    missing = examine("toy", reference_step())
    assert (missing.health, missing.version, missing.cause) == ("missing", None, "toyframework is not installed.")
    assert "[toy]" in missing.action


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        ("def step(start): raise RuntimeError('no kernel image for this device')", "no kernel image"),
        ("import os, signal\ndef step(start): os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    ],
)
def test_a_step_that_fails_is_broken_though_the_import_works(toy: Path, step: str, cause: str) -> None:
    (toy / "steps/toy.py").write_text(step)
    found = examine("toy", reference_step())
    assert found.health == "broken"
    assert found.cause.startswith("The training step failed.")
    assert cause in found.cause


@pytest.mark.parametrize(
    ("change", "difference"),
    [("loss=r.loss + 0.01", 0.01), ("bias=r.bias + 0.1", 0.1), ("weight=r.weight * float('nan')", None)],
)
def test_a_step_with_other_numbers_is_broken(toy: Path, change: str, difference: float | None) -> None:
    (toy / "steps/toy.py").write_text(
        "from dataclasses import replace\nfrom course_lib.doctor_steps import numpy\n"
        f"def step(start):\n    r = numpy.step(start)\n    return replace(r, {change})\n"
    )
    found = examine("toy", reference_step())
    assert found.health == "broken"
    assert "differs from NumPy's" in found.cause
    assert found.max_difference == (None if difference is None else pytest.approx(difference, rel=1e-3))


def test_an_accelerator_may_differ_more_than_a_cpu(toy: Path) -> None:
    source = (
        "from dataclasses import replace\nfrom course_lib.doctor_steps import numpy\n"
        "def step(start):\n    r = numpy.step(start)\n    return replace(r, loss=r.loss + 1e-3, device='{}')\n"
    )
    (toy / "steps/toy.py").write_text(source.format("cuda:0"))
    assert examine("toy", reference_step()).health == "works"
    (toy / "steps/toy.py").write_text(source.format("TFRT_CPU_0"))
    assert examine("toy", reference_step()).health == "broken"


def test_a_keras_process_gets_the_chosen_backend(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    monkeypatch.setattr(frameworks, "keras_backend", lambda *_: "torch")
    monkeypatch.setitem(frameworks.TABLE, "keras", replace(frameworks.TABLE["toy"], track="keras"))
    (toy / "steps/keras.py").write_text(
        "import os\nfrom dataclasses import replace\nfrom course_lib.doctor_steps import numpy\n"
        "def step(start): return replace(numpy.step(start), device='cpu ' + os.environ['KERAS_BACKEND'])\n"
    )
    monkeypatch.setattr(frameworks, "missing_distributions", lambda _: [])
    sitecustomize = toy / "sitecustomize.py"
    sitecustomize.write_text(sitecustomize.read_text().replace("append(", "insert(0, "))
    assert examine("keras", reference_step()).device == "cpu torch"


def _diagnosis(*found: FrameworkHealth, home_problem: str = "") -> Diagnosis:
    lab = {"jupyterlab": "4.6.6"}
    return Diagnosis(hardware.detect(), found, lab, "/home/me", home_problem, 10**12)


NUMPY = FrameworkHealth("numpy", "works", "2.1")
TORCH = FrameworkHealth("torch", "works", "2.9")
MISSING = FrameworkHealth("jax", "missing", None, "jax is not installed.")
BROKEN = FrameworkHealth("keras", "broken", "3.13", "The import failed.", "Install it again.")


@pytest.mark.parametrize(
    ("found", "code"),
    [((NUMPY, TORCH), 0), ((NUMPY, TORCH, MISSING), 0), ((NUMPY, MISSING), 4), ((NUMPY, TORCH, BROKEN), 5)],
)
def test_exit_codes(found: tuple[FrameworkHealth, ...], code: int) -> None:
    assert _diagnosis(*found).exit_code == code
    assert _diagnosis(*found).to_dict()["ok"] is (code == 0)
    assert _diagnosis(*found, home_problem="Nothing can be saved.").exit_code == 3


def test_next_steps_are_sentences_and_end_in_a_way_to_go_on() -> None:
    steps = _diagnosis(NUMPY, TORCH, MISSING, BROKEN).next_steps()
    assert any("Keras is broken" in step for step in steps)
    assert any("To take the jax track" in step and "pip install" in step for step in steps)
    assert "course run 01_digits" in steps[-1]
    assert "course lab" in _diagnosis(NUMPY, MISSING).next_steps()[-1]


def test_a_framework_on_a_broken_one_waits_for_it() -> None:
    broken = replace(BROKEN, track="torch"), replace(BROKEN, track="fastai")
    steps = _diagnosis(NUMPY, *broken).next_steps()
    assert steps[:2] == [
        "PyTorch is broken. Install it again.",
        "fastai is broken. It runs on PyTorch: mend that first, then see again.",
    ]


def test_low_memory_and_a_missing_lab_are_said() -> None:
    found = replace(_diagnosis(NUMPY), lab={"jupyterlab": None}, disk_free_bytes=1)
    found = replace(found, machine=replace(found.machine, memory_free_bytes=1))
    text = "\n".join(found.next_steps())
    assert "jupyterlab must be installed" in text
    assert "2 GiB of memory" in text
    assert "2 GiB of disk" in text


def test_a_folder_that_cannot_be_written_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_HOME", "/proc/every-framework")
    found = diagnose(("numpy",))
    assert found.exit_code == 3
    assert "Nothing can be saved" in found.next_steps()[0]


def test_diagnose_reports_each_track_in_the_order_of_the_table_and_its_progress(course_home: Path) -> None:
    seen: list[str] = []
    found = diagnose(("numpy",), on_progress=seen.append)
    assert seen == [each.track for each in found.frameworks] == ["numpy"]
    assert not list(course_home.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("track", frameworks.TRACKS)
def test_every_installed_framework_agrees_with_numpy(track: str) -> None:
    if frameworks.missing_distributions(track):
        pytest.skip(f"{track} is not installed")
    found = examine(track, reference_step())
    assert (found.health, found.cause) == ("works", "")
    assert found.max_difference is not None
    assert found.max_difference < 1e-5


def test_results_are_compared_in_loss_weight_and_bias() -> None:
    one = Stepped(1.0, np.zeros((2, 2), np.float32), np.zeros(2, np.float32), "cpu")
    assert one.max_difference(replace(one, bias=np.array([0, -3], np.float32))) == 3.0
    assert one.max_difference(replace(one, loss=1.5)) == 0.5
