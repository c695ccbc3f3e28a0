"""`course claims`: what the articles claim, and what this learner's own measurements say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from course_lib.cli.console import console, print_json, say, table

if TYPE_CHECKING:
    from course_lib.claims import Standing


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("claims")(show)


def show(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Claims like A15, B3; all when left out.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """The claims ledger: what two articles say about frameworks, and what you have measured of it so far.

    A verdict comes from your own notebooks: confirmed, refuted, depends, too noisy to say, or not testable here. Name a
    claim to see its test, its threshold, and each measurement with its scope and date.

    **Examples**

    - `course claims`
    - `course claims A15 B13`
    - `course claims --json`
    """
    from course_lib.claims import ledger, standing

    found = [standing(each) for each in ids] if ids else ledger()
    if as_json:
        print_json({"claims": [each.to_dict() for each in found]})
    elif ids:
        say("\n\n".join(_card(each) for each in found))
    else:
        _show(found)


def _show(found: list[Standing]) -> None:
    made = table("id", "claim", "state", "measured")
    for each in found:
        last = max(each.findings, key=lambda finding: finding.created, default=None)
        made.add_row(each.claim.id, each.claim.text, each.state, last.measured if last is not None else "")
    console().print(made)
    tested = sum(each.verdict is not None for each in found)
    say(f"\n{tested} of {len(found)} claims tested by you. The scope of each verdict: course claims ID")


def _card(each: Standing) -> str:
    from course_lib.claim_table import KINDS

    one = each.claim
    rows = [("state", each.state), ("kind", KINDS[one.kind]), ("test", one.test)]
    if one.threshold is not None:
        rows.append(("holds if", f"{one.threshold} (written before your run)"))
    if one.beyond:
        rows.append(("beyond", one.beyond))
    lines = [f"{one.id}  {one.text}", *(f"  {label:<10}{text}" for label, text in rows)]
    for finding in each.findings:
        limit = f" (holds if {finding.threshold})" if finding.threshold else ""
        lines.append(f"  {finding.created[:10]}  {finding.verdict}: {finding.measured}{limit}")
        lines.append(f"              scope: {finding.full_scope}")
    return "\n".join(lines)
