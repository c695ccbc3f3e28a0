"""The ledger: every claim is in the table, every verdict keeps its measurement and scope and says so in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import course_lib
from course_lib import begin, claim, claims, cli
from course_lib.build.source import read_cells
from course_lib.claim_table import CLAIMS, KINDS
from course_lib.errors import BadInput, NotFound
from course_lib.lessons import Lesson, lessons
from course_lib.plan import PLAN
from course_lib.record import load_references

SCOPE = "two-layer network of 64–32–10"
CALL = re.compile(r"""\bclaim\(\s*["'](\w+)["']""")


@pytest.fixture(autouse=True)
def numpy_lesson() -> None:
    begin("01_digits", "numpy")


def course(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, list(arguments), prog_name="course")
    return done.exit_code, done.output


# --- the table


def test_every_claim_has_a_kind_a_test_and_lessons_that_are_planned() -> None:
    numbers = {each.name[:2] for each in PLAN}
    assert len({each.id for each in CLAIMS}) == len(CLAIMS) == 48
    for each in CLAIMS:
        assert re.fullmatch(r"[AB]\d+", each.id)
        assert each.kind in KINDS
        assert each.test
        assert set(each.lessons) <= numbers
        assert each.lessons
        if each.threshold is not None:
            assert (each.threshold.at_most is None) != (each.threshold.at_least is None), each.id
            assert each.threshold.unit
        if each.kind == "N":
            assert each.beyond.count("it takes"), f"{each.id}: say what it would take"


@pytest.mark.parametrize("lesson", lessons(), ids=lambda each: each.name)
def test_the_claims_of_a_lesson_are_those_of_the_table(lesson: Lesson) -> None:
    table = {each.id: each.lessons for each in CLAIMS}
    for each in lesson.claims:
        assert lesson.name[:2] in table[each], f"{each} names no lesson {lesson.name[:2]}"


@pytest.mark.parametrize("lesson", lessons(), ids=lambda each: each.name)
def test_a_lesson_ends_only_claims_of_its_front_matter(lesson: Lesson) -> None:
    cells = [cell for track in lesson.notebooks for cell in read_cells(lesson, track) if cell.kind == "code"]
    for cell in cells:
        called = set(CALL.findall(cell.source))
        assert called <= set(lesson.claims), cell.id
        assert not called or "nbval-ignore-output" in cell.tags, f"{cell.id}: a scope names versions and machine"


# --- one verdict


def test_a_verdict_is_shown_in_one_line_with_measurement_threshold_and_scope(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = claim("A15", measured={"a large step": 1.08, "a small step": 2.31}, scope=SCOPE)
    line = capsys.readouterr().out
    assert line == f"{found}\n"
    assert line.startswith("A15 “Flax and Haiku are efficient”: depends. Measured: holds for a large step (1.08); not")
    assert "(holds if at most 1.5 × the seconds of bare JAX)" in line
    assert re.search(rf"Scope: {SCOPE}; 01_digits, numpy; .*cores.*; numpy \d", line)
    assert found.verdict == "depends"


def test_a_notebook_shows_the_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = claim("B12", measured=True, scope=SCOPE)
    capsys.readouterr()
    found._ipython_display_()
    assert capsys.readouterr().out == ""


def test_a_threshold_in_the_call_decides_where_the_table_has_none() -> None:
    assert claim("A9", measured=0.52, at_most=0.55, unit="of the bytes", scope=SCOPE).verdict == "confirmed"
    found = claim("A9", measured=0.6, at_most=0.55, unit="of the bytes", scope=SCOPE)
    assert (found.verdict, found.threshold) == ("refuted", "at most 0.55 of the bytes")


def test_a_threshold_of_the_table_cannot_be_changed_after_the_run() -> None:
    with pytest.raises(BadInput, match=r"written before your run: at most 1\.5"):
        claim("A15", measured=2.0, at_most=2.5, scope=SCOPE)
    with pytest.raises(BadInput, match="written before your run"):
        claim("A15", measured=2.0, at_least=1.5, scope=SCOPE)
    assert claim("A15", measured=2.0, at_most=1.5, scope=SCOPE).verdict == "refuted"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"measured": True, "scope": " "}, "scope"),
        ({"measured": 1.0, "scope": SCOPE}, "nothing says where"),
        ({"measured": 1.0, "scope": SCOPE, "at_most": 1, "at_least": 0}, "received both"),
        ({"measured": 1.0, "scope": SCOPE, "verdict": "confirmed"}, "Numbers decide by themselves"),
        ({"measured": "seen", "scope": SCOPE, "verdict": "proven"}, "confirmed, refuted, depends"),
        ({"measured": True, "scope": SCOPE, "records": {}}, "at least one record"),
    ],
)
def test_what_ends_no_claim_is_refused_and_nothing_is_kept(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        claim("A9", **arguments)
    assert claims.standing("A9").findings == ()


def test_an_unknown_claim_or_no_notebook_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound, match="There is no claim 'A36'"):
        claim("A36", measured=True, scope=SCOPE)
    monkeypatch.setattr(course_lib.session, "_current", [])
    with pytest.raises(NotFound, match="set-up cell"):
        claim("A9", measured=True, scope=SCOPE)


