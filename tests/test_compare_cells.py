"""The compare notebook runs for a learner with records of their own, of any tracks."""

from pathlib import Path

import pytest

from course_lib.build.source import read_cells, solution
from course_lib.lessons import lesson
from course_lib.record import load_references, save
from course_lib.session import begin


@pytest.mark.parametrize(
    "own", [(), ("numpy",), ("torch", "jax"), ("numpy", "torch", "fastai", "keras", "jax", "tensorflow")]
)
def test_the_comparison_runs_with_the_learners_own_records(own: tuple[str, ...], course_home: Path) -> None:
    for track, reference in load_references("01_digits").items():
        if track in own:
            made = reference.with_(origin="notebook", run=f"own-{track}", peak_bytes=None, code_tokens=None)
            save(made, course_home / "records" / "01_digits")
    begin("01_digits", "compare")
    namespace: dict[str, object] = {}
    for cell in read_cells(lesson("01_digits"), "compare"):
        if cell.kind == "code":
            exec(compile(solution(cell.source), cell.id, "exec"), namespace)
