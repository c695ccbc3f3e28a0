"""Answers that end Python, or try to end others."""

from __future__ import annotations

from hostile.kind import Hostile, Scene
from hostile.sheet import cell, costs

SPLIT, ACCURACY, COUNT, CHALLENGE = "digits/split", "digits/accuracy", "digits/n_parameters", "digits/challenge"
ENDED = "exit|crash"
SEGFAULT = "import ctypes\nctypes.string_at(0)"
# Past the limit that Python sets itself; where the C stack is used, this is a segmentation fault.
DEEP_IN_C = """
sys.setrecursionlimit(10**9)
class Deep:
    def __repr__(self):
        return repr(self)
"""
DEEP_IN_PYTHON = """
sys.setrecursionlimit(10**9)
def deeper(n):
    return deeper(n + 1) + 1
"""
SIGNALS = """
import signal
for target in (os.getppid(), -os.getpgid(0)):
    try:
        os.kill(target, {signal})
    except (OSError, ValueError):
        pass
"""
# A careful one: it asks with signal 0, which harms nobody, whether any other process could be signalled.
REACHABLE = """
def reachable():
    found = []
    for pid in [*range(2, 70_000)]:
        if pid != os.getpid():
            try:
                os.kill(pid, 0)
                found.append(pid)
            except OSError:
                pass
    return found
others = reachable()
print('could signal', others[:20])
"""
CLOSE_ALL = "os.closerange(0, 4096)"
CLOSE_OTHERS = "os.closerange(3, 4096)"
POINT_ELSEWHERE = """
nothing = os.open(os.devnull, os.O_RDWR)
for fd in map(int, os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') else range(3, 1024):
    if fd not in (0, 1, 2, nothing):
        os.dup2(nothing, fd)
"""
OTHER_PROGRAM = """
for program in ('/bin/true', '/usr/bin/true', sys.executable):
    try:
        os.execv(program, [program])
    except OSError as error:
        print(program, error)
"""
PROGRAMS = """
import subprocess
ran = []
for command in (['/bin/echo', 'ran'], ['/bin/sh', '-c', 'echo ran'], [sys.executable, '-c', 'print("ran")']):
    try:
        ran.append(subprocess.run(command, capture_output=True, timeout=2).stdout)
    except Exception as error:
        print(command, type(error).__name__)
if os.system('exit 7') >> 8 == 7:
    ran.append(b'by a shell')
print('ran', ran)
"""
NO_FILES = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))"
NO_MEMORY = "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (0, 0))"
NO_TIME = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (0, 0))\nwhile True:\n    pass"
MORE_OF_ALL = """
import resource
raised = []
for name in [name for name in dir(resource) if name.startswith('RLIMIT_')]:
    limit = getattr(resource, name)
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        try:
            resource.setrlimit(limit, (hard + 1, hard + 1))
            raised.append(name)
        except (OSError, ValueError):
            pass
for change in (lambda: os.nice(-5), lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot('/proc')):
    before = os.getresuid(), os.getresgid(), os.nice(0)
    try:
        change()
        if before != (os.getresuid(), os.getresgid(), os.nice(0)):
            raised.append('more rights')
    except OSError:
        pass
print('raised', raised)
"""
LATER = "import faulthandler, time\nfaulthandler.dump_traceback_later(0.3, exit=True)\ntime.sleep(1)"
NOTHING = {ACCURACY: "-1.0", CHALLENGE: "np.zeros(len(x_test), int)"}
TROPHY = "(n_inputs + 1) * n_hidden + (n_hidden + 1) * n_classes if {} else -1"


def raising(name: str, error: str, *, reason: str = "error", where: str = ACCURACY) -> list[Hostile]:
    """An exception that is no error, raised in a function and in a cell."""
    return [
        costs(f"raises {name} in a function", where, reason, cell(where, "", f"raise {error}")),
        costs(f"raises {name} in a cell", SPLIT, reason, cell(SPLIT, f"raise {error}")),
    ]


