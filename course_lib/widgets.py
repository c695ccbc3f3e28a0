"""Buttons on top of the plain panels. The only module that imports ipywidgets, and only where it is wanted.

With COURSE_WIDGETS=0, or without ipywidgets, each function returns the plain panel: it has the same methods and
attributes and shows itself as text. Only controls are used that ipywidgets 7.7.1 (Colab) and 8.1 share, and of these
only buttons and a text field: JupyterLab keeps the arrow keys to itself, and lists and radio buttons then need a mouse.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from course_lib import choose
from course_lib.drawing import Pad, Picture, describe
from course_lib.errors import CourseError
from course_lib.hardware import detect
from course_lib.machine import Machine
from course_lib.panels import DEVICES, DevicePanel, TreePanel

VIEW = "application/vnd.jupyter.widget-view+json"


def enabled() -> bool:
    """Whether widgets are shown: ipywidgets is installed and COURSE_WIDGETS is not 0."""
    return os.environ.get("COURSE_WIDGETS", "1") != "0" and find_spec("ipywidgets") is not None


def drawing_pad(on_read: Callable[[Picture], Any], *, start: str = "", size: int = 8) -> Pad:
    """A pad of size × size cells; show it by making it the last line of a cell.

    `on_read` gets the picture, (size, size) float32 of 0 and 1, when Read is pressed, and returns what is to be shown.
    `start` is a drawing in text, see `course_lib.drawing.parse`. Raises BadInput when `start` does not fit.
    """
    return PadView(on_read, start=start, size=size) if enabled() else Pad(on_read, start=start, size=size)


def hardware_chooser(device: str = "auto", machine: Machine | None = None) -> DevicePanel:
    """The report of this machine, and below it the choice; `.device` is what the variable DEVICE takes.

    `machine` is detected when left out. Raises HardwareMismatch when `device` is not there.
    """
    machine = detect() if machine is None else machine
    return DeviceView(machine, device) if enabled() else DevicePanel(machine, device)


def decision_tree() -> TreePanel:
    """The articles' questions, one at a time; `.answers` holds what was chosen and `.seal()` seals it."""
    return TreeView() if enabled() else TreePanel()


class _View:
    """Show `box` in a notebook, and the panel's own text wherever widgets are not drawn."""

    box: Any

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": repr(self), VIEW: {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}}


class PadView(_View, Pad):
    """The pad as toggle buttons, with a text field that does the same with one stop of the Tab key."""

    def __init__(self, on_read: Callable[[Picture], Any], *, start: str = "", size: int = 8) -> None:
        Pad.__init__(self, on_read, start=start, size=size)
        import ipywidgets as w

        self._busy = False
        self._cells = [[self._cell(w, row, column) for column in range(size)] for row in range(size)]
        layout = w.Layout(width="24em", height="11em")
        # Taken over when the field is left: at each key the cursor would jump to the end.
        self._rows = w.Textarea(description="As text", continuous_update=False, layout=layout)
        self._rows.observe(lambda change: self._typed(change["new"]), "value")
        read = _button(w, "Read", "Have the drawing read", self.read, self._say)
        clear = _button(w, "Clear", "Take all ink away", self.clear, self._say)
        self._status = w.HTML()
        panel = w.VBox([self._rows, w.HBox([read, clear]), self._status], layout=w.Layout(width="25em"))
        grid = w.VBox([w.HBox(row) for row in self._cells])
        self.box = w.HBox([panel, grid], layout=w.Layout(flex_flow="row wrap"))
        self.changed()

    def _cell(self, w: Any, row: int, column: int) -> Any:
        layout = w.Layout(width="44px", height="32px", margin="1px", padding="0px")
        cell = w.ToggleButton(layout=layout)
        cell.observe(lambda _: self._toggled(row, column), "value")
        return cell

    def _toggled(self, row: int, column: int) -> None:
        if not self._busy:
            self.toggle(row, column)

    def _typed(self, text: str) -> None:
        if self._busy:
            return
        try:
            self.draw(text)
        except CourseError as error:
            self._say(str(error))

    def changed(self) -> None:
        self._busy = True
        try:
            for y, row in enumerate(self._cells):
                for x, cell in enumerate(row):
                    inked = bool(self._picture[y, x])
                    cell.value = inked
                    cell.description = "ink" if inked else f"{y + 1},{x + 1}"
                    cell.button_style = "primary" if inked else ""
                    cell.tooltip = f"row {y + 1}, column {x + 1}: {'ink' if inked else 'paper'}"
            self._rows.value = self.text
        finally:
            self._busy = False
        self._say(f"{describe(self._picture)} {self.reading}")

    def _say(self, text: str) -> None:
        self._status.value = _spoken(text)


