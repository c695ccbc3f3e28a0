"""Messages to the grader that are none of its child's: forged verdicts, replies in advance, frames that lie."""

from __future__ import annotations

from hostile.kind import Hostile
from hostile.sheet import cell, costs, harmless

ACCURACY, COUNT, SPLIT, CHALLENGE = "digits/accuracy", "digits/n_parameters", "digits/split", "digits/challenge"
# What becomes of a process that does not keep to the protocol: its exercise is lost, and somebody looks.
LOST = "bad reply|wrong|exit|crash|error|timeout"
TOOLS = """
import io, json, socket, struct, time
def frame(text, blob=b''):
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return struct.pack('!II', len(text), len(blob)) + text + blob
def npy(shape, descr='<f8', data=b'', fortran=False):
    header = repr({'descr': descr, 'fortran_order': fortran, 'shape': shape}).encode() + b'\\n'
    return b'\\x93NUMPY\\x01\\x00' + len(header).to_bytes(2, 'little') + header + data
def descriptors():
    # Every number that may be a descriptor, and those that /proc knows.
    numbers = set(range(3, 1024))
    try:
        numbers |= set(map(int, os.listdir('/proc/self/fd'))) - {0, 1, 2}
    except OSError:
        pass
    return sorted(numbers)
def everywhere(data):
    for fd in descriptors():
        left, end = memoryview(data), time.monotonic() + 3.0
        while left and time.monotonic() < end:
            try:
                left = left[os.write(fd, left):]
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                break
def reply(held, blob=b'', call=None):
    inside = {'reply': [held, 'float', True, {'tuple': []}]}
    data = frame({'call': call_number() if call is None else call, 'value': inside}, blob)
    everywhere(data)
def call_number():
    # The number of the call that this function answers stands in a frame of the runner.
    here = sys._getframe()
    while here is not None:
        message = here.f_locals.get('message')
        if isinstance(message, dict) and 'call' in message:
            return message['call']
        here = here.f_back
    return 1
"""
VERDICTS = """
for message in (
    {'verdict': 'passed'}, {'passed': True, 'mark': 100.0}, {'exercise': 'digits/split', 'passed': True, 'mark': 1.0},
    {'results': {'digits/split': 'passed'}}, {'reached': 'digits/split', 'passed': True}, {'done': True}, {'end': True},
    {'result': {'exercises': [{'exercise': 'digits/split', 'state': 'passed', 'mark': 1.0}]}}, {'ended': {'status': 0}},
):
    everywhere(frame(message))
    everywhere(json.dumps(message).encode() + b'\\n')
"""
END_EARLY = "everywhere(frame({'end': True}))"
ADVANCE = (
    "everywhere(b''.join(frame({'call': n, 'value': {'reply': [7, 'int', True, {'tuple': []}]}}) for n in range(40)))"
)
OTHERS_REACHED = """
for exercise in ('digits/challenge', 'digits/step', 'digits/nothing', '../../records', '', 'x' * 10**6):
    everywhere(frame({'reached': exercise}))
"""
BLAMES_COURSE = """
for number in range(40):
    everywhere(frame({'failed': number, 'text': 'the course itself is broken', 'line': 'check()'}))
"""
FAILURES = """
data = b''.join(frame({'failed': number, 'text': 'x' * 400, 'line': ''}) for number in range(64))
end = time.monotonic() + 1.0
while time.monotonic() < end:
    everywhere(data)
"""
ODD = """
for message in ({'cell': 10**400}, {'cell': None}, {'cell': {'dict': []}}, {'failed': -1}, {'reached': {'list': []}}):
    everywhere(frame(message))
"""
TWICE = """
def twice(make):
    def send(self, data, *rest):
        make(self, bytes(data))
        return make(self, data, *rest)
    return send
socket.socket.send = twice(socket.socket.send)
"""
# A burden on whoever reads it, made once and sent along with each right reply.
JUNK = """
from course_lib.grade import wire
def npy():
    file = io.BytesIO()
    np.save(file, np.float64(0.5))
    return file.getvalue()
one = npy()
junk = b', "junk": {"list": [' + b','.join([b'{"scalar": [0, %d]}' % len(one)] * 190_000) + b']}}'
def burdened(message, make=wire.encode):
    data = make(message)
    n_text, n_blob = struct.unpack('!II', data[:8])
    text, blob = data[8:8 + n_text], data[8 + n_text:]
    if b'"value"' not in text or n_blob:
        return data
    return struct.pack('!II', n_text - 1 + len(junk), len(one)) + text[:-1] + junk + one
from course_lib.grade import channel
channel.encode = burdened
"""
PASS_DESCRIPTORS = """
import array
for fd in descriptors():
    try:
        sock = socket.socket(fileno=os.dup(fd))
        sock.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0, 1, 2]))])
    except OSError:
        pass
"""
SHUT = """
for fd in descriptors():
    try:
        socket.socket(fileno=os.dup(fd)).shutdown(socket.{})
        print('shut', fd)
    except OSError as error:
        if error.errno != 9:
            print(fd, error)
"""
PICKLED = """
import pickle
class Run:
    def __reduce__(self):
        return os.system, ('touch ' + {canary!r} + '.pwned',)
data = npy((1,), '|O', pickle.dumps(Run()))
reply({{'array': [0, len(data)]}}, data)
"""

