"""The first hour in JupyterLab: every cell runs, and the pad, the chooser and the tree are used by keyboard alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import CHROMIUM, Page, lab

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]

SEVEN = """........
.######.
.....#..
....#...
....#...
...#....
...#....
........"""
NOTEBOOK = "start_numpy.ipynb"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The solution of 00_start in JupyterLab, all of its cells run."""
    pytest.importorskip("jupyterlab")
    pytest.importorskip("websocket")
    folder, scratch = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("scratch")
    built = Path(__file__).resolve().parent.parent / "solutions/00_start" / NOTEBOOK
    shutil.copy(built, folder / NOTEBOOK)
    with lab(folder, NOTEBOOK, scratch) as page:
        page.wait("!!window.jupyterapp && !!document.querySelector('.jp-Notebook .jp-CodeCell')")
        page.wait("jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")
        page.run("jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait(f"document.querySelector({_cell('tree')} + ' .jp-OutputArea button') !== null")
        yield page


def output(page: Page, cell: str) -> str:
    """The text below the cell with this id."""
    return str(page.run(f"document.querySelector({_cell(cell)} + ' .jp-OutputArea')?.innerText ?? ''"))


def _cell(cell: str) -> str:
    """JavaScript for the selector of a cell: its place among the notebook's cells, found by its id."""
    model = "jupyterapp.shell.currentWidget.content.widgets"
    return f"('.jp-Cell[data-windowed-list-index=\"' + {model}.findIndex(w => w.model.id === '{cell}') + '\"]')"


def focus(page: Page, cell: str, selector: str, name: str) -> None:
    """Put the keyboard on a cell's first matching control, and leave a picture for COURSE_SCREENSHOTS."""
    page.run(f"document.querySelector({_cell(cell)} + ' {selector}').focus()")
    page.run("document.activeElement.scrollIntoView({block: 'center'})")
    shoot(page, name)


def shoot(page: Page, name: str) -> None:
    if shots := os.environ.get("COURSE_SCREENSHOTS"):
        page.screenshot(Path(shots) / f"{name}.png")


def focused(page: Page) -> str:
    return str(page.run("document.activeElement.innerText || document.activeElement.tagName"))


def wait_output(page: Page, cell: str, words: str) -> None:
    try:
        page.wait(
            f"document.querySelector({_cell(cell)} + ' .jp-OutputArea')?.innerText.includes({words!r})", seconds=15
        )
    except TimeoutError:
        pytest.fail(f"{words!r} should appear below cell {cell}; there is: {output(page, cell)}")


def test_every_cell_runs_without_an_error(page: Page) -> None:
    assert page.run("document.querySelectorAll('[data-mime-type*=error]').length") == 0
    wait_output(page, "seal", "Nothing is sealed yet")


def test_a_digit_is_drawn_as_text_and_read_by_keyboard(page: Page) -> None:
    focus(page, "pad", "textarea", "pad-before")
    page.press("a", control=True)
    page.write(SEVEN)
    page.press("Tab")
    assert focused(page) == "Read"
    n_inked = SEVEN.count("#")
    wait_output(page, "pad", f"{n_inked} of 64 cells are inked, in rows 2 to 7 and columns 2 to 7.")
    page.press(" ")
    wait_output(page, "pad", "I read a")
    shoot(page, "pad-read")


def test_a_digit_is_drawn_on_the_buttons_by_keyboard(page: Page) -> None:
    focus(page, "pad", "textarea", "pad-again")
    page.press("Tab")
    page.press("Tab")
    assert focused(page) == "Clear"
    page.press("Enter")
    wait_output(page, "pad", "The pad is empty.")
    page.press("Tab")
    assert focused(page) == "1,1"
    page.press(" ")
    wait_output(page, "pad", "1 of 64 cells are inked, in rows 1 to 1 and columns 1 to 1.")
    assert focused(page) == "ink"
    page.press("Tab")
    page.press(" ")
    wait_output(page, "pad", "2 of 64 cells are inked")
    shoot(page, "pad-buttons")
    page.press("Tab", shift=True)
    page.press(" ")
    wait_output(page, "pad", "1 of 64 cells are inked, in rows 1 to 1 and columns 2 to 2.")


def test_the_device_is_chosen_by_keyboard_and_the_variable_follows(page: Page) -> None:
    focus(page, "chooser", "button", "chooser-before")
    assert "This machine" in output(page, "chooser")
    assert focused(page) == "auto (chosen)"
    page.press("Tab")
    page.press(" ")
    wait_output(page, "chooser", "DEVICE is 'cpu'.")
    assert focused(page) == "cpu (chosen)"
    shoot(page, "chooser-cpu")
    page.run(
        "(async () => { const n = jupyterapp.shell.currentWidget.content;"
        " n.activeCellIndex = n.widgets.findIndex(w => w.model.id === 'chosen');"
        " await jupyterapp.commands.execute('notebook:run-cell'); })()"
    )
    wait_output(page, "chosen", 'You asked for "cpu"')


def test_a_device_that_is_not_there_is_explained(page: Page) -> None:
    focus(page, "chooser", "button:last-child", "chooser-tpu-before")
    assert focused(page) == "tpu"
    page.press("Enter")
    wait_output(page, "chooser", "asks for a TPU")
    shoot(page, "chooser-tpu")


def test_the_tree_is_answered_by_keyboard(page: Page) -> None:
    focus(page, "tree", "button", "tree-before")
    for question in (2, 3):
        page.press(" ")
        wait_output(page, "tree", f"Question {question}.")
    page.press(" ")
    wait_output(page, "tree", "The articles answer: PyTorch with torchvision.")
    shoot(page, "tree-end")
    page.run("document.querySelector(" + _cell("tree") + " + ' .jp-OutputArea button:not([style*=none])').focus()")
    assert focused(page) == "Back"
    page.press(" ")
    wait_output(page, "tree", "Question 3.")
