"""What one run of the grader was: when, with which checks, and behind which walls. The file OUT/run.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from course_lib.errors import BadInput


@dataclass(frozen=True)
class Layer:
    """One layer of the sandbox. `detail` says what it stops, or why it is not there."""

    name: str
    active: bool
    detail: str = ""


@dataclass(frozen=True)
class RunInfo:
    """One run. Moments are ISO 8601 with offset; `finished_at` is "" while it runs or when it was ended early.

    `seed` is the secret from which every input was drawn, None when the operating system gave it. `timeout_seconds`
    is the time that one exercise may take, `layout` what kind of collection was read ("Canvas", "a folder"), `notes`
    what was odd about it, one sentence each.
    """

    run: str
    started_at: str
    finished_at: str = ""
    seed: int | None = None
    n_slots: int = 1
    sandbox: tuple[Layer, ...] = ()
    tracks: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    checks_sha256: str = ""
    timeout_seconds: float | None = None
    layout: str = ""
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float | None:
        """How long the run took, None when it has no end or its moments cannot be read."""
        try:
            ends = datetime.fromisoformat(self.finished_at), datetime.fromisoformat(self.started_at)
            return (ends[0] - ends[1]).total_seconds()
        except (ValueError, TypeError):
            return None

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> RunInfo:
        """From a JSON object; what it does not know is left out. Raises BadInput when `run` or `started_at` lacks."""
        known = {name: raw[name] for name in (f.name for f in fields(cls)) if name in raw}
        if missing := {"run", "started_at"} - known.keys():
            raise BadInput(
                f"A run should have `run` and `started_at`; {', '.join(sorted(missing))} is missing.",
                action="Give the folder that `course grade` wrote, with its own run.json.",
            )
        known["sandbox"] = tuple(
            Layer(str(one["name"]), bool(one["active"]), str(one.get("detail", ""))) for one in raw.get("sandbox", ())
        )
        for name in ("tracks", "notes"):
            known[name] = tuple(map(str, raw.get(name, ())))
        return cls(**known)
