"""Students' code is kept in: attacks, in every place where a grader may run, and the same ones without a sandbox."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("the sandbox needs Linux", allow_module_level=True)

from course_lib.grade import landlock, privileges
from course_lib.grade.sandbox import Layer, probe
from sandbox_attacks import ATTACKS
from sandbox_settings import SETTINGS

TESTS = Path(__file__).parent
CORE = ("Landlock", "seccomp", "limits", "no privileges")
OPTIONAL = ("user of its own", "mount namespace", "network namespace", "ipc namespace", "host name namespace", "cgroup")
# What only looks like success to who tries: nothing happens, or it is undone afterwards. The damage is looked at.
DAMAGE_COUNTS = {name for name, attack in ATTACKS.items() if attack.damage is not None}
# The layers that each setting must have when one is root here, and those that it must not have.
EXPECTED: dict[str, tuple[set[str], set[str]]] = {
    "user": ({"mount namespace", "network namespace", "ipc namespace", "host name namespace"}, {"user of its own"}),
    "caged user": (set(), set(OPTIONAL)),
    "old kernel": (set(), set(OPTIONAL)),
    "container": ({"user of its own"}, set(OPTIONAL) - {"user of its own"}),
    "container that hides Python": (set(), set(OPTIONAL)),
}
ENTER_AND_END_CPU_MS = 10.0


@functools.cache
def layers() -> tuple[Layer, ...]:
    return probe()


@functools.cache
def run(setting: str) -> dict[str, Any]:
    """Everything that `sandbox_run.py` found out in this setting; one process for all tests of a setting."""
    if lacking := [f"{each.name}: {each.detail}" for each in layers() if each.core and not each.active]:
        pytest.skip("; ".join(lacking))
    if setting != "as it is" and not privileges.capabilities() & privileges.SYS_ADMIN:
        pytest.skip("only root can make this setting")
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(TESTS / "sandbox_run.py"), setting],
        env={**os.environ, "PYTHONPATH": f"{TESTS}", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    for each in said.values():
        assert "broken" not in each, each["broken"]
    return said


def got_through(name: str, result: dict[str, Any]) -> bool:
    return bool(result["damage"]) if name in DAMAGE_COUNTS else result["said"].startswith("done")


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_attack_is_stopped(setting: str, name: str) -> None:
    result = run(setting)["boxed"]["attacks"][name]
    assert not got_through(name, result), result


@pytest.mark.parametrize("name", [name for name, attack in ATTACKS.items() if attack.free])
def test_without_the_sandbox_the_attack_succeeds(name: str) -> None:
    result = run("as it is")["free"]["attacks"][name]
    assert got_through(name, result), result


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_next_child_finds_nothing_of_the_one_before(setting: str) -> None:
    found = {name: each["next"] for name, each in run(setting)["boxed"]["attacks"].items() if each["next"] != "nothing"}
    assert found == {}


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_process_is_left(setting: str) -> None:
    assert run(setting)["boxed"]["left"] == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_core_works_everywhere_and_the_rest_where_it_is_granted(setting: str) -> None:
    found = {name: (active, core) for name, active, core, _ in run(setting)["boxed"]["layers"]}
    assert found.keys() == {*CORE, *OPTIONAL}
    assert all(found[name] == (True, True) for name in CORE)
    have, lack = EXPECTED.get(setting, (set(), set()))
    assert {name for name in have if not found[name][0]} == set()
    assert {name for name in lack if found[name][0]} == set()


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_layer_that_is_not_there_says_why(setting: str) -> None:
    assert all(detail for *_, detail in run(setting)["boxed"]["layers"])


@pytest.mark.parametrize("setting", SETTINGS)
def test_entering_and_ending_cost_little(setting: str) -> None:
    costs = run(setting)["boxed"]["costs"]
    assert statistics.median(costs["enter_cpu_ms"]) + statistics.median(costs["end_cpu_ms"]) < ENTER_AND_END_CPU_MS


def test_a_probe_leaves_the_process_as_it_was() -> None:
    before = {name: os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")}
    group, limits = Path("/proc/self/cgroup").read_text(), Path("/proc/self/limits").read_text()
    probe()
    assert {name: os.readlink(f"/proc/self/ns/{name}") for name in before} == before
    assert Path("/proc/self/cgroup").read_text() == group
    assert Path("/proc/self/limits").read_text() == limits
    assert not privileges.has_no_new_privileges()


@pytest.mark.parametrize(
    ("patch", "layer", "words"),
    [
        ("landlock.abi = lambda: 0", "Landlock", "no Landlock"),
        ("landlock.Ruleset.enforce = lambda self: None", "Landlock", "listing / was possible"),
        ("sandbox.grants = lambda *_: []", "Landlock", "reading Python's library failed"),
        ("sys.modules['pyseccomp'] = None", "seccomp", "extra `grade`"),
        ("seccomp.load = lambda program: None", "seccomp", "an internet socket was possible"),
        ("confinement.apply = lambda *_: None", "limits", "more memory than allowed was possible"),
        ("privileges.no_new_privileges = lambda: None", "no privileges", ""),
    ],
)
def test_a_layer_that_does_not_work_is_found_out(patch: str, layer: str, words: str) -> None:
    program = f"""
