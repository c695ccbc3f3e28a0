"""The widgets show, in words, what the plain panels do; without widgets the panels do it alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course_lib import choose, widgets
from course_lib.drawing import Pad, to_text
from course_lib.errors import BadInput, HardwareMismatch
from course_lib.hardware import Machine, detect
from course_lib.panels import TreePanel

PI = ("cpu", "product", "pi")


@pytest.fixture(params=["buttons", "text"])
def face(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COURSE_WIDGETS", "1" if request.param == "buttons" else "0")
    if request.param == "buttons":
        pytest.importorskip("ipywidgets")
    return str(request.param)


@pytest.fixture
def gpu_machine(tmp_path: Path) -> Machine:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/nvidia0").touch()
    return detect(root=tmp_path, environ={}, system="Linux", architecture="x86_64")


def controls(panel: Any) -> list[Any]:
    found, todo = [], [panel.box]
    while todo:
        widget = todo.pop(0)
        todo = [*getattr(widget, "children", ()), *todo]
        if not getattr(widget, "children", ()):
            found.append(widget)
    return found


def named(panel: Any, description: str) -> Any:
    return next(c for c in controls(panel) if getattr(c, "description", "") == description)


def shown(panel: Any) -> str:
    return " ".join(c.value for c in controls(panel) if type(c).__name__ == "HTML")


def test_the_pad_works_with_and_without_buttons(face: str) -> None:
    pad = widgets.drawing_pad(lambda p: f"{p.sum():.0f} inked", start="###")
    pad.toggle(7, 7)
    assert pad.read() == "4 inked"
    assert "4 inked" in repr(pad)
    pad.clear()
    assert pad.picture.sum() == 0
    assert isinstance(pad, widgets.PadView) is (face == "buttons")


def test_a_missing_ipywidgets_gives_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widgets, "find_spec", lambda _: None)
    assert type(widgets.drawing_pad(str)) is Pad
    assert type(widgets.decision_tree()) is TreePanel


def test_pressing_a_cell_inks_it_and_says_so() -> None:
    pad = widgets.drawing_pad(str)
    cell = named(pad, "3,4")
    cell.value = True
    assert pad.picture[2, 3] == 1
    assert (cell.description, cell.tooltip) == ("ink", "row 3, column 4: ink")
    assert "1 of 64 cells are inked, in rows 3 to 3 and columns 4 to 4." in shown(pad)
    cell.value = False
    assert cell.description == "3,4"
    assert "The pad is empty." in shown(pad)


def test_the_text_field_and_the_cells_agree() -> None:
    pad = widgets.drawing_pad(str)
    field = named(pad, "As text")
    field.value = "##"
    assert pad.picture[0, :3].tolist() == [1, 1, 0]
    named(pad, "1,3").value = True
    assert field.value.splitlines()[0] == "###....."
    field.value = "#########"
    assert "at most 8 rows of 8" in shown(pad)
    assert to_text(pad.picture).startswith("###.....")


def test_read_and_clear_are_buttons() -> None:
    pad = widgets.drawing_pad(lambda p: f"a {p.sum():.0f}", start="####")
    named(pad, "Read").click()
    assert "a 4" in shown(pad)
    named(pad, "Clear").click()
    assert pad.picture.sum() == 0
    assert "a 4" not in shown(pad)


def test_an_error_while_reading_is_shown_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Any) -> str:
        raise ZeroDivisionError("no model")

    pad = widgets.drawing_pad(broken)
    named(pad, "Read").click()
    assert "ZeroDivisionError" in caplog.text
    assert "Read failed. ZeroDivisionError: no model" in shown(pad)


def test_what_is_shown_is_escaped() -> None:
    pad = widgets.drawing_pad(lambda _: "<script>")
    pad.read()
    assert "<script>" not in shown(pad)


def test_the_report_comes_before_the_choice(face: str, gpu_machine: Machine) -> None:
    panel = widgets.hardware_chooser("auto", gpu_machine)
    assert repr(panel).startswith("This machine")
    if face == "buttons":
        kinds = [type(c).__name__ for c in controls(panel)]
        assert kinds == ["HTML", "Button", "Button", "Button", "Button", "HTML"]
        assert "NVIDIA card" in controls(panel)[0].value


def test_choosing_writes_the_plain_value(face: str, gpu_machine: Machine) -> None:
    panel = widgets.hardware_chooser("auto", gpu_machine)
    if face == "buttons":
        named(panel, "cpu").click()
        assert named(panel, "cpu (chosen)").button_style
        assert "DEVICE is &#x27;cpu&#x27;" in shown(panel)
    else:
        panel.select("cpu")
    assert panel.device == "cpu"
    assert panel.choice.environment["CUDA_VISIBLE_DEVICES"] == "-1"


def test_choosing_what_is_not_there_changes_nothing_and_explains(face: str, gpu_machine: Machine) -> None:
    panel = widgets.hardware_chooser("gpu", gpu_machine)
    if face == "buttons":
        named(panel, "tpu").click()
        assert named(panel, "gpu (chosen)")
        assert "asks for a TPU" in shown(panel)
    else:
        assert "asks for a TPU" in panel.select("tpu")
    assert panel.device == "gpu"
    assert "DEVICE stays 'gpu'." in panel.status


@pytest.mark.usefixtures("face")
def test_a_chooser_for_a_device_that_is_not_there_is_refused(gpu_machine: Machine) -> None:
    with pytest.raises(HardwareMismatch):
        widgets.hardware_chooser("tpu", gpu_machine)


@pytest.mark.usefixtures("face")
def test_the_tree_is_walked_and_sealed() -> None:
    tree = widgets.decision_tree()
    for key in PI:
        assert not tree.complete
        assert tree.question is not None
        assert tree.question.text in repr(tree)
        tree.answer(key)
    assert tree.complete
    assert "The articles answer: TensorFlow Lite." in repr(tree)
    tree.seal(expected="jax")
    assert "until lesson 20" in tree.status
    assert choose.open_seal()["expected"] == "jax"
    assert choose.open_seal()["answers"] == {"hardware": "cpu", "purpose": "product", "deploy": "pi"}


def test_the_tree_by_its_buttons() -> None:
    tree = widgets.decision_tree()
    assert named(tree, "Back").disabled
    named(tree, "On 4 to 16 cards").click()
    assert tree.answers == {"hardware": "cards"}
    assert "Question 2. Is there TensorFlow code already?" in shown(tree)
    assert "Where will you train? On 4 to 16 cards." in shown(tree)
    assert [c.layout.display for c in controls(tree) if c.description == "(no answer)"] == ["none"] * 3
    named(tree, "Back").click()
    assert tree.answers == {}
    for text in (
        "On my own computer, without an NVIDIA card",
        "For something that people will use",
        "On a Raspberry Pi",
    ):
        next(c for c in controls(tree) if c.description.startswith(text)).click()
    assert "The articles answer: TensorFlow Lite." in shown(tree)
    named(tree, "(no answer)").click()
    assert tree.complete


def test_only_controls_that_the_keyboard_reaches_in_jupyterlab(gpu_machine: Machine) -> None:
    panels = (widgets.drawing_pad(str), widgets.hardware_chooser("auto", gpu_machine), widgets.decision_tree())
    kinds = {type(control).__name__ for panel in panels for control in controls(panel)}
    assert kinds == {"Button", "HTML", "Textarea", "ToggleButton"}


@pytest.mark.usefixtures("face")
def test_a_key_that_is_no_option_is_refused() -> None:
    tree = widgets.decision_tree()
    with pytest.raises(BadInput):
        tree.answer("abacus")
    assert tree.answers == {}


def test_every_control_has_a_name_in_words(gpu_machine: Machine) -> None:
    for panel in (widgets.drawing_pad(str), widgets.hardware_chooser("auto", gpu_machine), widgets.decision_tree()):
        for control in controls(panel):
            assert type(control).__name__ == "HTML" or control.description


def test_a_notebook_gets_the_view_and_the_text() -> None:
    pad = widgets.drawing_pad(str, start="#")
    bundle = pad._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"].startswith("#.......")
    assert bundle[widgets.VIEW]["model_id"] == pad.box.model_id


def test_only_widgets_imports_ipywidgets(repository: Path) -> None:
    importers = set()
    for file in (repository / "course_lib").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "ipywidgets" for name in names):
                importers.add(file.name)
    assert importers == {"widgets.py"}


def test_without_widgets_ipywidgets_is_not_imported() -> None:
    program = (
        "import os, sys; os.environ['COURSE_WIDGETS'] = '0'; from course_lib import widgets; widgets.drawing_pad(str); "
        "widgets.hardware_chooser(); widgets.decision_tree(); print('ipywidgets' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "False\n"
    )