def test_a_sentence_ends_what_no_number_decides() -> None:
    found = claim("A18", verdict="depends", measured="fit was one code, the gradient three.", scope=SCOPE)
    assert "depends. Measured: fit was one code, the gradient three. Scope:" in str(found)


def test_records_bring_their_own_machine_and_versions_and_say_whose_they_are() -> None:
    records = load_references("01_digits")
    begin("01_digits", "compare")
    found = claim("A15", measured=1.4, scope=SCOPE, records=records)
    assert found.machine == records["jax"].machine
    assert found.versions["jax"] == records["jax"].versions["jax"]
    assert set(found.course_records) == set(records)
    assert "from the course's own records: numpy, torch" in str(found)
    mine = {"jax": records["jax"].with_(origin="notebook", machine="Toy 1"), "torch": records["torch"]}
    found = claim("A15", measured=1.4, scope=SCOPE, records=mine)
    assert found.course_records == ("torch",)
    assert "and Toy 1" in found.machine


# --- the ledger


def test_the_last_run_of_each_notebook_counts_and_notebooks_are_told_apart(course_home: Path) -> None:
    assert claims.standing("B13").verdict is None
    claim("B13", measured=False, scope=SCOPE)
    claim("B13", measured=True, scope=SCOPE)
    assert (claims.standing("B13").verdict, claims.standing("B13").n_runs) == ("confirmed", 2)
    begin("01_digits", "compare")
    claim("B13", measured=False, scope=SCOPE)
    both = claims.standing("b13")
    assert [(each.place, each.verdict) for each in both.findings] == [
        ("01_digits@compare", "refuted"),
        ("01_digits@numpy", "confirmed"),
    ]
    assert both.verdict == "depends"
    assert list(json.loads((course_home / "claims.json").read_text())) == ["B13"]


def test_old_runs_are_dropped_and_a_finding_of_another_version_is_left_out(course_home: Path) -> None:
    for _ in range(claims.KEPT_RUNS + 2):
        claim("B12", measured=True, scope=SCOPE)
    path = course_home / "claims.json"
    kept = json.loads(path.read_text())
    assert len(kept["B12"]["01_digits@numpy"]) == claims.KEPT_RUNS
    del kept["B12"]["01_digits@numpy"][-1]["machine"]
    path.write_text(json.dumps(kept))
    assert claims.standing("B12").findings == ()


def test_an_untested_claim_says_why() -> None:
    written = {each.name for each in lessons()}
    coming = next(each for each in CLAIMS if each.kind == "M" and each.lessons == ("19",))
    state = claims.standing(coming.id).state
    assert state == f"not tested yet: lesson 19_pipeline{'' if '19_pipeline' in written else ' (to come)'}"
    assert claims.standing("B2").state == "not tested yet: lesson 00_start"
    assert claims.standing("A2").state.startswith("not testable here: it takes")
    assert claims.standing("A20").state.startswith("an opinion")


def test_course_claims_lists_all_and_shows_one_with_its_scope_and_date() -> None:
    found = claim("A15", measured={"a large step": 1.08, "a small step": 2.31}, scope=SCOPE)
    code, shown = course("claims")
    assert code == 0
    row = next(line for line in shown.splitlines() if line.startswith("A15 "))
    assert "depends" in row
    assert "a small step (2.31)" in row
    assert "1 of 48 claims tested by you" in shown
    code, shown = course("claims", "a15", "A35")
    assert code == 0
    assert f"{found.created[:10]}  depends: holds for a large step (1.08)" in shown
    assert f"scope: {found.full_scope}" in shown
    assert "A35  ZeRO-3" in shown


def test_course_claims_prints_json() -> None:
    claim("B12", measured=True, scope=SCOPE)
    code, shown = course("claims", "--json")
    rows = {row["id"]: row for row in json.loads(shown)["claims"]}
    assert (code, len(rows)) == (0, 48)
    assert (rows["B12"]["verdict"], rows["B12"]["findings"][0]["scope"]) == ("confirmed", SCOPE)
    assert (rows["A35"]["verdict"], rows["A35"]["findings"]) == (None, [])


def test_course_claims_refuses_an_unknown_one() -> None:
    code, shown = course("claims", "A36")
    assert code == 2
    assert "There is no claim 'A36'" in shown
