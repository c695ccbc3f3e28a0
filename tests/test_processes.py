"""What a child started is counted and killed, however it hides. Linux only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

if sys.platform != "linux":
    pytest.skip("reads /proc", allow_module_level=True)

from course_lib.grade.processes import descendants, tree_usage

# The test's own process is no subreaper, and must not kill what pytest started.
SUPERVISOR = """
import json, mmap, os, signal, sys, time
from course_lib.grade import libc
from course_lib.grade.processes import descendants, kill_tree, tree_usage
libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
held = [bytes([1]) * (1 << 20) for _ in range(200)]
ready, tell = os.pipe()

def wait():
    os.write(tell, b"1")
    while True:
        time.sleep(10)

def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    os.read(ready, 1)
    return pid

{body}
"""


def run(body: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISOR.replace("{body}", body)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_memory_counts_what_a_child_adds_to_its_parents() -> None:
    body = """
def work():
    more = [bytes([2]) * (1 << 20) for _ in range(50)]
    wait()
pid = child(work)
print(json.dumps([tree_usage(pid), tree_usage(pid, exact=True)]))
kill_tree(pid)
"""
    for _, private_bytes, n_processes in run(body):
        assert 50 << 20 <= private_bytes < 60 << 20
        assert n_processes == 1


def test_memory_that_is_shared_with_nobody_counts() -> None:
    body = """
def work():
    memory = mmap.mmap(-1, 50 << 20)
    for at in range(0, 50 << 20, 4096):
        memory[at] = 1
    wait()
pid = child(work)
print(json.dumps(tree_usage(pid).private_bytes))
kill_tree(pid)
"""
    assert run(body) >= 50 << 20


def test_inherited_memory_that_is_written_to_is_seen_by_the_exact_count() -> None:
    body = """
memory = bytearray(60 << 20)
memory[:] = bytes([1]) * len(memory)
def work():
    memory[:] = bytes([2]) * len(memory)
    wait()
pid = child(work)
print(json.dumps([tree_usage(pid).private_bytes, tree_usage(pid, exact=True).private_bytes]))
kill_tree(pid)
"""
    quick, exact = run(body)
    assert exact >= 60 << 20
    assert quick < 60 << 20


def test_seconds_and_processes_of_all_that_was_started_count() -> None:
    body = """
def burn():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
def work():
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                burn()
                wait()
            os._exit(0)
    burn()
    wait()
pid = child(work)
os.read(ready, 1), os.read(ready, 1)
print(json.dumps(tree_usage(pid)))
kill_tree(pid)
"""
    cpu_seconds, _, n_processes = run(body)
    assert cpu_seconds > 0.8
    assert n_processes == 3


@pytest.mark.parametrize(
    "work",
    [
        "wait()",
        "os.fork() or wait()\n    wait()",
        "if os.fork() == 0:\n        os.setsid()\n        os.fork() or wait()\n        os._exit(0)\n    wait()",
        "[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]\n    wait()",
        "os.write(tell, b'1')\n    while True:\n        if os.fork(): os._exit(0)",
        "for _ in range(30): os.fork() or wait()\n    wait()",
        "libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)\n    os.fork() or (os.fork() or wait())\n    wait()",
        "os.kill(os.getpid(), 19) if os.fork() == 0 else wait()",
    ],
    ids=["one", "two", "daemon", "deaf", "moving", "many", "subreaper", "stopped"],
)
def test_nothing_survives(work: str) -> None:
    body = f"""
def work():
    {work}
pid = child(work)
time.sleep(0.05)
kill_tree(pid)
left = descendants(os.getpid())
status = os.waitpid(pid, 0)[1]
print(json.dumps([left == [pid], descendants(os.getpid()), os.waitstatus_to_exitcode(status)]))
"""
    only_the_child, left, code = run(body)
    assert only_the_child
    assert left == []
    assert code == (0 if "while True" in work else -9)


def test_one_that_changes_its_parent_at_the_wrong_moment_is_not_missed() -> None:
    body = """
def work():
    if os.fork() == 0:
        while True:
            if os.fork():
                os._exit(0)
    wait()
left = []
for number in range(60):
    pid = child(work)
    time.sleep(0.001 * (number % 7))
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    kill_tree(os.getpid())
    left += descendants(os.getpid())
print(json.dumps(left))
"""
    assert run(body) == []


def test_the_child_itself_may_have_been_reaped_before() -> None:
    body = """
def work():
    os.fork() or wait()
    os._exit(0)
pid = child(work)
os.waitpid(pid, 0)
kill_tree(os.getpid())
print(json.dumps(descendants(os.getpid())))
"""
    assert run(body) == []


def test_a_process_that_is_gone_uses_nothing() -> None:
    pid = subprocess.Popen([sys.executable, "-c", ""])
    pid.wait()
    assert tree_usage(pid.pid) == (0.0, 0, 0)
    assert descendants(pid.pid) == []


def test_a_name_with_parentheses_does_not_confuse() -> None:
    program = "import time; open('/proc/self/comm', 'w').write('a) Z 99999999 ('); print(1, flush=True); time.sleep(30)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert process.pid in descendants(os.getpid())
        assert tree_usage(process.pid).n_processes >= 1
        process.kill()


def test_looking_is_cheap_enough_for_four_times_a_second() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"]) as process:
        start = time.process_time()
        for _ in range(50):
            tree_usage(process.pid)
        seconds = (time.process_time() - start) / 50
        process.kill()
    assert seconds < 0.02
