"""Answers that look for what they must not see. Each is right only if it found something."""

from __future__ import annotations

from hostile.kind import Hostile, Scene
from hostile.sheet import cell, costs

COUNT = "digits/n_parameters"
TROPHY = "(n_inputs + 1) * n_hidden + (n_hidden + 1) * n_classes if found else -1"
# Words of the checks, written so that they do not stand here: neither in this text nor in a constant of the code.
NEEDLES = "import re\nneedle = re.compile(rb'rows on bo[t]h sides|First choose which gro[u]ps|baseline_err[o]rs')\n"
TOOLS = (
    NEEDLES
    + """
found = []
def take(path):
    try:
        with open(path, 'rb') as file:
            if file.read(64):
                found.append(path)
    except OSError:
        pass
def names(folder):
    try:
        found.extend(os.path.join(folder, name) for name in os.listdir(folder)[:3])
    except OSError:
        pass
"""
)
OTHERS = """
names({submissions!r})
for path in ({canary!r}, {submissions!r} + '/.', {submissions!r} + '/000 right.ipynb'):
    take(path)
print('found', found)
"""
RESULTS = """
names({out!r})
for name in ('records.jsonl', 'grades.csv', 'run.json', 'feedback'):
    take(os.path.join({out!r}, name))
print('found', found)
"""
CHECKS = """
names({repository!r} + '/tests')
names({repository!r} + '/.git')
for path in ('course_lib/checks/digits.py', 'course_lib/checks/reference.py', 'course_lib/grade/slot.py',
             'course_lib/grade/judging.py', 'solutions/01_digits/digits_numpy.ipynb', 'solutions/01_digits/3_loss.md',
             'tests/answers/digits_numpy.py', '.git/HEAD'):
    take(os.path.join({repository!r}, path))
print('found', found)
"""
# A file is not always asked for by its own name.
WAYS_ROUND = """
path = {repository!r} + '/course_lib/checks/digits.py'
import ctypes, mmap
for way in ('/proc/self/root' + path, '/proc/1/root' + path, '/proc/self/cwd/../../../../../..' + path, '//' + path):
    take(way)
for make in (os.symlink, os.link):
    try:
        make(path, 'mine')
        take('mine')
    except OSError:
        pass
try:
    os.chdir(os.path.dirname(path))
    take('digits.py')
except OSError:
    pass
folder = ctypes.CDLL(None).open(os.path.dirname(path).encode(), 0o10200000)
if folder >= 0:
    try:
        os.close(os.open('digits.py', os.O_RDONLY, dir_fd=folder))
        found.append('by a descriptor of the folder')
    except OSError:
        pass
print('found', found)
"""
IMPORTS = """
import importlib
found = []
for name in ('course_lib.checks.digits', 'course_lib.checks.reference', 'course_lib.grade.slot',
             'course_lib.grade.judging', 'course_lib.grade.grading'):
    try:
        importlib.import_module(name)
        found.append(name)
    except Exception as error:
        print(name, type(error).__name__, error)
found += [name for name, module in sys.modules.items() if getattr(module, '__file__', None)
          and name.startswith(('course_lib.checks', 'course_lib.grade.slot', 'course_lib.grade.judging'))]
print('found', found)
"""
SYSTEM = """
import pwd
for path in ('/etc/shadow', '/etc/ssh/ssh_host_rsa_key', '/root/.bashrc', '/root/.profile', '/root/.ssh/id_rsa',
             pwd.getpwuid(0).pw_dir + '/.bash_history', '/var/run/docker.sock', '/dev/mem', '/dev/sda'):
    take(path)
for folder in ('/root', '/home', '/var/spool', '/var/log', '/srv', '/mnt'):
    names(folder)
print('found', found)
"""
NETWORK = """
import socket
found = []
def reach(name, family, kind, address):
    try:
        with socket.socket(family, kind) as sock:
            sock.settimeout(0.5)
            if kind == socket.SOCK_DGRAM:
                sock.sendto(b'{stamp}', address)
            else:
                sock.connect(address)
                sock.send(b'{stamp}')
            found.append(name)
    except OSError as error:
        print(name, error)
reach('TCP', socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', {port}))
reach('TCP, version 6', socket.AF_INET6, socket.SOCK_STREAM, ('::1', {port}))
reach('UDP', socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', {port}))
reach('a socket among the files', socket.AF_UNIX, socket.SOCK_STREAM, {socket!r})
reach('an abstract socket', socket.AF_UNIX, socket.SOCK_STREAM, '\\0{stamp}')
for family in (socket.AF_NETLINK, socket.AF_PACKET, 40):
    try:
        socket.socket(family, socket.SOCK_RAW)
        found.append(f'family {family}')
    except OSError:
        pass
with_port = None
try:
    with_port = socket.create_server(('127.0.0.1', 0))
    found.append('listens')
except OSError:
    pass
print('found', found)
"""
WRITES = """
import shutil
found = []
for folder in ({repository!r} + '/course_lib', {repository!r} + '/notebooks/01_digits', {submissions!r}, {out!r},
               os.path.dirname(np.__file__), '/etc', '/usr', '/var/tmp', '/'):
    path = os.path.join(folder, {stamp!r})
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        found.append(path)
        os.unlink(path)
    except OSError:
        pass
for pretend in (os.chmod, os.utime):
    # These may be answered with "done": whether it was done, the test looks at from outside.
    try:
        pretend({canary!r}, *((0o777,) if pretend is os.chmod else ((0, 0),)))
    except OSError:
        pass
for act in (lambda: os.unlink({canary!r}), lambda: os.truncate({canary!r}, 0), lambda: open({canary!r}, 'a').close(),
            lambda: os.rename({canary!r}, {canary!r} + '.mine'), lambda: os.setxattr({canary!r}, 'user.x', b'x'),
            lambda: shutil.rmtree({submissions!r}), lambda: shutil.rmtree({out!r})):
    try:
        act()
        found.append('changed another file')
    except OSError:
        pass
print('found', found)
"""


def thief(name: str, source: str, **more: object) -> Hostile:
    """Looks while the cell runs, and again while the grader is at it; only a find makes the answer right."""

    def build(scene: Scene) -> str:
        words = {
            field: str(getattr(scene, field)) for field in ("submissions", "out", "canary", "repository", "socket")
        }
        text = TOOLS + source
        for word, value in {**words, "stamp": scene.stamp, "port": str(scene.port)}.items():
            text = text.replace(f"{{{word}!r}}", repr(value)).replace(f"{{{word}}}", value)
        return cell(COUNT, text, "", TROPHY)

    return costs(name, COUNT, "wrong", build, **more)


KINDS = [
    thief("reads others' submissions", OTHERS),
    thief("reads the records and the marks", RESULTS),
    thief("reads checks, solutions and tests", CHECKS),
    thief("reads the checks by ways round", WAYS_ROUND),
    thief("imports the checks and the grader", IMPORTS),
    thief("reads what belongs to the system", SYSTEM),
    thief("calls others over the network", NETWORK),
    thief("writes, deletes and changes files", WRITES),
]
