"""Lines from pieces of text: groups stand on one line where they fit, else break at their marks.

In: a flat list of texts and marks, which terms of any depth are turned into with an explicit
stack. Out: text. Linear in its input; indentation stops growing at a level that nobody reads.
"""

import enum
from collections.abc import Iterable, Sequence
from typing import TypeAlias


class Mark(enum.Enum):
    """What may stand between texts."""

    OPEN = "a group starts"
    CLOSE = "it ends"
    INDENT = "lines start further right"
    DEDENT = "and left again"
    BREAK = "a new line if the group is broken, else nothing"
    SPACE = "a new line if the group is broken, else a blank"
    LINE = "a new line always"
    COMMA = "a comma if the group is broken"


Piece: TypeAlias = str | Mark

_NEVER_FITS = 1 << 30
_DEEPEST = 20
_FLAT = {Mark.SPACE: " ", Mark.LINE: "\n"}


def laid_out(pieces: Sequence[Piece], *, width: int = 88, indent: int = 2) -> str:
    """Return `pieces` as lines of at most `width` columns where their groups allow that."""
    widths = _flat_widths(pieces)
    out: list[str] = []
    broken = [True]
    column = level = 0
    for number, piece in enumerate(pieces):
        if piece is Mark.OPEN:
            broken.append(column + widths[number] > width)
        elif piece is Mark.CLOSE:
            broken.pop()
        elif piece is Mark.INDENT or piece is Mark.DEDENT:
            level += 1 if piece is Mark.INDENT else -1
        else:
            text = _text(piece, indent * min(level, _DEEPEST), broken=broken[-1])
            out.append(text)
            column = len(text) - 1 if text.startswith("\n") else column + len(text)
    return "".join(out)


def _text(piece: Piece, margin: int, *, broken: bool) -> str:
    if isinstance(piece, str):
        return piece
    if piece is Mark.COMMA:
        return "," if broken else ""
    if broken or piece is Mark.LINE:
        return "\n" + " " * margin
    return _FLAT.get(piece, "")


def _flat_widths(pieces: Sequence[Piece]) -> dict[int, int]:
    """Return the width of each group on one line, by the number of the piece that opens it."""
    widths: dict[int, int] = {}
    starts: list[tuple[int, int]] = []
    total = 0
    for number, piece in enumerate(pieces):
        if isinstance(piece, str):
            total += len(piece)
        elif piece is Mark.OPEN:
            starts.append((number, total))
        elif piece is Mark.CLOSE:
            opened, before = starts.pop()
            widths[opened] = total - before
        elif piece is Mark.LINE:
            total += _NEVER_FITS
        elif piece is Mark.SPACE:
            total += 1
    return widths


def call(
    name: str, arguments: Iterable[Sequence[object]], *, broken: bool = False
) -> list[object]:
    """Return ``name(a, b)`` as a group; each argument on a line of its own if that is too long.

    Args:
        name: What stands before the parenthesis.
        arguments: The pieces of each argument; things that are no pieces yet may stand among them.
        broken: Break in any case.
    """
    first: Mark = Mark.LINE if broken else Mark.BREAK
    return bracketed(f"{name}(", arguments, ")", first=first)


def bracketed(
    before: str, items: Iterable[Sequence[object]], after: str, *, first: Mark = Mark.BREAK
) -> list[object]:
    """Return ``before a, b after`` as a group; see `call`."""
    pieces: list[object] = [Mark.OPEN, before, Mark.INDENT, first]
    for number, item in enumerate(items):
        if number:
            pieces += [",", Mark.SPACE]
        pieces += item
    return [*pieces, Mark.DEDENT, first, after, Mark.CLOSE]