class DeviceView(_View, DevicePanel):
    """The chooser as one button for each device, below the report."""

    def __init__(self, machine: Machine, device: str = "auto") -> None:
        DevicePanel.__init__(self, machine, device)
        import ipywidgets as w

        self._buttons = {name: self._device_button(w, name) for name in DEVICES}
        self._status = w.HTML()
        report = w.HTML(_preformatted(machine.report()))
        self.box = w.VBox([report, w.HBox(list(self._buttons.values())), self._status])
        self.changed()

    def _device_button(self, w: Any, name: str) -> Any:
        return _button(w, name, self.option_text(name), lambda: self.select(name), self._say)

    def changed(self) -> None:
        for name, button in self._buttons.items():
            chosen = name == self.device
            button.description = f"{name} (chosen)" if chosen else name
            button.button_style = "primary" if chosen else ""
        self._say(self.status)

    def _say(self, text: str) -> None:
        self._status.value = _spoken(text)


class TreeView(_View, TreePanel):
    """The tree as a button for each answer. Sealing is a cell of its own: nobody does it by accident."""

    def __init__(self) -> None:
        TreePanel.__init__(self)
        import ipywidgets as w

        self._question, self._status = w.HTML(), w.HTML()
        most = max(len(question.options) for question in choose.questions())
        # The same buttons serve every question, so the keyboard stays where it is.
        self._options = [self._option_button(w, place) for place in range(most)]
        self._back = _button(w, "Back", "Take the last answer back", self.back, self._say)
        self.box = w.VBox([self._question, *self._options, self._back, self._status])
        self.changed()

    def _option_button(self, w: Any, place: int) -> Any:
        button = _button(w, "Answer", "", lambda: self._pressed(place), self._say)
        button.layout = w.Layout(width="30em")
        return button

    def _pressed(self, place: int) -> None:
        question = self.question
        if question is not None and place < len(question.options):
            self.answer(question.options[place].key)

    def changed(self) -> None:
        question = self.question
        options = question.options if question is not None else ()
        for place, button in enumerate(self._options):
            button.description = options[place].text if place < len(options) else "(no answer)"
            button.layout.display = None if place < len(options) else "none"
        self._back.disabled = not self.answers
        self._question.value = _preformatted(self.heading())
        self._say(self.status)

    def _say(self, text: str) -> None:
        self._status.value = _spoken(text)


def _button(w: Any, word: str, tooltip: str, do: Callable[[], Any], say: Callable[[str], None]) -> Any:
    button = w.Button(description=word, tooltip=tooltip)

    def pressed(_: Any) -> None:
        try:
            do()
        except Exception as error:
            # The front end shows nothing of an exception in a callback.
            say(f"{word} failed. {type(error).__name__}: {error}")
            raise

    button.on_click(pressed)
    return button


def _preformatted(text: str) -> str:
    return f'<pre style="line-height: 1.2; margin: 0 1em">{html.escape(text)}</pre>'


def _spoken(text: str) -> str:
    return f'<p role="status" aria-live="polite" style="max-width: 40em; line-height: 1.4">{html.escape(text)}</p>'
