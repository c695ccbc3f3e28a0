"""Built notebooks are current, the same each time, and clean."""

import json
from pathlib import Path
from typing import Any

import pytest

from course_lib import build
from course_lib.build.execute import execute
from course_lib.build.notebook import make_notebook, to_text
from course_lib.errors import CourseError
from course_lib.lessons import lessons

NOTEBOOKS = [(each, track) for each in lessons() for track in each.notebooks]
IDS = [each.notebook(track) for each, track in NOTEBOOKS]


def test_everything_that_is_built_is_current() -> None:
    assert build.build_lessons(check=True).stale == []


def test_a_changed_source_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(lesson: Any, track: str, form: Any) -> dict[str, Any]:
        notebook = make_notebook(lesson, track, form)
        notebook["cells"][2]["source"] = ["changed"]
        return notebook

    monkeypatch.setattr(build, "make_notebook", changed)
    stale = build.build_lessons(["00_start"], check=True).stale
    assert stale == ["notebooks/00_start/start_numpy.ipynb", "solutions/00_start/start_numpy.ipynb"]


def test_an_edited_output_does_not_make_a_solution_stale_but_an_edited_cell_does(
    repository: Path, tmp_path: Path
) -> None:
    lesson, track = NOTEBOOKS[0]
    built = json.loads((repository / "solutions" / lesson.notebook(track)).read_text())
    fresh = make_notebook(lesson, track, "solution")
    for cell in built["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    (tmp_path / "n.ipynb").write_text(json.dumps(built))
    assert build.is_current(tmp_path / "n.ipynb", fresh)
    built["cells"][0]["source"].append("edited")
    (tmp_path / "n.ipynb").write_text(json.dumps(built))
    assert not build.is_current(tmp_path / "n.ipynb", fresh)
    (tmp_path / "n.ipynb").write_text("{half")
    assert not build.is_current(tmp_path / "n.ipynb", fresh)


@pytest.mark.parametrize(("lesson", "track"), NOTEBOOKS, ids=IDS)
def test_building_twice_gives_the_same_bytes(lesson: Any, track: str) -> None:
    for form in ("learner", "solution"):
        assert to_text(make_notebook(lesson, track, form)) == to_text(make_notebook(lesson, track, form))


def toy(code: str) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": [code]}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def test_a_failing_cell_stops_the_build_and_is_named() -> None:
    with pytest.raises(CourseError, match="toy") as failure:
        execute(toy("1 / 0"), "toy.ipynb")
    assert "ZeroDivisionError" in str(failure.value)


def test_executing_keeps_outputs_and_nothing_of_the_front_end() -> None:
    done = execute(toy("import os\nprint(os.environ['COURSE_HOME'] != '')\n1 + 1"), "toy.ipynb")
    assert done["cells"][0]["outputs"][0]["text"] == ["True\n"]
    assert set(done["metadata"]) == {"kernelspec"}
    assert done["cells"][0]["metadata"] == {}
