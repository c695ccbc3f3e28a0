"""What crosses the border is what was sent, and nothing else can cross it."""

from __future__ import annotations

import io
import json
import pickle
from typing import Any

import numpy as np
import pytest

from course_lib.grade.wire import HEADER, MAX_ARRAY_BYTES, MAX_JSON_BYTES, BadFrame, decode, encode, lengths
from course_lib.kinds import Reply, Unreadable


def through(value: Any) -> Any:
    frame = encode({"value": value})
    n_text, n_blob = lengths(frame[: HEADER.size])
    text, blob = frame[HEADER.size : HEADER.size + n_text], frame[HEADER.size + n_text :]
    assert len(blob) == n_blob
    return decode(text, blob)["value"]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and bool(a == b)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -(2**80),
        2.5,
        float("inf"),
        "tëxt\n",
        (1, "a"),
        [1, (2.0, None)],
        {"a": 1, "array": {"dict": 2}},
        {"tuple": (1,)},
        np.arange(6.0, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.zeros((0, 4)),
        np.array(7, dtype=np.int8),
        np.array([1 + 2j]),
        np.array([True, False]),
        [(np.ones((2, 2)), np.array([0, 1]))],
        np.float64(0.5),
        np.int32(4),
        Unreadable("dict_keys"),
    ],
    ids=repr,
)
def test_a_value_arrives_as_it_was_sent(value: Any) -> None:
    assert same(through(value), value)


def test_nan_arrives_as_nan() -> None:
    assert np.isnan(through(float("nan")))


def test_a_reply_arrives_with_its_fields() -> None:
    reply = through(Reply((np.ones(2), 1.0), "torch.Tensor", True, (0, 2)))
    assert isinstance(reply, Reply)
    assert (reply.type_name, reply.native, reply.changed_inputs) == ("torch.Tensor", True, (0, 2))
    assert same(reply.value, (np.ones(2), 1.0))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(2, 3, 4)[:, ::2],
        np.zeros((0, 4), np.float32),
        np.array(3, np.int8),
        np.arange(3).astype(">i4"),
    ],
    ids=["C", "Fortran", "strides", "empty", "one number", "big endian"],
)
def test_arrays_are_npy_files(array: np.ndarray[Any, Any]) -> None:
    frame = encode({"value": array})
    n_text, _ = lengths(frame[: HEADER.size])
    read = np.load(io.BytesIO(frame[HEADER.size + n_text :]), allow_pickle=False)
    assert same(read, array)
    assert read.flags.f_contiguous == array.flags.f_contiguous or not array.flags.forc
    assert np.array_equal(through(array), array)


class LyingInt(int):
    def __repr__(self) -> str:
        return "0], 1"


class Subarray(np.ndarray):
    pass


@pytest.mark.parametrize(
    "value",
    [
        object(),
        b"bytes",
        {1, 2},
        np.array([object()]),
        np.array(["text"]),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        LyingInt(3),
        np.zeros(2).view(Subarray),
        10**5000,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_not_cross_is_refused_by_the_sender(value: Any) -> None:
    with pytest.raises(BadFrame):
        encode({"value": value})


def test_depth_and_size_are_bounded_on_both_sides() -> None:
    deep: Any = 1
    for _ in range(50):
        deep = [deep]
    with pytest.raises(BadFrame, match="deep"):
        encode({"value": deep})
    nested = "1"
    for _ in range(50):
        nested = f'{{"list": [{nested}]}}'
    with pytest.raises(BadFrame, match="deep"):
        decode(f'{{"value": {nested}}}'.encode(), b"")
    with pytest.raises(BadFrame, match="large"):
        encode({"value": np.zeros(MAX_ARRAY_BYTES + 1, np.uint8)})
    with pytest.raises(BadFrame, match="large"):
        lengths(HEADER.pack(MAX_JSON_BYTES + 1, 0))
    with pytest.raises(BadFrame, match="many"):
        decode(json.dumps({"value": {"list": [0] * 300_000}}).encode(), b"")
    one = npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", b"12345678")
    with pytest.raises(BadFrame, match="many"):
        decode(json.dumps({"value": {"list": [{"scalar": [0, len(one)]}] * 30_000}}).encode(), one)


def npy(header: bytes, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\x93NUMPY\x01\x00",
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n", b"12345678"),
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n", b""),
        npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", pickle.dumps(print)),
        npy(b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }\n", b"12345678"),
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': " + b"(" * 3000 + b"}\n"),
        npy(b"__import__('os').system('touch forged')\n"),
        pickle.dumps(np.ones(3)),
    ],
    ids=range(9),
)
def test_a_forged_array_is_no_array(blob: bytes) -> None:
    with pytest.raises(BadFrame):
        decode(json.dumps({"value": {"array": [0, len(blob)]}}).encode(), blob)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"value": {"eval": ["1"]}}',
        '{"value": {"array": [0, -1]}}',
        '{"value": {"array": "all"}}',
        '{"value": {"dict": [[1, 2]]}}',
        '{"value": {"reply": [1, 2]}}',
        '{"value": {"reply": [1, "float", 1, {"tuple": []}]}}',
        '{"value": {"a": 1, "b": 2}}',
        '{"value": ' + "9" * 10_000 + "}",
    ],
)
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(BadFrame):
        decode(text.encode(), b"")
