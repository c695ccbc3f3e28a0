"""Choose a device in words, set what a framework reads at its import, and confirm what the framework then took."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from course_lib.errors import BadInput, HardwareMismatch
from course_lib.machine import APPLE, Machine

Device = Literal["cpu", "gpu", "tpu"]
Requested = Literal["auto", "cpu", "gpu", "tpu"]

COLAB_MENU = "Runtime → Change runtime type → Hardware accelerator"
COLAB_RUNTIME = {"cpu": "CPU", "gpu": "T4 GPU", "tpu": "v5e-1 TPU"}

# Frameworks name their devices TPU_0(process=0), TFRT_CPU_0, cuda:0, CudaDevice(id=0), mps, /physical_device:GPU:0.
DEVICE_WORDS: dict[Device, str] = {"tpu": "tpu", "gpu": "gpu|cuda|rocm|mps|metal", "cpu": "cpu"}


@dataclass(frozen=True)
class Choice:
    """The device to train on, why, and the environment that it needs before a framework is imported.

    In `environment` a value of None means that the variable must be absent.
    """

    device: Device
    requested: Requested
    explanation: str
    environment: Mapping[str, str | None] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.explanation


def choose_device(requested: str, machine: Machine) -> Choice:
    """Turn the variable DEVICE into a device of this machine.

    `requested` is "auto", "cpu", "gpu" or "tpu". Raises BadInput for another word and HardwareMismatch when the machine
    has no such device; on Colab the message says which menu changes the runtime, because no program can.
    """
    if requested not in get_args(Requested):
        raise BadInput(
            f'DEVICE should be one of "auto", "cpu", "gpu" and "tpu"; received {requested!r}.',
            action='Set DEVICE = "auto" when in doubt.',
        )
    if requested == "auto":
        # Nothing found is not proof of absence: "auto" then leaves the framework free to find what was missed.
        found = {} if machine.best == "cpu" else _environment(machine.best, machine)
        return Choice(machine.best, "auto", _explain_auto(machine), found)
    if requested == "cpu":
        return Choice("cpu", "cpu", _explain_cpu(machine), _environment("cpu", machine))
    kind: Literal["gpu", "tpu"] = "gpu" if requested == "gpu" else "tpu"
    chip = machine.accelerator(kind)
    if chip is None:
        raise _not_here(kind, machine)
    platforms = {"tpu": "tpu,cpu", "gpu": "cuda,cpu"}[kind]
    environment = dict(_environment(kind, machine))
    # JAX falls back to the CPU with no more than a warning, unless the platform is asked for by name.
    environment["JAX_PLATFORMS"] = None if chip.name == APPLE else platforms
    return Choice(kind, kind, f'You asked for "{kind}": training runs on the {chip}.', environment)


def apply(choice: Choice, environ: MutableMapping[str, str] = os.environ) -> tuple[str, ...]:
    """Set the environment that the choice needs; returns one line for each variable that changed.

    Call it before a framework is imported: each reads its variables once, at import or at its first operation.
    """
    changed = []
    for name, value in choice.environment.items():
        if environ.get(name) == value:
            continue
        if value is None:
            changed.append(f"{name} removed (it was {environ.pop(name)!r})")
        else:
            environ[name] = value
            changed.append(f"{name}={value}")
    return tuple(changed)


def confirm(track_devices: Sequence[str], machine: Machine, choice: Choice, *, track: str = "the framework") -> str:
    """Compare what a framework says it has with what was chosen; returns one sentence when they agree.

    `track_devices` are the framework's own names of its devices, such as ["TFRT_CPU_0"]. Raises HardwareMismatch when
    the framework does not have the chosen device (it fell back to the CPU), or still has an accelerator after "cpu" was
    asked for, and BadInput when no name tells what kind of device it is.
    """
    if track == "numpy":
        return "NumPy always computes on the CPU."
    kinds = {kind for name in track_devices for kind in _kinds(name)}
    listed = ", ".join(track_devices) or "no device at all"
    if not kinds:
        raise BadInput(
            f"The devices of {track} should be named after their kind, like 'cpu:0', 'cuda:0' or 'TPU_0'; "
            f"received {listed}.",
            action="Pass the names that the framework itself prints.",
        )
    chip = None if choice.device == "cpu" else machine.accelerator(choice.device)
    if chip is not None and choice.requested == "auto" and kinds == {"cpu"} and chip.name == APPLE:
        return f"{track} has no path to {chip}: PyTorch does, and fastai with it. Training runs on the CPU."
    if choice.device != "cpu" and choice.device not in kinds:
        raise HardwareMismatch(
            f"This machine has an accelerator, {chip}, and it was chosen; {track} fell back to {listed}.",
            action=_repair(choice.device, track, machine),
        )
    # No variable hides Apple's GPU, so seeing it says nothing about where the training runs.
    hideable = not any(re.search("mps|metal", name.lower()) for name in track_devices)
    if choice.requested == "cpu" and kinds != {"cpu"} and hideable:
        raise HardwareMismatch(
            f"The CPU was chosen, but {track} still has {listed}.",
            action="Restart the kernel and run from the top: the choice must be made before the framework is imported.",
        )
    return f"Confirmed: {track} has {listed}, and training runs on the {choice.device.upper()}."


def _kinds(name: str) -> list[Device]:
    return [kind for kind, pattern in DEVICE_WORDS.items() if re.search(pattern, name.lower())]


def _environment(device: Device, machine: Machine) -> dict[str, str | None]:
    settings = dict(machine.settings)
    if device == "cpu":
        hide: dict[str, str | None] = {"JAX_PLATFORMS": "cpu"}
        if any(a.kind == "gpu" and a.name != APPLE for a in machine.accelerators):
            hide["CUDA_VISIBLE_DEVICES"] = "-1"
        if machine.has("tpu"):
            hide["PJRT_DEVICE"] = "CPU"
        return hide
    if device == "tpu":
        return {"JAX_PLATFORMS": None, "PJRT_DEVICE": "TPU"}
    visible: dict[str, str | None] = {"JAX_PLATFORMS": None}
    if settings.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        visible["CUDA_VISIBLE_DEVICES"] = None
    return visible


def _explain_auto(machine: Machine) -> str:
    if machine.best == "cpu":
        return '"auto" means the CPU here: no accelerator was found that a framework could use.'
    return f'"auto" means the {machine.best.upper()} here: {machine.accelerator(machine.best)} was found.'


def _explain_cpu(machine: Machine) -> str:
    if machine.best == "cpu":
        return 'You asked for "cpu", and the CPU is all that this machine has.'
    return f'You asked for "cpu": the {machine.accelerator(machine.best)} is hidden from the frameworks and stays idle.'


def _not_here(kind: Literal["gpu", "tpu"], machine: Machine) -> HardwareMismatch:
    broken = next((a for a in machine.accelerators if a.kind == kind), None)
    if broken is not None:
        return HardwareMismatch(
            f'DEVICE = "{kind}" asks for a {kind.upper()}; there is a {broken}, but {broken.missing}.',
            action='Install the driver, or set DEVICE = "auto".',
        )
    message = f'DEVICE = "{kind}" asks for a {kind.upper()}; this machine has {_inventory(machine)}.'
    if machine.on_colab:
        return HardwareMismatch(f"{message} A notebook cannot switch its own runtime.", action=switch_runtime(kind))
    elsewhere = "open the notebook in Colab by the badge below its title"
    return HardwareMismatch(message, action=f'Set DEVICE = "auto", or {elsewhere}: {switch_runtime(kind)}')


def _inventory(machine: Machine) -> str:
    usable = [str(chip) for chip in machine.accelerators if chip.usable]
    return "a CPU and no accelerator" if not usable else f"a CPU and {' and '.join(usable)}"


def switch_runtime(device: Device) -> str:
    """The menu path by which a person gives a Colab notebook another runtime; no program can do it."""
    return f"choose {COLAB_MENU} → {COLAB_RUNTIME[device]} → Save in Colab's menu, and run the notebook from the top."


def _repair(device: Device, track: str, machine: Machine) -> str:
    if device == "tpu" and track == "tensorflow":
        return 'Colab\'s TPU runtime has no TensorFlow for it: take the jax track, or set DEVICE = "cpu" knowingly.'
    wheel = "the build of it that knows this chip" if not machine.on_colab else "the version that Colab ships"
    return (
        f"Restart the kernel and run from the top; if that does not help, install {wheel}, "
        'or set DEVICE = "cpu" to train on the CPU knowingly.'
    )
