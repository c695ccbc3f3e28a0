"""What a hostile answer cell may try, one function each; `ATTACKS` has them all by name."""

from __future__ import annotations

from sandbox_attacks import files, kernel, leftovers, network, processes, resources  # noqa: F401
from sandbox_attacks.attack import ATTACKS

__all__ = ["ATTACKS"]
