"""`Data` ⇄ msgpack.

    Record → map    tuple → array    text → str, half surrogates as UTF-8 would have them
    int beyond 64 bits → extension 1, its bytes, big end first, with a sign

Nothing else is read: an unknown extension, a key that is no text, or bytes are no `Data`.
"""

from __future__ import annotations

from typing import Any, cast

import msgpack

from lambdagent.ir.data import Data, Record
from lambdagent.messages import phrase

_BIG = 1
# Data is at most 200 levels deep; what holds it is a few more.
_DEEPEST = 220
_LEAVES = {str, int, float, bool, type(None)}


class NotPackedError(ValueError):
    """Bytes that are no packed `Data`."""


def pack(data: Data) -> bytes:
    """Return `data` as msgpack; `unpack` is the inverse."""
    return cast("bytes", msgpack.packb(data, default=_other, unicode_errors="surrogatepass"))


def _other(value: object) -> object:
    if isinstance(value, Record):
        return dict(value)
    if isinstance(value, int):
        return msgpack.ExtType(_BIG, value.to_bytes(value.bit_length() // 8 + 1, signed=True))
    raise TypeError(type(value).__name__)


def unpack(raw: bytes) -> Data:
    """Return the data that `raw` is.

    Raises:
        NotPackedError: It is none.
    """
    try:
        data = msgpack.unpackb(
            raw,
            use_list=False,
            object_pairs_hook=_record,
            ext_hook=_big,
            unicode_errors="surrogatepass",
        )
        _check(data)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise NotPackedError(str(error) or type(error).__name__) from error
    return cast("Data", data)


def _record(pairs: list[tuple[Any, Any]]) -> Record:
    items = dict(pairs)
    if len(items) != len(pairs):
        what = phrase("a key is there twice")
        raise ValueError(what)
    return Record(items)


def _check(root: object) -> None:
    """Do nothing if `root` is `Data`: msgpack has bytes and times too, and any depth."""
    level: list[object] = [root]
    for _ in range(_DEEPEST):
        below: list[object] = []
        for item in level:
            kind = type(item)
            if kind is tuple:
                below += cast("tuple[object, ...]", item)
            elif kind is Record:
                items = cast("Record", item)
                below += items.values()
                below += items
            elif kind not in _LEAVES:
                raise TypeError(kind.__name__)
        if not below:
            return
        level = below
    what = phrase("it is nested deeper than {most} levels", most=_DEEPEST)
    raise ValueError(what)


def _big(code: int, raw: bytes) -> int:
    if code != _BIG:
        what = phrase("extension {code} is unknown", code=code)
        raise ValueError(what)
    return int.from_bytes(raw, signed=True)
