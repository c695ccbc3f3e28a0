"""An attack: a function that raises when it is stopped, and what to look at afterwards when that is not enough."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class World:
    """What there is to attack. `folder` belongs to the grader's user, as does the process `victim`."""

    folder: Path
    readable: Path
    other_student: Path
    sealed: Path
    solution: Path
    check: Path
    named_socket: str
    abstract_socket: str
    port: int
    port6: int
    victim: int
    grader: int
    secret: str


@dataclass(frozen=True)
class Attack:
    """`run` raises when it is stopped. `damage` looks at the world afterwards: "" when nothing happened to it.

    `free`: it may be run without a sandbox, too, where it must succeed.
    """

    name: str
    run: Callable[[World], object]
    damage: Callable[[World], str] | None
    free: bool


ATTACKS: dict[str, Attack] = {}


def attack(
    *, damage: Callable[[World], str] | None = None, free: bool = True
) -> Callable[[Callable[[World], object]], Callable[[World], object]]:
    """Register a function under its own name."""

    def register(function: Callable[[World], object]) -> Callable[[World], object]:
        ATTACKS[function.__name__] = Attack(function.__name__, function, damage, free)
        return function

    return register


def victim_is_dead(world: World) -> str:
    time.sleep(0.02)
    return "" if os.path.exists(f"/proc/{world.victim}") else "the victim is dead"


def victim_was_signalled(world: World) -> str:
    """The victim writes down that it got SIGURG."""
    return "the victim got the signal" if (world.folder / "signalled").exists() else ""


@contextlib.contextmanager
def opened(path: str | Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    fd = os.open(path, flags)
    try:
        yield fd
    finally:
        os.close(fd)
