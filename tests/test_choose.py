"""The decision tree is whole, is followed without surprises, and its sealed answers stay as they were."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from itertools import chain

import pytest

from course_lib import choose
from course_lib.decision_tree import ANSWERS, FIRST
from course_lib.errors import BadInput, CourseError, NotFound

PI = {"hardware": "cpu", "purpose": "product", "deploy": "pi"}
NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)


def ways(place: str = FIRST) -> list[dict[str, str]]:
    question = {q.id: q for q in choose.questions()}.get(place)
    if question is None:
        return [{}]
    return [{place: option.key, **rest} for option in question.options for rest in ways(option.then)]


def test_every_way_ends_at_an_answer_that_names_its_claims() -> None:
    reached = [choose.follow(way).answer for way in ways()]
    assert {answer.id for answer in reached} == {answer.id for answer in ANSWERS}
    for answer in reached:
        assert answer.claims
        assert answer.tracks
        assert all(re.fullmatch("[AB][0-9]+", claim) for claim in answer.claims)
        assert all(re.fullmatch("[0-9]{2}", lesson) for lesson in answer.lessons)


def test_every_question_is_reached_and_no_name_is_used_twice() -> None:
    names = [item.id for item in (*choose.questions(), *ANSWERS)]
    assert len(names) == len(set(names))
    assert {q.id for q in choose.questions()} == set(chain.from_iterable(ways()))
    for question in choose.questions():
        assert len({option.key for option in question.options}) == len(question.options)


def test_the_recommendation_says_whose_answer_it_is() -> None:
    text = str(choose.follow(PI))
    assert "The articles answer: TensorFlow Lite." in text
    assert "Claim A27: what the articles say, not what was measured; tested in lesson 18." in text


def test_questions_come_one_after_the_other() -> None:
    asked = []
    answers: dict[str, str] = {}
    while (question := choose.next_question(answers)) is not None:
        asked.append(question.id)
        answers[question.id] = PI[question.id]
    assert asked == ["hardware", "purpose", "deploy"]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"hardware": "cpu"}, "'purpose'"),
        ({"hardware": "abacus"}, "received 'abacus'"),
        ({**PI, "team": "calm"}, "Take 'team' out"),
        ({**PI, "colour": "red"}, "no question 'colour'"),
    ],
)
def test_answers_that_lead_nowhere_are_refused(answers: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        choose.follow(answers)
    with pytest.raises(BadInput):
        choose.seal(answers)


def test_what_was_sealed_comes_back() -> None:
    said: list[str] = []
    path = choose.seal(PI, expected="keras", now=NOON, say=said.append)
    opened = choose.open_seal()
    assert path.parts[-2:] == ("sealed", "choice.json")
    assert opened["answers"] == PI
    assert opened["claims"] == ["A27"]
    assert opened["expected"] == "keras"
    assert opened["sealed_at"] == "2026-08-01T12:00:00+00:00"
    assert "numpy" in opened["versions"]
    assert "until lesson 20" in said[0]


def test_the_first_seal_stays_and_the_second_says_so() -> None:
    path = choose.seal(PI, now=NOON, say=lambda _: None)
    before = path.read_bytes()
    said: list[str] = []
    choose.seal({**PI, "deploy": "light"}, say=said.append)
    assert path.read_bytes() == before
    assert "Already sealed at 2026-08-01T12:00:00+00:00" in said[0]


def test_a_change_after_sealing_is_noticed() -> None:
    path = choose.seal(PI, say=lambda _: None)
    record = json.loads(path.read_text())
    record["answers"]["deploy"] = "light"
    path.write_text(json.dumps(record))
    with pytest.raises(CourseError, match="not what was sealed"):
        choose.open_seal()


@pytest.mark.parametrize("content", ["[]", '"text"', "{}"])
def test_another_file_in_its_place_is_noticed(content: str) -> None:
    choose.seal(PI, say=lambda _: None).write_text(content)
    with pytest.raises(CourseError, match="not what was sealed"):
        choose.open_seal()


def test_nothing_sealed_is_an_error_of_its_own() -> None:
    with pytest.raises(NotFound, match="Nothing is sealed"):
        choose.open_seal()
