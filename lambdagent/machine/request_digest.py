"""A hash of what a site is asked: by it a replay knows that the program still asks the same.

A value is written in prefix order, each leaf with its type and length, each list cell as a hash of
what it holds, so that lists that share their ends share the work.

Source: semantics.md §5.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import attrs

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Data
from lambdagent.ir.data_text import data_text
from lambdagent.machine.state import CONS, PAIR, TAGGED, Value
from lambdagent.machine.values import leaf_data

_SIZE_BYTES = 8


class _End(NamedTuple):
    """The place where a list cell has been written, from `start` on."""

    cell: Value
    start: int


@attrs.frozen(eq=False)
class RequestDigest:
    """Hashes arguments; list cells that they share are hashed once.

    A function is hashed as such, whichever it is: it has no form outside of the machine.
    """

    # By identity; the cells are held, or another could get the same one.
    _known: dict[int, tuple[Value, bytes]] = attrs.field(factory=dict)

    def of(self, site: str, argument: Value) -> int:
        """Return the digest of asking `site` about `argument`, a number of 64 bits."""
        return int.from_bytes(_hash(_leaf(site) + self._written(argument)))

    def _written(self, root: Value) -> bytes:
        out: list[bytes] = []
        stack: list[Any] = [root]
        while stack:
            value = stack.pop()
            kind = type(value)
            if kind is _End:
                cell, start = value
                token = b"h" + _hash(b"".join(out[start:]))
                out[start:] = [token]
                self._known[id(cell)] = (cell, token)
            elif kind is not tuple or value[0] > TAGGED:
                out.append(_leaf(value))
            elif value[0] == PAIR:
                out.append(b"p")
                stack += (value[2], value[1])
            elif value[0] == TAGGED:
                out.append(b"t" + _leaf(repr(value[1:3])))
                stack.append(value[3])
            elif value[0] != CONS:
                out.append(b"n")
            elif id(value) in self._known:
                out.append(self._known[id(value)][1])
            else:
                stack += (_End(value, len(out)), value[2], value[1])
                out.append(b"c")
        return b"".join(out)


def _leaf(value: Value) -> bytes:
    if value is UNIT:
        return b"u"
    data = value if type(value) is str else leaf_data(value)
    kind = b"s" if type(value) is str else b"d"
    text = data if isinstance(data, str) else _digested(data)
    raw = text.encode("utf-8", "surrogatepass")
    return b"%b%d:%b" % (kind, len(raw), raw)


def _digested(data: Data) -> str:
    try:
        return repr(data)
    except (ValueError, RecursionError):  # a number of thousands of digits, or nested deeply
        return data_text(data)


def _hash(written: bytes) -> bytes:
    return hashlib.blake2b(written, digest_size=_SIZE_BYTES).digest()
