"""Whether a host can be reached, answered in a few seconds: the course itself never needs the network."""

from __future__ import annotations

import socket
import threading


def reachable(host: str, *, port: int = 443, seconds: float = 3.0) -> bool:
    """Whether a connection to `host` opens within `seconds`; prints a sentence when it does not.

    Looking up a name has no timeout of its own, so it happens in a thread that is left behind when it takes too long.
    Also sets the default timeout of new sockets to ten times `seconds`, so that a download which stalls raises.
    """
    opened = threading.Event()

    def knock() -> None:
        try:
            with socket.create_connection((host, port), timeout=seconds):
                opened.set()
        except OSError:
            pass

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    thread.join(seconds)
    if not opened.is_set():
        print(f"{host} did not answer within {seconds:g} seconds, so this part is left out. Nothing else needs it.")
        return False
    socket.setdefaulttimeout(10 * seconds)
    return True
