"""A submission runs on as little of the course as it needs, and gets the same names for it."""

from __future__ import annotations

from course_lib.grade.cells import all_cells, needed_cells

SET_UP = 'import course_lib\ncourse_lib.begin("01_digits", "numpy")'
COURSE = [
    SET_UP,
    "import numpy as np, json\nfrom course_lib import check, plot",
    "scale = 3\nlength = 4\nwaste = [i for i in range(10)]",
    "# exercise: a/first\ndef first(x):\n    raise NotImplementedError",
    'check("a/first", first)\nprint(first(length))',
    "box = {}\nbox['scale'] = scale\nother = {}\nother['x'] = 1",
    "plot.images(waste)\nbox.update(more=1)",
    "# exercise: a/second\ndef second(x):\n    raise NotImplementedError",
    'verdict = check("a/second", second)',
    'check("a/third", first)',
]


def sources(answers: dict[str, str], exercises: tuple[str, ...] = ("a/first", "a/second")) -> dict[int, str]:
    return {cell.number: cell.source for cell in needed_cells(COURSE, answers, exercises)}


def test_an_answer_that_reads_nothing_gets_the_checks_alone() -> None:
    kept = sources({"a/first": "# exercise: a/first\ndef first(x):\n    return x"})
    assert kept[1] == "from course_lib import check"
    assert kept[4] == "check('a/first', first)"
    assert kept[8] == "verdict = check('a/second', second)"
    assert set(kept) == {1, 3, 4, 7, 8}


def test_what_an_answer_reads_comes_with_what_that_is_made_of_and_changed_by() -> None:
    kept = sources({"a/second": "# exercise: a/second\ndef second(x):\n    return np.sum(x) * box['scale']"})
    assert kept[1] == "import numpy as np\nfrom course_lib import check"
    assert kept[2] == "scale = 3"
    assert kept[5] == "box = {}\nbox['scale'] = scale"
    assert kept[6] == "box.update(more=1)"


def test_a_statement_in_an_answer_cell_counts_as_well_as_its_function() -> None:
    kept = sources({"a/first": "# exercise: a/first\ndef first(x):\n    return x\nprint(json.dumps(length))"})
    assert kept[1] == "import json\nfrom course_lib import check"
    assert kept[2] == "length = 4"


def test_only_the_wanted_exercises_are_checked() -> None:
    assert 8 not in sources({}, ("a/first",))
    assert 9 in sources({}, ("a/third",))


def test_a_hole_stands_there_for_those_that_call_it() -> None:
    alone = {"a/second": "# exercise: a/second\ndef second(x):\n    return x"}
    calling = {"a/second": "# exercise: a/second\ndef second(x):\n    return first(x)"}
    assert set(sources(alone, ("a/second",))) == {1, 7, 8}
    assert set(sources(calling, ("a/second",))) == {1, 3, 7, 8}


def test_an_answer_that_is_no_python_does_not_stop_the_others() -> None:
    kept = sources({"a/first": "# exercise: a/first\ndef first(:", "a/second": "# exercise: a/second\nsecond = scale"})
    assert kept[3] == "# exercise: a/first\ndef first(:"
    assert kept[2] == "scale = 3"


def test_the_set_up_cell_is_never_run_and_everything_else_can_be() -> None:
    cells = all_cells(COURSE, {"a/first": "# exercise: a/first\nfirst = len"})
    assert [cell.number for cell in cells] == list(range(1, 10))
    assert cells[2].source.endswith("first = len")
    assert cells[2].exercise == "a/first"
    assert "NotImplementedError" in cells[6].source
