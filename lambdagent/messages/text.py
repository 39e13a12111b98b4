"""The words of one diagnostic."""

from __future__ import annotations

from typing import NamedTuple


class Text(NamedTuple):
    """The words of one code; ``{…}`` are filled in."""

    what: str
    why: str = ""
    fix: str = ""
