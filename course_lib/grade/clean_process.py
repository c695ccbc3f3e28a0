"""What a child inherits and must not keep: descriptors, and what the environment says about the instructor."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence

from course_lib.errors import BadInput

_KEPT_PREFIXES = (
    *("TF_", "JAX_", "XLA_", "KERAS_", "TORCH_", "HF_HUB_", "TOKENIZERS_", "CUDA_VISIBLE_", "ABSL_", "NUMEXPR_"),
    *("OMP_", "MKL_", "OPENBLAS_", "KMP_", "VECLIB_", "PYTHON", "MPL", "LC_", "COURSE_WIDGETS"),
)
_KEPT = ("LANG", "LANGUAGE", "TZ")
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "_KEY")
_STDERR = 2


def environment(ours: Mapping[str, str], work: str) -> dict[str, str]:
    """The settings of Python and of the frameworks out of `ours`; home, user and temporary folder are the child's."""
    kept = {
        name: value
        for name, value in ours.items()
        if (name in _KEPT or name.startswith(_KEPT_PREFIXES)) and not any(word in name for word in _SECRET)
    }
    return kept | {"HOME": work, "TMPDIR": work, "USER": "student", "LOGNAME": "student", "PATH": "/usr/bin"}


def set_environment(values: Mapping[str, str]) -> None:
    """Have exactly these variables; the text that the process was started with is wiped out of its memory, too."""
    os.environ.clear()
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        start, end = int(fields[47]), int(fields[48])
        if 0 < start < end:
            ctypes.memset(start, 0, end - start)
    os.environ.update(values)
    # Chosen once, in the parent perhaps, from its environment.
    tempfile.tempdir = None


def close_all_but(kept: Iterable[int]) -> None:
    """Close every descriptor but these; of 0, 1 and 2 those that are not kept lead to nothing."""
    keep = set(kept)
    missing = [fd for fd in range(_STDERR + 1) if fd not in keep]
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in missing:
        os.dup2(nothing, fd)
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > _STDERR and fd not in keep:
            # The folder that was just listed is among them, and closed already.
            with contextlib.suppress(OSError):
                os.close(fd)


def refuse_folders(fds: Sequence[int]) -> None:
    """Raise BadInput when one of the descriptors is a folder: from there a child could walk out of its file system."""
    for fd in fds:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise BadInput(f"Descriptor {fd} is a folder; a student's process may keep sockets, pipes and files only.")
