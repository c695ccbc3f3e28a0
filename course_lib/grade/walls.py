"""What a student's process may see and use: the folders that are open to it, those that are sealed, and its limits."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_lib.frameworks import environment
from course_lib.grade.pool import ONE_THREAD
from course_lib.shipped import shipped

PACKAGE = Path(__file__).resolve().parent.parent
# In the installed package and in a clone: what a learner's process never needs.
SEALED = ("checks", "grade", "_shipped")
MAX_OUTPUT_BYTES = 20_000
LIMITS: dict[str, int] = {
    "cpu_seconds": 600,
    "memory_bytes": 2 << 30,
    "n_processes": 64,
    "file_bytes": 64 << 20,
    "n_open_files": 256,
}
# A student's process can read the environment with which its parent was started: what is not in it cannot be read.
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
ALWAYS = {
    **ONE_THREAD,
    "JAX_PLATFORMS": "cpu",
    "CUDA_VISIBLE_DEVICES": "-1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MPLBACKEND": "agg",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "COURSE_WIDGETS": "0",
    # Memory that an array leaves is kept for the next one: the kernel needs milliseconds to give it out afresh.
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}
OF_TRACK = ("KERAS_BACKEND", "TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS")


def parent_environment(track: str, home: Path, compile_cache: Path | None) -> dict[str, str]:
    """The environment of a warm parent: what Python and the track need, and nothing of the instructor's."""
    ours = environment(track)
    values = {name: ours[name] for name in (*KEPT, *OF_TRACK) if name in ours}
    values |= ALWAYS | {"HOME": str(home), "MPLCONFIGDIR": str(home), "KERAS_HOME": str(home)}
    if compile_cache is not None:
        values |= {
            "JAX_COMPILATION_CACHE_DIR": str(compile_cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    return values


def readable() -> list[str]:
    """The folders of Python, of its packages, of the course's library and its data sets."""
    paths = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        paths.append(site.getusersitepackages())
    paths += [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    paths += [str(PACKAGE), str(shipped("datasets"))]
    return sorted({os.path.realpath(path) for path in paths if os.path.isdir(path)})


def sealed(more: Sequence[Path]) -> list[str]:
    """What stays closed although it may lie in an open folder; `more` are the submissions, the checks, the output."""
    inside = [PACKAGE / name for name in SEALED]
    inside += [shipped("solutions"), shipped("notebooks"), *more]
    data = shipped("datasets").resolve()
    # In a wheel the data sets lie in `_shipped`, beside what is sealed there.
    listed = {path.resolve() for path in inside if path.exists() and path.resolve() not in data.parents}
    return sorted(map(str, listed))


def parent_settings(more: Sequence[Path], *, unsafe: bool, compile_cache: Path | None) -> dict[str, Any]:
    """What a warm parent is told before it imports."""
    open_folders = readable() + ([str(compile_cache)] if compile_cache is not None else [])
    return {
        "readable": open_folders,
        "sealed": sealed(more),
        "limits": LIMITS,
        "max_output_bytes": MAX_OUTPUT_BYTES,
        "unsafe": unsafe,
    }
