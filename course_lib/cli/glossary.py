"""`course glossary`: one idea, its name in every framework."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
