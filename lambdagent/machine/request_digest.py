"""A hash of what a site is asked: by it a replay knows that the program still asks the same.

A value is written in prefix order, each leaf with its type and length, each list cell as a hash of
what it holds, so that lists that share their ends share the work. A pair or a tagged value of more
than `_LONGEST` parts is written as a hash too, so that a pair of one thing twice, paired with
itself again and again, takes time for what is distinct in it. What is shared does not show.

Source: semantics.md §5.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import attrs

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Data
from lambdagent.ir.data_text import data_text
from lambdagent.machine.state import CONS, NIL, PAIR, TAGGED, Value
from lambdagent.machine.values import leaf_data

_SIZE_BYTES = 8
# Changing it changes the digests of values with more parts.
_LONGEST = 1_000


# On the stack of what is to be written: (_WRITTEN, compound value, where it starts, where the list
# cell that it stands in starts).
_WRITTEN = -1


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

    def _written(self, root: Value, *, careful: bool = False) -> bytes:
        """Return `root` as bytes.

        Args:
            root: Any value.
            careful: Look at each pair whether it is long, or was written before. That takes half
                as long again, so it is done only where a list cell has parts enough for one.
        """
        out: list[bytes] = []
        inline: dict[int, list[bytes]] = {}
        stack: list[Any] = [root]
        cell = 0
        while stack:
            if len(out) - cell > _LONGEST and not careful:
                return self._written(root, careful=True)
            value = stack.pop()
            if type(value) is not tuple or (tag := value[0]) > TAGGED or tag == NIL:
                out.append(_leaf(value))
            elif tag == _WRITTEN:
                self._close(value[1], value[2], out, inline)
                cell = value[3]
            elif id(value) in self._known:
                out.append(self._known[id(value)][1])
            elif id(value) in inline:
                out += inline[id(value)]
            else:
                if careful or tag == CONS:
                    stack.append((_WRITTEN, value, len(out), cell))
                    cell = len(out)
                if tag == TAGGED:
                    out.append(_tag(value[1], value[2]))
                    stack.append(value[3])
                else:
                    out.append(b"p" if tag == PAIR else b"c")
                    stack += (value[2], value[1])
        if len(out) > _LONGEST and not careful:
            return self._written(root, careful=True)
        return b"".join(out)

    def _close(
        self, value: Value, start: int, out: list[bytes], inline: dict[int, list[bytes]]
    ) -> None:
        """Put a hash in the place of what was written, where that is to be; remember either."""
        parts = out[start:]
        if value[0] == CONS or len(parts) > _LONGEST:
            token = b"h" + _hash(b"".join(parts))
            out[start:] = [token]
            self._known[id(value)] = (value, token)
        else:
            inline[id(value)] = parts


@lru_cache(1_000, typed=True)
def _tag(labels: Data, index: Data) -> bytes:
    return b"t" + _leaf(repr((labels, index)))


def _leaf(value: Value) -> bytes:
    if type(value) is str:  # written out: most leaves are texts
        raw = value.encode("utf-8", "surrogatepass")
        return b"s%d:%b" % (len(raw), raw)
    if value is UNIT:
        return b"u"
    if type(value) is tuple and value[0] == NIL:
        return b"n"
    data = leaf_data(value)
    raw = (data if isinstance(data, str) else _digested(data)).encode("utf-8", "surrogatepass")
    return b"d%d:%b" % (len(raw), raw)


def _digested(data: Data) -> str:
    try:
        return repr(data)
    except (ValueError, RecursionError):  # a number of thousands of digits, or nested deeply
        return data_text(data)


def _hash(written: bytes) -> bytes:
    return hashlib.blake2b(written, digest_size=_SIZE_BYTES).digest()