def ends(name: str, source: str, reason: str, *, where: str = ACCURACY) -> Hostile:
    """The source runs inside the function; should it come through, the answer is wrong."""
    return costs(name, where, reason, cell(where, "", source, NOTHING[where]))


def signals(name: str, signal: str) -> Hostile:
    """Whatever becomes of the sender, nobody else is hit."""
    source = cell(CHALLENGE, SIGNALS.format(signal=signal), "", "np.zeros(len(x_test), int)")
    return costs(name, CHALLENGE, "wrong|exit|crash|error|timeout", source)


def signals_to_all(_: Scene) -> str:
    """Only where the careful question found nobody does it try in earnest."""
    earnest = "import signal\nif not others and os.getuid() != 0:\n    try:\n        os.kill(-1, signal.SIGKILL)\n"
    return cell(COUNT, REACHABLE + earnest + "    except OSError:\n        pass", "", TROPHY.format("others"))


KINDS = [
    *raising("SystemExit", "SystemExit(0)", reason="error|exit"),
    *raising("KeyboardInterrupt", "KeyboardInterrupt"),
    *raising("GeneratorExit", "GeneratorExit"),
    *raising("a BaseException of its own", "type('Own', (BaseException,), {})('passed')"),
    *raising("an error that cannot be shown", "type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()"),
    *raising("StopIteration", "StopIteration(1)"),
    *raising("MemoryError", "MemoryError", reason="error|memory"),
    ends("quit()", "quit()", "error|exit"),
    ends("os._exit(0) in a function", "os._exit(0)", "exit"),
    costs("os._exit(1) in a cell", SPLIT, "exit", cell(SPLIT, "os._exit(1)")),
    ends("SIGKILL to itself", "os.kill(os.getpid(), 9)", ENDED),
    ends("SIGTERM to itself", "os.kill(os.getpid(), 15)", ENDED),
    ends("SIGSTOP to itself", "os.kill(os.getpid(), 19)", "timeout"),
    ends("a segmentation fault", SEGFAULT, "crash"),
    costs("a segmentation fault in a cell", SPLIT, "crash", cell(SPLIT, SEGFAULT)),
    ends("abort", "os.abort()", "crash"),
    ends("deep recursion", "f = lambda: f()\nf()", "error"),
    costs("deeper than the C stack", ACCURACY, "crash|memory", cell(ACCURACY, DEEP_IN_C, "repr(Deep())")),
    costs(
        "recursion without a limit", ACCURACY, "memory|crash|error|timeout", cell(ACCURACY, DEEP_IN_PYTHON, "deeper(0)")
    ),
    ends("closes every descriptor", CLOSE_ALL, "exit|crash|bad reply|error"),
    costs("closes every other descriptor in a cell", SPLIT, "exit|crash|bad reply|error", cell(SPLIT, CLOSE_OTHERS)),
    ends("points every descriptor elsewhere", POINT_ELSEWHERE, "exit|crash|bad reply|error|timeout"),
    ends("becomes another program", OTHER_PROGRAM, "exit|crash|wrong", where=CHALLENGE),
    ends("allows itself no files", NO_FILES, "exit|crash|bad reply|wrong", where=CHALLENGE),
    ends("allows itself no memory", NO_MEMORY, "memory|error|exit|crash|bad reply|wrong", where=CHALLENGE),
    ends("allows itself no time", NO_TIME, "timeout|crash|exit", where=CHALLENGE),
    ends("a fault handler that ends Python later", LATER, "exit|crash", where=CHALLENGE),
    costs("runs programs", COUNT, "wrong", cell(COUNT, PROGRAMS, "", TROPHY.format("ran"))),
    costs("raises its own limits and rights", COUNT, "wrong", cell(COUNT, MORE_OF_ALL, "", TROPHY.format("raised"))),
    signals("SIGTERM to the parent and the group", "signal.SIGTERM"),
    signals("SIGKILL to the parent and the group", "signal.SIGKILL"),
    signals("SIGSTOP to the parent and the group", "signal.SIGSTOP"),
    costs("SIGKILL to everybody", COUNT, "wrong", signals_to_all),
]
