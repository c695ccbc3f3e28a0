"""Which frameworks this Python has: a table of tracks, and three answers: ready, missing, broken.

Missing means that a distribution has no metadata; broken means that importing fails, and this is tried in a process of
its own, so that asking imports nothing here. The module of a track, `frameworks/<track>.py`, imports its framework.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course_lib.errors import BadInput, FrameworkBroken, FrameworkMissing, NotFound
from course_lib.process import run_python

State = Literal["ready", "missing", "broken"]

IMPORT_SECONDS = 180.0


@dataclass(frozen=True)
class Framework:
    """What a track needs; each entry of `distributions` lists names of which one is enough, the main entry first."""

    track: str
    title: str
    extra: str
    distributions: tuple[tuple[str, ...], ...]
    imports: tuple[str, ...]


@dataclass(frozen=True)
class Status:
    """Whether a track can be used here.

    `version` is that of the main distribution, None when it is missing; `cause` is "" when ready, else a few lines that
    say what is missing or how the import failed.
    """

    track: str
    state: State
    version: str | None
    extra: str
    cause: str = ""


TABLE: dict[str, Framework] = {
    framework.track: framework
    for framework in (
        Framework("numpy", "NumPy", "lab", (("numpy",),), ("numpy",)),
        Framework("torch", "PyTorch", "torch", (("torch",),), ("torch",)),
        Framework("fastai", "fastai", "fastai", (("fastai",), ("torch",)), ("fastai.basics",)),
        Framework("keras", "Keras", "keras", (("keras",),), ("keras",)),
        Framework("jax", "JAX", "jax", (("jax",), ("flax",), ("optax",)), ("jax", "flax", "optax")),
        Framework(
            "tensorflow",
            "TensorFlow",
            "tensorflow",
            (("tensorflow-cpu", "tensorflow", "tensorflow-macos"),),
            ("tensorflow",),
        ),
    )
}
TRACKS = tuple(TABLE)
KERAS_BACKENDS = ("jax", "torch", "tensorflow")
# What Keras writes into its settings file when there is none. Source: keras/src/backend/config.py of Keras 3.15.1.
KERAS_UNTOUCHED = {
    "floatx": "float32",
    "epsilon": 1e-07,
    "backend": "tensorflow",
    "image_data_format": "channels_last",
}


def framework(track: str) -> Framework:
    """What a track needs. Raises NotFound for a track that the course does not have."""
    if track not in TABLE:
        raise NotFound(
            f"There is no track {track!r}; the course has {', '.join(TRACKS)}.", action="Use one of these names."
        )
    return TABLE[track]


def installed_version(track: str) -> str | None:
    """The version of the track's main distribution, or None when it has no metadata. Takes milliseconds."""
    return _version(framework(track).distributions[0])


def missing_distributions(track: str) -> list[str]:
    """Which distributions of a track have no metadata; [] when all are there. Takes milliseconds, imports nothing."""
    missing = [names[0] for names in framework(track).distributions if _version(names) is None]
    if track == "keras" and not missing:
        backend = keras_backend()
        if _version(TABLE[backend].distributions[0]) is None:
            missing = [TABLE[backend].distributions[0][0]]
    return missing


def status(track: str, *, try_import: bool = True) -> Status:
    """Whether a track is ready, missing or broken.

    With `try_import` its packages are imported in a process of their own (1 to 10 seconds); without, a broken framework
    counts as ready. Raises NotFound for a track that the course does not have.
    """
    found = framework(track)
    version = installed_version(track)
    missing = missing_distributions(track)
    if missing:
        return Status(track, "missing", version, found.extra, _missing_cause(track, version, missing))
    cause = import_failure(track) if try_import else ""
    return Status(track, "broken" if cause else "ready", version, found.extra, cause)


def require(track: str, *, try_import: bool = True) -> Status:
    """The status of a track that is ready.

    Raises FrameworkMissing, with the pip command, or FrameworkBroken, with the end of what the import printed as its
    `__cause__`. With `try_import=False` only a missing one is noticed, in milliseconds.
    """
    found = status(track, try_import=try_import)
    if found.state == "missing":
        raise FrameworkMissing(
            f"The {track} track needs {TABLE[track].title}: {found.cause}",
            action=f"Install it: {install_command(track)}",
        )
    if found.state == "broken":
        raise broken(track, ImportError(found.cause))
    return found


