"""What a class adds to the course: a folder with Python files of checks, and in class.toml the exercises they judge.

The files use `exercise_check` and `private_case` of course_lib.verdict. They are loaded by slots only: no process that
runs a student's code can read the folder.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from course_lib.errors import BadSource, NotFound
from course_lib.grade.class_settings import ClassSettings, PrivateExercise, read_class_settings
from course_lib.kinds import HOLE
from course_lib.lessons import exercise
from course_lib.verdict import exercises_with_private_cases, find_check

CLASS_FILE = "class.toml"


def class_settings(checks: Path | None, class_file: Path | None) -> ClassSettings:
    """The settings of the class: from `class_file`, else from class.toml in the folder of checks, else none.

    Raises NotFound when a named file or folder is not there.
    """
    if checks is not None and not checks.is_dir():
        raise NotFound(f"There is no folder {checks} with checks.", action="Give --checks a folder.")
    if class_file is None and checks is not None and (checks / CLASS_FILE).is_file():
        class_file = checks / CLASS_FILE
    return ClassSettings() if class_file is None else read_class_settings(class_file)


def load_private_checks(checks: Path | None, settings: ClassSettings) -> tuple[PrivateExercise, ...]:
    """Load the folder's Python files, and return the class's exercises.

    Raises BadSource for a file that cannot be loaded, and when an exercise has no check or a case no exercise.
    """
    for path in sorted(checks.glob("*.py")) if checks is not None else ():
        _load(path)
    private = {each.exercise.id for each in settings.private}
    for name in sorted(private):
        try:
            find_check(name)
        except NotFound:
            raise BadSource(
                f"The class's exercise {name} has no check.",
                action=f'Write one into a Python file of the folder of --checks: @exercise_check("{name}", hints=(…)).',
            ) from None
    for name in exercises_with_private_cases():
        if name not in private:
            exercise(name)
    return settings.private


def hole(private: PrivateExercise) -> str:
    """The answer cell as it would stand in a learner's notebook, for who did not answer."""
    name = private.exercise.id
    return f'# exercise: {name}\ndef {private.answer}(*_, **__):\n    raise NotImplementedError("{name}: {HOLE}")\n'


def check_cell(private: PrivateExercise) -> str:
    """The cell that checks it."""
    return f'check("{private.exercise.id}", {private.answer})'


def _load(path: Path) -> None:
    name = f"course_class_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadSource(
            f"{path} cannot be loaded: {type(error).__name__}: {error}.", action="Mend it; try it with plain Python."
        ) from error
