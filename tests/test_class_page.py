"""The class page: its numbers, its picture, what is one mistake, and how the pages are written."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from class_sample import HOSTILE_MESSAGES, LESSON, a_class, a_record, a_result, a_run, settings
from course_lib.errors import BadInput
from course_lib.grade.chart import bin_names, share_bins
from course_lib.grade.class_lesson import in_order
from course_lib.grade.class_page import class_page, write_pages
from course_lib.grade.class_settings import ClassSettings
from course_lib.grade.mistakes import common_mistakes, shape_of
from course_lib.grade.record import GradeRecord
from course_lib.grade.run_info import Layer, RunInfo
from course_lib.grade.student import Student
from course_lib.grade.totals import totals
from course_lib.lessons import lesson
from html_page import Page


def of(records: list[GradeRecord], of_class: ClassSettings | None = None, **run: Any) -> Page:
    of_class = of_class or settings()
    return Page(class_page(records, totals(records, of_class), of_class, a_run(**run)))


def students(n: int) -> list[Student]:
    return [Student(f"s{number}", f"Student {number}") for number in range(n)]


def section(page: Page, title: str) -> str:
    [found] = [each.text for each in page.all("section") if each.text.startswith(title)]
    return " ".join(found.split())


def row(page: Page, start: str) -> list[str]:
    """The cells of the first table row that begins so."""
    for place, each in enumerate(page.elements):
        if each.tag == "tr" and each.text.startswith(start):
            inside = [e for e in page.elements[place + 1 : place + 60] if e.tag in ("th", "td")]
            return [" ".join(e.text.split()) for e in inside[: len(inside)]]
    raise AssertionError(start)


def test_the_first_line_says_how_many_and_what_is_left_to_do() -> None:
    records = [a_record(one, (a_result("digits/split"),)) for one in students(3)]
    records[2] = a_record(students(3)[2], (), review=("look",))
    page = of(records)
    assert (
        page.one("p", "lead").text == "3 students handed in 3 notebooks. The marks of 3 students need a person's eyes."
    )
    assert page.one("h1").text == "Deep learning 101"


def test_marks_per_exercise_are_counted_by_state() -> None:
    one, two, three, four = students(4)
    records = [
        a_record(one, (a_result("digits/model"),)),
        a_record(two, (a_result("digits/model", "wrong", "no"),)),
        a_record(three, (a_result("digits/model", "checker broke", "it broke"),)),
        a_record(four, (a_result("digits/model", seconds=3.25),)),
    ]
    page = of(records)
    cells = row(page, "The model")
    assert cells[1] == "2 passed, 1 failed, 1 needs review"
    assert cells[2] == "0.67 of 1"
    assert cells[4] == "3.2 s"
    bars = [e.attributes["aria-label"] for e in page.all("span", "bar")]
    assert "2 answers passed, 1 answer failed, 1 answer needs review" in bars
    assert row(page, "Accuracy")[1] == "4 need review"
    assert "The open marks of 4 students are not in it yet." in page.one("figcaption").text


def test_tracks_are_told_apart_where_there_are_several() -> None:
    one, two = students(2)
    page = of(
        [
            a_record(one, (a_result("digits/model"),)),
            a_record(two, (a_result("digits/model", "wrong", "x"),), track="jax"),
        ]
    )
    assert "by track: JAX 0/1, PyTorch 1/1" in row(page, "The model")[1]


def test_exercises_stand_in_the_order_of_the_notebooks_of_all_tracks() -> None:
    one, two = students(2)
    own = totals([a_record(one), a_record(two, track="numpy")], ClassSettings())
    names = list(in_order([counted for total in own for counted in total.results]))
    assert names.index("digits/cross_entropy") < names.index("digits/gradients") < names.index("digits/step")
    assert names[0] == "digits/split"
    assert names[-1] == "digits/challenge"


@pytest.mark.parametrize(
    ("share", "name"),
    [
        (0.0, "0–9 %"),
        (0.3, "30–39 %"),
        (8.1 / 9, "90–99 %"),
        (0.0999, "0–9 %"),
        (0.999, "90–99 %"),
        (1.0, "100 %"),
        (1.2, "100 %"),
    ],
)
def test_a_share_lies_in_its_tenth(share: float, name: str) -> None:
    assert bin_names()[share_bins([share]).index(1)] == name


def test_the_picture_says_in_words_what_it_shows() -> None:
    page = of([a_record(one, tuple(a_result(n) for n in ("digits/split",))) for one in students(2)])
    picture = page.one("svg")
    named = str(picture.attributes["aria-labelledby"]).split()
    by_id = {each.attributes.get("id"): each for each in page.elements}
    assert picture.attributes["role"] == "img"
    assert by_id[named[0]].tag == "title"
    assert by_id[named[0]].text
    assert "0–9 %: 2" in by_id[named[1]].text
    assert [each.text for each in page.all("text", "count")] == ["2"]


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("`l` should be 2.3026 at (0, 3); received -1.5e-3.", "`l` should be 7 at (12, 1); received nan.", "wrong"),
        ("group 817 has rows on both sides.", "group 3 has rows on both sides.", "wrong"),
        ("`x` should be (5, 3); received shape (3, 5) int64.", "`x` should be (9,); received shape () int64.", "wrong"),
        ("`g` should have the name `b`; it has w1, w2.", "`g` should have the name `b`; it has none.", "wrong"),
        ("it raised NameError: name 'foo' at `y = foo`.", "it raised NameError: name 'ba r' at `ba r + 1`.", "error"),
        ("it raised E: '/home/a/x.csv' at `f()`.", "it raised E: \"/tmp/y\" at `g(1)`.", "error"),
        ("it raised E: no /home/a/x.csv at `f`.", "it raised E: no /tmp/y at `g`.", "error"),
    ],
)  # fmt: skip
def test_messages_that_differ_in_numbers_names_and_values_are_one_mistake(one: str, other: str, reason: str) -> None:
    assert shape_of(one, reason) == shape_of(other, reason)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`train` should hold row numbers.", "`validation` should hold row numbers."),
        ("`x` should hold floats; received int64.", "`x` should hold floats; received bool."),
        ("the model would be tested on hands it has seen.", "the model would be tested on hands it has drawn."),
        ("`x` is a list.", "`x` is a tuple."),
    ],
)
def test_other_mistakes_stay_apart(one: str, other: str) -> None:
    assert shape_of(one) != shape_of(other)


def test_a_mistake_counts_each_student_once_and_the_most_common_comes_first() -> None:
    results = []
    for number, one in enumerate(students(6)):
        results.append((one, a_result("digits/split", "wrong", f"group {number} has rows on both sides.")))
        results.append((one, a_result("digits/split", "wrong", f"group {number + 9} has rows on both sides.")))
        results.append((one, a_result("digits/step", "unanswered", "not answered yet.")))
    results.append((students(1)[0], a_result("digits/model", "timeout", "it computed for longer than 20 seconds.")))
    first, second = common_mistakes(results)
    assert (first.shape, len(first.students)) == ("group … has rows on both sides.", 6)
    assert first.example == "group 0 has rows on both sides."
    assert (second.reason, len(second.students)) == ("timeout", 1)


def test_a_common_mistake_stands_on_the_page_with_an_example_and_names() -> None:
    records = [
        a_record(one, (a_result("digits/split", "wrong", f"group {n} has rows on both sides."),))
        for n, one in enumerate(students(8))
    ]
    cells = row(of(records), "Group … has rows on both sides.")
    assert "Group 0 has rows on both sides." in cells[0]
    assert "Student 0, Student 1, Student 2, Student 3, Student 4 and 3 more" in cells[0]
    assert cells[2] == "8 100 %"


def test_those_who_need_review_are_listed_with_reason_and_way() -> None:
    one, two = students(2)
    records = [
        a_record(one, tuple(a_result(name, "checker broke", "it broke.") for name in ("digits/split", "digits/step"))),
        a_record(two, tuple(a_result(e) for e in ("digits/split",)), lesson="", track="", review=("unreadable: no.",)),
    ]
    page = of(records)
    found = section(page, "Needs review")
    assert "None of this has been counted as wrong" in found
    assert "A split that does not leak, One step of SGD: not judged. It broke." in found
    assert found.count("could not be graded: unreadable: no.") == 1
    assert {"feedback/s0.html", "feedback/s1.html"} <= {e.attributes["href"] for e in page.all("a")}


def test_without_anything_to_look_at_the_section_is_not_there() -> None:
    names = [exercise.id for exercise in lesson(LESSON).exercises_of("torch")]
    page = of([a_record(students(1)[0], tuple(a_result(name) for name in names))])
    assert "Needs review" not in page.words
    assert "All marks are final." in page.words


def test_notes_are_grouped() -> None:
    records = [a_record(one, notes=(f"digits/split: found again in cell {n}.",)) for n, one in enumerate(students(6))]
    found = section(of(records, notes=("__MACOSX was left out.",)), "Odd, and no harm done")
    assert "__MACOSX was left out." in found
    assert found.count("digits/split") == 2
    assert "and 2 more" in found


def test_time_and_memory_are_median_and_most_with_names() -> None:
    records = [
        a_record(one, seconds=float(n + 1), peak_bytes=(n + 1) * 100_000_000, attempts=1 + n // 2)
        for n, one in enumerate(students(3))
    ]
    page = of(records)
    assert row(page, "PyTorch")[:6] == ["PyTorch", "3", "2 s", "3 s Student 2", "200 MB", "300 MB Student 2"]
    assert "1 notebook had to be run more than once" in page.words


def test_what_isolation_was_active_and_what_was_not_is_said() -> None:
    layers = (Layer("landlock", True, "ABI 7"), Layer("cgroup", False, "refused: EACCES"))
    found = section(of([a_record(students(1)[0])], sandbox=layers), "Isolation")
    assert "1 of 2 layers" in found
    assert "landlock ✓ active ABI 7" in found
    assert "cgroup ✗ not active refused: EACCES" in found
    assert "without any isolation" in section(of([a_record(students(1)[0])], sandbox=()), "Isolation")


def test_the_run_can_be_done_again_from_what_is_said() -> None:
    found = section(of([a_record(students(1)[0])]), "This run")
    for fact in (
        "3fa21c9be07d",
        "82 s: 1 notebooks a minute",
        "8112093551",
        "torch 2.14.1",
        "Canvas",
        "c0ffeec0ffeec0ff",
    ):
        assert fact in found


def test_only_the_newest_record_of_a_file_is_shown() -> None:
    [one] = students(1)
    page = of([a_record(one, notes=("first try",)), a_record(one, notes=("second try",))])
    assert "handed in 1 notebook." in page.words
    assert "first try" not in page.words


def test_a_class_in_which_nobody_handed_in_has_a_page() -> None:
    page = of([], ClassSettings())
    assert page.one("p", "lead").text == "Nobody has handed in anything yet."
    page.assert_harmless()


def test_a_hostile_class_leaves_the_page_harmless() -> None:
    page = of(a_class(20, hostile=True), notes=HOSTILE_MESSAGES, layout=HOSTILE_MESSAGES[0], run="<script>")
    page.assert_harmless()
    page.source.encode("utf-8")
    assert "<script>alert(1)</script>" in page.words
    assert max(len(each.text) for each in page.all("a")) <= 90
    levels = page.heading_levels()
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_pages_are_written_one_for_each_student_and_every_link_leads_to_one(tmp_path: Path) -> None:
    records = a_class(5)
    paths = write_pages(tmp_path, records, totals(records, settings()), settings(), a_run())
    assert paths == [
        *(tmp_path / "feedback" / f"{r.student.key}.html" for r in in_name_order(records)),
        tmp_path / "class.html",
    ]
    page = Page((tmp_path / "class.html").read_text(encoding="utf-8"))
    assert {(tmp_path / str(e.attributes["href"])).is_file() for e in page.all("a")} == {True}
    assert [p.name for p in tmp_path.rglob("*") if p.name.startswith(".")] == []


def in_name_order(records: list[GradeRecord]) -> list[GradeRecord]:
    return sorted(records, key=lambda record: (record.student.name.casefold(), record.student.key))


def test_a_page_that_has_not_changed_is_left_alone(tmp_path: Path) -> None:
    records = a_class(2)
    kept, *_ = write_pages(tmp_path, records, totals(records, settings()), settings(), a_run())
    before = kept.stat().st_ino
    write_pages(tmp_path, records, totals(records, settings()), settings(), a_run(run="another"))
    assert kept.stat().st_ino == before
    assert "another" in (tmp_path / "class.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", ["../../x", "a/b", "", "..", "c:x", "a\\b"])
def test_a_key_that_would_leave_the_folder_is_refused(key: str, tmp_path: Path) -> None:
    records = [a_record(Student(key, "Eve"))]
    with pytest.raises(BadInput, match="safe as a file's name"):
        write_pages(tmp_path, records, totals(records, settings()), settings(), a_run())
    assert list(tmp_path.iterdir()) == []


def test_three_hundred_students_take_less_than_three_seconds(tmp_path: Path) -> None:
    records = a_class(300)
    own = totals(records, settings())
    start = time.perf_counter()
    write_pages(tmp_path, records, own, settings(), a_run())
    assert time.perf_counter() - start < 3


def test_a_run_survives_its_file() -> None:
    run = a_run()
    assert RunInfo.from_dict({**run.to_dict(), "of tomorrow": 1}) == run
    assert run.seconds == 82
    assert a_run(finished_at="").seconds is None


@pytest.mark.parametrize("missing", ["run", "started_at"])
def test_a_run_without_its_name_or_beginning_is_refused(missing: str) -> None:
    raw = a_run().to_dict()
    del raw[missing]
    with pytest.raises(BadInput, match=missing):
        RunInfo.from_dict(raw)


def test_the_lesson_is_named_only_where_there_are_several() -> None:
    one, two = students(2)

    def both(name: str) -> list[GradeRecord]:
        return [a_record(one), a_record(two, lesson=name, track="numpy")]

    assert "Lesson" not in [e.text for e in of(both(LESSON)).all("th")]
    assert "Lesson" in [e.text for e in of(both("00_start")).all("th")]
