"""Who handed something in, as far as the collection tells."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Student:
    """One student of a collection.

    `key` is unique within the collection, also where case or accents' composition are ignored, and safe as a file's
    name. `name` is for people. `ids` holds what the learning platform calls the student, for example
    {"canvas_user_id": "123"} or {"email": …, "sid": …}.
    """

    key: str
    name: str
    ids: dict[str, str] = field(default_factory=dict)
