"""The command `course`: one group, one place where errors become a message and an exit code."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from course_lib import __version__
from course_lib.errors import CourseError

UNEXPECTED = 70
INTERRUPTED = 130

HELP = """One course, every deep learning framework.

Start with `course doctor` (what works on this machine?), then `course lab` (work through the lessons in JupyterLab).
`course COMMAND --help` shows examples.

Everything of yours, notebooks, progress and records, lies in ~/every-framework, or in the folder that the
environment variable COURSE_HOME names.
"""

EXIT_CODES = {
    0: "done, and all is well",
    1: "a check did not pass, a run failed, or something is stale",
    2: "wrong usage, or no such lesson, track or file",
    3: "something could not be saved; what was there before is untouched",
    4: "a framework is missing",
    5: "a framework is installed, but broken",
    6: "hardware and framework do not match",
    7: "a lesson source is wrong",
    8: "the checker itself broke",
    9: "the file is not a notebook of the course",
    10: "students' code cannot be isolated on this machine",
    UNEXPECTED: "an error of the course's own: please report it",
    INTERRUPTED: "interrupted",
}
EPILOG = "**Exit codes**\n\n" + "\n\n".join(f"- {code}: {meaning}" for code, meaning in EXIT_CODES.items())


class CourseGroup(TyperGroup):
    """The only place where a CourseError ends: its message and action on stderr, its exit code, no traceback."""

    def invoke(self, ctx: Any) -> Any:
        debug = bool(ctx.params.get("debug"))
        try:
            return super().invoke(ctx)
        except CourseError as error:
            if debug:
                raise
            _tell(error)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if debug or _is_usage(error):
                raise
            print(
                f"An error of the course's own: {type(error).__name__}: {error}\n"
                f"Please report it with the output of: course --debug {' '.join(sys.argv[1:])}",
                file=sys.stderr,
            )
            raise typer.Exit(UNEXPECTED) from None


def _tell(error: CourseError) -> None:
    print(f"Error: {error.message}", file=sys.stderr)
    if error.action:
        print(f"What to do: {error.action}", file=sys.stderr)


def _is_usage(error: Exception) -> bool:
    """Whether this is the command line library's own complaint, which it prints and turns into exit code 2 itself."""
    return hasattr(error, "exit_code") and hasattr(error, "format_message")


app = typer.Typer(
    name="course",
    cls=CourseGroup,
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"every-framework {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    del version, debug


def main() -> None:
    """Run the command line; the console script `course`."""
    app()


from course_lib.cli import (  # noqa: E402
    building,
    checking,
    diffing,
    doctor,
    glossary,
    grading,
    lab,
    ledger,
    listing,
    predictions,
    running,
    warming,
)

COMMANDS = (doctor, lab, listing, diffing, glossary, ledger, predictions, running, building, checking, grading, warming)
for module in COMMANDS:
    module.register(app)
