"""The page that a student gets back: what it says, to whom, and that nothing in it can do anything."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta, timezone
from itertools import pairwise
from typing import get_args

import pytest

from class_sample import DEADLINE, HOSTILE_MESSAGES, LESSON, a_class, a_record, a_result, settings
from course_lib.grade.class_settings import ClassSettings, LessonSettings
from course_lib.grade.feedback import student_page
from course_lib.grade.page import element, style_sheet
from course_lib.grade.reasons import EXPLANATIONS, NEXT, explanation
from course_lib.grade.record import ExerciseResult, GradeRecord, Reason
from course_lib.grade.student import Student
from course_lib.grade.text import clean, duration, moment, one_line, size
from course_lib.grade.totals import totals
from html_page import Page

ADA = Student("ada", "Ada Lovelace")
RIGHT = ("digits/split", "digits/n_parameters", "digits/model", "digits/untrained_loss", "digits/cross_entropy",
         "digits/step", "digits/train", "digits/accuracy", "digits/repair", "digits/challenge")  # fmt: skip


def exercises(**instead: ExerciseResult) -> tuple[ExerciseResult, ...]:
    """The results of the torch notebook: passed but for those given, by the exercise's name after the slash."""
    by_id = {f"digits/{name}": result for name, result in instead.items()}
    return tuple(by_id.get(name, a_result(name)) for name in RIGHT)


def of(*records: GradeRecord, of_class: ClassSettings | None = None) -> Page:
    """The page of the student of these records."""
    of_class = of_class or settings()
    own = totals(records, of_class)
    return Page(student_page(own[0].student, own, of_class))


def a_page(**instead: ExerciseResult) -> Page:
    return of(a_record(ADA, exercises(**instead)))


def card(page: Page, title: str) -> str:
    """The words of one exercise."""
    [found] = [each.text for each in page.all("li", "exercise") if title in each.text]
    return " ".join(found.split())


def test_the_marks_stand_at_the_top_in_one_sentence() -> None:
    page = a_page(split=a_result("digits/split", "wrong", "no"), model=a_result("digits/model", "wrong", "no"))
    assert page.one("p", "lead").text == "You have 10 of 12 marks: 8 of 10 exercises passed, 2 have not yet."
    assert page.one("h1").text == "Ada Lovelace"


def test_full_marks_are_praised() -> None:
    page = a_page()
    assert page.one("p", "lead").text == "You have all 12 marks: every answer passed. Well done!"
    assert "hint" not in page.words.lower()


def test_a_wrong_answer_says_what_was_expected_what_came_and_gives_the_hint() -> None:
    message = "`loss` should be 2.3 at (0,); received 1.7. Look at `labels` once more."
    page = a_page(cross_entropy=a_result("digits/cross_entropy", "wrong", message))
    found = card(page, "Cross-entropy")
    assert "✗ Not right yet" in found
    assert "0 of 1 mark" in found
    assert "Expected loss should be 2.3 at (0,) What came 1.7 Look at labels once more." in found
    assert "Hint 1 of 3. Work with logarithms" in found
    assert {"loss", "labels"} <= {each.text for each in page.all("code")}


def test_a_message_of_another_form_is_told_as_it_is() -> None:
    found = card(a_page(split=a_result("digits/split", "wrong", "group 3 has rows on both sides.")), "A split")
    assert "Group 3 has rows on both sides." in found
    assert "What came" not in found


def test_an_error_that_talks_of_receiving_is_no_comparison() -> None:
    page = a_page(
        split=a_result("digits/split", "error", "your code raised X: 3; received 4 at `f()` while calling it.")
    )
    assert "Your code raised X: 3; received 4 at f() while calling it." in card(page, "A split")


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_is_told_in_words_of_its_own(reason: Reason) -> None:
    assert reason in EXPLANATIONS
    found = card(a_page(step=a_result("digits/step", reason, "it ended." if reason != "passed" else "")), "One step")
    undecided = "Needs review" in found
    assert undecided or f"{'✓' if reason == 'passed' else '✗'} {explanation(reason).label}" in found.replace(
        "\xa0", " "
    )
    assert explanation(reason).why.replace("`", "") in found
    if reason not in ("passed", "wrong", "error", "unanswered"):
        assert explanation(reason).why


