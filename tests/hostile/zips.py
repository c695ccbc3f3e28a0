"""Zip files among the notebooks: what a student packs instead of handing in the notebook itself."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from hostile.kind import Hostile, Scene, full_marks, no_marks
from hostile.sheet import right, right_answers

NAME = "digits_numpy.ipynb"


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip file with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def own(name: str) -> bytes:
    """A right notebook that nobody else hands in."""
    return right(split=f"{right_answers()['digits/split']}\n# {name}\n")


def plain(_: Scene) -> bytes:
    return zipped({NAME: own("zip")})


def leading_out(_: Scene) -> bytes:
    return zipped({"../../evil.ipynb": own("leading out")})


def bomb(_: Scene) -> bytes:
    """300 MB of zeros in 1.3 MB."""
    return zipped({NAME: bytes(300_000_000)})


def damaged(_: Scene) -> bytes:
    data = bytearray(plain(_))
    data[200:400] = bytes(200)
    return bytes(data)


def locked(_: Scene) -> bytes:
    """The flag of a password in both places, as it stands in a really locked file."""
    data = bytearray(zipped({NAME: own("locked")}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1
    return bytes(data)


def no_zip(_: Scene) -> bytes:
    return b"PK\x03\x04 and no more of it"


def unread(name: str, build: Callable[[Scene], bytes]) -> Hostile:
    """Nothing can be judged, and somebody is asked to look."""
    return Hostile(f"zip: {name}", build, no_marks(), review=True, file_name=f"zip {name}.zip")


KINDS = [
    Hostile("zip: a notebook", plain, full_marks(), file_name="zip a notebook.zip"),
    Hostile("zip: a name that leads out", leading_out, full_marks(), review=None, file_name="zip leading out.zip"),
    unread("a bomb", bomb),
    unread("damaged", damaged),
    unread("locked", locked),
    unread("no zip file", no_zip),
]
