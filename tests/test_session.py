"""The live check: the verdict is shown, remembered, and raises; an answer may lean on the course's cells only."""

import json
from pathlib import Path

import pytest

from answers import digits_numpy as answers
from course_lib import begin, check, checking, session
from course_lib.errors import BadInput, CheckFailed, NotFound
from course_lib.progress import Progress


@pytest.fixture(autouse=True)
def numpy_lesson() -> None:
    begin("01_digits", "numpy")


def test_begin_says_which_notebook_this_is() -> None:
    assert "01_digits, track numpy" in str(begin("01_digits", "numpy"))
    with pytest.raises(NotFound, match="Did you mean 'torch'"):
        begin("01_digits", "troch")
    with pytest.raises(NotFound, match="01_digits"):
        begin("01_digit", "torch")


def test_without_begin_the_check_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_current", [])
    with pytest.raises(NotFound, match="set-up cell"):
        check("digits/accuracy", answers.accuracy_mean)


def test_a_pass_is_shown_and_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("digits/accuracy", answers.accuracy_mean).passed
    assert "✓ digits/accuracy: public checks passed" in capsys.readouterr().out
    assert Progress.load().passed("digits/accuracy", "numpy")


def test_a_wrong_answer_gets_three_different_hints_in_turn_and_a_pass_starts_anew() -> None:
    messages = []
    for _ in range(4):
        with pytest.raises(CheckFailed) as failure:
            check("digits/step", answers.ascending_step)
        messages.append(str(failure.value).split("\n")[1])
    assert [m.split(":")[0].strip() for m in messages] == [
        "Hint 1 of 3",
        "Hint 2 of 3",
        "Hint 3 of 3",
        "Hint 3 of 3",
    ]
    assert len(set(messages)) == 3
    check("digits/step", answers.usual_step)
    with pytest.raises(CheckFailed, match="Hint 1 of 3"):
        check("digits/step", answers.ascending_step)


def test_an_untouched_hole_costs_no_hint() -> None:
    def hole(*arguments: object) -> None:
        raise NotImplementedError

    for _ in range(3):
        with pytest.raises(CheckFailed, match="not answered yet") as failure:
            check("digits/step", hole)
        assert "Hint" not in str(failure.value)


def test_a_failure_shows_its_message_instead_of_a_traceback() -> None:
    with pytest.raises(CheckFailed) as failure:
        check("digits/accuracy", answers.accuracy_sum)
    shown = failure.value._render_traceback_()  # type: ignore[attr-defined]
    assert shown == [str(failure.value)]
    assert failure.value.verdict.reason == "wrong"  # type: ignore[attr-defined]


def test_an_exercise_of_another_track_is_refused() -> None:
    with pytest.raises(BadInput, match="fastai"):
        check("digits/observer", answers.accuracy_mean)


def test_verdicts_go_to_the_file_that_a_marker_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_VERDICTS", str(tmp_path / "verdicts.jsonl"))
    check("digits/accuracy", answers.accuracy_mean)
    with pytest.raises(CheckFailed):
        check("digits/accuracy", answers.accuracy_sum)
    lines = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    assert [(line["exercise"], line["passed"], line["mark"]) for line in lines] == [
        ("digits/accuracy", True, 1.0),
        ("digits/accuracy", False, 0.0),
    ]


def test_a_core_answer_is_shown_again_in_the_next_track(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = "# exercise: digits/accuracy\ndef accuracy(logits, labels): return 1.0\n"
    monkeypatch.setattr(checking, "_history", lambda: (cell,))
    check("digits/accuracy", answers.accuracy_mean)
    begin("01_digits", "compare")
    begin("01_digits", "numpy")

    def hole(*arguments: object) -> None:
        raise NotImplementedError

    with pytest.raises(CheckFailed, match="You have solved it before"):
        check("digits/accuracy", hole)


ANSWER = "# exercise: digits/accuracy\ndef accuracy(z, labels):\n    return mean_of(np.argmax(z, 1) == labels)\n"


@pytest.mark.parametrize(
    "helper", ["def mean_of(x): return float(x.mean())", "from statistics import mean as mean_of", "mean_of = max"]
)
def test_a_name_from_another_cell_of_the_learners_is_refused(monkeypatch: pytest.MonkeyPatch, helper: str) -> None:
    monkeypatch.setattr(checking, "_history", lambda: ("import numpy as np", helper, ANSWER))
    with pytest.raises(CheckFailed, match="`mean_of`") as failure:
        check("digits/accuracy", answers.accuracy_mean)
    assert "move the definition into the answer cell" in str(failure.value)
    assert Progress.load().attempts("digits/accuracy", "numpy") == 0


def test_a_name_of_the_courses_own_or_of_an_answer_cell_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    own = "# exercise: digits/accuracy\ndef accuracy(logits, labels):\n    task; forward\n    return 0.0\n"
    cells = ("import numpy as np", 'task = load_task("digits")', "# exercise: digits/model\ndef forward(): pass", own)
    monkeypatch.setattr(checking, "_history", lambda: cells)
    assert check("digits/accuracy", answers.accuracy_mean).passed


def test_progress_that_cannot_be_saved_does_not_hide_the_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file"))
    assert check("digits/accuracy", answers.accuracy_mean).passed
    assert "not saved" in capsys.readouterr().out
