"""Answers that take more than there is for them: memory, processes, output, files, threads."""

from __future__ import annotations

from hostile.kind import Scene
from hostile.sheet import cell, costs, harmless, marked, right_answers

SPLIT, ACCURACY, CHALLENGE = "digits/split", "digits/accuracy", "digits/challenge"
TOO_MUCH = "memory|error"
LIST = "held = []\nwhile True:\n    held.append(bytearray(10**7))"
LIST_IN_SPITE = """
held = []
while True:
    try:
        held.append(np.ones(10**6))
    except MemoryError:
        pass
"""
# Shared pages are no data segment: a limit on that does not see them.
SHARED = """
import mmap
held = mmap.mmap(-1, 3 << 30)
np.frombuffer(held, np.uint8)[::4096] = 1
"""
MEMORY_FILE = """
file = os.memfd_create('much')
for _ in range(96):
    os.write(file, bytes(32 << 20))
"""
# Each of them is small enough alone.
DIVIDED = """
import time
for _ in range(10):
    if os.fork() == 0:
        held = np.zeros(40_000_000)
        held[::512] = 1
        time.sleep(20)
        os._exit(0)
time.sleep(20)
"""
# Bounded, in case that nobody bounds it: at most 2**9 processes, which end by themselves.
FORK_BOMB = """
import ctypes, signal, time
ctypes.CDLL(None).prctl(15, b'{stamp}')
signal.alarm(30)
for _ in range(9):
    try:
        os.fork()
        signal.alarm(30)
    except OSError:
        pass
while True:
    pass
"""
FORKS_ON = """
import ctypes, signal, time
ctypes.CDLL(None).prctl(15, b'{stamp}')
end = time.monotonic() + 20
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.01)
            continue
        os._exit(0)
    except OSError:
        pass
"""
THREADS = """
import threading
wait = threading.Event()
try:
    for _ in range(5000):
        threading.Thread(target=wait.wait, daemon=True).start()
except RuntimeError as error:
    print(error)
wait.set()
"""
DESCRIPTORS = """
held = []
try:
    while True:
        held.append(os.open('/dev/null', os.O_RDONLY))
except OSError as error:
    print(error)
for fd in held:
    os.close(fd)
"""
LARGE_FILE = """
with open('large', 'wb') as file:
    for _ in range(400):
        file.write(bytes(10_000_000))
"""
MANY_FILES = """
try:
    for n in range(20_000):
        os.close(os.open(f'small-{n}', os.O_CREAT | os.O_WRONLY))
except OSError as error:
    print(error)
"""
# What cannot be removed by somebody who walks down by recursion, or who needs rights.
STUBBORN_FOLDER = """
os.makedirs('locked/inside')
open('locked/inside/file', 'w').close()
os.symlink({submissions!r}, 'locked/others')
os.chmod('locked/inside', 0)
os.chmod('locked', 0)
open(b'not utf-8 \\xff\\n', 'w').close()
os.mkfifo('pipe')
here = os.getcwd()
for _ in range(2500):
    os.mkdir('deep')
    os.chdir('deep')
os.chdir(here)
os.chmod('.', 0)
"""
STDOUT_100_MB = "for _ in range(100):\n    print('x' * 10**6)"
STDERR_100_MB = "for _ in range(100):\n    sys.stderr.write('x' * 10**6)"
DISPLAY = "for _ in range(20):\n    display('<b>' + 'x' * 10**6)"
# Past every Python object that stands for a stream.
DESCRIPTOR_1 = "for _ in range(100):\n    os.write(1, b'\\xff\\x00\\x1b[2J' * 250_000)"
FROM_C = """
import ctypes
libc = ctypes.CDLL(None)
for _ in range(200):
    libc.puts(b'c' * 100_000)
libc.fflush(None)
"""
IN_DROPS = "for _ in range(50_000):\n    os.write(1, b'.')"
OUTPUT_WITHOUT_END = "while True:\n    os.write(1, b'x' * 65536)"
LARGE_RESULT = "np.zeros(40_000_000)"
HUGE_RESULT = "np.broadcast_to(np.float64(0), (10**12,))"
MANY_RESULTS = "[np.zeros(1)] * 300_000"


def stubborn_folder(scene: Scene) -> str:
    return cell(SPLIT, STUBBORN_FOLDER.format(submissions=str(scene.submissions)))


def large_cell() -> str:
    """An answer cell of 6 MB, right."""
    return right_answers()[ACCURACY] + "\n" + "# 23456789 123456789\n" * 300_000


