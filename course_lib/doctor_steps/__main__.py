"""The child's side of `course doctor`: prints one JSON line after the import and one after the step.

Each line begins with a mark of its own, because a framework may print what it likes between them.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

from course_lib.doctor_steps import start

MARK = "course-doctor:"


def say(**values: Any) -> None:
    """Print one line for the parent."""
    print(MARK + json.dumps(values), flush=True)


def main(track: str) -> None:
    """Import the track's step, take it twice from the same start, and report the first result."""
    clock = time.perf_counter()
    module = importlib.import_module(f"course_lib.doctor_steps.{track}")
    say(import_seconds=time.perf_counter() - clock)
    begin = start()
    seconds = []
    for _ in range(2):
        clock = time.perf_counter()
        result = module.step(begin)
        seconds.append(time.perf_counter() - clock)
    import psutil

    say(
        loss=result.loss,
        weight=result.weight.tolist(),
        bias=result.bias.tolist(),
        device=result.device,
        first_step_seconds=seconds[0],
        step_seconds=seconds[1],
        threads=psutil.Process().num_threads(),
    )


if __name__ == "__main__":
    main(sys.argv[1])
