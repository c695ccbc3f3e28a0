"""Answers that look around in memory, processes and the kernel. Each is right only if it found something."""

from __future__ import annotations

from hostile.thieves import thief

# The parent's command line, environment, memory and descriptors; and everybody else's.
PROCESSES = """
me = str(os.getpid())
try:
    others = [pid for pid in os.listdir('/proc') if pid.isdigit() and pid != me]
except OSError:
    others = [str(os.getppid())]
for pid in others:
    for name in ('environ', 'mem', 'maps', 'stack', 'cwd/.', 'root/etc/passwd'):
        take(f'/proc/{pid}/{name}')
    try:
        found.extend(os.readlink(f'/proc/{pid}/fd/{n}') for n in os.listdir(f'/proc/{pid}/fd'))
    except OSError:
        pass
    try:
        with open(f'/proc/{pid}/cmdline') as file:
            if {stamp!r} in file.read():
                found.append('what the grader was started with, the seed, too')
    except OSError:
        pass
print('found', found[:20])
"""
TRACES = """
import ctypes
found = []
libc = ctypes.CDLL(None, use_errno=True)
for pid in (os.getppid(),):
    # PTRACE_SEIZE, which does not stop whom it seizes.
    if libc.ptrace(0x4206, pid, 0, 0) == 0:
        found.append(('ptrace', pid))
        continue
    buffer = ctypes.create_string_buffer(64)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
    remote = (ctypes.c_void_p * 2)(id(found), 64)
    if libc.process_vm_readv(pid, local, 1, remote, 1, 0) > 0:
        found.append(('read', pid))
    pidfd = libc.syscall(434, pid, 0)
    if pidfd >= 0:
        found.extend(('descriptor', fd) for fd in range(64) if libc.syscall(438, pidfd, fd, 0) >= 0)
print('found', found)
"""
ENVIRONMENT = """
found = [f'{key}={value}' for key, value in os.environ.items()
         if any(word in (key + value).lower() for word in ('seed', 'check', 'submission', 'token', 'secret', {out!r}))]
found += [word for word in sys.argv + sys.orig_argv if 'seed' in word or {out!r} in word]
print('found', found)
"""
OBJECTS = """
import gc
# What was frozen before the fork is not listed otherwise.
gc.unfreeze()
found = []
def look(value):
    data = value.encode(errors='replace') if type(value) is str else value
    if type(data) in (bytes, bytearray) and needle.search(data):
        found.append(data[:80])
for each in gc.get_objects():
    parts = [each]
    if type(each) is dict:
        parts = [part for pair in list(each.items()) for part in pair]
    elif type(each) in (list, tuple, set, frozenset):
        parts = list(each)
    for part in parts:
        look(part)
    code = getattr(each, '__code__', None)
    for constant in getattr(code, 'co_consts', None) or ():
        look(constant)
    if str(type(each).__module__).startswith(('course_lib.checks', 'course_lib.grade.slot', 'course_lib.verdict')):
        found.append(repr(type(each)))
print('found', found[:20])
"""
# Not what Python knows of, but what stands in the memory that was inherited.
MEMORY = """
found = []
try:
    with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            low, high = (int(side, 16) for side in place.split('-'))
            if 'r' in rights and high - low < 1 << 28 and '[v' not in line:
                try:
                    memory.seek(low)
                    data = memory.read(high - low)
                except (OSError, ValueError, OverflowError):
                    continue
                found += [data[m.start() - 20:m.end() + 20] for m in needle.finditer(data)]
except OSError as error:
    print(error)
found = [piece for piece in found if b'[' not in piece]
print('found', found[:20])
"""
FRAMES = """
found = []
def look():
    frame = sys._getframe()
    while frame is not None:
        words = {'seed', 'expected', 'want', 'checks', 'marks', 'rng', 'reference'} & set(frame.f_locals)
        if frame.f_globals.get('__name__') != '__main__' and words:
            found.append((frame.f_code.co_name, sorted(words)))
        frame = frame.f_back
look()
print('found', found)
"""
# A folder that was left open is a way out of a root that was changed.
DESCRIPTORS = """
import stat
found, sockets = [], 0
for fd in range(3, 1024):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if stat.S_ISDIR(mode):
        for path in ({canary!r}, {submissions!r}, {repository!r} + '/course_lib/checks/digits.py', '/etc/shadow'):
            try:
                found.append(os.open('../' * 8 + path, os.O_RDONLY, dir_fd=fd))
            except OSError:
                pass
    elif not stat.S_ISSOCK(mode) and not stat.S_ISCHR(mode):
        found.append((fd, oct(mode)))
    sockets += stat.S_ISSOCK(mode)
if sockets > 1:
    found.append(f'{sockets} sockets')
print('found', found)
"""
KERNEL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = []
calls = {'mount': 165, 'keyctl': 250, 'bpf': 321, 'userfaultfd': 323, 'perf_event_open': 298, 'unshare': 272,
         'io_uring_setup': 425, 'init_module': 175, 'kexec_load': 246, 'setns': 308, 'open_by_handle_at': 304}
for name, number in calls.items() if os.uname().machine == 'x86_64' else ():
    arguments = (0x10000000,) if name == 'unshare' else (8, None) if name == 'io_uring_setup' else (0, 0, 0, 0, 0)
    if libc.syscall(number, *arguments) >= 0:
        found.append(name)
print('found', found)
"""
IPYTHON = """
found = []
shell = get_ipython()
for command in ('echo ran', 'id'):
    try:
        if shell.getoutput(command) or shell.system(command):
            found.append(command)
    except Exception as error:
        print(type(error).__name__)
print('found', found)
"""


KINDS = [
    thief("looks into other processes", PROCESSES),
    thief("traces other processes", TRACES),
    thief("looks for secrets in the environment", ENVIRONMENT),
    thief("searches every object", OBJECTS),
    thief("searches its whole memory", MEMORY),
    thief("looks into its callers' frames", FRAMES),
    thief("looks through inherited descriptors", DESCRIPTORS),
    thief("asks the kernel for more", KERNEL),
    thief("runs commands through IPython", IPYTHON),
]
