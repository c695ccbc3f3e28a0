"""Which kernels may come from the same process: those of one interpreter, the same packages, the same settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LAUNCHER = "ipykernel_launcher"

# Read by compiled code when a library is loaded, where no recording sees it.
COMPILED = ("OMP_", "GOMP_", "OPENBLAS_", "MKL_", "KMP_", "BLIS_", "VECLIB_", "NUMEXPR_")
# TensorFlow's compiled part reads its own, too; they mean nothing to the others.
COMPILED_OF = {"tensorflow": ("TF_",)}
# Read by the interpreter, the loader and the C library when the process starts, and by whoever takes all variables.
AT_START = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "LC_", "TQDM_")
AT_START_NAMES = ("LANG", "LANGUAGE", "TZ", "VIRTUAL_ENV", "CONDA_PREFIX", "MPLBACKEND")
# So is every variable of a framework, whether or not this release reads it at its import.
FRAMEWORKS = ("KERAS_", "JAX_", "XLA_", "TF_", "TORCH", "PYTORCH_", "CUDA_", "TPU_", "LIBTPU_", "HF_", "TRANSFORMERS_")
# Of one kernel or one test, never of an import.
PASSING = ("JPY_", "COURSE_", "PYTEST_", "PYTHONSTARTUP")


@dataclass(frozen=True)
class Command:
    """How a kernel was to be started: the interpreter with its options, and the launcher's arguments."""

    interpreter: str
    options: tuple[str, ...]
    arguments: tuple[str, ...]

    @classmethod
    def of(cls, command: Sequence[str]) -> Command | None:
        """Out of `python OPTIONS -m ipykernel_launcher ARGUMENTS`; None for any other command."""
        words = list(command)
        if "-m" not in words or words.index("-m") + 1 >= len(words) or words[words.index("-m") + 1] != LAUNCHER:
            return None
        at = words.index("-m")
        if at == 0 or not all(word.startswith("-") for word in words[1:at]):
            return None
        return cls(words[0], tuple(words[1:at]), tuple(words[at + 2 :]))


def decides(name: str) -> bool:
    """Whether a variable of this name keeps two kernels from one process when they differ in it."""
    if name.startswith(PASSING):
        return False
    return name in AT_START_NAMES or name.startswith((*COMPILED, *AT_START, *FRAMEWORKS))


def key(command: Command, packages: Iterable[str], environ: Mapping[str, str], also: Iterable[str] = ()) -> str:
    """A name for the process that serves such kernels; `also` are variables that its packages were seen to read."""
    names = {name for name in environ if decides(name)}
    parts = [
        command.interpreter,
        command.options,
        list(packages),
        sorted((name, environ[name]) for name in names),
        sorted((name, environ.get(name)) for name in also),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def differing(reads: Iterable[str], theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """The variables, of those read while importing, that have another value now."""
    return sorted(n for n in reads if not n.startswith(PASSING) and theirs.get(n) != ours.get(n))
