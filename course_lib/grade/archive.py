"""Zip files read without unpacking them: what stands in one, and the bytes of one member, within bounds.

Nothing here trusts an archive: sizes are checked while unpacking, a table of contents is refused before it is read when
it is too long, and names only ever become labels. A member is read from its place in the file, so that reading one does
not read the table of contents again.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from course_lib.errors import BadInput
from course_lib.grade.keys import shown
from course_lib.notebook import MAX_BYTES

MAX_CONTENTS_BYTES = 32_000_000
MAX_NESTED_CONTENTS_BYTES = 1_000_000
# The end record with the longest comment, and the zip64 records before it.
TAIL_BYTES = (1 << 16) + 22 + 20 + 56
# Text with long repetitions packs 1 : 100; a bomb 1 : 1000.
BOMB_BYTES, BOMB_RATIO = 100_000_000, 200
MAX_NAME = 200
UNIX, UTF8_NAME, LOCKED = 3, 0x800, 0x1
ZIP_AGAIN = "Ask for it again, as a plain .zip or as the notebook itself."


class BadArchive(BadInput):
    """A zip file that cannot be read, or must not be."""


@dataclass(frozen=True)
class Member:
    """Where one file lies in a zip file: `offset` of its header, sizes in bytes, how it is packed, its checksum."""

    offset: int
    packed_bytes: int
    n_bytes: int
    method: int
    crc: int


@dataclass(frozen=True)
class Listed:
    """One line of a zip file's table of contents: cleaned path, and why it must not be read ("" mostly)."""

    parts: tuple[str, ...]
    is_folder: bool
    member: Member
    trouble: str


def contents(stream: BinaryIO, *, nested: bool) -> list[Listed]:
    """The table of contents of a zip file. Raises BadArchive when there is none, or one that must not be read."""
    _refuse_long_contents(stream, MAX_NESTED_CONTENTS_BYTES if nested else MAX_CONTENTS_BYTES)
    try:
        with zipfile.ZipFile(stream) as archive:
            return [_listed(info) for info in archive.infolist()]
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error, EOFError) as error:
        raise BadArchive(f"it is no zip file, or a damaged one ({shown(str(error))})", action=ZIP_AGAIN) from None


def read_member(stream: BinaryIO, member: Member, limit: int = MAX_BYTES) -> bytes:
    """The bytes of one member. Raises BadArchive when it is damaged, or larger than `limit` whatever it declares."""
    # Damage can make an offset negative; the checksum then tells.
    stream.seek(max(0, member.offset))
    header = stream.read(30)
    if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
        raise BadArchive("the zip file that it lies in is damaged", action=ZIP_AGAIN)
    stream.seek(sum(struct.unpack("<HH", header[26:30])), 1)
    data = b"".join(_unpacked(stream, member, limit))
    if len(data) > limit:
        raise BadArchive(f"it is larger than {limit // 10**6} MB", action=ZIP_AGAIN)
    if zlib.crc32(data) != member.crc:
        raise BadArchive("the zip file that it lies in is damaged (its checksum is wrong)", action=ZIP_AGAIN)
    return data


def _unpacked(stream: BinaryIO, member: Member, limit: int) -> Iterator[bytes]:
    """The pieces of a member, at most one byte more than `limit` in all."""
    if member.method == zipfile.ZIP_STORED:
        yield stream.read(min(member.packed_bytes, limit + 1))
        return
    unpack, left, room = zlib.decompressobj(-zlib.MAX_WBITS), member.packed_bytes, limit + 1
    while left > 0 and room > 0 and not unpack.eof:
        packed = stream.read(min(left, 1 << 20))
        if not packed:
            return
        left -= len(packed)
        try:
            piece = unpack.decompress(packed, room)
        except zlib.error:
            raise BadArchive("the zip file that it lies in is damaged", action=ZIP_AGAIN) from None
        room -= len(piece)
        yield piece


def _listed(info: zipfile.ZipInfo) -> Listed:
    member = Member(info.header_offset, info.compress_size, info.file_size, info.compress_type, info.CRC)
    return Listed(clean_parts(_name(info)), info.filename.endswith("/"), member, _trouble(info))


def _trouble(info: zipfile.ZipInfo) -> str:
    if info.create_system == UNIX and stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link, and links are not followed"
    if info.flag_bits & LOCKED:
        return "it is locked with a password"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"it is packed in a rare way (method {info.compress_type})"
    if info.file_size > MAX_BYTES:
        return f"it is larger than {MAX_BYTES // 10**6} MB"
    if is_bomb(info.file_size, info.compress_size):
        return f"it unpacks to {info.file_size // max(1, info.compress_size)} times its size"
    return ""


def is_bomb(n_bytes: int, packed_bytes: int) -> bool:
    """Whether so much comes out of so little that it is made to fill a disk."""
    return n_bytes > BOMB_BYTES and n_bytes > BOMB_RATIO * packed_bytes


def clean_parts(name: str) -> tuple[str, ...]:
    """A path as its parts, safe to show: no drive, no root, no way up, either kind of slash."""
    parts = shown(name).replace("\\", "/").split("/")
    if len(parts[0]) == 2 and parts[0][1] == ":":
        parts[0] = ""
    return tuple(part[:MAX_NAME] for part in parts if part.strip() not in ("", ".", ".."))


def _name(info: zipfile.ZipInfo) -> str:
    """The member's name; one that lacks the flag for UTF-8 and yet is UTF-8 is read so.

    rubyzip, which Canvas uses, sets the flag only if `Zip.unicode_names` asks for it (its README, "Non-ASCII Names").
    """
    if info.flag_bits & UTF8_NAME:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _refuse_long_contents(stream: BinaryIO, limit: int) -> None:
    """Python makes an object of each line of a table of contents: millions of them would fill the memory.

    The table's length stands where zipfile looks for it too: in the end record (APPNOTE.TXT 4.3.16), or in the zip64
    end record (4.3.14) right before it.
    """
    size = stream.seek(0, 2)
    stream.seek(max(0, size - TAIL_BYTES))
    tail = stream.read()
    stream.seek(0)
    at_end = len(tail) - 22
    end = at_end if tail[at_end:].startswith(b"PK\x05\x06") and tail.endswith(b"\0\0") else tail.rfind(b"PK\x05\x06")
    if end < 0 or end + 22 > len(tail):
        return
    (length,) = struct.unpack_from("<I", tail, end + 12)
    record = end - 20 - 56
    if record >= 0 and tail[end - 20 : end - 16] == b"PK\x06\x07" and tail[record:].startswith(b"PK\x06\x06"):
        (length,) = struct.unpack_from("<Q", tail, record + 40)
    if limit < length <= size:
        raise BadArchive(f"its table of contents is {length // 10**6} MB long", action=ZIP_AGAIN)
