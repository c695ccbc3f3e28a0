"""`course glossary`: one idea, its name in every framework, and the lesson that introduces it."""

from __future__ import annotations

from typing import Annotated

import typer

from course_lib.cli.console import console, print_json, say, table


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("glossary")(show)


def show(
    word: Annotated[
        list[str] | None, typer.Argument(help="An idea, or a name in a framework; all when left out.", metavar="WORD")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """What an idea is, in one sentence, what each framework calls it, and which lesson introduces it.

    **Examples**

    - `course glossary`
    - `course glossary dropout`
    - `course glossary GradientTape`
    - `course glossary learning rate --json`
    """
    from course_lib.glossary import find, ideas

    found = find(" ".join(word)) if word else ideas()
    if as_json:
        print_json({"ideas": [each.to_dict() for each in found]})
    elif word:
        say("\n\n".join(map(str, found)))
    else:
        made = table("idea", "in one sentence", "lesson")
        for each in found:
            made.add_row(each.idea, each.says, each.lesson)
        console().print(made)
        say("\nIts name in each framework: course glossary WORD")
