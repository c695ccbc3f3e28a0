"""Seconds that each solution notebook takes from kernel start to last cell, one after the other, in fresh kernels.

`python tests/benchmarks/notebook_seconds.py`; the aim is 20 s on average and 60 s at most on two cores.
"""

import json
import time
from pathlib import Path

from course_lib.build.execute import execute
from course_lib.lessons import lessons

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    seconds = []
    for lesson in lessons():
        for track in lesson.notebooks:
            path = ROOT / "solutions" / lesson.notebook(track)
            start = time.perf_counter()
            execute(json.loads(path.read_text(encoding="utf-8")), path.name)
            seconds.append(time.perf_counter() - start)
            print(f"{seconds[-1]:6.1f} s  {lesson.notebook(track)}", flush=True)
    print(f"{sum(seconds) / len(seconds):6.1f} s on average, {max(seconds):.1f} s at most, {len(seconds)} notebooks")


if __name__ == "__main__":
    main()
