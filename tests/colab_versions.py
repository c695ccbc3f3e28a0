"""Reads the freeze files of Colab's runtimes (`tests/colab/`)."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from packaging.utils import canonicalize_name
from packaging.version import Version

FREEZE_FILES = sorted((Path(__file__).parent / "colab").glob("pip-freeze*.txt"))


def version_in_url(url: str) -> str | None:
    """The version in the file name of a wheel or source archive: `…/torch-2.11.0%2Bcpu-cp313-….whl` has 2.11.0+cpu."""
    name = unquote(url.split("#")[0]).rsplit("/", 1)[-1]
    found = re.match(r"[A-Za-z0-9_.]+?-(\d[^-]*)-.*\.whl$", name) or re.match(r".*-(\d[\d.]*)\.tar\.gz$", name)
    return found.group(1) if found else None


def shipped_versions(freeze: Path) -> dict[str, Version]:
    """Distribution name (canonical) → version, of every line. A package from a Git commit counts as version 0.

    The local part (+cu128) stays: it is what the installed package calls itself. Raises ValueError for a line that is
    neither `name==version` nor `name @ address`.
    """
    versions: dict[str, Version] = {}
    for line in map(str.strip, freeze.read_text(encoding="utf-8").splitlines()):
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"([A-Za-z0-9._-]+)(?:==| @ )(\S+)", line)
        if match is None:
            raise ValueError(f"{freeze.name}: cannot read {line!r}")
        name, value = match.groups()
        version = (version_in_url(value) or "0") if " @ " in line else value
        versions[canonicalize_name(name)] = Version(version)
    return versions
