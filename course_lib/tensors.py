"""Trained models as files of named arrays (safetensors): the one that the course ships, and the learner's own."""

from __future__ import annotations

from pathlib import Path

from course_lib.home import home
from course_lib.lessons import lesson
from course_lib.shipped import shipped


def shipped_model(name: str) -> Path:
    """The model that a lesson ships, trained by its first track. Raises NotFound for an unknown lesson."""
    return shipped("solutions") / lesson(name).name / "records" / "trained.safetensors"


def own_models(name: str) -> dict[str, Path]:
    """The learner's own models of a lesson, by track; a notebook keeps one with `keep_model`."""
    folder = home() / "models" / lesson(name).name
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}


def keep_model(data: bytes) -> Path:
    """Keep this notebook's trained model, a whole safetensors file as bytes, where the other tracks find it.

    Returns its path. Raises NotFound when no lesson has begun.
    """
    from course_lib.session import current

    session = current()
    path = home() / "models" / session.lesson.name / f"{session.track}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