DROPS = """
for byte in frame({'call': call_number(), 'text': 'x' * 500}):
    everywhere(bytes([byte]))
    time.sleep(0.1)
"""

NOTHING = "np.zeros(len(x_test), int)"
BROKEN_ADAPTER = "an error of the checker's"

# name, what the function sends while the grader waits for its answer
FRAMES = [
    ("a huge length", "everywhere(b'\\xff' * 8)"),
    ("a large length and silence", "everywhere(struct.pack('!II', 4 << 20, 64 << 20))\ntime.sleep(60)"),
    ("half a frame and silence", "everywhere(frame({'call': 1})[:-3])\ntime.sleep(60)"),
    ("half a frame and the end", "everywhere(frame({'call': 1})[:-3])\nos._exit(0)"),
    ("a frame in drops", DROPS),
    ("noise", "everywhere(os.urandom(1 << 16))"),
    ("zeros", "everywhere(bytes(1 << 16))"),
    ("text for a browser", "everywhere(b'GET / HTTP/1.1\\r\\n\\r\\n')"),
    ("JSON that is no object", "everywhere(frame([1, 2, 3]))"),
    ("JSON nested a million deep", "everywhere(frame(b'[' * 10**6 + b']' * 10**6))"),
    ("JSON of 4 MB of numbers", "everywhere(frame(b'{\"call\": [' + b'1,' * 2_000_000 + b'1]}'))"),
    ("a number of a million digits", "everywhere(frame(b'{\"call\": ' + b'9' * 10**6 + b'}'))"),
    ("a value of an unknown kind", "reply({'pickle': 'gASVAAAA'})"),
    ("a value of two kinds", "reply({'array': [0, 0], 'tuple': []})"),
    ("a reply in a reply", "reply({'reply': [{'reply': [1, 'x', True, {'tuple': []}]}, 'x', True, {'tuple': []}]})"),
    (
        "changed inputs beyond all",
        "everywhere(frame({'call': call_number(), 'value': {'reply': [1.0, 'x', True, {'tuple': [10**9]}]}}))",
    ),
    ("an array of 10^12 elements", "data = npy((10**12,))\nreply({'array': [0, len(data)]}, data)"),
    ("an empty array with a huge side", "data = npy((0, 10**30))\nreply({'array': [0, len(data)]}, data)"),
    ("an empty array beyond all memory", "data = npy((0, 2**62, 2**62))\nreply({'array': [0, len(data)]}, data)"),
    ("a side that is a truth value", "data = npy((True,), data=bytes(8))\nreply({'array': [0, len(data)]}, data)"),
    ("a side below zero", "data = npy((-1,), data=bytes(8))\nreply({'array': [0, len(data)]}, data)"),
    ("an array beyond the bytes", "reply({'array': [10**9, 10**9]}, bytes(8))"),
    (
        "an array in Fortran's order",
        "data = npy((2, 3), data=bytes(48), fortran=True)\nreply({'array': [0, len(data)]}, data)",
    ),
    (
        "an array of a structured dtype",
        "data = npy((1,), [('a', '<f8')], bytes(8))\nreply({'array': [0, len(data)]}, data)",
    ),
    (
        "a dtype that is code",
        "data = npy((1,), '__import__(\"os\").abort()', bytes(8))\nreply({'array': [0, len(data)]}, data)",
    ),
    (
        "a header of 65,535 parentheses",
        "data = b'\\x93NUMPY\\x01\\x00\\xff\\xff' + b'(' * 65535\nreply({'array': [0, len(data)]}, data)",
    ),
    (
        "one array a thousand times",
        "data = npy((1 << 20,), data=bytes(8 << 20))\nreply({'tuple': [{'array': [0, len(data)]}] * 1000}, data)",
    ),
    (
        "half characters",
        'everywhere(frame(b\'{"call": 1, "raised": "answer", "text": "\\\\ud800", "doing": "\\\\udfff"}\'))',
    ),
    ("an error of no known kind", "everywhere(frame({'call': call_number(), 'raised': 'passed', 'text': 'passed'}))"),
    (
        BROKEN_ADAPTER,
        "everywhere(frame({'call': call_number(), 'raised': 'other', 'text': 'the checker broke'}))",
    ),
    ("an error of 4 MB", "everywhere(frame({'call': call_number(), 'raised': 'answer', 'text': 'x' * 4_000_000}))"),
]


