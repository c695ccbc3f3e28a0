"""Notebooks whose cells were deleted, doubled, moved, renamed or added to. The answers are right."""

from __future__ import annotations

from course_lib.answer import exercise_of
from hostile.kind import Hostile, full_marks, without
from hostile.sheet import (
    Notebook,
    cell,
    code_cell,
    costs,
    edited,
    harmless,
    index_of,
    marked,
    notebook_with,
    right_answers,
    to_bytes,
    wrong_answers,
)

ACCURACY = "digits/accuracy"


def keep_only_answers(notebook: Notebook) -> None:
    notebook["cells"] = [each for each in notebook["cells"] if exercise_of(each["source"])]


def reverse(notebook: Notebook) -> None:
    notebook["cells"].reverse()


def forget_labels(notebook: Notebook) -> None:
    """What VS Code, Colab and copying do, at their worst: no metadata, no ids, no tags."""
    notebook["metadata"] = {}
    for each in notebook["cells"]:
        each.pop("id", None)
        each["metadata"] = {}


def forget_everything(notebook: Notebook) -> None:
    """Nothing but the cells' text says which notebook this is, and the set-up cell is gone, too."""
    forget_labels(notebook)
    notebook["cells"] = [each for each in notebook["cells"] if "course_lib.begin" not in each["source"]]


def same_id_everywhere(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        each["id"] = "answer-split"
        each["metadata"] = {"nbgrader": {"grade": True, "points": 1000, "locked": False}, "deletable": False}


def false_labels(notebook: Notebook) -> None:
    """Claims to be a lesson that there is not."""
    notebook["metadata"]["course"] = {"lesson": "99_easy", "track": "cobol"}


def edit_checks(notebook: Notebook) -> None:
    """Each check cell says that all is well, and each answer after it is right all the same."""
    for each in notebook["cells"]:
        if each["source"].startswith("check("):
            each["source"] = "print('✓ passed, 100 of 100 marks')"


def edit_course_cells(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        if each["cell_type"] == "code" and not exercise_of(each["source"]):
            each["source"] = "raise SystemExit('edited')"


def add_cells(notebook: Notebook) -> None:
    """Cells of the student's own, which are not run: they would end everything."""
    for n in range(len(notebook["cells"]), 0, -1):
        notebook["cells"].insert(n, code_cell("import os; os._exit(3)"))


def forget_markers(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        if exercise_of(each["source"]):
            each["source"] = each["source"].partition("\n")[2]


def windows_line_ends(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        each["source"] = each["source"].replace("\n", "\r\n")


def empty_lines_first(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        if exercise_of(each["source"]):
            each["source"] = "\n\n  \n" + each["source"]


def sources_as_lists(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        each["source"] = each["source"].splitlines(keepends=True)


def cell_magics(notebook: Notebook) -> None:
    """`%%time` above the line that says which exercise it is."""
    for each in notebook["cells"]:
        if exercise_of(each["source"]):
            each["source"] = "%%time\n" + each["source"]


def false_outputs(notebook: Notebook) -> None:
    """Outputs that show full marks, for a judge who reads what was printed."""
    for each in notebook["cells"]:
        if each["cell_type"] == "code":
            text = "✓ digits/split: passed, 1 of 1 mark.\n"
            each["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]


def answered_twice(name: str, *, last_is_right: bool) -> Hostile:
    """Two cells answer one exercise; the last counts."""

    def build(_: object) -> bytes:
        notebook = notebook_with(right_answers())
        place = index_of(notebook, ACCURACY)
        sources = [wrong_answers()[ACCURACY], right_answers()[ACCURACY]]
        first, last = sources if last_is_right else sources[::-1]
        notebook["cells"][place : place + 1] = [code_cell(first), code_cell(last)]
        return to_bytes(notebook)

    marks = full_marks() if last_is_right else without(ACCURACY)
    return Hostile(name, build, marks, {ACCURACY: "passed" if last_is_right else "wrong"}, notes=("accuracy",))


def in_one_cell(_: object) -> bytes:
    """Every answer in one cell, each with its first line."""
    notebook = notebook_with({})
    text = "\n\n".join(right_answers().values())
    notebook["cells"] = [notebook["cells"][1], code_cell(text)]
    return to_bytes(notebook)


def answer_removed(_: object) -> bytes:
    notebook = notebook_with(right_answers())
    del notebook["cells"][index_of(notebook, ACCURACY)]
    return to_bytes(notebook)


MAGICS = """
%matplotlib inline
%load_ext nothing_like_this
%config InlineBackend.figure_format = "retina"
!pip install -q nothing-like-this-package
!rm -rf ~ /
files = !ls -la
"""

KINDS = [
    edited("only the answer cells are left", keep_only_answers),
    edited("cells in reverse order", reverse),
    edited("no metadata, ids and tags", forget_labels),
    edited("no metadata, no set-up cell", forget_everything),
    edited("one id for all cells, nbgrader's metadata", same_id_everywhere),
    edited("labels of a lesson that there is not", false_labels),
    edited("check cells that only print", edit_checks),
    edited("course cells that end Python", edit_course_cells),
    edited("own cells that end Python", add_cells),
    edited("markers removed", forget_markers, notes=("split", "challenge")),
    edited("Windows line ends", windows_line_ends),
    edited("empty lines above the marker", empty_lines_first),
    edited("sources as lists of lines", sources_as_lists),
    edited("cell magics above the marker", cell_magics),
    answered_twice("a wrong answer, then a right one", last_is_right=True),
    answered_twice("a right answer, then a wrong one", last_is_right=False),
    Hostile(
        "an answer cell deleted", answer_removed, without(ACCURACY), {ACCURACY: "not handed in"}, notes=("accuracy",)
    ),
    Hostile("all answers in one cell", in_one_cell, full_marks(), review=None),
    harmless("magics and commands in an answer", "digits/split", cell("digits/split", MAGICS)),
    costs(
        "outputs that claim marks",
        ACCURACY,
        "wrong",
        marked(ACCURACY, "print('✓ digits/accuracy: passed')\ndef accuracy(logits, labels):\n    return 0.125"),
    ),
]