def long_text() -> str:
    """A docstring of 6 MB, of which nothing can be left out."""
    return marked(ACCURACY, f"text = '''{'x' * 6_000_000}'''\n{right_answers()[ACCURACY]}")


KINDS = [
    costs("an array of 3 GB", ACCURACY, TOO_MUCH, cell(ACCURACY, "", "np.ones(375_000_000)")),
    costs("an array of 3 GB in a cell", SPLIT, TOO_MUCH, cell(SPLIT, "much = np.ones(375_000_000)")),
    costs("an array of a terabyte", ACCURACY, TOO_MUCH, cell(ACCURACY, "", "np.zeros(10**11) + 1")),
    costs("a list that grows", ACCURACY, f"{TOO_MUCH}|timeout", cell(ACCURACY, "", LIST)),
    costs("a list that grows in spite of MemoryError", ACCURACY, "memory|timeout", cell(ACCURACY, "", LIST_IN_SPITE)),
    # Not every kernel counts what it ends for want of memory.
    # A slow machine's time is over before its memory is.
    costs("3 GB of shared memory", ACCURACY, f"{TOO_MUCH}|crash|timeout", cell(ACCURACY, "", SHARED)),
    costs("3 GB in a file of memory", ACCURACY, TOO_MUCH, cell(ACCURACY, "", MEMORY_FILE)),
    # Where the kernel ends those that are too many, the first one waits for nothing.
    costs("memory divided among processes", CHALLENGE, f"{TOO_MUCH}|timeout", cell(CHALLENGE, "", DIVIDED)),
    costs(
        "a fork bomb",
        CHALLENGE,
        "timeout|crash|bad reply|memory",
        lambda scene: cell(CHALLENGE, "", FORK_BOMB.format(stamp=scene.stamp)),
    ),
    costs(
        "forks itself away, again and again",
        CHALLENGE,
        "timeout|crash|exit|bad reply|error|wrong",
        lambda scene: cell(CHALLENGE, "", FORKS_ON.format(stamp=scene.stamp), "np.zeros(len(x_test), int)"),
    ),
    harmless("5,000 threads", CHALLENGE, cell(CHALLENGE, THREADS)),
    harmless("every descriptor that there is", SPLIT, cell(SPLIT, DESCRIPTORS)),
    costs("a file of 4 GB", ACCURACY, "error|crash|exit", cell(ACCURACY, "", LARGE_FILE)),
    harmless("20,000 files", SPLIT, cell(SPLIT, MANY_FILES)),
    harmless("a folder that nobody can remove", SPLIT, stubborn_folder),
    harmless("100 MB to stdout", SPLIT, cell(SPLIT, STDOUT_100_MB)),
    harmless("100 MB to stderr", SPLIT, cell(SPLIT, STDERR_100_MB)),
    harmless("20 MB displayed", SPLIT, cell(SPLIT, DISPLAY)),
    harmless("100 MB to the descriptor itself", SPLIT, cell(SPLIT, DESCRIPTOR_1)),
    harmless("20 MB from C", SPLIT, cell(SPLIT, FROM_C)),
    harmless("output in drops", SPLIT, cell(SPLIT, IN_DROPS)),
    harmless("output by a function at each call", ACCURACY, cell(ACCURACY, "", STDOUT_100_MB.replace("100", "5"))),
    costs("output without end", ACCURACY, "timeout", cell(ACCURACY, "", OUTPUT_WITHOUT_END)),
    harmless(
        "a warning on stderr",
        SPLIT,
        cell(SPLIT, "import warnings\nwarnings.warn('deprecated')", "print('a warning', file=sys.stderr)"),
    ),
    costs("a result of 320 MB", ACCURACY, "wrong|bad reply|memory", cell(ACCURACY, "", "", LARGE_RESULT)),
    costs(
        "a result of 8 TB that takes no room",
        ACCURACY,
        "wrong|bad reply|memory|error",
        cell(ACCURACY, "", "", HUGE_RESULT),
    ),
    costs("300,000 results", ACCURACY, "wrong|bad reply|memory|timeout", cell(ACCURACY, "", "", MANY_RESULTS)),
    costs("an answer cell of 6 MB", ACCURACY, "not handed in", large_cell(), review=True, notes=("accuracy",)),
    costs("a text of 6 MB in an answer cell", ACCURACY, "not handed in", long_text(), review=True),
]
