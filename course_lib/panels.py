"""What the hardware chooser and the decision tree do, without any widget: they work in plain Python as well."""

from __future__ import annotations

from pathlib import Path

from course_lib import choose
from course_lib.device import Choice, choose_device
from course_lib.errors import HardwareMismatch
from course_lib.machine import Machine

DEVICES = ("auto", "cpu", "gpu", "tpu")


class DevicePanel:
    """The chooser: a report of the machine, and `device`, the plain value that the notebook's DEVICE takes.

    Selecting a device that is not there leaves `device` as it was, and `status` says why.
    """

    def __init__(self, machine: Machine, device: str = "auto") -> None:
        self.machine = machine
        self._take(choose_device(device, machine))

    @property
    def device(self) -> str:
        """ "auto", "cpu", "gpu" or "tpu"."""
        return self._choice.requested

    @property
    def choice(self) -> Choice:
        """What `device` means on this machine."""
        return self._choice

    def select(self, device: str) -> str:
        """Choose a device; returns `status`. Raises BadInput for a word that is no device."""
        try:
            self._take(choose_device(device, self.machine))
        except HardwareMismatch as error:
            self.status = f"{error} DEVICE stays {self.device!r}."
        self.changed()
        return self.status

    def _take(self, choice: Choice) -> None:
        self._choice = choice
        self.status = f"DEVICE is {choice.requested!r}. {choice.explanation}"

    def option_text(self, device: str) -> str:
        """The option as it is read: what the word means here, or that it is not there."""
        if device == "auto":
            return f"auto: the best of this machine, here the {self.machine.best.upper()}"
        if device == "cpu":
            return "cpu: works everywhere"
        chip = next((chip for chip in self.machine.accelerators if chip.kind == device and chip.usable), None)
        return f"{device}: {chip}" if chip else f"{device}: not on this machine"

    def changed(self) -> None:
        """Called after every change; a view overrides it."""

    def __repr__(self) -> str:
        return f"{self.machine.report()}\n{self.status}"


class TreePanel:
    """The decision tree, one question at a time. `answers` maps question ids to the keys of the chosen options."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}
        self.status = ""

    @property
    def question(self) -> choose.Question | None:
        """The question that is to be answered now, or None at the end of the way."""
        return choose.next_question(self.answers)

    @property
    def complete(self) -> bool:
        return self.question is None

    def answer(self, key: str) -> None:
        """Answer the present question by the key of an option. Raises BadInput, nothing changed, for another key."""
        question = self.question
        if question is not None:
            choose.next_question({**self.answers, question.id: key})
            self.answers[question.id] = key
        self.status = ""
        self.changed()

    def back(self) -> None:
        """Take the last answer back."""
        if self.answers:
            self.answers.popitem()
        self.status = ""
        self.changed()

    def recommendation(self) -> choose.Recommendation:
        """What the articles answer. Raises BadInput before the end of the way."""
        return choose.follow(self.answers)

    def seal(self, *, expected: str = "") -> Path:
        """Seal the answers until lesson 20; the first seal stays. Raises BadInput before the end of the way."""
        said: list[str] = []
        path = choose.seal(self.answers, expected=expected, say=said.append)
        self.status = " ".join(said)
        self.changed()
        return path

    def changed(self) -> None:
        """Called after every change; a view overrides it."""

    def heading(self) -> str:
        """What has been answered so far, and the present question; at the end, what the articles answer."""
        question = self.question
        if question is None:
            return str(self.recommendation())
        lines = [f"  {asked} {chosen}." for asked, chosen in choose.way(self.answers)]
        return "\n".join([*lines, f"Question {len(self.answers) + 1}. {question.text}", f"({question.why})"])

    def __repr__(self) -> str:
        options = self.question.options if self.question is not None else ()
        lines = [self.heading(), *(f"  {option.key:<10} {option.text}" for option in options)]
        return "\n".join(lines + ([self.status] if self.status else []))
