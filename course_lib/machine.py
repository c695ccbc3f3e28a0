"""What a machine has, as plain data, and a report about it in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["gpu", "tpu"]
GIB = 2**30
APPLE = "Apple silicon, through Metal"


@dataclass(frozen=True)
class Accelerator:
    """A chip that trains faster than the CPU.

    `evidence` is where it was seen (a file or a variable). `usable` is False when the chip is there and something that
    it needs, such as a driver, is not; `missing` then says what.
    """

    kind: Kind
    name: str
    count: int
    evidence: str
    missing: str = ""

    @property
    def usable(self) -> bool:
        return not self.missing

    def __str__(self) -> str:
        several = f"{self.count} × " if self.count > 1 else ""
        return f"{several}{self.name} ({self.kind.upper()})"


@dataclass(frozen=True)
class Machine:
    """One machine as `course_lib.hardware.detect` saw it, before any framework was imported.

    `cores` are those that this process may use, `cores_present` those of the machine; memory is in bytes; `settings`
    are the environment variables, set already, that change which device or how many threads a framework takes.
    """

    system: str
    python: str
    cores: int
    cores_present: int
    memory_bytes: int
    memory_free_bytes: int
    accelerators: tuple[Accelerator, ...] = ()
    on_colab: bool = False
    colab_release: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def has(self, kind: Kind) -> bool:
        """Whether a framework could use an accelerator of this kind."""
        return self.accelerator(kind) is not None

    def accelerator(self, kind: Kind) -> Accelerator | None:
        """The usable accelerator of this kind, or None."""
        return next((a for a in self.accelerators if a.kind == kind and a.usable), None)

    @property
    def best(self) -> Literal["cpu", "gpu", "tpu"]:
        """The device that "auto" means here: a TPU before a GPU before the CPU."""
        if self.has("tpu"):
            return "tpu"
        return "gpu" if self.has("gpu") else "cpu"

    def report(self) -> str:
        """The machine in words, a line for each fact, as plain text for a terminal, a notebook or a screen reader."""
        rows = [
            ("System", f"{self.system}, Python {self.python}"),
            ("Runs in", self._place()),
            ("CPU", self._cores()),
            ("Memory", f"{self.memory_bytes / GIB:.1f} GiB, of which {self.memory_free_bytes / GIB:.1f} GiB are free"),
        ]
        rows += [("Accelerator", line) for line in self._accelerator_lines()]
        rows += [("Setting", f"{name}={value}") for name, value in self.settings]
        rows += [("Note", note) for note in self.notes]
        return "\n".join(["This machine", *(f"  {label:<12}{text}" for label, text in rows)])

    def _place(self) -> str:
        if not self.on_colab:
            return "Python on this computer, not Google Colab"
        return f"Google Colab, release {self.colab_release}" if self.colab_release else "Google Colab"

    def _cores(self) -> str:
        words = f"{self.cores} {'core' if self.cores == 1 else 'cores'} for this process"
        return words if self.cores >= self.cores_present else f"{words}, of {self.cores_present} in the machine"

    def _accelerator_lines(self) -> list[str]:
        if not self.accelerators:
            return ["none found: the CPU does all the work, and that is enough for the first lessons"]
        return [
            f"{a}, seen at {a.evidence}" if a.usable else f"{a}, seen at {a.evidence}, but not usable: {a.missing}"
            for a in self.accelerators
        ]
