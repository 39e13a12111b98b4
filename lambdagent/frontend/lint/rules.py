"""What a lint rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs

from lambdagent.errors import Diagnostic
from lambdagent.frontend.lint.spots import Path, Spots
from lambdagent.ir.data import Data
from lambdagent.source import Source, Span

Level: TypeAlias = Literal["error", "warn", "info"]
LEVELS: tuple[Level, ...] = ("error", "warn", "info")

# Whether rows of an expression hold for the values of names.
Holds: TypeAlias = Callable[[Data, Mapping[str, Any]], bool]


class Edit(NamedTuple):
    """Put `text` in the place of the characters from `start` up to, not including, `end`."""

    start: int
    end: int
    text: str


class Found(NamedTuple):
    """One place to which a rule applies.

    Attributes:
        keys: Where it is, seen from the spot.
        words: What is filled into the text of the rule.
        edits: What mends it, if that is certain.
        where: Its place, if no path leads there.
    """

    keys: Path
    words: Mapping[str, Any] = {}
    edits: tuple[Edit, ...] = ()
    where: Span | None = None


@attrs.define(eq=False, repr=False)
class File:
    """All of a file."""

    source: Source
    spots: Spots
    holds: Holds


class Finding(NamedTuple):
    """What is wrong, how bad it is, and what mends it, if that is certain."""

    diagnostic: Diagnostic
    level: Level = "error"
    edits: tuple[Edit, ...] = ()


Check: TypeAlias = Callable[..., Iterable[Found]]


@attrs.frozen(eq=False, repr=False)
class Rule:
    """One rule.

    Attributes:
        title: What it finds, in one sentence.
        kinds: The kinds of spots that it is about; ``file``, ``program``.
        check: Yields what it finds in a `Spot` of a `File`, in the `File`, or in the `Bounds` of a
            program; None if it is found elsewhere.
        block: What must be written in the spot for the rule to have a say; empty for nothing.
        refused: Whether the compiler refuses what it finds, or some; then nobody may ignore it.
    """

    code: str
    level: Level
    title: str
    kinds: tuple[str, ...] = ()
    check: Check | None = None
    block: str = attrs.field(default="", kw_only=True)
    refused: bool = attrs.field(default=False, kw_only=True)
