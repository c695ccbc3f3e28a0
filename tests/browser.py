"""JupyterLab in headless Chromium, driven through the DevTools protocol with real key presses."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1300,1000",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
# key: (DOM code, Windows key number, text that it types)
KEYS = {
    "Tab": ("Tab", 9, ""),
    " ": ("Space", 32, " "),
    "Enter": ("Enter", 13, "\r"),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "Delete": ("Delete", 46, ""),
}


def _wait(what: str, found: Any, seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.1)
    raise TimeoutError(f"{what} did not come within {seconds:.0f} s")


class Page:
    """One page of the browser."""

    def __init__(self, address: str) -> None:
        import websocket

        self._socket = websocket.create_connection(address, timeout=60, suppress_origin=True)
        self._number = 0

    def close(self) -> None:
        self._socket.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol and return its result; raises RuntimeError when it is refused."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, a promise's when it is one."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script: str, seconds: float = 60) -> Any:
        """Wait until a JavaScript expression is true, and return it."""
        return _wait(script, lambda: self.run(script), seconds)

    def press(self, key: str, *, shift: bool = False, control: bool = False) -> None:
        """Press and release one key, as a person's keyboard would."""
        code, number, text = KEYS[key] if key in KEYS else (f"Key{key.upper()}", ord(key.upper()), key)
        modifiers = (8 if shift else 0) | (2 if control else 0)
        common = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        down = {"text": text} if text and not control else {}
        self.call("Input.dispatchKeyEvent", type="keyDown" if down else "rawKeyDown", **common, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text: str) -> None:
        """Type a text, a line end being the Enter key."""
        for character in text:
            if character == "\n":
                self.press("Enter")
            else:
                self.call("Input.dispatchKeyEvent", type="char", text=character)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def _process(command: list[str], env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=env, stdout=file, stderr=file)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


OPTIONS = (
    "--port-retries=0",
    "--IdentityProvider.token=",
    "--ServerApp.disable_check_xsrf=True",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--allow-root",
)


@contextmanager
def lab(folder: Path, notebook: str, scratch: Path) -> Iterator[Page]:
    """JupyterLab serving `folder`, with `notebook` open in Chromium; everything else of theirs goes to `scratch`."""
    port = _free_port()
    server = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}", f"--ServerApp.root_dir={folder}"]
    with _opened([*server, *OPTIONS], _environment(scratch), port, notebook, scratch) as page:
        yield page


@contextmanager
def course_lab(scratch: Path, lesson: str, track: str, notebook: str, *more: str) -> Iterator[Page]:
    """What `course lab LESSON --track TRACK` serves from the learner's home, `scratch`/home, with `notebook` open."""
    port = _free_port()
    env = _environment(scratch)
    for name in ("COURSE_WARM_FOLDER", "COURSE_WARM_WAIT_SECONDS", "JUPYTER_DEFAULT_PROVISIONER_NAME"):
        env.pop(name, None)
    server = [sys.executable, "-c", "from course_lib.cli import main; main()", "lab", lesson, f"--track={track}", *more]
    server += ["--no-browser", f"--port={port}", *OPTIONS]
    with _opened(server, env, port, notebook, scratch) as page:
        yield page


def _environment(scratch: Path) -> dict[str, str]:
    settings = scratch / "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    # Otherwise cells outside the window are not in the page.
    settings.write_text(json.dumps({"windowingMode": "none"}))
    env = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(scratch / "settings"), "COURSE_HOME": str(scratch / "home")}
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR", "HOME"):
        (scratch / name.lower()).mkdir(exist_ok=True)
        env[name] = str(scratch / name.lower())
    return env


@contextmanager
def _opened(server: list[str], env: dict[str, str], port: int, notebook: str, scratch: Path) -> Iterator[Page]:
    profile = scratch / "profile"
    with _process(server, env, scratch / "lab.log"):
        address = f"http://127.0.0.1:{port}"
        _wait("JupyterLab", lambda: _answers(f"{address}/api"), 60)
        browser = [CHROMIUM or "", *FLAGS, f"--user-data-dir={profile}", f"{address}/lab/tree/{notebook}?reset"]
        with _process(browser, env, scratch / "chromium.log"):
            page = Page(_page_address(profile))
            try:
                yield page
            finally:
                page.close()


def _page_address(profile: Path) -> str:
    def first_page() -> str:
        try:
            port = (profile / "DevToolsActivePort").read_text().split("\n")[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=5) as answer:
                pages = json.load(answer)
        except (OSError, ValueError):
            return ""
        return next((str(page["webSocketDebuggerUrl"]) for page in pages if page["type"] == "page"), "")

    address: str = _wait("Chromium", first_page, 60)
    return address
