"""Collections of hand-ins, made for tests: as a folder, and as a zip file."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


def as_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    """The files below a new folder; a path that ends in / is an empty folder."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return folder


def as_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    """The files in a new zip file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def zipped(folder: Path, files: Mapping[str, bytes]) -> bytes:
    """The bytes of a zip file; `folder` is for a moment its place."""
    path = as_zip(folder / "made.zip", files)
    data = path.read_bytes()
    path.unlink()
    return data
