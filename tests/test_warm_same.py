"""A forked kernel shows what an ordinary one shows, and shares nothing with its siblings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from course_lib.build.execute import execute
from course_lib.build.notebook import make_notebook
from course_lib.frameworks import missing_distributions
from course_lib.lessons import lesson
from course_lib.warm import switch
from warm_kernel import kernel, own_folder

pytestmark = pytest.mark.skipif(bool(reason := switch.why_not()), reason=reason or "warm")
needs_torch = pytest.mark.skipif(bool(missing_distributions("torch")), reason="torch is not installed")

# What a process knows about itself, less what is each one's own: numbers, times, the watch over the server.
FACTS = """
import gc, json, os, signal, sys, threading, warnings
def links():
    for n in os.listdir("/proc/self/fd"):
        try:
            yield int(n), os.readlink(f"/proc/self/fd/{n}")
        except OSError:  # the folder that is being listed
            pass
passing = ("JPY_", "COURSE_", "PYTEST_", "OLDPWD")
threads = sorted(type(t).__name__ + ":" + t.name.split("-")[0] for t in threading.enumerate())
facts = {
    "folder": os.getcwd(),
    "launcher": [os.path.basename(sys.argv[0]), sys.argv[1], *sys.argv[3:]],
    "path": sys.path,
    "environ": {n: v for n, v in os.environ.items() if not n.startswith(passing)},
    "own variables": sorted(n for n in os.environ if n.startswith("JPY_")),
    "threads": [t for t in threads if "ParentPoller" not in t and "ends" not in t],
    "signals": {str(n): str(signal.getsignal(n)).split(" at ")[0] for n in (2, 15, 17, 13)},
    "main": [n for n in sys.modules["__main__"].__dict__ if n.startswith("__")],
    "course": sorted(n for n in sys.modules if n.startswith("course_lib")),
    "files": sorted(link for n, link in links() if n > 2 and link[0] == "/" and "history" not in link),
    "group": (os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid()),
    "gc": gc.isenabled(), "thresholds": gc.get_threshold(),
    "filters": sorted(str(f) for f in warnings.filters),
    "flags": str(sys.flags), "options": sys._xoptions,
    "streams": [type(s).__module__ for s in (sys.stdin, sys.stdout, sys.stderr)],
    "hooks": [sys.excepthook.__name__, type(sys.displayhook).__name__, str(sys.gettrace())],
    "umask": os.umask(0o22),
}
print(json.dumps(facts))
"""

DRAWS = {
    "random": "import random; print(random.random())",
    "numpy": "import numpy; print(numpy.random.rand())",
    "torch": "import torch; print(torch.rand(1).item())",
    "names": "import tempfile; print(next(tempfile._get_candidate_names()))",
    "uuid": "import uuid; print(uuid.uuid1(), uuid.uuid4())",
    "processes": "import multiprocessing.process as p; print(p.current_process().authkey.hex())",
    "session": "print(get_ipython().kernel.session.session)",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with own_folder() as made:
        yield made


@pytest.mark.parametrize("track", ["numpy", pytest.param("torch", marks=needs_torch)])
def test_a_process_knows_the_same_about_itself(place: Path, tmp_path: Path, track: str) -> None:
    found: list[dict[str, Any]] = []
    imports = (
        "import numpy, matplotlib.pyplot, yaml, torch\n"
        if track == "torch"
        else "import numpy, matplotlib.pyplot, yaml\n"
    )
    for cold in (False, True):
        with kernel(track, cold=cold, cwd=tmp_path) as running:
            assert running.is_warm is not cold
            found.append(json.loads(running.text(imports + FACTS)))
            # The number of connections changes with the clients; those of the parent are none of a kernel's.
            addresses = [str(c.laddr) for c in psutil.Process(running.process.pid).net_connections("unix")]
            assert not [address for address in addresses if str(place) in address]
    assert found[0] == found[1]


@pytest.mark.parametrize("what", [n if n != "torch" else pytest.param(n, marks=needs_torch) for n in DRAWS])
def test_two_kernels_of_one_process_draw_differently(place: Path, what: str) -> None:
    # NumPy's generator is made when its module is imported, which others do, and `import numpy` alone does not.
    ahead = {"COURSE_WARM_PRELOAD": "torch" if what == "torch" else "numpy.random"}
    with kernel(**ahead) as first, kernel(**ahead) as second:
        assert first.is_warm
        assert first.parent == second.parent
        assert first.text(DRAWS[what]) != second.text(DRAWS[what])


def test_a_figure_is_shown_below_its_cell(place: Path) -> None:
    with kernel("numpy") as running:
        outputs = running.outputs("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint(plt.get_backend())")
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("inline" in output.get("text", "") for output in outputs)


def test_what_a_logger_says_stands_below_the_cell(place: Path, tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text(
        "import logging\nlog = logging.getLogger('talker')\nh = logging.StreamHandler()\nlog.addHandler(h)\n"
    )
    environ = {"PYTHONPATH": str(tmp_path), "COURSE_WARM_PRELOAD": "talker"}
    with kernel(**environ) as running:
        assert running.is_warm
        outputs = running.outputs(
            "import talker, sys; talker.log.warning('hello'); print(talker.h.stream is sys.stderr)"
        )
    assert {(o["name"], o["text"]) for o in outputs} == {("stderr", "hello\n"), ("stdout", "True\n")}


def compared(notebook: dict[str, Any]) -> list[Any]:
    """The outputs that nbval compares."""
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    kept = [c for c in cells if "nbval-ignore-output" not in c["metadata"].get("tags", [])]
    return [_shown(cell["outputs"]) for cell in kept if cell["outputs"]]


def _shown(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """What stands below one cell; how a stream is cut into messages depends on the machine's mood."""
    streams = {o["name"]: "" for o in outputs if o["output_type"] == "stream"}
    for output in outputs:
        if output["output_type"] == "stream":
            streams[output["name"]] += "".join(output["text"])
    plain = ["".join(o["data"]["text/plain"]) for o in outputs if "text/plain" in o.get("data", {})]
    return {**streams, "plain": plain, "kinds": sorted({kind for o in outputs for kind in o.get("data", {})})}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "00_start/numpy",
        "01_digits/numpy",
        "01_digits/torch",
        "01_digits/fastai",
        "01_digits/keras",
        "01_digits/jax",
        "01_digits/tensorflow",
    ],
)
def test_a_notebook_gives_the_same_outputs_warm_and_cold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, track = name.split("/")
    if missing := missing_distributions(track):
        pytest.skip(f"{missing} not installed")
    notebook = make_notebook(lesson(folder), track, "solution")
    monkeypatch.setenv(switch.OFF, "1")
    warm = compared(execute(notebook, name))
    monkeypatch.setenv(switch.OFF, "0")
    assert len(warm) > 5
    assert warm == compared(execute(notebook, name))
