"""Warm kernels in JupyterLab, opened by `course lab`: run all, restart, interrupt, a dead kernel, a dead parent."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

import psutil
import pytest

from browser import CHROMIUM, Page, course_lab
from course_lib.frameworks import missing_distributions
from course_lib.warm import switch
from warm_kernel import ended, eventually, kill

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
    pytest.mark.skipif(bool(reason := switch.why_not()), reason=reason or "warm"),
]

TRACKS = [
    t for t in os.environ.get("COURSE_BROWSER_TRACKS", "torch,tensorflow").split(",") if not missing_distributions(t)
]
CELLS = (
    "import os, sys, time\nahead = '{root}' in sys.modules\nstart = time.perf_counter()\nimport {package}\n"
    "seconds = time.perf_counter() - start\nprint('pid', os.getpid(), 'parent', os.getppid(), 'ahead', ahead)",
    "print('imported in', round(seconds, 3), 's')",
    "print('sleeping', flush=True)\nfor _ in range(6000):\n    time.sleep(0.1)",
)
PACKAGES = {"torch": "torch", "tensorflow": "tensorflow", "jax": "jax", "keras": "keras", "fastai": "fastai.basics"}
KERNEL = "jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
NOTEBOOK = "jupyterapp.shell.currentWidget.content"
COMMANDS = "jupyterapp.commands.execute"


def notebook(track: str) -> str:
    """A notebook of somebody's own, which only imports."""
    package = PACKAGES[track]
    sources = [cell.format(package=package, root=package.partition(".")[0]) for cell in CELLS]
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": s, "outputs": [], "execution_count": None}
        for n, s in enumerate(sources)
    ]
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernelspec}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module", params=TRACKS)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    pytest.importorskip("jupyterlab")
    pytest.importorskip("websocket")
    scratch = tmp_path_factory.mktemp("scratch")
    mine = scratch / "home/notebooks/mine.ipynb"
    mine.parent.mkdir(parents=True)
    mine.write_text(notebook(request.param))
    with course_lab(scratch, "01_digits", request.param, "mine.ipynb") as page:
        page.wait("!!window.jupyterapp && !!document.querySelector('.jp-Notebook .jp-CodeCell')")
        wait_ready(page)
        # The first kernel may have been asked for before the imports were done; from the second on all are warm.
        time.sleep(float(os.environ.get("COURSE_BROWSER_PAUSE", "0")))
        yield page


def wait_ready(page: Page) -> None:
    page.wait(f"{KERNEL}?.status === 'idle'")


def run_first_cells(page: Page) -> dict[str, str]:
    """Run the two cells that end; what the first one printed, by name, and the seconds until both had run."""
    start = time.monotonic()
    run = f"await {COMMANDS}('notebook:clear-all-cell-outputs'); {NOTEBOOK}.activeCellIndex = 2;"
    page.run(f"(async () => {{ {run} await {COMMANDS}('notebook:run-all-above'); }})()")
    page.wait("(document.querySelectorAll('.jp-OutputArea')[1]?.innerText ?? '').includes('imported in')", seconds=120)
    words = str(page.run("document.querySelectorAll('.jp-OutputArea')[0].innerText")).split()
    return {**dict(zip(words[::2], words[1::2], strict=False)), "seconds": f"{time.monotonic() - start:.2f}"}


def restart(page: Page) -> None:
    # JupyterLab may show any kernel as "unknown" or "starting" from here until its first cell has run.
    page.run(f"{KERNEL}.restart()")
    page.wait(f"{KERNEL}.connectionStatus === 'connected'")


def start_endless_cell(page: Page) -> None:
    page.run(f"(() => {{ {NOTEBOOK}.activeCellIndex = 2; {COMMANDS}('notebook:run-cell'); }})()")
    page.wait("(document.querySelectorAll('.jp-OutputArea')[2]?.innerText ?? '').includes('sleeping')")


def warm_cells(page: Page) -> dict[str, str]:
    """The first cells' words in a warm kernel, restarted until the imports ahead are done."""
    for _ in range(20):
        found = run_first_cells(page)
        if found["ahead"] == "True":
            return found
        time.sleep(3)
        restart(page)
    raise AssertionError("no kernel was warm")


def test_all_cells_run_and_a_restart_is_quick(page: Page) -> None:
    before = warm_cells(page)
    start = time.monotonic()
    restart(page)
    after = run_first_cells(page)
    print(f"restarted and imported in {time.monotonic() - start:.2f} s; before that, {before}")
    assert after["ahead"] == "True"
    assert after["pid"] != before["pid"]
    assert after["parent"] == before["parent"]


def test_an_interrupt_ends_the_cell(page: Page) -> None:
    before = warm_cells(page)
    start_endless_cell(page)
    page.run(f"{KERNEL}.interrupt()")
    page.wait("document.querySelectorAll('.jp-OutputArea')[2].innerText.includes('KeyboardInterrupt')")
    # For a moment after an error a kernel drops what it is sent.
    time.sleep(1)
    assert run_first_cells(page)["pid"] == before["pid"]


def test_a_kernel_killed_in_mid_run_is_started_again(page: Page) -> None:
    before = warm_cells(page)
    start_endless_cell(page)
    kill(int(before["pid"]))
    # JupyterLab says so in a window.
    page.wait("!!document.querySelector('.jp-Dialog')", seconds=30)
    page.run("document.querySelector('.jp-Dialog .jp-mod-accept').click()")
    after = run_first_cells(page)
    assert after["ahead"] == "True"
    assert after["pid"] != before["pid"]


def test_a_kernel_lives_on_without_its_parent_and_a_new_one_comes(page: Page) -> None:
    before = warm_cells(page)
    kill(int(before["parent"]))
    eventually("the parent's end", lambda: ended(int(before["parent"])))
    alone = run_first_cells(page)
    assert alone["pid"] == before["pid"]
    assert psutil.pid_exists(int(alone["pid"]))
    restart(page)
    assert warm_cells(page)["parent"] != before["parent"]
