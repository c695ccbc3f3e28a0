"""Answers that do not come to an end, or make it hard to end them. The limits of a run are a few seconds."""

from __future__ import annotations

from hostile.sheet import cell, costs, harmless

SPLIT, ACCURACY, CHALLENGE = "digits/split", "digits/accuracy", "digits/challenge"
SWALLOW = """
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
"""
DEAF = """
import signal
for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
while True:
    signal.sigwait(signal.valid_signals())
"""
# One call into compiled code that holds the interpreter's lock: no handler of Python's ever runs.
REGULAR_EXPRESSION = "import re\nre.fullmatch('(a+)+', 'a' * 64 + 'b')"
TRICKLE = "import time\ntime.sleep(0.8)"
ENDLESS_LIST = """
class Endless(list):
    def __iter__(self):
        while True:
            yield 0.5
    def __len__(self):
        return 3
"""
ENDLESS_TEXT = """
class Odd(Exception):
    def __str__(self):
        while True:
            pass
    __repr__ = __str__
"""
ENDLESS_TYPE = """
class Meta(type):
    @property
    def __module__(cls):
        while True:
            pass
class Odd(metaclass=Meta):
    pass
"""
LAST_WORDS = """
class Stubborn:
    def __del__(self):
        while True:
            pass
"""
STOPPED_CLOCK = """
import time, datetime
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
time.time_ns = time.monotonic_ns = lambda: 0
"""
TRACED = """
import time
def trace(frame, event, argument):
    while frame.f_code.co_name == 'challenge':
        time.sleep(0.01)
    return trace
sys.settrace(trace)
"""
SPINNING_THREADS = """
import threading
def spin():
    while True:
        pass
for _ in range(8):
    threading.Thread(target=spin).start()
"""
ALARMS = """
import signal
def interrupt(*_):
    raise KeyboardInterrupt('from a timer')
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
"""
IMPORTS_HANG = """
import importlib.abc, time
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        while True:
            time.sleep(1)
sys.meta_path.insert(0, Finder())
"""

KINDS = [
    costs("a loop without end in an answer cell", SPLIT, "timeout", cell(SPLIT, "while True:\n    pass")),
    costs("a loop without end in a function", ACCURACY, "timeout", cell(ACCURACY, "", "while True:\n    pass")),
    costs("a loop that swallows every exception, in a cell", SPLIT, "timeout", cell(SPLIT, SWALLOW)),
    costs("a loop that swallows every exception, in a function", ACCURACY, "timeout", cell(ACCURACY, "", SWALLOW)),
    costs("sleeps for ever, deaf to every signal", ACCURACY, "timeout", cell(ACCURACY, "", DEAF)),
    costs("sleeps for ever in a cell", SPLIT, "timeout", cell(SPLIT, "import time\ntime.sleep(10**8)")),
    costs("one endless call of compiled code", ACCURACY, "timeout", cell(ACCURACY, "", REGULAR_EXPRESSION)),
    costs("many calls, each of them quick enough", SPLIT, "timeout", cell(SPLIT, "", TRICKLE)),
    costs("a list without end", ACCURACY, "timeout|memory|bad reply", cell(ACCURACY, ENDLESS_LIST, "", "Endless()")),
    costs(
        "an error whose message never ends",
        ACCURACY,
        "timeout",
        cell(ACCURACY, ENDLESS_TEXT, "raise Odd"),
    ),
    costs(
        "an error whose message never ends, in a cell",
        SPLIT,
        "timeout",
        cell(SPLIT, f"{ENDLESS_TEXT}\nraise Odd"),
    ),
    costs("a result whose type's name never ends", ACCURACY, "timeout", cell(ACCURACY, ENDLESS_TYPE, "", "Odd()")),
    costs("a result that never goes away", ACCURACY, "timeout", cell(ACCURACY, LAST_WORDS, "", "Stubborn()")),
    costs("traces itself into a loop", CHALLENGE, "timeout", cell(CHALLENGE, TRACED)),
    costs("waits for somebody to type", ACCURACY, "error", cell(ACCURACY, "", "input('your name: ')")),
    costs("a debugger", ACCURACY, "error|exit", cell(ACCURACY, "", "breakpoint()")),
    costs(
        "waits for a lock that it holds",
        ACCURACY,
        "timeout",
        cell(ACCURACY, "import threading\nlock = threading.Lock()\nlock.acquire()", "lock.acquire()"),
    ),
    harmless("stopped clocks", SPLIT, cell(SPLIT, STOPPED_CLOCK)),
    harmless("a global that never goes away", SPLIT, cell(SPLIT, f"{LAST_WORDS}\nkept = Stubborn()")),
    harmless(
        "a loop without end in atexit",
        SPLIT,
        cell(SPLIT, "import atexit\natexit.register(lambda: [0 for _ in iter(int, 1)])"),
    ),
    costs(
        "a timer that interrupts whatever runs",
        CHALLENGE,
        "error|crash|exit|timeout|bad reply|passed",
        cell(CHALLENGE, ALARMS, "", "np.zeros(len(x_test), int)"),
    ),
    costs(
        "spinning threads",
        CHALLENGE,
        "wrong|timeout",
        cell(CHALLENGE, SPINNING_THREADS, "", "np.zeros(len(x_test), int)"),
    ),
    harmless("an import hook that hangs", CHALLENGE, cell(CHALLENGE, IMPORTS_HANG)),
]
