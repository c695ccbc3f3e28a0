"""Seconds and bytes of warm kernels against cold ones, as ratios within one run.

`python tests/benchmarks/warm_kernels.py`: per track the seconds until a kernel is ready and its framework imported, and
the memory of parents and kernels. `--nbval` runs the solution notebooks under nbval, cold and warm; `--flat` starts
fifty kernels from one parent. `--lessons 01_digits`, `--tracks torch,jax`, `--repeats 1` make it small; `--save` keeps
the figures and puts them into docs/warm_kernels.md. Linux only.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from course_lib.build import PAGES
from course_lib.build.readme import with_sections
from course_lib.build.warm_figures import figures_path, table
from course_lib.frameworks import TRACKS, framework, missing_distributions
from course_lib.home import write_json, write_text_atomically
from course_lib.record import machine_description
from course_lib.warm import switch
from warm_kernel import Kernel, kernel, own_folder, parents

N_FLAT = 50
DOCS = "docs/warm_kernels.md"


def seconds_to_import(track: str, *, cold: bool) -> dict[str, float]:
    """From asking for a kernel to its answer, and to the end of the track's imports, in seconds."""
    names = ", ".join(framework(track).imports)
    start = time.perf_counter()
    with kernel(f"01_digits/{track}", cold=cold, settled=False) as running:
        ready = time.perf_counter() - start
        running.client.execute(f"import {names}")
        reply = running.client.get_shell_msg(timeout=300)["content"]
        if reply["status"] != "ok":
            raise RuntimeError(f"{track}: {reply['ename']}: {reply['evalue']}")
        return {"ready": ready, "imported": time.perf_counter() - start}


def measure_track(track: str, repeats: int) -> dict[str, Any]:
    """Warm and cold kernels in turn; the first warm one, whose parent has to import, is told apart."""
    with own_folder() as place:
        first = seconds_to_import(track, cold=False)["imported"]
        warm, cold = [], []
        for _ in range(repeats):
            warm.append(seconds_to_import(track, cold=False))
            cold.append(seconds_to_import(track, cold=True))
        memory = measure_memory(track, place)
    found: dict[str, Any] = {"first_warm_seconds": first, **memory}
    for what in ("ready", "imported"):
        found[f"warm_{what}_seconds"] = statistics.median(each[what] for each in warm)
        found[f"cold_{what}_seconds"] = statistics.median(each[what] for each in cold)
    found["ratio"] = found["cold_imported_seconds"] / found["warm_imported_seconds"]
    return found


def measure_memory(track: str, place: Path) -> dict[str, int]:
    """Bytes of a parent, and of a kernel that has imported: its own, and those it shares with its parent."""
    names = ", ".join(framework(track).imports)
    with kernel(f"01_digits/{track}") as running, kernel(f"01_digits/{track}", cold=True) as ordinary:
        for each in (running, ordinary):
            each.text(f"import {names}", seconds=300)
        own, cold = full(running), full(ordinary)
        parent = parents(place)[0].memory_full_info()
    return {
        "parent_pss_bytes": parent.pss,
        "warm_private_bytes": own.uss,
        "warm_shared_bytes": own.rss - own.uss,
        "cold_private_bytes": cold.uss,
    }


def full(running: Kernel) -> Any:
    return psutil.Process(running.process.pid).memory_full_info()


def measure_flatness() -> dict[str, list[int]]:
    """A parent's resident bytes and descriptors after each of fifty kernels."""
    found: dict[str, list[int]] = {"parent_rss_bytes": [], "parent_descriptors": []}
    with own_folder():
        for _ in range(N_FLAT):
            with kernel("numpy") as running:
                parent = running.parent
            found["parent_rss_bytes"].append(parent.memory_info().rss)
            found["parent_descriptors"].append(parent.num_fds())
    return found


def measure_nbval(lessons: list[str], tracks: list[str], repeats: int) -> dict[str, Any]:
    """Wall seconds of nbval over the solutions, and the seconds of the cells that import, cold and warm."""
    notebooks = [
        str(path.relative_to(ROOT))
        for lesson in lessons
        for path in sorted((ROOT / "solutions" / lesson).glob("*.ipynb"))
        if path.stem.rpartition("_")[2] in tracks
    ]
    found: dict[str, Any] = {"notebooks": len(notebooks), "lessons": lessons, "failed": 0}

    def run(name: str, word: str, *, ours: bool = False) -> None:
        start = time.perf_counter()
        failed, first_cells = run_nbval(notebooks, word, ours=ours)
        found["failed"] += failed
        found.setdefault(f"{name}_seconds", []).append(time.perf_counter() - start)
        found.setdefault(f"{name}_first_cells_seconds", []).append(first_cells)

    for _ in range(repeats):
        run("cold", "0")
        run("warm", "1")
        # Where everything was imported before the run began: what the first cells take besides.
        with own_folder():
            run_nbval(notebooks, "1", ours=True)
            run("imported", "1", ours=True)
    return found


def run_nbval(notebooks: list[str], word: str, *, ours: bool) -> tuple[int, float]:
    """Failures, and the seconds of each notebook's kernel start and first three cells: there the imports are.

    With `ours` kernels come from the processes of this run, which may have imported already; else from new ones.
    """
    environ = {name: value for name, value in os.environ.items() if ours or name not in OURS} | {switch.OFF: word}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--durations=0", "-vv"]
    done = subprocess.run([*command, *notebooks], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    lines = re.findall(r"^([\d.]+)s (setup|call)\s+\S+::Cell (\d+)$", done.stdout, re.MULTILINE)
    failures = re.search(r"(\d+) failed", done.stdout)
    return int(failures[1]) if failures else 0, sum(float(s) for s, _, cell in lines if int(cell) < 3)


OURS = ("COURSE_WARM_FOLDER", "COURSE_WARM_WAIT_SECONDS", "JUPYTER_DEFAULT_PROVISIONER_NAME")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracks", default=",".join(TRACKS))
    parser.add_argument("--lessons", default="01_digits")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--nbval", action="store_true")
    parser.add_argument("--flat", action="store_true")
    parser.add_argument("--save", action="store_true", help="keep the figures, and put them into the docs")
    chosen = parser.parse_args()
    tracks = [track for track in chosen.tracks.split(",") if not missing_distributions(track)]
    os.environ["COURSE_HOME"] = tempfile.mkdtemp(prefix="course-home-")
    if reason := switch.turn_on(os.environ, batch=True):
        raise SystemExit(reason)
    figures: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine_description(),
        "load_before": round(os.getloadavg()[0], 1),
        "repeats": chosen.repeats,
        "tracks": {},
    }
    for track in tracks:
        figures["tracks"][track] = measure_track(track, chosen.repeats)
    if chosen.flat:
        figures["flat"] = measure_flatness()
    if chosen.nbval:
        figures["nbval"] = measure_nbval(chosen.lessons.split(","), tracks, chosen.repeats)
    print(table(figures))
    if chosen.save:
        write_json(figures_path(), figures)
        write_text_atomically(
            DOCS, with_sections(DOCS.read_text(encoding="utf-8"), PAGES[DOCS.relative_to(ROOT).as_posix()])
        )


if __name__ == "__main__":
    main()
