"""`course list`: the map of all lessons with this learner's progress, and the paths through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.console import console, note, print_json, say, table
from course_lib.errors import CannotSave

if TYPE_CHECKING:
    from course_lib.course_map import CourseMap, PathMap


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("list")(show)


def show(
    path: Annotated[
        str | None,
        typer.Option("--path", help="A way through the course: first-network, torch-to-jax, deploy or scale."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """The map: all lessons, those that are written and those to come, and what you have solved in each track.

    A core exercise is solved once per lesson and then counts in every track; an idiom exercise counts in its own. With
    --path, one way through the course: its lessons in order, what each is good for, and which is next.

    **Examples**

    - `course list`
    - `course list --path first-network`
    - `course list --json`
    """
    from course_lib import course_map
    from course_lib.progress import Progress

    progress = Progress.load()
    home, problem = _home(), progress.damaged or ""
    if path is not None:
        way = course_map.path(path, progress)
        if as_json:
            following = way.next.to_dict() if way.next is not None else None
            print_json({"path": way.path.name, "title": way.path.title, "assumes": way.path.assumes,
                        "steps": [stop.to_dict() for stop in way.stops], "next": following,
                        "home": home, "problem": problem})  # fmt: skip
        else:
            _show_path(way)
    else:
        drawn = course_map.draw(progress)
        if as_json:
            rows = [place.to_dict() for place in drawn.places]
            print_json({"lessons": rows, "paths": _paths(), "home": home, "problem": problem})
        else:
            _show(drawn)
    if progress.damaged is not None:
        raise typer.Exit(CannotSave.exit_code)


def _show(drawn: CourseMap) -> None:
    from course_lib.course_map import TO_COME, tracks_text
    from course_lib.frameworks import TRACKS, missing_distributions

    made = table("lesson", "title", "minutes", "tracks, with solved/exercises", right=("minutes",))
    for stage, places in drawn.stages.items():
        made.add_section()
        made.add_row(f"[bold]{stage}[/bold]")
        for place in places:
            minutes = TO_COME if place.minutes is None else str(place.minutes)
            made.add_row(f"  {place.name}", place.title, minutes, tracks_text(place))
    console().print(made)
    say(f"\n{drawn.summary}")
    say("Open a lesson with: course lab LESSON --track TRACK")
    say(f"Follow a path with: course list --path {' | '.join(_paths())}")
    shown = {track for place in drawn.places if place.written for track in place.tracks}
    if missing := [track for track in TRACKS if track in shown and missing_distributions(track)]:
        note(f"Not installed here: {', '.join(missing)} (see: course doctor)")


def _show_path(way: PathMap) -> None:
    from course_lib.course_map import TO_COME

    say(f"{way.path.title}. It assumes {way.path.assumes}.\n")
    made = table("", "lesson", "track", "solved", "why here", right=("", "solved"))
    for number, stop in enumerate(way.stops, 1):
        state = str(stop.standing) if stop.place.written else TO_COME
        made.add_row(str(number), stop.step.lesson, stop.step.track, state, stop.step.reason)
    console().print(made)
    say(f"\n{way.next_text}")


def _paths() -> list[str]:
    from course_lib.plan import PATHS

    return [path.name for path in PATHS]


def _home() -> str:
    from course_lib.home import home_path

    return str(home_path())
