"""Nobody else gets a process, memory is spared, and whatever a fork would get wrong is left to an ordinary kernel."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.warm import folder, memory, provisioner, switch, wire
from course_lib.warm.freshness import shadowed
from warm_kernel import eventually, kernel, kill, own_folder, parents

pytestmark = pytest.mark.skipif(bool(reason := switch.why_not()), reason=reason or "warm")


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with own_folder() as made:
        yield made


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What was said about cold kernels since the test began."""
    words: set[str] = set()
    monkeypatch.setattr(provisioner, "_told", words)
    return words


# --- whom a parent answers


def test_sockets_are_private_in_a_private_folder(place: Path) -> None:
    with kernel("numpy") as running:
        assert running.is_warm
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in place.glob("*.sock")} == {0o600}
        assert running.parent.net_connections("inet") == []


@pytest.fixture
def made() -> Iterator[Path]:
    """A folder without a parent."""
    path = folder.make()
    yield path
    shutil.rmtree(path)


def test_a_folder_that_others_can_enter_is_not_used(made: Path, tmp_path: Path) -> None:
    assert folder.inherited({folder.FOLDER: str(made)}) == made
    (tmp_path / "link").symlink_to(made)
    assert folder.inherited({folder.FOLDER: str(tmp_path / "link")}) is None
    made.chmod(0o755)
    assert folder.inherited({folder.FOLDER: str(made)}) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_by_the_systems_word(made: Path) -> None:
    path = made / "open.sock"
    path.parent.chmod(0o777)
    listener = wire.listen(path)
    path.chmod(0o777)
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        try:
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(str(path))
            # Nor does that user take a kernel from somebody else.
            wire.connect(path, 1)
        except PermissionError:
            time.sleep(0.3)
            os._exit(7)
        finally:
            os._exit(8)
    for _ in range(2):
        with listener.accept()[0] as theirs:
            assert not wire.is_own(theirs)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    with wire.connect(path, 1), listener.accept()[0] as ours:
        assert wire.is_own(ours)
    listener.close()


NONSENSE = [
    b"",
    b"[]",
    b"{}",
    b"no json",
    b'{"environ": {}, "folder": "/"}',
    b'{"environ": 1, "folder": 2}',
    b"x" * 99_999,
]


@pytest.mark.parametrize("words", NONSENSE)
def test_nonsense_gets_no_process_and_does_no_harm(place: Path, words: bytes) -> None:
    with kernel("numpy") as running:
        before = len(running.parent.children())
        client = wire.connect(next(place.glob("*.sock")), 5)
        client.send(words)
        with contextlib.suppress(EOFError):
            assert "pid" not in wire.receive(client)[0]
        client.close()
        with kernel("numpy") as following:
            assert following.is_warm
            assert len(following.parent.children()) == before + 1


# --- memory


