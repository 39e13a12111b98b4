"""Law 11 for data: unpack(pack x) = x; any other bytes are refused, and do nothing else."""

import struct

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lambdagent.effects.packed import NotPackedError, pack, unpack
from lambdagent.ir.data import Data, Record

DEEPEST = 200  # levels of data that may cross the border
HALF = "\ud83d"

texts = st.text(max_size=8) | st.text(st.characters(categories=["Cs", "Lu"]), max_size=4)
integers = st.integers() | st.integers(-(1 << 14_000), 1 << 14_000)
scalars = (
    st.none()
    | st.booleans()
    | integers
    | st.floats()
    | texts
    | st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, HALF, "\udc00" + HALF, HALF + "\ude00"])
)


def _collections(inner: st.SearchStrategy[Data]) -> st.SearchStrategy[Data]:
    records = st.dictionaries(texts, inner, max_size=4).map(Record)
    return st.lists(inner, max_size=4).map(tuple) | records


data = st.recursive(scalars, _collections, max_leaves=12)


def nested(depth: int, wrap) -> Data:
    value: Data = "core"
    for _ in range(depth):
        value = wrap(value)
    return value


# `repr` tells 1 from 1.0 and True, 0.0 from -0.0, knows NaN, and shows the order of keys.
@given(data)
def test_what_is_packed_comes_back_the_same(value):
    assert repr(unpack(pack(value))) == repr(value)


@pytest.mark.parametrize(
    "number", [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 127, 128, 255, 256, 1 << 14_000]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_of_any_size_come_back(number, sign):
    for near in (number - 1, number, number + 1):
        assert unpack(pack(sign * near)) == sign * near


@pytest.mark.parametrize(
    ("wrap", "levels"),
    [
        (lambda value: (value,), 1),
        (lambda value: Record(k=value), 1),
        (lambda value: (1, Record(k=value)), 2),
    ],
)
def test_data_of_every_depth_comes_back(wrap, levels):
    value = nested(DEEPEST // levels, wrap)
    assert repr(unpack(pack(value))) == repr(value)
    record = (0, value, "in a record of a journal")
    assert unpack(pack(record)) == record


@given(data)
def test_equal_data_has_one_form(value):
    assert pack(value) == pack(unpack(pack(value)))


# --- hostile bytes -------------------------------------------------------------------------------


def is_data_or_refused(raw: bytes) -> None:
    try:
        value = unpack(raw)
    except NotPackedError:
        return
    pack(value)


@given(st.binary(max_size=200))
@example(b"\xdd\xff\xff\xff\xff")
@example(b"\xdf\xff\xff\xff\xff")
@example(b"\xc6\xff\xff\xff\xff")
@example(b"\x81\x90\xc0")
@example(b"\x81\x80\xc0")
@example(b"\xd6\xff" + bytes(4))
@example(b"\xc7\x05\xff" + bytes(5))
@example(b"\xc7\x00\x01")
def test_random_bytes_are_data_or_refused(raw):
    is_data_or_refused(raw)


@given(data, st.data())
def test_damaged_bytes_are_data_or_refused(value, draw):
    raw = bytearray(pack(value))
    for _ in range(draw.draw(st.integers(1, 3))):
        raw[draw.draw(st.integers(0, len(raw) - 1))] = draw.draw(st.integers(0, 255))
    is_data_or_refused(bytes(raw))


@given(data)
def test_every_beginning_is_refused(value):
    raw = pack(value)
    for end in range(min(len(raw), 300)):
        with pytest.raises(NotPackedError):
            unpack(raw[:end])


@given(data, st.binary(min_size=1, max_size=5))
def test_more_bytes_than_one_value_are_refused(value, more):
    with pytest.raises(NotPackedError):
        unpack(pack(value) + more)


REFUSED = {
    "bytes": msgpack.packb(b"raw"),
    "bytes inside": msgpack.packb([1, {"k": [b"raw"]}]),
    "a time": msgpack.packb(msgpack.Timestamp(1, 2)),
    "a time inside": msgpack.packb({"k": msgpack.Timestamp(1, 2)}),
    "a time of a wrong length": b"\xc7\x05\xff" + bytes(5),
    "another extension": msgpack.packb(msgpack.ExtType(2, b"x")),
    "an extension as a key": b"\x81" + msgpack.packb(msgpack.ExtType(1, b"\x01")) + b"\xc0",
    "a key that is a number": b"\x81\x01\xc0",
    "a key that is bytes": b"\x81\xc4\x01x\xc0",
    "a key that is a list": b"\x81\x90\xc0",
    "a key that is a record": b"\x81\x80\xc0",
    "a key that is there twice": b"\x82\xa1k\x01\xa1k\x02",
    "a key that is there twice, deep": b"\x91\x82\xa1k\x01\xa1k\x02",
    "text that is not UTF-8": b"\xa1\xff",
    "an empty file": b"",
    "the byte that is never used": b"\xc1",
    "too deep a list": b"\x91" * 300 + b"\xc0",
    "too deep a record": b"\x81\xa1k" * 300 + b"\xc0",
    "far too deep a list": b"\x91" * 100_000 + b"\xc0",
    "far too deep a record": b"\x81\xa1k" * 100_000 + b"\xc0",
    "a list longer than the file": b"\xdd" + struct.pack(">I", 1 << 31),
    "a record longer than the file": b"\xdf" + struct.pack(">I", 1 << 31),
    "text longer than the file": b"\xdb" + struct.pack(">I", 1 << 31),
}


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_data_is_refused(raw):
    with pytest.raises(NotPackedError):
        unpack(raw)