def broken(track: str, error: BaseException) -> FrameworkBroken:
    """The teaching error for a framework that is installed but cannot be imported; `error` becomes its cause."""
    title = framework(track).title
    last = str(error).strip().splitlines()[-1:] or [type(error).__name__]
    failure = FrameworkBroken(
        f"{title} {installed_version(track) or ''} is installed, but importing it fails: {last[0]}",
        action=repair(track),
    )
    failure.__cause__ = error
    return failure


def repair(track: str) -> str:
    """One thing to do about a broken framework: rename a file of the learner's that hides it, else install it again."""
    for name in TABLE[track].imports:
        root = name.partition(".")[0]
        for hiding in (Path.cwd() / f"{root}.py", Path.cwd() / root / "__init__.py"):
            if hiding.is_file():
                return f"Your own {hiding} hides the package {root}: give it another name."
    names = " ".join(found for group in TABLE[track].distributions[:1] for found in group if _version((found,)))
    return f"Install it again: python -m pip install --force-reinstall {names}"


def install_command(extra: str) -> str:
    """The pip command that installs an extra (or a track's), for a clone or for an installed wheel."""
    from course_lib.shipped import clone_root

    name = TABLE[extra].extra if extra in TABLE else extra
    root = clone_root()
    target = f'"every-framework[{name}]"' if root is None else f'-e "{root}[{name}]"'
    return f"python -m pip install {target}"


def keras_backend(environ: Mapping[str, str] = os.environ) -> str:
    """The backend that Keras shall run on: "jax", "torch" or "tensorflow".

    KERAS_BACKEND decides, else Keras' own settings file, else the first installed of jax, torch and tensorflow, else
    "jax". The settings count when they name a backend that is installed and somebody chose it: Keras itself writes
    "tensorflow" there at its first import, whatever is installed. Raises BadInput when KERAS_BACKEND names something
    that the course cannot train on.
    """
    wanted = environ.get("KERAS_BACKEND", "").strip()
    if wanted:
        if wanted not in KERAS_BACKENDS:
            raise BadInput(
                f"KERAS_BACKEND should be one of {', '.join(KERAS_BACKENDS)}; received {wanted!r}.",
                action="Set it to one of these, or remove it.",
            )
        return wanted
    installed = [name for name in KERAS_BACKENDS if _version(TABLE[name].distributions[0]) is not None]
    configured = _configured_keras_backend(environ)
    if configured in installed:
        return str(configured)
    return installed[0] if installed else KERAS_BACKENDS[0]


def environment(track: str) -> dict[str, str]:
    """The environment for a process that shall import this track: ours, with Keras' backend chosen and logs quiet."""
    return {**os.environ, **settings(track)}


def settings(track: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that a process needs beside those in `environ` to import this track."""
    # Level 3 does not silence TensorFlow 2.21's notice of its oneDNN kernels.
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    values = {name: value for name, value in quiet.items() if name not in environ}
    if track == "keras":
        values["KERAS_BACKEND"] = keras_backend(environ)
    if track == "tensorflow":
        # tf.keras would otherwise run on the backend that somebody chose for Keras.
        values["KERAS_BACKEND"] = "tensorflow"
    return values


def import_failure(track: str, *, timeout_seconds: float = IMPORT_SECONDS) -> str:
    """Import a track's packages in a process of their own: "" when that works, else the end of what it said."""
    # Plain statements, not importlib: the traceback then starts where the learner's would.
    program = "\n".join(f"import {name}" for name in framework(track).imports)
    return run_python(["-c", program], environment(track), timeout_seconds=timeout_seconds).cause


def _version(names: tuple[str, ...]) -> str | None:
    for name in names:
        try:
            # A leftover folder of an interrupted uninstall has metadata without a version.
            version: str | None = importlib.metadata.version(name)
        except (importlib.metadata.PackageNotFoundError, KeyError):
            continue
        if version:
            return version
    return None


def _missing_cause(track: str, version: str | None, missing: list[str]) -> str:
    names = " and ".join(missing)
    verb = "is" if len(missing) == 1 else "are"
    if version is None:
        return f"{names} {verb} not installed."
    if track == "keras":
        return f"keras {version} is installed, but its backend {names} is not."
    return f"{TABLE[track].distributions[0][0]} {version} is installed, but {names} {verb} not."


def _configured_keras_backend(environ: Mapping[str, str]) -> str | None:
    folder = environ.get("KERAS_HOME") or Path.home() / ".keras"
    try:
        settings = json.loads((Path(folder) / "keras.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(settings, dict) or settings == KERAS_UNTOUCHED:
        return None
    backend = settings.get("backend")
    return backend if isinstance(backend, str) else None
