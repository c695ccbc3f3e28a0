"""The build refuses what would go wrong without a word, and names the place."""

from pathlib import Path

import pytest

from course_lib.build.source import check_fences, parse, read_cells, solution, task_source, with_hole
from course_lib.errors import BadSource, NotFound
from course_lib.lessons import Exercise, Lesson, lesson

FRONT = "---\ntitle: Toy\n---\n\n# Toy\n\n"


def fenced(code: str, head: str = "python") -> str:
    return f"{FRONT}```{head}\n{code}\n```\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (fenced("x = 1", 'python tags=["tourch"]'), "tourch"),
        (fenced("ls", "bash"), "line 7: a bash fence"),
        (fenced("{}", "json"), "a json fence"),
        (fenced("x = 1", ""), "needs a language"),
        (FRONT + "```python\nx = 1\n", "never closed"),
        (FRONT + '<!-- #region tags=["jax"] -->\n```python\nx = 1\n```\n<!-- #endregion -->\n', "inside a region"),
        (fenced("x = = 1"), "not valid Python"),
        (fenced("def f():\n    ### BEGIN SOLUTION\n    return 1"), "without ### END"),
        (fenced("### END SOLUTION"), "out of place"),
        (fenced("### BEGIN SOLUTION\nx = 1\n### END SOLUTION"), "outside a function"),
        (fenced("x = 1", 'python tag="torch"'), "unknown attributes tag"),
    ],
)
def test_what_would_go_wrong_silently_is_refused(text: str, words: str) -> None:
    def build() -> None:
        check_fences(text, "toy/lesson.md")
        parse(text, "toy/lesson.md")

    with pytest.raises(BadSource, match=words):
        build()


def test_cells_go_to_their_tracks_and_labels_are_dropped() -> None:
    text = (
        FRONT
        + '**PyTorch**\n\n```python tags=["torch", "task"] id="t"\nx = 1\n```\n\n'
        + '<!-- #region tags=["jax"] -->\nProse.\n<!-- #endregion -->\n\n```python\n%time y = 2\n```\n'
    )
    cells = parse(text, "toy")
    assert [(c.kind, sorted(c.tracks), c.tags) for c in cells] == [
        ("markdown", [], ()),
        ("code", ["torch"], ("task",)),
        ("markdown", ["jax"], ()),
        ("code", [], ()),
    ]
    assert [c.belongs_to("torch") for c in cells] == [True, True, False, True]
    assert not any("PyTorch" in c.source for c in cells)


CELL = "def f(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION"
PLANTED = CELL.replace("    ### END", "    ### INSTEAD\n    # return x - 1\n    ### END")


def test_a_solution_gives_way_to_a_hole() -> None:
    assert solution(CELL) == "def f(x):\n    return x + 1"
    namespace: dict[str, object] = {}
    exec(with_hole(CELL, "toy"), namespace)
    with pytest.raises(NotImplementedError):
        namespace["f"](1)  # type: ignore[operator]
    assert "x + 1" not in with_hole(CELL, "toy")


def test_a_planted_fault_reaches_the_learner_only() -> None:
    assert solution(PLANTED) == "def f(x):\n    return x + 1"
    assert with_hole(PLANTED, "toy") == "def f(x):\n    return x - 1"


def toy_lesson(folder: Path, text: str, exercises: tuple[Exercise, ...] = ()) -> Lesson:
    (folder / "lesson.md").write_text(text)
    return Lesson(folder.name, "toy", "Toy", ("numpy",), 1, 1, (), (), (), "cpu", exercises, folder)


def test_answer_cells_and_front_matter_must_agree(tmp_path: Path) -> None:
    asked = Exercise("toy/one", "One", "function", 1.0, True, ("numpy",))
    with pytest.raises(BadSource, match="toy/one"):
        read_cells(toy_lesson(tmp_path, fenced("x = 1"), (asked,)), "numpy")
    with pytest.raises(BadSource, match="toy/two"):
        read_cells(toy_lesson(tmp_path, fenced(f"# exercise: toy/two\n{CELL}")), "numpy")


def test_ids_are_repeatable_and_given_ones_unique(tmp_path: Path) -> None:
    text = fenced("x = 1") + "\n```python\nx = 1\n```\n"
    first, second = (
        [c.id for c in read_cells(toy_lesson(tmp_path, text), "numpy")],
        [c.id for c in read_cells(toy_lesson(tmp_path, text), "numpy")],
    )
    assert first == second
    assert len(set(first)) == len(first)
    with pytest.raises(BadSource, match="stands twice"):
        read_cells(toy_lesson(tmp_path, fenced("x", 'python id="a"') + '\n```python id="a"\ny\n```\n'), "numpy")


def test_task_cells_define_the_task_of_every_track() -> None:
    for track in lesson("01_digits").tracks:
        source = "\n".join(text for _, text in task_source(lesson("01_digits"), track))
        assert "def train_task(task):" in source
        assert "NotImplementedError" not in source
    with pytest.raises(NotFound, match="no task"):
        task_source(lesson("00_start"), "numpy")
