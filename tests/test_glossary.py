"""The glossary: whole entries, names that exist in the frameworks, a current page, and no word before its time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from course_lib import build, cli, glossary
from course_lib.build import vocabulary
from course_lib.build.glossary_page import glossary_page
from course_lib.build.vocabulary import early_words, paragraphs, uses
from course_lib.errors import BadSource, NotFound
from course_lib.frameworks import TRACKS, keras_backend, missing_distributions
from course_lib.glossary import Idea, find, ideas
from course_lib.lessons import Lesson, lesson, lessons
from course_lib.plan import PLAN
from glossary_names import missing

REPOSITORY = Path(__file__).resolve().parent.parent


def course(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="course")


# --- the table


def test_there_are_enough_ideas_in_the_order_of_the_lessons_and_none_twice() -> None:
    found = ideas()
    assert len(found) >= 40
    assert [each.lesson for each in found] == sorted(each.lesson for each in found)
    assert {each.lesson for each in found} <= {each.name for each in PLAN}
    assert len({each.idea.casefold() for each in found}) == len(found)


@pytest.mark.parametrize("idea", ideas(), ids=lambda each: each.idea)
def test_an_idea_is_one_sentence_with_a_name_for_every_track(idea: Idea) -> None:
    assert re.fullmatch(r"[A-Z][^.!?\n]*\.", idea.says), "one plain sentence"
    assert len(idea.says) <= 130
    assert list(idea.names) == list(TRACKS)
    assert all(text.count("`") % 2 == 0 and "|" not in text for text in idea.names.values())
    assert all(reason.count(" ") > 3 for _, reason in idea.allow), "an exception needs its reason"


def test_a_sentence_may_use_only_ideas_that_are_known_by_then() -> None:
    for place, idea in enumerate(ideas()):
        later = [each for each in ideas()[place + 1 :] if each.lesson > idea.lesson]
        for each in later:
            assert not any(vocabulary._pattern(word).search(idea.says) for word in each.guard), (idea.idea, each.idea)


@pytest.mark.parametrize("track", TRACKS)
def test_every_name_exists_in_the_framework(track: str) -> None:
    if lacking := missing_distributions(track):
        pytest.skip(f"{', '.join(lacking)} not installed")
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TF_CPP_MIN_LOG_LEVEL": "3"}
    env.setdefault("KERAS_BACKEND", keras_backend())
    command = [sys.executable, "-W", "ignore", str(REPOSITORY / "tests/glossary_names.py"), track]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""


def test_a_name_or_an_argument_that_does_not_exist_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "`np.argmxa`, axes of `np.mean`, axis of `np.mean`, `torch.tensor`"
    idea = replace(ideas()[0], names={**ideas()[0].names, "numpy": text})
    monkeypatch.setattr("glossary_names.ideas", lambda: (idea,))
    assert [line.partition(": ")[2].split(" (")[0] for line in missing("numpy")] == [
        "np.argmxa",
        "torch.tensor",
        "np.mean has no argument axes",
    ]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("- idea: x\n  lesson: 00_start\n", "missing or unknown"),
        ("- idea\n", "missing or unknown: everything"),
        ("- {idea: x, lesson: 00_start, says: 1, " + ", ".join(f"{t}: y" for t in TRACKS) + "}", "says should be text"),
        ("- {idea: x, lesson: a, says: b, gaurd: [c], " + ", ".join(f"{t}: y" for t in TRACKS) + "}", "gaurd"),
    ],
)
def test_an_entry_that_is_not_whole_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, words: str
) -> None:
    (tmp_path / "glossary.yaml").write_text(entry)
    monkeypatch.setattr(glossary, "SOURCE", tmp_path / "glossary.yaml")
    with pytest.raises(BadSource, match=words):
        glossary.ideas.__wrapped__()


# --- the page


def test_the_page_is_current_and_links_the_lessons_that_are_written() -> None:
    page = (REPOSITORY / "docs/glossary.md").read_text(encoding="utf-8")
    assert page == glossary_page(), 'docs/glossary.md is stale: run "course build"'
    written = {each.name for each in lessons()}
    for name in dict.fromkeys(idea.lesson for idea in ideas()):
        assert (f"[{name}](../solutions/{name})" in page) == (name in written)
        assert (f"## {name} " in page) == (name not in written)
    assert all(f"| **{idea.idea}**: {idea.says} |" in page for idea in ideas())
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {len(TRACKS) + 2}


def test_a_stale_page_fails_the_build_check_and_is_written_by_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "PAGES", {})
    report = build.BuildReport()
    build._build_pages(tmp_path, True, report)
    assert (report.stale, report.written) == (["docs/glossary.md"], [])
    build._build_pages(tmp_path, False, report)
    assert report.written == ["docs/glossary.md"]
    assert (tmp_path / "docs/glossary.md").read_text() == glossary_page()
    again = build.BuildReport()
    build._build_pages(tmp_path, True, again)
    assert again.stale == []


# --- no word before its time


@pytest.mark.parametrize("each", lessons(), ids=lambda each: each.name)
def test_a_lesson_uses_no_word_before_the_lesson_that_introduces_it(each: Lesson) -> None:
    assert not (found := early_words(each)), "\n".join(map(str, found))


@pytest.mark.parametrize("each", lessons(), ids=lambda each: each.name)
def test_a_lesson_uses_what_the_glossary_says_it_introduces(each: Lesson) -> None:
    for idea in ideas():
        if idea.lesson == each.name and idea.guard:
            assert any(uses(each, word) for word in idea.guard), f"{idea.idea} does not stand in {each.name}"


@pytest.mark.parametrize(
    ("prose", "words"),
    [
        ("Dropout helps.", ["Dropout"]),
        ("Two batch-norms and a back-\npropagation.", ["back-\npropagation", "batch-norms"]),
        ("It is then fine-tuned, or pretrained.", ["pretrained", "fine-tuned"]),
        ("DROPOUT and dropout, twice in a paragraph.", ["DROPOUT"]),
        ("The line `nn.Dropout(0.5)` and [a link](dropout.md) are no prose.", []),
        ("```python\ndropout = 1\n```", []),
        ("What dropout is: lesson 02.", []),
        ("Lessons 02 and 03 explain dropout and checkpoints.", []),
        ("Dropout comes in 02_debug.", []),
        ("Lesson 03 comes later. Dropout helps.", ["Dropout"]),
        ("Lesson 02 comes later.\n\nDropout helps.", ["Dropout"]),
        ("TensorFlow, eagle, Adamant, epochal.", []),
        ("The undropoutable.", []),
    ],
)
def test_an_early_word_is_found_in_prose_alone(tmp_path: Path, prose: str, words: list[str]) -> None:
    folder = tmp_path / "00_start"
    folder.mkdir()
    (folder / "lesson.md").write_text(f"---\ntitle: Toy\n---\n\n# Toy\n\n{prose}\n")
    found = early_words(replace(lesson("00_start"), folder=folder))
    assert [each.word for each in found] == words
    assert {each.file for each in found} <= {"00_start/lesson.md"}


def test_the_comparison_is_read_too_and_an_exception_holds_for_its_lesson_only(tmp_path: Path) -> None:
    for name in ("00_start", "01_digits"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "lesson.md").write_text("---\ntitle: Toy\n---\n\n# Toy\n")
        (folder / "compare.md").write_text("# Toy\n\nDropout and a checkpoint.\n")
        toy = replace(lesson("01_digits"), name=name, folder=folder)
        assert [text.strip() for file, text in paragraphs(toy) if file.endswith("compare.md")][1:] == [
            "Dropout and a checkpoint."
        ]
        early = ["checkpoint"] if name == "01_digits" else ["Dropout", "checkpoint"]
        assert [each.word for each in early_words(toy)] == early
        assert "lesson 03" in str(early_words(toy)[-1])


# --- course glossary


def test_a_word_is_found_by_idea_by_its_forms_and_by_a_frameworks_name() -> None:
    assert [each.idea for each in find("Learning_Rate")] == ["learning rate"]
    assert [each.idea for each in find("pretrained")] == ["pre-trained"]
    assert "backward pass" in [each.idea for each in find("GradientTape")]
    with pytest.raises(NotFound, match="Did you mean 'dropout'"):
        find("droput")
    with pytest.raises(NotFound, match="course glossary"):
        find("zzzzzz")


def test_course_glossary_shows_all_or_one_with_every_framework() -> None:
    shown = course("glossary")
    assert shown.exit_code == 0
    assert all(each.idea in shown.stdout for each in ideas())
    one = course("glossary", "learning", "rate").stdout
    assert one.startswith("learning rate (lesson 01_digits)\n")
    assert "JAX         learning_rate of optax.sgd" in one
    assert "`" not in one
    document = json.loads(course("glossary", "softmax", "--json").stdout)
    assert [each["idea"] for each in document["ideas"]] == ["softmax"]
    assert document["ideas"][0]["names"]["tensorflow"] == "`tf.nn.softmax`"
    assert course("glossary", "droput").exit_code == 2


def test_the_wheel_carries_the_glossary(wheel: Path) -> None:
    assert "course_lib/glossary.yaml" in zipfile.ZipFile(wheel).namelist()
