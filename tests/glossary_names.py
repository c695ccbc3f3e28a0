"""Resolves the glossary's names of one track in the framework itself: `python tests/glossary_names.py jax`.

Run in a process of its own, since it imports the framework. Prints what does not exist, a line each.
"""

import importlib
import inspect
import re
import sys
from typing import Any

from course_lib.glossary import ideas

NAME = re.compile(r"`([^`]*)`")
ARGUMENT = re.compile(r"(\w+)(?:=\w+)? (?:of|in) `([\w.]+)`")
ROOTS = {
    "numpy": {"np": "numpy"},
    "torch": {"torch": "torch"},
    "fastai": {"": "fastai.vision.all", "torch": "torch"},
    "keras": {"keras": "keras"},
    "jax": {"jax": "jax", "jnp": "jax.numpy", "nnx": "flax.nnx", "optax": "optax", "flax": "flax"},
    "tensorflow": {"tf": "tensorflow"},
}


def resolve(track: str, name: str) -> Any:
    """The object of a dotted name. Raises LookupError when there is none."""
    first, _, rest = name.partition(".")
    roots = ROOTS[track]
    if first in roots:
        found: Any = importlib.import_module(roots[first])
    elif "" in roots:
        found, rest = importlib.import_module(roots[""]), name
    else:
        raise LookupError(f"{first} is no module of this track")
    for part in filter(None, rest.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")
            except (ImportError, AttributeError):
                raise LookupError(f"no {part} in {found}") from None
    return found


def takes(function: Any, argument: str) -> bool:
    """Whether a function, or the making of a class, has this argument; True when it cannot be looked into."""
    looked = False
    for each in (function, getattr(function, "__init__", None)):
        try:
            parameters = inspect.signature(each).parameters
        except (TypeError, ValueError):
            continue
        looked = True
        if argument in parameters:
            return True
    return not looked


def missing(track: str) -> list[str]:
    """What the glossary names of this track, and the framework does not have."""
    wrong = []
    for idea in ideas():
        text = idea.names[track]
        for name in NAME.findall(text):
            try:
                resolve(track, name)
            except LookupError as error:
                wrong.append(f"{idea.idea}: {name} ({error})")
        for argument, name in ARGUMENT.findall(text):
            if not takes(resolve(track, name), argument):
                wrong.append(f"{idea.idea}: {name} has no argument {argument}")
    return wrong


if __name__ == "__main__":
    for line in missing(sys.argv[1]):
        print(line)
