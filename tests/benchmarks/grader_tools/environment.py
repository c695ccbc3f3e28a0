"""The other graders' own environments, each beside the course's: what is installed here is not installed again."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import venv
from pathlib import Path

from course_lib.grade.pool import ONE_THREAD

KERNEL = {
    "argv": ["", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python 3",
    "language": "python",
}


class ToolEnvironment:
    """A virtual environment with one tool in it; its kernel sees the course's packages after its own.

    Made once and kept in `cache`; `home` is the home of everything that runs there.
    """

    def __init__(self, cache: Path, package: str, version: str) -> None:
        self.folder = cache.absolute() / f"{package}-{version}"
        self.home = self.folder / "home"
        self.python = self.folder / "bin" / "python"
        if not (self.folder / "ready").exists():
            self._make(f"{package}=={version}")

    def program(self, name: str) -> Path:
        """One of the tool's commands."""
        return self.folder / "bin" / name

    def environ(self) -> dict[str, str]:
        """Variables for the tool: no settings of the user's, and one thread for arrays, as the course's grader has."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON"))}
        places = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "COURSE_HOME": str(self.home / "course"),
            "JUPYTER_DATA_DIR": str(self.home / "jupyter"),
            "JUPYTER_CONFIG_DIR": str(self.home / "settings"),
            "IPYTHONDIR": str(self.home / "ipython"),
            "MPLCONFIGDIR": str(self.home / "matplotlib"),
        }
        return kept | ONE_THREAD | places

    def _make(self, requirement: str) -> None:
        print(f"Installing {requirement} into {self.folder}", flush=True)
        venv.create(self.folder, with_pip=True, clear=True)
        [own] = self.folder.glob("lib/python*/site-packages")
        lines = "; ".join(f"site.addsitedir({path!r})" for path in site.getsitepackages())
        # Last in the order of files, so that the tool's own packages are found first.
        (own / "zz_course.pth").write_text(f"import site; {lines}\n")
        kernel = self.home / "jupyter" / "kernels" / "python3" / "kernel.json"
        kernel.parent.mkdir(parents=True)
        kernel.write_text(json.dumps({**KERNEL, "argv": [str(self.python), *KERNEL["argv"][1:]]}))
        pip = [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check", requirement]
        subprocess.run(pip, check=True, env=self.environ(), stderr=subprocess.DEVNULL)
        # Compiled files and the list of fonts are nobody's time.
        warm = "import matplotlib.font_manager, matplotlib_inline.backend_inline, course_lib.checks.digits"
        subprocess.run([str(self.python), "-c", warm], check=True, env=self.environ())
        (self.folder / "ready").touch()


def here() -> Path:
    """The folder of the commands of the environment that runs this."""
    return Path(sys.executable).parent
