"""Find out what this machine has without importing a framework: importing one may already take the TPU."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from course_lib.device import Choice, apply, choose_device, confirm
from course_lib.machine import APPLE, Accelerator, Machine

__all__ = ["Accelerator", "Choice", "Machine", "apply", "choose_device", "confirm", "detect"]

GOOGLE_VENDOR = "0x1ae0"
NVIDIA_VENDOR = "0x10de"
DISPLAY_CLASS = "0x03"

# Google's network and disk devices carry the same vendor number, so the device number decides.
# Source: jax/_src/hardware_utils.py of JAX 0.10.2.
TPU_NAMES = {"0x005e": "TPU v4", "0x0062": "TPU v5p", "0x0063": "TPU v5e", "0x006f": "TPU v6e", "0x0076": "TPU 7x"}

SETTINGS = (
    "JAX_PLATFORMS",
    "CUDA_VISIBLE_DEVICES",
    "PJRT_DEVICE",
    "KERAS_BACKEND",
    "TPU_ACCELERATOR_TYPE",
    "XLA_FLAGS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


def detect(
    *,
    root: Path = Path("/"),
    environ: Mapping[str, str] = os.environ,
    system: str | None = None,
    architecture: str | None = None,
) -> Machine:
    """Describe this machine.

    `root` is where the file system starts and `environ` the environment, so that a test can describe another machine;
    `system` ("Linux", "Darwin", "Windows") and `architecture` ("x86_64", "arm64") are asked of Python when left out.
    Nothing is imported, started or written, and a file that cannot be read counts as absent.
    """
    system = platform.system() if system is None else system
    architecture = platform.machine() if architecture is None else architecture
    chips = [_tpu(root, environ), _nvidia(root), _apple(system, architecture)]
    present = os.cpu_count() or 1
    total, free = _memory_bytes(root)
    release = environ.get("COLAB_RELEASE_TAG", "")
    return Machine(
        system=f"{system} {architecture}".strip(),
        python=platform.python_version(),
        cores=_cores_usable(root, present),
        cores_present=present,
        memory_bytes=total,
        memory_free_bytes=free,
        accelerators=tuple(chip for chip in chips if chip is not None),
        on_colab=bool(release) or _has_google_colab(),
        colab_release=release,
        settings=tuple((name, environ[name]) for name in SETTINGS if name in environ),
        notes=tuple(_notes(environ, chips[0])),
    )


def _read(path: Path) -> str:
    """The text of a small system file, stripped, or "" when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _pci(root: Path) -> list[tuple[str, str, str, Path]]:
    """(vendor, device, class, folder) of each PCI device, numbers as lower-case text like "0x1ae0"."""
    try:
        folders = sorted((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        return []
    found = [tuple(_read(folder / part).lower() for part in ("vendor", "device", "class")) for folder in folders]
    return [(*numbers, folder) for numbers, folder in zip(found, folders, strict=True)]  # type: ignore[misc]


def _tpu(root: Path, environ: Mapping[str, str]) -> Accelerator | None:
    chips = [(device, folder) for vendor, device, _, folder in _pci(root) if vendor == GOOGLE_VENDOR]
    chips = [(device, folder) for device, folder in chips if device in TPU_NAMES]
    if chips:
        device, folder = chips[0]
        return Accelerator("tpu", TPU_NAMES[device], len(chips), f"/{folder.relative_to(root)}")
    # A container may hide the PCI bus; then the variable names the kind and the device node proves that it is there.
    nodes = sorted((root / "dev").glob("accel[0-9]*"))
    if (kind := environ.get("TPU_ACCELERATOR_TYPE")) and nodes:
        return Accelerator("tpu", f"TPU {kind}", len(nodes), f"/{nodes[0].relative_to(root)} and TPU_ACCELERATOR_TYPE")
    return None


def _nvidia(root: Path) -> Accelerator | None:
    nodes = sorted((root / "dev").glob("nvidia[0-9]*"))
    if nodes:
        return Accelerator("gpu", _nvidia_name(root), len(nodes), f"/{nodes[0].relative_to(root)}")
    if (root / "dev/dxg").exists() and (root / "usr/lib/wsl/lib/libcuda.so.1").exists():
        return Accelerator("gpu", "NVIDIA card of the Windows host", 1, "/dev/dxg")
    cards = [row for row in _pci(root) if row[0] == NVIDIA_VENDOR and row[2].startswith(DISPLAY_CLASS)]
    if not cards:
        return None
    missing = "there is no /dev/nvidia0, so its driver is not installed, or not passed into this container"
    return Accelerator("gpu", "NVIDIA card", len(cards), f"/{cards[0][3].relative_to(root)}", missing)


def _nvidia_name(root: Path) -> str:
    for file in sorted((root / "proc/driver/nvidia/gpus").glob("*/information")):
        for line in _read(file).splitlines():
            if line.startswith("Model:"):
                return line.removeprefix("Model:").strip()
    return "NVIDIA card"


def _apple(system: str, architecture: str) -> Accelerator | None:
    if system == "Darwin" and architecture == "arm64":
        return Accelerator("gpu", APPLE, 1, "the system's name, Darwin on arm64")
    return None


def _cores_usable(root: Path, present: int) -> int:
    """Cores that this process may use: its affinity, cut to the quota of its container (cgroup version 2 or 1)."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else present
    quota, _, period = _read(root / "sys/fs/cgroup/cpu.max").partition(" ")
    if not period:
        quota = _read(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us")
        period = _read(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us")
    if quota.isdigit() and period.isdigit() and int(period):
        return max(1, min(affinity, int(quota) // int(period)))
    return affinity


def _memory_bytes(root: Path) -> tuple[int, int]:
    """(total, free) bytes, cut to the limit of the container; psutil answers where there is no /proc/meminfo."""
    total, free = _meminfo(root)
    if not total:
        import psutil

        memory = psutil.virtual_memory()
        total, free = int(memory.total), int(memory.available)
    limit, used = _read(root / "sys/fs/cgroup/memory.max"), _read(root / "sys/fs/cgroup/memory.current")
    if limit.isdigit() and int(limit) < total:
        total = int(limit)
        free = min(free, max(0, total - int(used or 0)))
    return total, free


def _meminfo(root: Path) -> tuple[int, int]:
    rows = dict(line.split(":", 1) for line in _read(root / "proc/meminfo").splitlines() if ":" in line)
    kib = {name: int(value.split()[0]) for name, value in rows.items() if value.split() and value.split()[0].isdigit()}
    return kib.get("MemTotal", 0) * 1024, kib.get("MemAvailable", kib.get("MemFree", 0)) * 1024


def _has_google_colab() -> bool:
    """Whether the package `google.colab` is installed, found without importing it or its parent."""
    parent = PathFinder.find_spec("google")
    locations = list(parent.submodule_search_locations or []) if parent else []
    return PathFinder.find_spec("google.colab", locations) is not None if locations else False


def _notes(environ: Mapping[str, str], tpu: Accelerator | None) -> list[str]:
    notes = []
    if environ.get("TPU_ACCELERATOR_TYPE") and tpu is None:
        notes.append("TPU_ACCELERATOR_TYPE is set, but no TPU was seen: programs can be compiled for it, not run")
    if environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        notes.append("CUDA_VISIBLE_DEVICES hides every NVIDIA card from programs that start now")
    if environ.get("JAX_PLATFORMS") == "cpu":
        notes.append("JAX_PLATFORMS=cpu keeps JAX on the CPU")
    return notes
