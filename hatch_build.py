"""Puts the lessons and data cards into the wheel, where a learner without a clone finds them.

Plain `force-include` would also copy them beside an editable install, where the copy goes stale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = ("notebooks/**/*", "solutions/*/*.md", "solutions/*/records/*.*", "datasets/**/*")


class ShipTheLessons(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        for path in (path for pattern in SHIPPED for path in sorted(root.glob(pattern)) if path.is_file()):
            inside = path.relative_to(root)
            if not any(part.startswith((".", "__")) for part in inside.parts):
                build_data["force_include"][str(path)] = f"course_lib/_shipped/{inside.as_posix()}"
