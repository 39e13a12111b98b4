"""The tree that a file is read as: scalars, lists, mappings, each with its place.

Nodes are made by the ten thousand, so they are plain slotted classes; nobody assigns to them once
the tree is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import attrs

from lambdagent.errors import Diagnostic
from lambdagent.messages import phrase
from lambdagent.source import Source, Span, place_of

MAX_DEPTH = 100
MAX_COPIES = 100_000
MAX_EVENTS = 200_000  # of a text: its keys and values, and the ends of lists and mappings
MAX_FINDINGS = 1_000  # of one stage; a generated file may have a hundred thousand

# What may be read from a scalar.
PLAIN = "plain"  # whatever the field wants
TEXT = "text"  # text only: it is quoted
BOOL, INT, FLOAT, NULL = (
    "bool",
    "int",
    "float",
    "null",
)  # just that: it is tagged, or a Python value
REFUSED = "refused"  # nothing: a finding says why

NULLS = frozenset(("", "~", "null", "Null", "NULL"))  # plain scalars that hold nothing

BYTE_ORDER_MARK = "\ufeff"


class Mark(Protocol):
    """A place in the text, as the YAML library gives it."""

    @property
    def index(self) -> int:
        """Characters before the place."""


@attrs.define(eq=False, repr=False)
class Scalar:
    """A text, and what may be read from it."""

    text: str
    kind: str
    start: Mark | None = None
    end: Mark | None = None


@attrs.define(eq=False, repr=False)
class ListNode:
    """A list."""

    items: list[Node]
    start: Mark | None = None
    end: Mark | None = None


@attrs.define(eq=False, repr=False)
class MapNode:
    """A mapping; each entry is the key as written, with its place, and the value."""

    entries: Entries
    start: Mark | None = None
    end: Mark | None = None


Node: TypeAlias = "Scalar | ListNode | MapNode"
Entries: TypeAlias = "dict[str, tuple[Scalar, Node]]"


@attrs.frozen(eq=False)
class Tree:
    """What a text holds.

    Attributes:
        root: The value; None if the text could not be read to its end.
        findings: What was wrong with the text, in the order in which it was found.
    """

    root: Node | None
    findings: tuple[Diagnostic, ...] = ()


def span_of(node: Node, source: Source) -> Span | None:
    """Return the place of `node` in `source`; None for nodes made from Python values."""
    if node.start is None or node.end is None:
        return None
    return span_between(node.start.index, node.end.index, source.text)


def span_between(start: int, end: int, text: str) -> Span:
    """Return the stretch of `text` between two places that do not count its byte order mark."""
    skipped = text.startswith(BYTE_ORDER_MARK)
    line, column = place_of(text, start + skipped)
    end_line, end_column = place_of(text, end + skipped)
    return Span(line, column, end_line, end_column)


def path_text(path: Sequence[str | int]) -> str:
    """Return `path` as people write it, such as ``chain.steps[0].prompt``."""
    parts: list[str] = []
    for key in path:
        if isinstance(key, int):
            parts.append(f"[{key}]")
        elif _WORD.fullmatch(key):
            parts.append(f".{key}" if parts else key)
        else:
            parts.append(f"[{json.dumps(key, ensure_ascii=False)}]")
    return "".join(parts)


def kind_of(node: Node) -> str:
    """Return what `node` is, in words for people."""
    if isinstance(node, MapNode):
        return phrase("a mapping")
    if isinstance(node, ListNode):
        return phrase("a list")
    if is_null(node):
        return phrase("nothing")
    return (
        phrase("the text {text}", text=json.dumps(node.text, ensure_ascii=False))
        if node.kind == TEXT
        else node.text
    )


def is_null(node: Node) -> bool:
    """Whether `node` holds nothing: its value is left out, or written as null."""
    return isinstance(node, Scalar) and (
        node.kind == NULL or (node.kind == PLAIN and node.text in NULLS)
    )


def is_refused(node: Node) -> bool:
    """Whether a finding already says what is wrong with `node`."""
    return isinstance(node, Scalar) and node.kind == REFUSED


def expanded(root: Node) -> tuple[int, int]:
    """Return how many nodes `root` would have more if nothing were shared, and how deep it is.

    Linear in the nodes that there are.
    """
    sizes: dict[int, tuple[int, int]] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) in sizes:
            stack.pop()
            continue
        inside = children(node)
        missing = [child for child in inside if id(child) not in sizes]
        if missing:
            stack += missing
            continue
        stack.pop()
        below = [sizes[id(child)] for child in inside]
        sizes[id(node)] = (
            1 + sum(size for size, _ in below),
            bool(inside) + max((depth for _, depth in below), default=0),
        )
    size, depth = sizes[id(root)]
    return size - len(sizes), depth


def children(node: Node) -> list[Node]:
    """Return the values that `node` holds."""
    if isinstance(node, MapNode):
        return [value for _, value in node.entries.values()]
    return node.items if isinstance(node, ListNode) else []


_WORD = re.compile(r"[\w-]+")
