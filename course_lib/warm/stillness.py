"""Whether a process may be forked, and how its memory stays shared with what is forked from it."""

from __future__ import annotations

import gc
import os
import warnings


def freeze() -> None:
    """Collect once, then never again: a collection writes to every object, and what is written is no longer shared."""
    gc.collect()
    gc.freeze()
    gc.disable()


def n_threads() -> int:
    """How many threads the operating system sees in this process (Linux)."""
    return len(os.listdir("/proc/self/task"))


def threads_after_a_fork() -> int:
    """How many threads this process has once it has forked; more than one would not survive in a child.

    Libraries that expect forks, as OpenBLAS, end their idle threads before one and start them again when needed.
    """
    with warnings.catch_warnings():
        # JAX warns of every fork, threads or none.
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return n_threads()
