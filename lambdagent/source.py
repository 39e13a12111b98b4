"""Source text and places in it.

In: the text of one file. Out: `Span`s that name a place, and excerpts with a caret under it.
Lines and columns count from 1, columns in characters.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

_WIDTH = 100
_SHORT = 4_000  # characters, through which it is faster to look again than to note all lines

# What steers a terminal, turns the direction of text, or takes no place in it: control characters,
# line and paragraph separators, surrogates, format characters, tags, fillers.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    r"""Return `text` with a mark for each hidden character but line breaks and tabs.

    >>> visible("a\x1b[1m\u202eb\tc")
    'a�[1m�b\tc'
    """
    return HIDDEN.sub(lambda found: found[0] if found[0] in "\n\t" else "�", text)


class Span(NamedTuple):
    """A stretch of a file: from (line, column) up to, not including, (end_line, end_column)."""

    line: int
    column: int
    end_line: int
    end_column: int


class Source(NamedTuple):
    """The text of one file, and the name that people know it by."""

    name: str
    text: str

    def __repr__(self) -> str:
        """Return the name alone: the text may be long, and it may hold what is not for logs."""
        return f"Source({self.name!r})"

    def line(self, number: int) -> str:
        """Return line `number` without its line break; empty past the end."""
        starts = _line_starts(self.text)
        if not 0 < number <= len(starts):
            return ""
        stop = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : stop].rstrip("\r")

    def excerpt(self, span: Span) -> str:
        """Return the first line of `span` with its number, and carets below the part it covers."""
        line = visible(self.line(span.line))
        text = "".join(c if c.isprintable() else " " for c in line)
        start = max(span.column - 1, 0)
        stop = span.end_column - 1 if span.end_line == span.line else len(text)
        first = max(0, min(start - _WIDTH // 2, len(text) - _WIDTH))
        shown = text[first : first + _WIDTH]
        carets = max(1, min(stop, first + len(shown)) - start)
        prefix = f"{span.line} | "
        return f"{prefix}{shown}\n{' ' * (len(prefix) - 2)}| {' ' * (start - first)}{'^' * carets}"


# A file with a thousand findings is looked through once.
@lru_cache(maxsize=2)
def _line_starts(text: str) -> array[int]:
    """Return the offsets at which the lines of `text` start."""
    starts = array("L", [0])
    starts.extend(found.end() for found in re.finditer("\n", text))
    return starts


def place_of(text: str, offset: int) -> tuple[int, int]:
    r"""Return line and column of the character of `text` at `offset`.

    >>> place_of("ab\ncd", 4)
    (2, 2)
    """
    if len(text) < _SHORT:
        return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
    starts = _line_starts(text)
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def span_at(text: str, start: int, length: int) -> Span:
    """Return the place of `length` characters of `text` from offset `start`, on one line."""
    line, column = place_of(text, start)
    return Span(line, column, line, column + max(length, 1))