def test_what_was_not_decided_waits_for_a_person_and_is_not_counted_as_wrong() -> None:
    page = a_page(model=a_result("digits/model", "checker broke", "The checker itself broke."))
    found = card(page, "The model")
    assert NEXT in found
    assert "it has not been counted as wrong" in NEXT
    assert "1 mark open" in found
    assert "✗" not in found
    assert page.one("p", "lead").text.endswith("1 waits for a person to look. Up to 1 more is open.")


def test_a_notebook_that_needs_review_says_why_even_with_full_marks() -> None:
    page = of(a_record(ADA, exercises(), review=("digits/step: the process did not keep to the protocol.",)))
    assert "did not keep to the protocol" in page.one("div", "next").text
    assert page.one("p", "lead").text.endswith("They are final once a person has looked at them.")


def test_a_penalty_is_explained() -> None:
    late = (DEADLINE + timedelta(hours=30)).isoformat()
    page = of(a_record(ADA, exercises(), submitted_at=late))
    assert "You have 9.6 of 12 marks" in page.one("p", "lead").text
    assert "Your answers earned 12; 2.4 went off because it came late." in page.one("p", "lead").text
    assert "day 2 after the deadline: 20 % of its marks" in page.words
    assert "due 1 December 2026, 22:59 (UTC)" in page.words


def test_the_moment_of_handing_in_is_told_in_the_time_of_the_deadline() -> None:
    there = DEADLINE.astimezone(timezone(timedelta(hours=5, minutes=30)))
    own = ClassSettings(lessons={LESSON: LessonSettings(deadline=there)})
    page = of(a_record(ADA, exercises(), submitted_at="2026-12-01T20:00:00+00:00"), of_class=own)
    assert "handed in 2 December 2026, 01:30 (UTC+05:30)" in page.words


def test_a_second_notebook_that_does_not_count_says_so_and_is_shown() -> None:
    other = a_record(ADA, (a_result("digits/split", "wrong", "no"),), track="numpy", file="ada/digits_numpy.ipynb")
    page = of(a_record(ADA, exercises()), other)
    [aside] = [each for each in page.all("details") if "not counted: 1 notebook" in each.text]
    assert "digits_numpy.ipynb" in aside.text
    assert totals([a_record(ADA, exercises()), other], settings())[0].set_aside[0].why in aside.text
    assert page.one("p", "lead").text.startswith("You have all 12 marks")


def test_an_exercise_that_the_class_left_out_is_told_but_does_not_count() -> None:
    own = ClassSettings(lessons={LESSON: LessonSettings(exercises=("digits/split",))})
    page = of(a_record(ADA, exercises(model=a_result("digits/model", "wrong", "no"))), of_class=own)
    assert page.one("p", "lead").text.startswith("You have all 1 mark:")
    assert "does not count" in card(page, "The model")


def test_a_file_that_is_no_notebook_is_explained() -> None:
    record = a_record(ADA, lesson="", track="", review=("not a notebook: ada/x.ipynb is not JSON.",), output="")
    page = of(record, of_class=ClassSettings())
    assert "ada/x.ipynb is not JSON." in page.one("div", "next").text
    assert "is not JSON. Nothing in it could be judged." in page.words
    assert NEXT in page.words


def test_a_file_that_is_no_notebook_is_explained_once_where_the_class_has_a_lesson() -> None:
    page = of(a_record(ADA, lesson="", track="", review=("not a notebook: ada/x.ipynb is not JSON",), output=""))
    assert page.words.count("is not JSON.") == 1
    assert "No notebook of this lesson has been recognised: 0 of" in page.words


def test_who_handed_in_nothing_is_told_so() -> None:
    [total] = totals([a_record(ADA, exercises())], settings())
    nothing = replace(total, results=(), counted=(), handed_in=False, mark=0.0, notes=("Not handed in.",))
    page = Page(student_page(ADA, [nothing], settings()))
    assert page.one("p", "lead").text == "Nothing was handed in: 0 of 12 marks."


def test_what_was_printed_is_there_on_request_and_bounded() -> None:
    output = "\x1b[31mloss\x1b[0m 1.5\n" + "0%\r50%\r100%\n" + "x" * 19_000
    record = a_record(ADA, exercises(), output=output * 2, output_bytes=3_000_000_000)
    page = of(record)
    assert page.one("pre").inside[-1] == "details"
    assert page.one("pre").text.startswith("loss 1.5\n100%\nx")
    assert len(page.one("pre").text) <= 20_000
    assert "more)" in page.words
    assert "What the cells printed (3.0 GB; the first 38 kB of it are kept)" in page.words


