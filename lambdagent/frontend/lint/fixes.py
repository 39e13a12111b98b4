"""What mends a finding, as edits of the text: only where there is one way."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from lambdagent.errors import Diagnostic
from lambdagent.frontend.lint.rules import Edit
from lambdagent.source import Source, Span

_COMMA_BEFORE = re.compile(r",\s*$")
_MARKS = ("&", "!", "*")  # an anchor or a tag belongs to what it stands before
_ITEM_LINE = re.compile(r"[ \t]*- +\S+[ \t]*\r?(\n|$)")


def edits_of(diagnostic: Diagnostic, source: Source) -> tuple[Edit, ...]:
    """Return what mends a finding of the compiler."""
    where = diagnostic.where
    if where is None or where.line != where.end_line:
        return ()
    start, end = _indices(where, source.text)
    if source.text[start : start + 1] in _MARKS:
        return ()
    if diagnostic.instead is not None:
        return (Edit(start, end, diagnostic.instead),)
    if diagnostic.code == "S201":
        return _without_item(start, end, source.text)
    return ()


def _indices(where: Span, text: str) -> tuple[int, int]:
    line = _line_starts(text)[where.line - 1]
    return line + where.column - 1, line + where.end_column - 1


# Asked for each finding of a file.
@lru_cache(maxsize=4)
def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _without_item(start: int, end: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that removes an item, which is not the first one, from its list."""
    comma = _COMMA_BEFORE.search(text, 0, start)
    if comma is not None:
        return (Edit(comma.start(), end, ""),)
    line = text.rfind("\n", 0, start) + 1
    whole = _ITEM_LINE.match(text, line)
    return (Edit(line, whole.end(), ""),) if whole is not None else ()


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with `edits` made; of two that touch the same place, the first one."""
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(set(edits)):
        if start >= done:
            parts += [text[done:start], new]
            done = end
    return "".join([*parts, text[done:]])
