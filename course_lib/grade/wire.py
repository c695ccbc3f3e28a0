"""What crosses the border between the grader and a student's process: bounded JSON, and arrays as .npy. No pickle.

A frame is two lengths (4 bytes each), a JSON document, and the bytes of its arrays. Whatever the other side sends, a
frame ends as plain values or as BadFrame; reading one runs nothing of the sender's and needs memory for its size only.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.kinds import Reply, Unreadable

HEADER = struct.Struct("!II")
MAX_JSON_BYTES = 4 << 20
MAX_ARRAY_BYTES = 64 << 20
MAX_DEPTH = 12
MAX_VALUES = 200_000
# Each costs the reader some ten microseconds, however small it is.
MAX_ARRAYS = 20_000
# What a check may receive: booleans, whole numbers, floats and complex numbers, of any width.
ARRAY_KINDS = "biufc"

# Of all messages, in both directions; nothing else is even looked at.
FIELDS = frozenset(
    (
        "call",
        "method",
        "arguments",
        "named",
        "done",
        "cells",
        "cell",
        "failed",
        "text",
        "line",
        "reached",
        "end",
        "value",
        "raised",
        "doing",
    )
)
REPLY_FIELDS = ("value", "type_name", "native", "changed_inputs")


class BadFrame(Exception):
    """A message that does not follow the protocol; the text says how."""


def encode(message: Mapping[str, Any]) -> bytes:
    """A message as the bytes of a frame. Raises BadFrame when it holds something that may not cross, or too much."""
    arrays = io.BytesIO()
    text = json.dumps({key: _pack(value, arrays, 0) for key, value in message.items()}).encode()
    blob = arrays.getvalue()
    if len(text) > MAX_JSON_BYTES or len(blob) > MAX_ARRAY_BYTES:
        raise BadFrame(f"a message of {len(text) + len(blob)} bytes is too large")
    return HEADER.pack(len(text), len(blob)) + text + blob


def lengths(header: bytes) -> tuple[int, int]:
    """The lengths of JSON and arrays in a frame that begins so. Raises BadFrame when they are above the limits."""
    n_text, n_blob = HEADER.unpack(header)
    if n_text > MAX_JSON_BYTES or n_blob > MAX_ARRAY_BYTES:
        raise BadFrame(f"a message of {n_text + n_blob} bytes is too large")
    return n_text, n_blob


def decode(text: bytes, blob: bytes) -> dict[str, Any]:
    """The message in a frame, as plain values. Raises BadFrame for everything else."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"a message is not JSON ({type(error).__name__})") from None
    if not isinstance(raw, dict):
        raise BadFrame("a message is not an object")
    if unknown := raw.keys() - FIELDS:
        raise BadFrame(f"a message has a field that no message has: {min(unknown)[:40]!r}")
    budget = [MAX_VALUES, MAX_ARRAY_BYTES, MAX_ARRAYS]
    return {str(key): _unpack(value, blob, 0, budget) for key, value in raw.items()}


def _pack(value: Any, arrays: io.BytesIO, depth: int) -> Any:
    """`value` as JSON. Exact types only: a subclass may do anything when it is asked for its value."""
    kind = type(value)
    if depth > MAX_DEPTH:
        raise BadFrame("a value is nested too deeply")
    if value is None or kind in (bool, str, float):
        return value
    if kind is int:
        # Longer ones have no decimal form in Python, and no place in an exercise.
        if value.bit_length() > 4096:
            raise BadFrame("a whole number has more than 4096 bits")
        return value
    if kind is np.ndarray or isinstance(value, np.generic):
        key = "array" if kind is np.ndarray else "scalar"
        return {key: _pack_array(np.asarray(value), arrays)}
    if kind in (tuple, list):
        return {kind.__name__: [_pack(item, arrays, depth + 1) for item in value]}
    if kind is dict:
        return {"dict": [[str(key), _pack(item, arrays, depth + 1)] for key, item in value.items()]}
    if kind is Unreadable:
        return {"unreadable": value.type_name}
    if kind is Reply:
        return {"reply": [_pack(getattr(value, name), arrays, depth + 1) for name in REPLY_FIELDS]}
    raise BadFrame(f"a {kind.__name__} may not cross")


