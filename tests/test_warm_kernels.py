"""A forked kernel behaves as an ordinary one: restarts, signals, ends, and several at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from course_lib.warm import switch
from warm_kernel import CellFailed, Kernel, ended, eventually, kernel, kill, own_folder, parents

pytestmark = pytest.mark.skipif(bool(reason := switch.why_not()), reason=reason or "warm")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder of parents for this module's kernels."""
    with own_folder() as made:
        yield made


def test_the_second_kernel_comes_from_the_process_of_the_first(place: Path) -> None:
    with kernel("numpy") as first, kernel("numpy") as second:
        assert first.is_warm
        assert second.is_warm
        assert first.parent == second.parent
        assert first.process.pid != second.process.pid
        assert first.text("import numpy; print(numpy.arange(3))") == "[0 1 2]\n"
        assert [each.pid for each in parents(place)] == [first.parent.pid]


def test_what_stands_in_one_kernel_is_not_in_another(place: Path) -> None:
    with kernel("numpy") as first, kernel("numpy") as second:
        first.text("import numpy; mine = 1; numpy.mine = 2; import os; os.environ['MINE'] = '3'")
        assert second.text(
            "import os, numpy; print('mine' in dir(), hasattr(numpy, 'mine'), os.environ.get('MINE'))"
        ) == ("False False None\n")


@pytest.mark.parametrize(
    ("source", "code"), [("import os; os._exit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL)]
)
def test_its_exit_code_is_told(place: Path, source: str, code: int) -> None:
    with kernel("numpy") as running:
        running.client.execute(source)
        assert running.process.wait(20) == code


def test_an_orderly_shutdown_runs_what_was_registered_for_it(place: Path, tmp_path: Path) -> None:
    with kernel("numpy") as running:
        file = tmp_path / "said"
        running.text(f"import atexit, pathlib; x = atexit.register(pathlib.Path({str(file)!r}).write_text, 'bye')")
        process = running.process
        running.manager.shutdown_kernel()
    assert process.poll() == 0
    assert file.read_text() == "bye"


def test_an_interrupt_stops_the_cell_and_not_the_kernel(place: Path) -> None:
    with kernel("numpy") as running:
        running.text("kept = 5")
        waiting = running.client.execute("import time\nprint('now', flush=True)\ntime.sleep(600)")
        eventually("the cell's word", lambda: "now" in str(running.client.get_iopub_msg(timeout=20)["content"]))
        running.manager.interrupt_kernel()
        reply = running.client.get_shell_msg(timeout=20)
        while reply["parent_header"].get("msg_id") != waiting:
            reply = running.client.get_shell_msg(timeout=20)
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        assert running.text("print(kept)") == "5\n"


def test_a_restart_gives_a_fresh_kernel_that_is_warm_again(place: Path) -> None:
    with kernel("numpy") as running:
        running.text("kept = 5")
        before = running.process.pid
        running.restart()
        assert running.is_warm
        assert running.process.pid != before
        with pytest.raises(CellFailed, match="NameError"):
            running.text("kept")


def test_killing_a_kernel_takes_its_own_children_along(place: Path) -> None:
    with kernel("numpy") as running:
        child = int(running.text("import subprocess; p = subprocess.Popen(['sleep', '600']); print(p.pid)"))
        running.manager.shutdown_kernel(now=True)
        eventually("the child's end", lambda: ended(child))


def test_a_kernel_outlives_its_parent_and_the_next_has_a_new_one() -> None:
    with own_folder(), kernel("numpy") as running:
        parent = running.parent.pid
        running.text("kept = 5")
        kill(parent)
        eventually("the parent's end", lambda: ended(parent))
        assert running.text("print(kept)") == "5\n"
        with kernel("numpy") as following:
            assert following.is_warm
            assert following.parent.pid != parent
        running.client.execute("import os; os._exit(3)")
        # Nobody is left who could know the code.
        assert running.process.wait(20) == 255


SERVER = """
import os, sys, time
sys.path.insert(0, {tests!r})
from course_lib.warm import folder, switch
os.environ.pop(folder.FOLDER, None)
assert switch.turn_on(os.environ, batch=True) == ""
from warm_kernel import kernel
with kernel("numpy") as running:
    print(os.environ[folder.FOLDER], running.process.pid, running.parent.pid, flush=True)
    running.text("import time; time.sleep(600)", seconds=900)
"""


def test_kernels_and_parents_end_with_the_server() -> None:
    program = SERVER.format(tests=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        place, kernel_pid, parent_pid = server.stdout.readline().split()
        time.sleep(0.5)
        assert not ended(int(kernel_pid))
        server.kill()
    eventually("the kernel's end", lambda: ended(int(kernel_pid)))
    eventually("the parent's end", lambda: ended(int(parent_pid)))
    eventually("the folder's end", lambda: not Path(place).exists())


def debug(running: Kernel, command: str, **arguments: object) -> dict[str, object]:
    """The answer of the kernel's debugger to one command."""
    message = running.client.session.msg(
        "debug_request", {"type": "request", "seq": 1, "command": command, "arguments": arguments}
    )
    running.client.control_channel.send(message)
    while True:
        reply = running.client.control_channel.get_msg(timeout=30)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            content: dict[str, object] = reply["content"]
            return content


def test_the_debugger_stops_at_a_breakpoint(place: Path) -> None:
    with kernel("numpy") as running:
        assert debug(running, "initialize", clientID="test", adapterID="", pathFormat="path")["success"]
        assert debug(running, "attach")["success"]
        source = "a = 1\nb = a + 1\nc = b + 1\n"
        path = debug(running, "dumpCell", code=source)["body"]["sourcePath"]  # type: ignore[index]
        asked = debug(running, "setBreakpoints", source={"path": path}, breakpoints=[{"line": 2}], lines=[2])
        assert asked["body"]["breakpoints"][0]["verified"]  # type: ignore[index]
        assert debug(running, "configurationDone")["success"]
        running.client.execute(source)

        def stopped() -> bool:
            message = running.client.get_iopub_msg(timeout=30)
            return message["msg_type"] == "debug_event" and message["content"]["event"] == "stopped"

        eventually("a stop", stopped)
        frames = debug(running, "stackTrace", threadId=1)["body"]["stackFrames"]  # type: ignore[index]
        assert frames[0]["line"] == 2
        assert debug(running, "continue", threadId=1)["success"]


def test_parents_that_nobody_needs_end() -> None:
    with own_folder() as place:
        with kernel("numpy", COURSE_WARM_IDLE_SECONDS="0.5") as running:
            parent = running.parent.pid
            time.sleep(1.5)
            assert not ended(parent), "a parent with a kernel is in use"
        eventually("the parent's end", lambda: ended(parent))
        assert not list(place.glob("*.sock"))


@pytest.mark.slow
def test_fifty_kernels_leave_nothing_behind(place: Path) -> None:
    seen: list[tuple[int, int]] = []
    for _ in range(50):
        with kernel("numpy") as running:
            parent = running.parent
            assert running.is_warm
        seen.append((parent.num_fds(), parent.memory_info().rss))
        assert not [each for each in parent.children() if each.status() != psutil.STATUS_ZOMBIE]
    assert seen[-1][0] == seen[4][0]
    assert seen[-1][1] < 1.02 * seen[4][1]
    eventually("the last one's burial", lambda: not parent.children())


def test_a_cold_kernel_is_an_ordinary_one(place: Path) -> None:
    with kernel("numpy", cold=True) as running:
        assert isinstance(running.process, subprocess.Popen)
        assert running.parent.pid == os.getpid()
