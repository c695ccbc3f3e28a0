"""Versions of what a track computes with, read from the installed metadata, without importing anything."""

from __future__ import annotations

from importlib import metadata

from course_lib.frameworks import framework, keras_backend, require


def installed_versions(track: str) -> dict[str, str]:
    """Version per distribution of a track, NumPy's included.

    Raises FrameworkMissing with the pip command when the track's framework is not installed.
    """
    require(track, try_import=False)
    names = ["numpy", *(alternatives[0] for alternatives in framework(track).distributions)]
    alternatives = {a[0]: a for a in framework(track).distributions}
    if track == "keras":
        backend = framework(keras_backend())
        names.append(backend.distributions[0][0])
        alternatives[backend.distributions[0][0]] = backend.distributions[0]
    found: dict[str, str] = {}
    for name in names:
        for candidate in alternatives.get(name, (name,)):
            try:
                found[candidate] = metadata.version(candidate)
                break
            except metadata.PackageNotFoundError:
                continue
    return found