def _pack_array(array: NDArray[Any], arrays: io.BytesIO) -> list[int]:
    if array.dtype.kind not in ARRAY_KINDS:
        raise BadFrame(f"an array of {array.dtype} may not cross")
    if array.nbytes > MAX_ARRAY_BYTES:
        raise BadFrame(f"an array of {array.nbytes} bytes is too large")
    start = arrays.tell()
    # As np.save does it; but the same few shapes come a thousand times, and their headers are most of the work.
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    arrays.write(_header(array.dtype, array.shape, fortran))
    arrays.write(array.tobytes("F" if fortran else "C"))
    return [start, arrays.tell() - start]


@lru_cache(maxsize=512)
def _header(dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype.str, "fortran_order": fortran, "shape": shape})
    return stream.getvalue()


def _unpack(value: Any, blob: bytes, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0:
        raise BadFrame("a message is nested too deeply or holds too many values")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise BadFrame(f"a value is marked as nothing known: {str(value)[:60]}")
    [(key, held)] = value.items()
    if key == "unreadable" and isinstance(held, str):
        return Unreadable(held[:200])
    if not isinstance(held, list):
        raise BadFrame(f"a value marked {key[:20]!r} is not a list")
    if key in ("array", "scalar"):
        array = _unpack_array(held, blob, budget)
        return array if key == "array" else array[()]
    if key == "dict":
        return _unpack_dict(held, blob, depth, budget)
    items = [_unpack(item, blob, depth + 1, budget) for item in held]
    if key in ("tuple", "list"):
        return tuple(items) if key == "tuple" else items
    if key == "reply":
        return _unpack_reply(items)
    raise BadFrame(f"a value is marked as nothing known: {key[:20]!r}")


def _unpack_dict(held: list[Any], blob: bytes, depth: int, budget: list[int]) -> dict[str, Any]:
    if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in held):
        raise BadFrame("a dict is not a list of names and values")
    return {name: _unpack(item, blob, depth + 1, budget) for name, item in held}


def _unpack_reply(items: list[Any]) -> Reply:
    if len(items) == len(REPLY_FIELDS):
        value, type_name, native, changed = items
        whole = isinstance(changed, tuple) and all(type(place) is int and 0 <= place < 100 for place in changed)
        if isinstance(type_name, str) and isinstance(native, bool) and whole:
            return Reply(value, type_name[:200], native, changed)
    raise BadFrame("a reply has not the fields of a reply")


def _unpack_array(held: list[Any], blob: bytes, budget: list[int]) -> NDArray[Any]:
    """An array from its .npy bytes: the header must promise just the bytes that are there, of a plain dtype."""
    if len(held) != 2 or not all(type(number) is int and number >= 0 for number in held):
        raise BadFrame("an array has no place among the bytes")
    # One array may be named again and again, and is copied each time.
    budget[1] -= held[1]
    budget[2] -= 1
    if min(budget) < 0:
        raise BadFrame("the arrays of a message are larger than the message, or too many")
    data = blob[held[0] : held[0] + held[1]]
    header = _header_of(data)
    try:
        shape, fortran, dtype = _read_header(header)
    except Exception:
        raise BadFrame("an array is not in the .npy format") from None
    if dtype.kind not in ARRAY_KINDS:
        raise BadFrame(f"an array of {dtype} may not cross")
    size = 1
    for side in shape:
        size *= side
    n_bytes = len(data) - len(header)
    if len(shape) > 32 or any(type(side) is not int or side < 0 for side in shape) or size * dtype.itemsize != n_bytes:
        raise BadFrame(f"an array promises {str(shape)[:60]} {dtype} and holds {n_bytes} bytes")
    flat = np.frombuffer(data, dtype, offset=len(header)).astype(dtype.newbyteorder("="))
    try:
        return flat.reshape(shape, order="F" if fortran else "C")
    except (ValueError, OverflowError):
        raise BadFrame(f"an array promises {str(shape)[:60]}, which no array has") from None


def _header_of(data: bytes) -> bytes:
    """What stands before an array's own bytes: eight fixed ones, the length of a text, and the text."""
    start = 12 if data[6:7] == b"\x02" else 10
    return data[: start + int.from_bytes(data[8:start], "little")]


@lru_cache(maxsize=512)
def _read_header(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and dtype. NumPy reads no text of more than 10,000 bytes, so what is kept here stays small."""
    stream = io.BytesIO(header)
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, fortran, dtype = read(stream)
    return shape, fortran, dtype
