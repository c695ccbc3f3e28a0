"""The README's links, figures, code and messages are built, and current."""

from pathlib import Path

import pytest

from course_lib import colab
from course_lib.build.readme import SECTIONS, WRONG, check_messages, measured, step_difference, with_sections
from course_lib.errors import BadInput


def test_the_readme_is_current_and_links_every_notebook(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert with_sections(readme) == readme, 'README.md is stale: run "course build"'
    for notebook in repository.glob("notebooks/*/*.ipynb"):
        assert f"/blob/{colab.BRANCH}/{notebook.relative_to(repository).as_posix()})" in readme


@pytest.mark.parametrize("name", SECTIONS)
def test_a_readme_without_a_sections_comments_is_refused(repository: Path, name: str) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8").replace(f"<!-- {name}: end -->", "")
    with pytest.raises(BadInput, match=f"{name}: begin"):
        with_sections(readme)


def test_the_step_is_shown_as_a_diff_of_two_tracks() -> None:
    lines = step_difference().splitlines()
    assert any(line.startswith("-") and "zero_grad" in line for line in lines)
    assert any(line.startswith("+") and "value_and_grad" in line for line in lines)


def test_the_wrong_answer_is_shown_with_its_verdict_and_the_right_one_passes() -> None:
    shown = check_messages()
    assert WRONG in shown
    assert "✗ digits/accuracy: `accuracy`" in shown
    assert "Hint 1 of 3" in shown
    assert "✓ digits/accuracy: public checks passed, 1 of 1 mark; the grader uses fresh inputs." in shown


def test_every_track_is_measured() -> None:
    assert [row.split("|")[1].strip() for row in measured().splitlines() if row.startswith("| ")][2:] == [
        "NumPy", "PyTorch", "fastai", "Keras", "JAX", "TensorFlow"
    ]  # fmt: skip
