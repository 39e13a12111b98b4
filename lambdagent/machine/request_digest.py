"""A hash of what a site is asked: by it a replay knows that the program still asks the same.

A value is written in prefix order, each leaf with its type and length, each list cell as a hash of
what it holds, so that lists that share their ends share the work. A pair or a tagged value of more
than `_LONGEST` parts is written as a hash too, so that a pair of one thing twice, paired with
itself again and again, takes time for what is distinct in it. What is shared does not show.

Source: semantics.md §5.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import attrs

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Data
from lambdagent.ir.data_text import data_text
from lambdagent.machine.state import CONS, NIL, PAIR, TAGGED, Value
from lambdagent.machine.values import leaf_data

_SIZE_BYTES = 8
# Changing it changes the digests of values with more parts.
_LONGEST = 1_000


class _End(NamedTuple):
    """The place where a compound value has been written, from `start` on."""

    value: Value
    start: int


@attrs.frozen(eq=False)
class RequestDigest:
    """Hashes arguments; list cells that they share are hashed once.

    A function is hashed as such, whichever it is: it has no form outside of the machine.
    """

    # By identity; the values are held, or another could get the same one.
    _known: dict[int, tuple[Value, bytes]] = attrs.field(factory=dict)

    def of(self, site: str, argument: Value) -> int:
        """Return the digest of asking `site` about `argument`, a number of 64 bits."""
        return int.from_bytes(_hash(_leaf(site) + self._written(argument)))

    def _written(self, root: Value) -> bytes:
        out: list[bytes] = []
        inline: dict[int, list[bytes]] = {}
        stack: list[Any] = [root]
        while stack:
            value = stack.pop()
            kind = type(value)
            if kind is _End:
                self._close(value, out, inline)
            elif kind is not tuple or value[0] > TAGGED:
                out.append(_leaf(value))
            elif value[0] == NIL:
                out.append(b"n")
            elif id(value) in self._known:
                out.append(self._known[id(value)][1])
            elif id(value) in inline:
                out += inline[id(value)]
            else:
                stack.append(_End(value, len(out)))
                if value[0] == TAGGED:
                    out.append(b"t" + _leaf(repr(value[1:3])))
                    stack.append(value[3])
                else:
                    out.append(b"p" if value[0] == PAIR else b"c")
                    stack += (value[2], value[1])
        return b"".join(out)

    def _close(self, end: _End, out: list[bytes], inline: dict[int, list[bytes]]) -> None:
        """Put a hash in the place of what was written, where that is to be; remember either."""
        value, start = end
        parts = out[start:]
        if value[0] == CONS or len(parts) > _LONGEST:
            token = b"h" + _hash(b"".join(parts))
            out[start:] = [token]
            self._known[id(value)] = (value, token)
        else:
            inline[id(value)] = parts


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
