"""Data → JSON text, for any data: deep, huge, with lone surrogates.

Unlike `json.dumps` this neither recurses nor refuses: an integer beyond the decimal limit of
Python is written in hexadecimal, and NaN and the infinities by name; with `strict` both are
objects, see Note [Numbers that JSON lacks]. Characters that no terminal should get, and with
`ascii` all that are not ASCII, are escaped.
"""

# Note [Numbers that JSON lacks]
#
# ``{"$number": "0x…"}`` is an integer of thousands of digits, ``{"$number": "NaN"}`` and the same
# with ``Infinity`` and ``-Infinity`` are these floats. An object of the program whose only key is
# ``$number``, with one ``$`` or more, is written with one ``$`` more.

import json
import math
import re
from collections.abc import Mapping

from lambdagent.ir.data import Data, Record
from lambdagent.source import HIDDEN

NUMBER_KEY = "$number"
# Integers up to here have fewer digits than any reader refuses.
_PLAIN_BITS = 13_000
_BEYOND_ASCII = re.compile(r"[^\x20-\x7e]")


def data_text(
    value: Data,
    *,
    ascii: bool = False,  # noqa: A002 - as in the printer
    sort_keys: bool = False,
    strict: bool = False,
) -> str:
    """Return `value` as JSON on one line; with `strict`, nothing but JSON.

    >>> data_text((1, "two", None))
    '[1, "two", null]'
    """
    out: list[str] = []
    stack: list[tuple[str, Data]] = [("", value)]
    while stack:
        before, item = stack.pop()
        out.append(before)
        if item is _NOTHING:
            continue
        if isinstance(item, tuple):
            out.append("[")
            parts = [(", " if i else "", part) for i, part in enumerate(item)]
            stack += [_closing("]"), *reversed(parts)]
        elif isinstance(item, Record):
            out.append("{")
            keys = sorted(item) if sort_keys else item
            dollar = "$" if strict and numbered(item) else ""
            pairs = [
                (f"{', ' if i else ''}{quoted(dollar + key, ascii=ascii)}: ", item[key])
                for i, key in enumerate(keys)
            ]
            stack += [_closing("}"), *reversed(pairs)]
        elif strict and not _is_plain(item):
            word = hex(item) if isinstance(item, int) else json.dumps(item)
            out.append(f'{{"{NUMBER_KEY}": "{word}"}}')
        else:
            out.append(scalar_text(item, ascii=ascii))
    return "".join(out)


def numbered(item: Mapping[str, object]) -> str | None:
    """Return the only key of `item` if it is one of Note [Numbers that JSON lacks]."""
    key = next(iter(item), "")
    dollars, name = key[: -len(NUMBER_KEY)], key[-len(NUMBER_KEY) :]
    fits = len(item) == 1 and name == NUMBER_KEY and not dollars.strip("$")
    return key if fits else None


def _is_plain(item: Data) -> bool:
    """Whether JSON has `item`, which is a scalar, as it is."""
    if isinstance(item, float):
        return math.isfinite(item)
    return not isinstance(item, int) or item.bit_length() <= _PLAIN_BITS


_NOTHING = Record()  # told apart by identity: an empty object of a term is another one


def _closing(bracket: str) -> tuple[str, Data]:
    return (bracket, _NOTHING)


def scalar_text(value: object, *, ascii: bool = False) -> str:  # noqa: A002
    """Return a JSON scalar as text; anything else as the quoted text of its type."""
    if isinstance(value, str):
        return quoted(value, ascii=ascii)
    if isinstance(value, int) and not isinstance(value, bool):
        return integer_text(value)
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    return quoted(type(value).__name__, ascii=ascii)


def integer_text(value: int) -> str:
    """Return `value` in decimal, or in hexadecimal when Python refuses to write so many digits."""
    try:
        return int.__repr__(value)
    except ValueError:
        return hex(value)


def quoted(text: str, *, ascii: bool = False) -> str:  # noqa: A002
    r"""Return `text` as a JSON string.

    >>> quoted("你\u202e")
    '"你\\u202e"'
    """
    return escaped(json.dumps(text, ensure_ascii=ascii))


def escaped(text: str, *, ascii: bool = False) -> str:  # noqa: A002
    r"""Return `text` on one line, with hidden characters as ``\uXXXX``."""
    pattern = _BEYOND_ASCII if ascii else HIDDEN
    return pattern.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
