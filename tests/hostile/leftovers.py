"""Processes, threads and hooks that outlive the cell that made them, and notes left for the next student."""

from __future__ import annotations

from collections.abc import Callable

from hostile.kind import Hostile, Scene
from hostile.sheet import cell, costs, harmless

SPLIT, CHALLENGE = "digits/split", "digits/challenge"
NAME = "import ctypes\nctypes.CDLL(None).prctl(15, b'{stamp}')\n"
# What it would do, if it lived: it goes on for a minute to write marks where it may find them.
WRITER = """
    import glob, json, signal, time
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    for _ in range(120):
        for path in glob.glob({out!r} + '/**', recursive=True) + [{out!r} + '/records.jsonl', {out!r} + '/grades.csv']:
            try:
                with open(path, 'a') as file:
                    file.write('{stamp}')
            except OSError:
                pass
        time.sleep(0.5)
    os._exit(0)
"""
DAEMON = NAME + "if os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n" + WRITER
FORK = NAME + "if os.fork() == 0:\n" + WRITER
# The pipe and the socket stay open as long as this one lives: waiting for their end is waiting for it.
HOLDER = NAME + "if os.fork() == 0:\n    import time\n    os.setsid()\n    time.sleep(60)\n    os._exit(0)\n"
VFORKED = """
import ctypes, signal
libc = ctypes.CDLL(None)
libc.prctl(36, 1, 0, 0, 0)
libc.prctl(1, 0, 0, 0, 0)
"""
# Both go on with the notebook, and both answer.
TWINS = NAME + "twin = os.fork() == 0\n"
WORKERS = """
import multiprocessing, time
forked = multiprocessing.get_context('fork')
for _ in range(2):
    forked.Process(target=time.sleep, args=(60,), daemon=True).start()
"""
POOL_OF_THREADS = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(4)
print(list(pool.map(abs, range(8))))
"""
THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()"
WRITING_THREAD = """
import threading, time
def write():
    while True:
        for fd in range(3, 1024):
            try:
                os.write(fd, b'\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00{}')
            except OSError:
                pass
        time.sleep(0.001)
"""
AT_THE_END = """
import atexit, threading
def last():
    for fd in range(3, 1024):
        try:
            os.write(fd, b'{"passed": true}')
        except OSError:
            pass
    os._exit(0)
atexit.register(last)
threading._register_atexit(last)
class Last:
    def __del__(self):
        last()
sys.kept = Last()
"""


def stamped(source: str, where: str = SPLIT, result: str | None = None) -> Callable[[Scene], str]:
    """The source with this run's stamp and folders in it, in an answer cell."""
    return lambda scene: cell(where, source.format(stamp=scene.stamp, out=str(scene.out)), "", result)


def leaves(name: str, source: str) -> Hostile:
    """Leaves a process behind; its own marks stand, and it changes nobody's."""
    return harmless(name, SPLIT, stamped(source))


KINDS = [
    leaves("a daemon that writes marks", DAEMON),
    leaves("a fork that writes marks", FORK),
    leaves("a fork that holds what it inherited", HOLDER),
    leaves("gathers orphans, asks not to be ended", VFORKED + HOLDER),
    costs(
        "two of it go on",
        CHALLENGE,
        "wrong|bad reply|crash|exit|timeout",
        stamped(TWINS, CHALLENGE, "np.zeros(len(x_test), int)"),
    ),
    harmless("processes that sleep on", SPLIT, cell(SPLIT, WORKERS)),
    harmless("a pool of threads", SPLIT, cell(SPLIT, POOL_OF_THREADS)),
    harmless("a thread that sleeps on", SPLIT, cell(SPLIT, THREAD)),
    costs(
        "a thread that writes to every descriptor",
        CHALLENGE,
        "wrong|bad reply|error|exit|crash",
        cell(
            CHALLENGE,
            WRITING_THREAD,
            "threading.Thread(target=write, daemon=True).start()\ntime.sleep(0.2)",
            "np.zeros(len(x_test), int)",
        ),
    ),
    harmless("last words in atexit and __del__", SPLIT, cell(SPLIT, AT_THE_END)),
]