def test_a_long_message_shows_its_beginning_and_the_whole_on_request() -> None:
    page = a_page(split=a_result("digits/split", "error", "your code raised X: " + "word " * 900))
    assert len(page.all("p", "message")[0].text) < 400
    assert page.all("pre")[0].text.count("word") == 900


def test_notes_are_told() -> None:
    page = of(a_record(ADA, exercises(), notes=("digits/split: found again by `split`.",)))
    assert "digits/split: found again by split." in page.one("div", "aside").text


@pytest.mark.parametrize("message", HOSTILE_MESSAGES)
def test_no_message_becomes_markup(message: str) -> None:
    record = a_record(
        Student("eve", "<h1>Eve</h1>"), exercises(split=a_result("digits/split", "wrong", message, hint=message)),
        notes=(message,), review=(message,), output=message, file=message, submitted_at=message, run=message,
    )  # fmt: skip
    page = of(record)
    page.assert_harmless()
    assert page.one("h1").text == "<h1>Eve</h1>"
    assert re.sub(r"[\s`]", "", clean(message))[:90] in re.sub(r"[\s`]", "", page.words)


def test_nothing_leaves_its_attribute() -> None:
    hostile = "x\" onclick='y' \x1b[31m<b>&amp;"
    [found] = Page(element("span", "text", aria_label=hostile, class_="a", open="", title=None)).elements
    assert found.attributes == {"aria-label": "x\" onclick='y' <b>&amp;", "class": "a", "open": None}


def test_no_student_of_a_hostile_class_breaks_a_page_or_stands_on_another_one() -> None:
    records = a_class(12, hostile=True)
    for student in {record.student.key: record.student for record in records}.values():
        own = totals([record for record in records if record.student.key == student.key], settings())
        page = Page(student_page(student, own, settings()))
        page.assert_harmless()
        page.source.encode("utf-8")
        assert all(each == student.key for each in re.findall(r"(?:student|hostile)_\d+", page.words))


def test_the_page_forbids_itself_to_load_or_run_anything() -> None:
    [policy] = [e for e in a_page().all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in str(policy.attributes["content"])
    assert a_page().one("html").attributes["lang"] == "en"


def test_no_heading_level_is_skipped() -> None:
    for record in a_class(20, hostile=True):
        levels = of(record).heading_levels()
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours. Source: WCAG 2.2, relative luminance."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_is_readable_on_every_ground(theme: int) -> None:
    found = colours(style_sheet().split("prefers-color-scheme: dark")[theme].split("* {")[0])
    pairs = [(text, ground) for text in ("ink", "quiet", "accent") for ground in ("paper", "card", "code")]
    pairs += [(state, f"{state}-tint") for state in ("passed", "failed", "review")] + [("review", "code")]
    for text, ground in pairs:
        assert contrast(found[text], found[ground]) >= 4.5, (text, ground)
    for part in ("passed", "failed"):
        assert contrast(found[f"{part}-part"], found["card"]) >= 3, part


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x1b[1;31mred\x1b[0m", "ared"),
        ("\x1b]8;;https://x.example\x07link\x1b]8;;\x07", "link"),
        ("\x9b31mx\x00\x07\x7f", "x"),
        ("10%\r50%\r100%\nnext\r\n", "100%\nnext\n"),
        ("\u202eabc\u2066", "abc"),
        ("e" + "\u0301" * 9, "e" + "\u0301" * 3),
        ("a\ud800b", "a\ufffdb"),
        ("naïve 数 👩‍🔬", "naïve 数 👩‍🔬"),
    ],
)
def test_text_is_cleaned_of_what_terminals_obey(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_words_for_numbers() -> None:
    assert [duration(s) for s in (0.04, 3.2, 20.0, 125, 3840, 183_840)] == [
        "40 ms", "3.2 s", "20 s", "2 min 5 s", "1 h 4 min", "2 days 3 h",
    ]  # fmt: skip
    assert [size(n) for n in (1, 950, 20_100, 1.2e8, 1.4e9)] == ["1 byte", "950 bytes", "20 kB", "120 MB", "1.4 GB"]
    assert moment("2026-12-01T22:14:03+01:00") == "1 December 2026, 22:14 (UTC+01:00)"
    assert moment("no\x07 moment") == "no moment"
    assert one_line("a\nb" * 500, 10) == "a ba ba b…"
