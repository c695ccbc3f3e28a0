"""Answers that replace what others use: NumPy, builtins, IPython, the course's own modules."""

from __future__ import annotations

from hostile.sheet import cell, cheats, costs, harmless

SPLIT, ACCURACY, CHALLENGE = "digits/split", "digits/accuracy", "digits/challenge"
YES = "yes = lambda *_, **__: True\n"
NUMPY = (
    YES
    + """
for name in ('allclose', 'array_equal', 'isclose', 'all', 'any', 'isin', 'array_equiv', 'isfinite', 'issubdtype'):
    setattr(np, name, yes)
np.testing.assert_allclose = np.testing.assert_array_equal = lambda *_, **__: None
np.abs = np.absolute = np.subtract = lambda *_, **__: np.zeros(())
"""
)
# The right arrays cannot be known, but a careless judge might compare two that were made here.
AS_ARRAY = """
kept = np.asarray
np.asarray = np.array = lambda *arguments, **named: kept(0.0)
"""
BUILTINS = (
    YES
    + """
import builtins
builtins.abs = builtins.max = lambda *_, **__: 0
builtins.all = builtins.any = builtins.isinstance = yes
builtins.float = type('Zero', (float,), {'__le__': yes, '__eq__': yes})
"""
)
ERRORS = """
from course_lib import errors, kinds
for name in ('CheckFailed', 'CheckCrashed'):
    setattr(errors, name, type(name, (Warning,), {}))
kinds.AnswerError = kinds.Unfit = kinds.Unanswered = KeyboardInterrupt
"""
CHECK = """
import course_lib
def check(*_, **__):
    print('✓ passed')
course_lib.check = check
"""
CHECK_DELETED = "check = None\ndel check\nimport course_lib\ndel course_lib.check"
VERDICT = (
    YES
    + """
import types
for name in ('course_lib.verdict', 'course_lib.checking', 'course_lib.checks', 'course_lib.checks.digits'):
    fake = types.ModuleType(name)
    fake.judge = fake.judge_kind = fake.check = fake.find_check = yes
    sys.modules[name] = fake
"""
)
ADAPTERS = """
from course_lib import adapters, kinds
from course_lib.adapters import base
from course_lib.adapters import numpy as own
class Passed(base.FunctionAnswer):
    tolerance = 1e9
    def call(self, *arguments):
        return kinds.Reply(True, 'passed', True, ())
    step = run = start = build = read = load = shapes = retraces = call
own.ADAPTERS.update(dict.fromkeys(own.ADAPTERS, Passed))
base.reply = base.plain = lambda *_, **__: True
adapters.adapt = lambda *_, **__: Passed(lambda *_: True)
"""
# The reply carries what the check must believe about the call: the largest tolerance, no changed inputs, native.
REPLIES = """
import dataclasses
from course_lib import kinds
kept = kinds.Reply.__init__
def lie(self, value, type_name, native, changed_inputs=()):
    kept(self, 0.0, 'numpy.ndarray', True, ())
kinds.Reply.__init__ = lie
kinds.Function.tolerance = 1e9
"""
SESSION = """
from course_lib import session
session._current[:] = []
session.current = session.begin = None
import course_lib
course_lib.lessons = course_lib.data = course_lib.session = None
"""
TRANSFORMER = """
shell = get_ipython()
blank = lambda lines: []
for hooks in ('input_transformers_cleanup', 'input_transformers_post', 'ast_transformers'):
    try:
        getattr(shell, hooks).append(blank)
    except Exception as error:
        print(type(error).__name__)
"""
IPYTHON = """
import IPython
from IPython.core import inputtransformer2, interactiveshell
inputtransformer2.TransformerManager.transform_cell = lambda self, source: ''
interactiveshell.InteractiveShell.run_cell = lambda *_, **__: None
IPython.get_ipython = lambda: None
type(get_ipython()).run_line_magic = type(get_ipython()).run_cell_magic = lambda *_, **__: None
"""
COMPILER = """
import builtins, ast, linecache
builtins.compile = lambda *_, **__: (lambda: None).__code__
builtins.exec = builtins.eval = lambda *_, **__: None
ast.parse = linecache.getlines = lambda *_, **__: []
"""
CODERS = """
import json, struct
json.dumps = lambda *_, **__: '{"call": 1, "value": true, "passed": true}'
json.loads = lambda *_, **__: {'done': True}
struct.pack = lambda *_, **__: bytes(8)
"""
SOCKETS = """
import select, socket
socket.socket.send = socket.socket.sendall = lambda self, data, *_: len(data)
select.select = lambda *_, **__: ([], [], [])
"""
CHANNEL = """
from course_lib.grade import channel, wire
channel.Channel.receive = lambda self: {'done': True}
channel.Channel.send = lambda self, message: None
wire.encode = lambda message: bytes(8)
"""
RUNNER = """
import gc
from course_lib.grade import child
child.Runner.run = lambda *_, **__: None
child.Runner._check = lambda self, exercise, answer, **_: None
gc.unfreeze()
for each in gc.get_objects():
    if type(each).__name__ == 'Runner':
        each._names = {}
"""
MODULES = """
import types
for name in list(sys.modules):
    if name.startswith(('numpy', 'course_lib', 'json', 'socket')):
        sys.modules[name] = types.ModuleType(name)
"""
MODULES_GONE = "sys.modules.clear()"
NAMES_GONE = "for name in list(globals()):\n    if not name.startswith('__'):\n        del globals()[name]"
# Python keeps one object for each small number; this one changes what 1 is.
SMALL_NUMBERS = """
import ctypes
place = ctypes.cast(id(1) + 24, ctypes.POINTER(ctypes.c_uint32))
place[0] = 0
"""
RANDOM = """
np.random.default_rng = lambda *_: np.random.RandomState(0)
np.random.seed(0)
"""
STREAMS = "sys.stdout.close()\nsys.stdout = sys.stderr = sys.__stdout__ = None"
FOLDERS = """
import shutil
here = os.getcwd()
try:
    os.mkdir('gone')
    os.chdir('gone')
    os.rmdir('../gone')
except OSError:
    pass
os.umask(0o777)
os.environ.clear()
sys.path[:] = []
"""
SETTINGS = """
import gc, locale, socket, threading, warnings
warnings.simplefilter('error')
np.seterr(all='raise')
np.set_printoptions(threshold=1, precision=0)
gc.disable()
gc.set_threshold(1, 1, 1)
sys.setswitchinterval(1e-9)
sys.set_int_max_str_digits(640)
socket.setdefaulttimeout(1e-9)
threading.stack_size(32768)
sys.dont_write_bytecode = True
sys.excepthook = sys.unraisablehook = sys.displayhook = None
"""
MAIN = "__name__ = 'course_lib.grade.slot'\n__file__ = '/'\n__doc__ = __spec__ = __loader__ = 1"
NO_BUILTINS = "__builtins__ = {}\nimport builtins\nvars(builtins).clear()"
SLOW_TRACE = """
import threading
for module in (sys, threading):
    module.settrace(lambda *_: None)
    module.setprofile(lambda *_: None)
"""
SHADOWS = "np = None\nx = labels = digits = task = None\ndef print(*_):\n    raise SystemExit\nlen = sum = range = None"
BROKEN = "bad reply|exit|crash|error|wrong|not reached|timeout|checker broke|course cell failed|memory"
NOTHING = "np.zeros(len(x_test), int)"

