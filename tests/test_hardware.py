"""The machine is described, chosen from and confirmed without importing a framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import BadInput, HardwareMismatch
from course_lib.hardware import Machine, apply, choose_device, confirm, detect

V5E = ("0x1ae0", "0x0063", "0x120000")
V6E = ("0x1ae0", "0x006f", "0x120000")
GOOGLE_NETWORK = ("0x1ae0", "0x0042", "0x020000")
NVIDIA = ("0x10de", "0x1eb8", "0x030200")
NVIDIA_AUDIO = ("0x10de", "0x10f8", "0x040300")


def tree(root: Path, *devices: tuple[str, str, str], nodes: tuple[str, ...] = ()) -> Path:
    for number, values in enumerate(devices):
        folder = root / f"sys/bus/pci/devices/0000:00:{number:02x}.0"
        folder.mkdir(parents=True)
        for name, value in zip(("vendor", "device", "class"), values, strict=True):
            (folder / name).write_text(value + "\n")
    for node in nodes:
        path = root / node
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def look(root: Path, **environ: str) -> Machine:
    return detect(root=root, environ=environ, system="Linux", architecture="x86_64")


@pytest.mark.parametrize(("device", "name"), [(V5E, "TPU v5e"), (V6E, "TPU v6e")])
def test_a_tpu_is_told_by_its_pci_numbers(tmp_path: Path, device: tuple[str, str, str], name: str) -> None:
    machine = look(tree(tmp_path, GOOGLE_NETWORK, device))
    assert machine.best == "tpu"
    assert [(a.name, a.count) for a in machine.accelerators] == [(name, 1)]
    assert name in machine.report()
    assert "0000:00:01.0" in machine.report()


def test_four_chips_are_counted(tmp_path: Path) -> None:
    assert "4 × TPU v6e" in look(tree(tmp_path, V6E, V6E, V6E, V6E)).report()


def test_googles_network_card_is_no_tpu(tmp_path: Path) -> None:
    assert look(tree(tmp_path, GOOGLE_NETWORK)).best == "cpu"


def test_compiling_for_a_tpu_does_not_make_one(tmp_path: Path) -> None:
    machine = look(tmp_path, TPU_ACCELERATOR_TYPE="v5litepod-1")
    assert machine.best == "cpu"
    assert "no TPU was seen" in machine.report()


def test_a_hidden_pci_bus_leaves_the_device_node_and_the_variable(tmp_path: Path) -> None:
    machine = look(tree(tmp_path, nodes=("dev/accel0",)), TPU_ACCELERATOR_TYPE="v5litepod-1")
    assert machine.best == "tpu"
    assert "v5litepod-1" in machine.report()


def test_an_nvidia_card_with_its_driver(tmp_path: Path) -> None:
    root = tree(tmp_path, NVIDIA, NVIDIA_AUDIO, nodes=("dev/nvidia0", "dev/nvidiactl"))
    information = root / "proc/driver/nvidia/gpus/0000:00:00.0/information"
    information.parent.mkdir(parents=True)
    information.write_text("Model: \t\t Tesla T4\nIRQ: 33\n")
    machine = look(root)
    assert machine.best == "gpu"
    assert "Tesla T4 (GPU)" in machine.report()


def test_an_nvidia_card_without_a_driver_is_seen_and_not_chosen(tmp_path: Path) -> None:
    machine = look(tree(tmp_path, NVIDIA))
    assert machine.best == "cpu"
    assert "not usable: there is no /dev/nvidia0" in machine.report()
    with pytest.raises(HardwareMismatch, match="Install the driver"):
        choose_device("gpu", machine)


def test_the_sound_of_a_graphics_card_is_no_gpu(tmp_path: Path) -> None:
    assert look(tree(tmp_path, NVIDIA_AUDIO)).accelerators == ()


def test_a_machine_with_nothing_says_so(tmp_path: Path) -> None:
    machine = look(tmp_path)
    assert machine.best == "cpu"
    assert "none found" in machine.report()
    assert "not Google Colab" in machine.report()


def test_apple_silicon_is_a_gpu_and_jax_may_stay_on_the_cpu_there(tmp_path: Path) -> None:
    machine = detect(root=tmp_path, environ={}, system="Darwin", architecture="arm64")
    auto = choose_device("auto", machine)
    assert auto.device == "gpu"
    assert "no path" in confirm(["TFRT_CPU_0"], machine, auto, track="jax")
    assert "mps" in confirm(["mps", "cpu"], machine, choose_device("cpu", machine), track="torch")


def test_a_container_cuts_cores_and_memory(tmp_path: Path) -> None:
    group = tmp_path / "sys/fs/cgroup"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("100000 100000\n")
    (group / "memory.max").write_text(str(2 * 2**30))
    (group / "memory.current").write_text(str(2**29))
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 8388608 kB\nMemFree: 4194304 kB\nMemAvailable: 6291456 kB\n")
    machine = look(tmp_path)
    assert machine.cores == 1
    assert (machine.memory_bytes, machine.memory_free_bytes) == (2 * 2**30, 3 * 2**29)


def test_memory_without_a_container_is_what_the_kernel_says(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n")
    assert look(tmp_path).memory_bytes == 8 * 2**30


def test_settings_of_threads_are_reported(tmp_path: Path) -> None:
    assert "OMP_NUM_THREADS=3" in look(tmp_path, OMP_NUM_THREADS="3", UNRELATED="secret").report()
    assert "secret" not in look(tmp_path, UNRELATED="secret").report()


def test_colab_is_told_by_its_release_tag(tmp_path: Path) -> None:
    machine = look(tmp_path, COLAB_RELEASE_TAG="release-colab_20260814")
    assert machine.on_colab
    assert "release-colab_20260814" in machine.report()


def test_colab_is_told_by_its_package_which_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site/google/colab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    assert not look(tmp_path).on_colab
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    assert look(tmp_path).on_colab


def test_asking_for_what_is_not_there_teaches_and_names_colabs_menu(tmp_path: Path) -> None:
    with pytest.raises(HardwareMismatch) as caught:
        choose_device("tpu", look(tmp_path, COLAB_RELEASE_TAG="release"))
    assert "a CPU and no accelerator" in str(caught.value)
    assert "cannot switch its own runtime" in str(caught.value)
    assert "Runtime → Change runtime type → Hardware accelerator → v5e-1 TPU" in caught.value.action


def test_another_word_for_a_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'cuda'"):
        choose_device("cuda", look(tmp_path))


def test_auto_takes_the_best_and_says_why(tmp_path: Path) -> None:
    choice = choose_device("auto", look(tree(tmp_path, V5E, nodes=("dev/nvidia0",))))
    assert choice.device == "tpu"
    assert "TPU v5e" in choice.explanation


def test_the_cpu_hides_the_accelerators_before_the_import(tmp_path: Path) -> None:
    environ = {"JAX_PLATFORMS": "cuda", "HOME": "/home/ada"}
    changed = apply(choose_device("cpu", look(tree(tmp_path, V5E, nodes=("dev/nvidia0",)))), environ)
    assert environ == {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "PJRT_DEVICE": "CPU", "HOME": "/home/ada"}
    assert "JAX_PLATFORMS=cpu" in changed


def test_a_gpu_asked_for_by_name_makes_visible_what_was_hidden(tmp_path: Path) -> None:
    environ = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1"}
    machine = detect(
        root=tree(tmp_path, nodes=("dev/nvidia0",)), environ=environ, system="Linux", architecture="x86_64"
    )
    changed = apply(choose_device("gpu", machine), environ)
    assert environ == {"JAX_PLATFORMS": "cuda,cpu"}
    assert any("CUDA_VISIBLE_DEVICES removed" in line for line in changed)
    assert apply(choose_device("gpu", machine), environ) == ()


def test_auto_without_an_accelerator_changes_nothing(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    apply(choose_device("auto", look(tmp_path)), environ)
    assert environ == {}


def test_a_tpu_that_fell_back_to_the_cpu_is_loud(tmp_path: Path) -> None:
    machine = look(tree(tmp_path, V5E), COLAB_RELEASE_TAG="release")
    with pytest.raises(HardwareMismatch) as caught:
        confirm(["TFRT_CPU_0"], machine, choose_device("auto", machine), track="jax")
    assert "TPU v5e" in str(caught.value)
    assert "jax fell back to TFRT_CPU_0" in str(caught.value)
    with pytest.raises(HardwareMismatch, match="take the jax track"):
        confirm(["/physical_device:CPU:0"], machine, choose_device("tpu", machine), track="tensorflow")


@pytest.mark.parametrize("names", [["cuda:0", "cpu"], ["CudaDevice(id=0)"], ["/physical_device:GPU:0", "cpu"]])
def test_a_framework_that_has_the_gpu_is_confirmed(tmp_path: Path, names: list[str]) -> None:
    machine = look(tree(tmp_path, nodes=("dev/nvidia0",)))
    assert names[0] in confirm(names, machine, choose_device("auto", machine), track="torch")


def test_a_gpu_that_fell_back_to_the_cpu_is_loud(tmp_path: Path) -> None:
    machine = look(tree(tmp_path, nodes=("dev/nvidia0",)))
    with pytest.raises(HardwareMismatch, match="fell back to cpu"):
        confirm(["cpu"], machine, choose_device("auto", machine), track="torch")


def test_numpy_knows_the_cpu_only_and_nothing_is_wrong_about_that(tmp_path: Path) -> None:
    machine = look(tree(tmp_path, V5E))
    assert "always" in confirm(["cpu"], machine, choose_device("auto", machine), track="numpy")


def test_a_choice_made_after_the_import_is_noticed(tmp_path: Path) -> None:
    machine = look(tree(tmp_path, nodes=("dev/nvidia0",)))
    with pytest.raises(HardwareMismatch, match="Restart the kernel"):
        confirm(["cuda:0", "cpu"], machine, choose_device("cpu", machine), track="torch")


@pytest.mark.parametrize("names", [[], ["xla:0"]])
def test_devices_without_a_kind_are_refused(tmp_path: Path, names: list[str]) -> None:
    machine = look(tmp_path)
    with pytest.raises(BadInput, match="named after their kind"):
        confirm(names, machine, choose_device("auto", machine))


def test_detection_imports_no_framework() -> None:
    program = (
        "import sys; from course_lib.hardware import detect; detect().report(); "
        "print([m for m in ('torch', 'jax', 'keras', 'tensorflow', 'fastai', 'google') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
