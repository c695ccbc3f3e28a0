"""Megabytes that each extra installs, from the files of the packages in this environment.

Follows each extra's requirements through the installed metadata, so one environment with everything gives all sizes.
"""

from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

EXTRAS = ("", "lab", "torch", "fastai", "keras", "jax", "tensorflow", "all")


def closure(name: str, extra: str, seen: dict[tuple[str, str], bool]) -> None:
    """Add (package, extra) and all that it requires here to `seen`; the value says whether it is installed."""
    if (name, extra) in seen:
        return
    try:
        requires = metadata.requires(name) or []
        seen[name, extra] = True
    except metadata.PackageNotFoundError:
        seen[name, extra] = False
        return
    for text in requires:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for wanted in requirement.extras or {""}:
                closure(requirement.name.lower(), wanted, seen)
            closure(requirement.name.lower(), "", seen)


def size_bytes(name: str) -> int:
    paths = (Path(str(file.locate())) for file in metadata.files(name) or [])
    return sum(path.stat().st_size for path in paths if path.is_file())


def main() -> None:
    for extra in EXTRAS:
        seen: dict[tuple[str, str], bool] = {}
        closure("every-framework", extra, seen)
        packages = {name for (name, _), installed in seen.items() if installed and name != "every-framework"}
        missing = {name for (name, _), installed in seen.items() if not installed}
        note = f"; not installed here: {', '.join(sorted(missing))}" if missing else ""
        print(f"{extra or 'core':12} {sum(map(size_bytes, packages)) / 1e6:8.0f} MB in {len(packages)} packages{note}")


if __name__ == "__main__":
    main()