import sys
from course_lib.grade import confinement, landlock, layers, libc, privileges, sandbox, seccomp
{patch}
for each in sandbox.probe():
    if each.core and not each.active:
        print(each.name, "|", each.detail)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = dict(line.split(" | ", 1) for line in done.stdout.splitlines())
    assert words in lines[layer]


def test_a_child_is_refused_where_the_core_is_missing() -> None:
    program = """
import sys
from pathlib import Path
from course_lib.grade import landlock
from course_lib.grade.sandbox import Limits, Sandbox, SandboxRefused
landlock.abi = lambda: 0
limits = Limits(60, 1 << 30, 32, 1 << 20, 256)
sandbox = Sandbox(readable=[Path(sys.prefix), Path(sys.base_prefix)], sealed=[], slot=0, limits=limits, allow_shm=False)
try:
    sandbox.enter([])
except SandboxRefused as error:
    print(error)
sandbox.close()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "no Landlock" in done.stdout


ELSEWHERE = """
import os, sys
for name in ("fork", "getuid", "geteuid", "setsid", "O_PATH", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("resource", "fcntl", "pyseccomp", "pwd", "termios"):
    sys.modules[name] = None
import signal
for name in ("SIGKILL", "SIGSTOP", "SIGXCPU"):
    delattr(signal, name)
sys.platform = "win32"
from course_lib.grade import processes, sandbox, tensor_workers
print([(each.active, each.core, each.detail) for each in sandbox.probe()])
"""


def test_elsewhere_the_modules_can_be_imported_and_say_that_there_is_no_sandbox() -> None:
    program = ELSEWHERE.replace("sys.platform", "import multiprocessing.reduction\nsys.platform", 1)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(False, True, 'needs Linux; this is win32") == len(CORE)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["as it is", "old kernel", "container"])
@pytest.mark.parametrize("framework", ["numpy", "torch", "torch workers", "jax", "tensorflow", "keras"])
def test_a_framework_trains_in_a_child_of_a_parent_that_imported_it(framework: str, setting: str) -> None:
    if importlib.util.find_spec(framework.split()[0]) is None:
        pytest.skip(f"{framework} is not installed")
    run(setting)
    quiet = {"OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, str(TESTS / "sandbox_frameworks.py"), framework, setting],
        env={**os.environ, **quiet, "KERAS_BACKEND": "jax", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": f"{TESTS}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.startswith("ok"), done.stdout + done.stderr[-2000:]


def test_landlock_asks_for_no_more_than_the_kernel_knows() -> None:
    assert landlock.rights(1) == (1 << 13) - 1
    assert [landlock.rights(abi).bit_length() for abi in (1, 2, 3, 4, 5, 8, 9)] == [13, 14, 15, 15, 16, 16, 17]
    assert landlock.restricted(7) == ("files", "truncation", "TCP", "device ioctl", "abstract sockets", "signals")