def forged(name: str, source: str) -> Hostile:
    """Sent from inside the last exercise, so that what follows in the same process is not mixed up with it."""
    # Whether an adapter really broke cannot be told from outside: then nothing is counted, and somebody looks.
    reasons = f"{LOST}|checker broke" if name == BROKEN_ADAPTER else LOST
    return costs(f"sends {name}", CHALLENGE, reasons, cell(CHALLENGE, TOOLS, source, NOTHING))


def in_cell(name: str, source: str) -> Hostile:
    """Sent while the last answer cell runs, when the grader has asked nothing."""
    text = cell(CHALLENGE, TOOLS + source, "", NOTHING)
    return costs(f"sends {name}", CHALLENGE, f"{LOST}|not reached", text, review=None)


KINDS = [
    *(forged(*each) for each in FRAMES),
    in_cell("verdicts in its cell", VERDICTS),
    forged("verdicts in its function", VERDICTS),
    in_cell("an early end", END_EARLY),
    in_cell("replies in advance", ADVANCE),
    in_cell("word that others are reached", OTHERS_REACHED),
    in_cell("word that the course failed", BLAMES_COURSE),
    in_cell("word of a million failures", FAILURES),
    in_cell("numbers of cells that there are not", ODD),
    in_cell("every message twice", TWICE),
    in_cell("descriptors", PASS_DESCRIPTORS),
    costs("sends a burden with each right reply", COUNT, LOST, cell(COUNT, TOOLS + JUNK, "", "7")),
    in_cell("the end of its reading side", SHUT.format("SHUT_RD")),
    in_cell("the end of its writing side", SHUT.format("SHUT_WR")),
    in_cell("the end of both sides", SHUT.format("SHUT_RDWR")),
    costs(
        "sends a pickle that runs a command",
        CHALLENGE,
        LOST,
        lambda scene: cell(CHALLENGE, TOOLS, PICKLED.format(canary=str(scene.canary)), NOTHING),
    ),
    costs("sends replies in advance for a number", COUNT, LOST, cell(COUNT, "", TOOLS + "reply(7)", "7")),
    harmless(
        "writes to descriptors that are not there",
        SPLIT,
        cell(
            SPLIT,
            "for fd in range(200, 1024):\n    try:\n        os.write(fd, b'x')\n    except OSError:\n        pass",
        ),
    ),
]
