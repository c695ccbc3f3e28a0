"""The parts of the README that are built, so that no link, figure, code or message in it is typed."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course_lib.answer import exercise_of
from course_lib.build.grading_figures import grading
from course_lib.build.source import read_cells, solution
from course_lib.colab import TRACK_NAMES, readme_matrix
from course_lib.errors import BadInput
from course_lib.lessons import exercise, lesson
from course_lib.metrics import accuracy_interval, max_loss_difference
from course_lib.record import load_references
from course_lib.verdict import find_check, judge

STEPS = ("torch", "jax")
SEED = 0


def step_difference() -> str:
    """The training step of lesson 01 in two tracks, as a diff."""
    old, new = (_answer("digits/step", track).splitlines() for track in STEPS)
    lines = difflib.unified_diff(old, new, TRACK_NAMES[STEPS[0]], TRACK_NAMES[STEPS[1]], n=20, lineterm="")
    return "\n".join(["```diff", *(line for line in lines if not line.startswith("@@")), "```"])


def _answer(exercise_id: str, track: str) -> str:
    sources = [cell.source for cell in read_cells(lesson(exercise_id.split("/")[0]), track)]
    [answer] = [solution(source) for source in sources if exercise_of(source) == exercise_id]
    return answer


WRONG = """def accuracy(logits, labels):
    return (logits.argmax(axis=1, keepdims=True) == labels).mean()
"""
RIGHT = """def accuracy(logits, labels):
    return (logits.argmax(axis=1) == labels).mean()
"""


def check_messages() -> str:
    """A wrong answer with its verdict and first hint, and the right one with its own."""
    parts = []
    for source in (WRONG, RIGHT):
        namespace: dict[str, Any] = {"np": np}
        exec(source, namespace)
        verdict = judge(exercise("digits/accuracy"), namespace["accuracy"], "numpy", seed=SEED)
        if not verdict.passed:
            verdict = verdict.with_hint(find_check("digits/accuracy").hint(1, "numpy"))
        parts.append(f'```python\n{source}\n\ncheck("digits/accuracy", accuracy)\n```\n\n```text\n{verdict}\n```')
    return "\n\n".join(parts)


def measured() -> str:
    """What the reference records hold: how far each track's losses are from NumPy's, and how well it reads."""
    records = load_references("01_digits")
    base = records["numpy"]
    head = ["track", f"largest loss difference from NumPy over {base.n_steps} steps", "validation accuracy", "versions"]
    rows = [head, ["---"] * len(head)]
    for track, record in records.items():
        low, high = accuracy_interval(record.validation_accuracy, record.n_validation)
        difference = max_loss_difference(record.losses, base.losses)
        versions = ", ".join(f"{name} {version}" for name, version in record.versions.items() if name != "numpy")
        rows.append(
            [
                TRACK_NAMES[track],
                "reference" if track == "numpy" else f"{difference:.0e}",
                f"{record.validation_accuracy:.3f} (95 %: {low:.3f} to {high:.3f})",
                versions or f"numpy {record.versions['numpy']}",
            ]
        )
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        f"Lesson 01_digits, plain SGD from the same weights on the same batches, float32, on {base.machine}; "
        f"accuracy on {base.n_validation} pictures of three forms that no track was trained on:\n\n{table}"
    )


SECTIONS: Mapping[str, Callable[[], str]] = {
    "matrix": readme_matrix,
    "step": step_difference,
    "check": check_messages,
    "grading": grading,
    "measured": measured,
}


def with_sections(text: str, sections: Mapping[str, Callable[[], str]] = SECTIONS, page: str = "README.md") -> str:
    """A page's text with each section, between `<!-- name: begin -->` and `<!-- name: end -->`, as it is today.

    Raises BadInput when the two comments of a section are not there.
    """
    for name, make in sections.items():
        first, last = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, begin, rest = text.partition(first)
        _, end, after = rest.partition(last)
        if not (begin and end):
            raise BadInput(
                f"{page} should hold the comments {first} and {last}, in this order; it does not.",
                action="Put them back where this part belongs.",
            )
        text = f"{before}{begin}\n{make()}\n{end}{after}"
    return text
