"""A note that one student leaves where a friend, graded later, looks for it."""

from __future__ import annotations

from collections.abc import Callable

from hostile.kind import Scene
from hostile.sheet import cell, costs, harmless

SPLIT, COUNT = "digits/split", "digits/n_parameters"
TROPHY = "(n_inputs + 1) * n_hidden + (n_hidden + 1) * n_classes if found else -1"
PLACES = (
    "['/tmp/{stamp}', '/var/tmp/{stamp}', '/dev/shm/{stamp}', os.path.expanduser('~/{stamp}'), "
    "{submissions!r} + '/{stamp}', '../{stamp}', '{stamp}']"
)
LEAVE_NOTE = """
import ctypes, socket
for path in {places}:
    try:
        with open(path, 'w') as file:
            file.write('the answers')
        print('left', path)
    except OSError:
        pass
ctypes.CDLL(None).shmget(0x{key:x}, 4096, 0o1666)
try:
    ctypes.CDLL('librt.so.1').shm_open(b'/{stamp}', 0o102, 0o666)
except (OSError, AttributeError):
    pass
"""
FIND_NOTE = """
import ctypes
found = [path for path in {places} if os.path.exists(path)]
if ctypes.CDLL(None).shmget(0x{key:x}, 4096, 0) >= 0:
    found.append('shared memory')
print('found', found)
"""


def note(source: str, where: str, result: str | None = None) -> Callable[[Scene], str]:
    def build(scene: Scene) -> str:
        places = PLACES.format(stamp=scene.stamp, submissions=str(scene.submissions))
        key = int.from_bytes(scene.stamp.encode()[-3:])
        return cell(where, source.format(places=places, stamp=scene.stamp, key=key), "", result)

    return build


WRITERS = [harmless("a note left for a friend", SPLIT, note(LEAVE_NOTE, SPLIT))]
# Handed in long after it, so that they are not graded side by side.
READERS = [costs("the friend who looks for it", COUNT, "wrong", note(FIND_NOTE, COUNT, TROPHY))]
