"""Texts cut to a number of columns, as terminals count them: wide characters take two."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

MARK = "…"
_NARROW = {"Mn", "Me", "Cf"}


def columns(text: str) -> int:
    """Return how many columns `text` takes.

    >>> columns("λx"), columns("中文"), columns("e\u0301")
    (2, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


@lru_cache(4096)
def _columns(character: str) -> int:
    if unicodedata.category(character) in _NARROW:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(text: str, width: int) -> str:
    """Return `text`, or what of it fits into `width` columns with a mark at the end.

    >>> fit("a long text", 6)
    'a lon…'
    """
    if len(text) <= width and columns(text) <= width:
        return text
    return "" if width < 1 else f"{_taken(text, width - 1)}{MARK}"


def fit_end(text: str, width: int) -> str:
    """Return `text`, or what of its end fits into `width` columns with a mark before it."""
    if len(text) <= width and columns(text) <= width:
        return text
    return "" if width < 1 else f"{MARK}{_taken(reversed(text), width - 1)[::-1]}"


def fit_middle(text: str, width: int) -> str:
    """Return `text`, or its beginning and its end with a mark between, in `width` columns.

    >>> fit_middle("from here to there", 9)
    'from…here'
    """
    if len(text) <= width and columns(text) <= width:
        return text
    if width < 1:
        return ""
    head = _taken(text, width // 2)
    return head + MARK + _taken(reversed(text), width - 1 - columns(head))[::-1]


def _taken(text: Iterable[str], width: int) -> str:
    taken = []
    for character in text:
        width -= _columns(character)
        if width < 0:
            break
        taken.append(character)
    return "".join(taken)


def fit_around(parts: tuple[str, str, str], width: int) -> tuple[str, str, str]:
    """Return texts before, in and after a mark, cut to `width` columns in all.

    What is marked gets at least a half, and what it does not need is left to the others.
    """
    before, middle, after = parts
    sides = min(width // 2, columns(before) + columns(after))
    middle = fit_middle(middle, width - sides)
    rest = width - columns(middle)
    left = min(columns(before), max(rest // 2, rest - columns(after)))
    return fit_end(before, left), middle, fit(after, rest - left)


def table(rows: Sequence[Sequence[str]], numbers: Collection[int] = ()) -> list[str]:
    """Return `rows` as lines with their cells under each other; those in columns `numbers` right.

    >>> table([("a", "1"), ("中文", "10")], {1})
    ['a      1', '中文  10']
    """
    widths = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - columns(cell))
            cells.append(space + cell if number in numbers else cell + space)
        lines.append("  ".join(cells).rstrip())
    return lines
