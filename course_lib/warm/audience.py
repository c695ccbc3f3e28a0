"""Holds a restarted kernel's first word back until somebody listens.

A kernel says once that it is starting, and JupyterLab shows a restarted one as unknown until it has heard that. An
ordinary kernel takes so long between opening its ports and saying it that everybody has connected by then.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

# A client whose first attempt found no port open tries again after 0.1 s.
MOST_SECONDS = 0.6
QUIET_SECONDS = 0.15


@contextlib.contextmanager
def awaited() -> Iterator[None]:
    """After the block, in which the kernel opens its ports, wait until some listen and a moment passes without more.

    Nothing is waited for with an ipykernel that does not greet its listeners.
    """
    from ipykernel.iostream import IOPubThread

    greet = getattr(IOPubThread, "_send_welcome_message", None)
    came = threading.Event()

    def greeting(self: Any, subscription: str) -> None:
        greet(self, subscription)  # type: ignore[misc]
        came.set()

    if greet is None:
        yield
        return
    IOPubThread._send_welcome_message = greeting  # type: ignore[method-assign]
    try:
        yield
        deadline = time.monotonic() + MOST_SECONDS
        if came.wait(MOST_SECONDS):
            came.clear()
            while came.wait(QUIET_SECONDS) and time.monotonic() < deadline:
                came.clear()
    finally:
        IOPubThread._send_welcome_message = greet  # type: ignore[method-assign]