def machine(root: Path, available: int, limit: str = "max", used: int = 0) -> Path:
    for name, text in {
        "proc/meminfo": f"MemTotal: 9 kB\nMemAvailable: {available // 1024} kB\n",
        "proc/self/cgroup": "0::/box\n",
        "sys/fs/cgroup/box/memory.max": f"{limit}\n",
        "sys/fs/cgroup/box/memory.current": f"{used}\n",
        "sys/fs/cgroup/box/memory.stat": "anon 1\ninactive_file 1024\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_free_memory_is_the_machines_or_the_containers(tmp_path: Path) -> None:
    assert memory.free_bytes(machine(tmp_path, 1 << 30)) == 1 << 30
    assert memory.free_bytes(machine(tmp_path, 1 << 30, str(1 << 20), 1 << 19)) == (1 << 19) + 1024


def test_no_parent_starts_when_memory_is_short(told: set[str]) -> None:
    with own_folder() as made:
        os.environ[memory.MIN_FREE] = str(1 << 60)
        try:
            with kernel("numpy") as running:
                assert not running.is_warm
        finally:
            del os.environ[memory.MIN_FREE]
        assert parents(made) == []
    assert "memory" in told.pop()


# --- what a fork would get wrong


def test_a_changed_source_ends_the_parent_that_imported_it(place: Path, tmp_path: Path) -> None:
    source = tmp_path / "written.py"
    source.write_text("value = 1\n")
    environ = {"PYTHONPATH": str(tmp_path), "COURSE_WARM_PRELOAD": "written"}
    with kernel(**environ) as running:
        first = running.parent.pid
        assert running.text("import written; print(written.value)") == "1\n"
    source.write_text("value = 22\n")
    os.utime(source, (1, 1))
    with kernel(**environ) as running:
        assert running.is_warm
        assert running.parent.pid != first
        assert running.text("import written; print(written.value)") == "22\n"


def test_the_courses_own_code_is_read_from_the_disk(place: Path) -> None:
    with kernel("numpy") as running:
        assert running.text("import sys; print([n for n in sys.modules if n.startswith('course_lib')])") == "[]\n"


def test_a_file_that_hides_a_package_gets_an_ordinary_kernel(place: Path, tmp_path: Path, told: set[str]) -> None:
    (tmp_path / "yaml.py").write_text("mine = True\n")
    with kernel("numpy", cwd=tmp_path) as running:
        assert not running.is_warm
        assert running.text("import yaml; print(yaml.mine)") == "True\n"
    assert "yaml.py" in told.pop()
    assert shadowed(["yaml.reader", "numpy"], str(tmp_path)) == ["yaml.py"]
    (tmp_path / "numpy").mkdir()
    assert shadowed(["numpy"], str(tmp_path)) == []


PRELOADED = {
    "fails": ("raise ValueError('no')", "ValueError: no"),
    "threads": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "threads",
    ),
    "registers": (
        "get_ipython().events.register('post_run_cell', print)",
        "registers uses the notebook's shell (events)",
    ),
    "quietly": ("try:\n    get_ipython().kernel.comm_manager\nexcept Exception: pass", "kernel.comm_manager"),
    "dies": ("import os\nos._exit(1)", "ended while it did"),
}


@pytest.mark.parametrize("name", PRELOADED)
def test_what_cannot_be_forked_gets_ordinary_kernels_and_is_told_once(
    tmp_path: Path, told: set[str], name: str
) -> None:
    source, reason = PRELOADED[name]
    (tmp_path / f"{name}.py").write_text(source)
    with own_folder() as made:
        for _ in range(2):
            with kernel(PYTHONPATH=str(tmp_path), COURSE_WARM_PRELOAD=name) as running:
                assert not running.is_warm
        assert parents(made) == []
    assert len(told) == 1
    assert reason in told.pop()


def test_a_package_sees_a_notebook_while_it_is_imported(place: Path, tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(
        "try:\n    shell = get_ipython()\n    seen = (type(shell).__name__, hasattr(shell, 'kernel'))\n"
        "except NameError:\n    seen = None\nshell = None\n"
    )
    with kernel(PYTHONPATH=str(tmp_path), COURSE_WARM_PRELOAD="asks") as running:
        assert running.is_warm
        assert running.text("import asks; print(asks.seen)") == "('ZMQInteractiveShell', True)\n"
        assert running.text("print(get_ipython().kernel is not None)") == "True\n"


def test_a_parent_that_died_while_importing_is_not_tried_for_ever(tmp_path: Path, told: set[str]) -> None:
    (tmp_path / "slow.py").write_text("import time; time.sleep(600)")
    os.environ[switch.WAIT] = "1"
    try:
        with own_folder() as made:
            environ = {"PYTHONPATH": str(tmp_path), "COURSE_WARM_PRELOAD": "slow"}
            with kernel(**environ) as running:
                assert not running.is_warm
            for each in parents(made):
                kill(each.pid)
            eventually("its end", lambda: not parents(made))
            with kernel(**environ) as running:
                assert not running.is_warm
            assert parents(made) == []
    finally:
        os.environ[switch.WAIT] = str(switch.BATCH_SECONDS)


def test_it_is_turned_on_only_where_it_can_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert switch.turn_on({switch.OFF: "0"}) == "COURSE_WARM=0 asks for ordinary kernels."
    assert "another way" in switch.turn_on({switch.CHOSEN: "docker"})
    monkeypatch.setattr(switch, "entry_points", lambda **_: [])
    environ = {"A": "1"}
    assert "not registered" in switch.turn_on(environ)
    monkeypatch.setattr("sys.platform", "darwin")
    assert "Linux" in switch.turn_on(environ)
    assert environ == {"A": "1"}