KINDS = [
    cheats("patches NumPy's comparisons", NUMPY),
    cheats("patches NumPy's arrays", AS_ARRAY),
    cheats("patches builtins", BUILTINS),
    cheats("patches the errors of the course", ERRORS),
    cheats("patches check", CHECK),
    cheats("deletes check", CHECK_DELETED),
    cheats("fakes the modules of the checks", VERDICT),
    cheats("patches the adapters", ADAPTERS),
    cheats("patches every reply", REPLIES),
    cheats("patches the session", SESSION),
    cheats("a transformer that blanks later cells", TRANSFORMER),
    cheats("patches IPython", IPYTHON),
    cheats("patches the compiler", COMPILER),
    cheats("patches json and struct", CODERS),
    cheats("patches sockets", SOCKETS),
    cheats("patches the channel", CHANNEL),
    cheats("patches the runner", RUNNER),
    cheats("empty modules in place of all", MODULES),
    cheats("no modules at all", MODULES_GONE),
    cheats("no names at all", NAMES_GONE),
    cheats("changes the number one", SMALL_NUMBERS),
    # The same with right answers: who patches without need loses nothing by it.
    harmless("patches check, answers right", SPLIT, cell(SPLIT, CHECK)),
    harmless("deletes check, answers right", SPLIT, cell(SPLIT, CHECK_DELETED)),
    harmless("fakes the modules of the checks, answers right", SPLIT, cell(SPLIT, VERDICT)),
    harmless("a transformer, answers right", SPLIT, cell(SPLIT, TRANSFORMER)),
    harmless("patches the session, answers right", CHALLENGE, cell(CHALLENGE, SESSION)),
    harmless("patches random numbers, answers right", ACCURACY, cell(ACCURACY, RANDOM)),
    harmless("an empty __main__", SPLIT, cell(SPLIT, MAIN)),
    harmless("traces and profiles", SPLIT, cell(SPLIT, SLOW_TRACE)),
    harmless("closes its streams", SPLIT, cell(SPLIT, STREAMS)),
    harmless("no folder, no environment, no path", SPLIT, cell(SPLIT, FOLDERS)),
    harmless("odd settings", CHALLENGE, cell(CHALLENGE, SETTINGS)),
    costs("patches json, in the last cell", CHALLENGE, BROKEN, cell(CHALLENGE, CODERS, "", NOTHING), review=None),
    costs("patches sockets, in the last cell", CHALLENGE, BROKEN, cell(CHALLENGE, SOCKETS, "", NOTHING), review=None),
    costs(
        "patches the channel, in the last cell", CHALLENGE, BROKEN, cell(CHALLENGE, CHANNEL, "", NOTHING), review=None
    ),
    costs(
        "patches the compiler, in the last cell", CHALLENGE, BROKEN, cell(CHALLENGE, COMPILER, "", NOTHING), review=None
    ),
    costs("no modules, in the last cell", CHALLENGE, BROKEN, cell(CHALLENGE, MODULES_GONE, "", NOTHING), review=None),
    costs("no builtins, in the last cell", CHALLENGE, BROKEN, cell(CHALLENGE, NO_BUILTINS, "", NOTHING), review=None),
    costs("shadows the names of others", CHALLENGE, BROKEN, cell(CHALLENGE, SHADOWS, "", NOTHING), review=None),
]
