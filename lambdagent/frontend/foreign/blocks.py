"""Mappings of a foreign file, of which each key is read or told to be left out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from lambdagent.errors import ConfigError, Diagnostic, finding
from lambdagent.frontend.foreign.draft import NO_MATCH, Draft
from lambdagent.frontend.nodes import (
    BYTE_ORDER_MARK,
    TEXT,
    ListNode,
    MapNode,
    Node,
    Scalar,
    is_null,
)
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.ir.loose_json import STRICT
from lambdagent.messages import Phrase, phrase
from lambdagent.source import Source, Span

_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_SWITCHES = ("enabled", "retry_enabled")


def read_blocks(source: Source, draft: Draft, framework: str) -> Block:
    """Return the mapping that a YAML or JSON text holds.

    Raises:
        ConfigError: It cannot be read, or is no mapping.
    """
    tree = parse_yaml(source)
    if tree.findings or tree.root is None:
        raise ConfigError(tree.findings, source)
    if not isinstance(tree.root, MapNode):
        raise no_file(
            source, framework, phrase("it holds no mapping"), Lines(source).span(tree.root)
        )
    return Block(tree.root, Lines(source), draft)


class Lines:
    """A source whose places are found in logarithmic time: hostile files have many."""

    def __init__(self, source: Source) -> None:
        """Find places in `source`."""
        self.source = source
        self.skipped = int(source.text.startswith(BYTE_ORDER_MARK))
        ends = (end.end() for end in re.finditer("\n", source.text))
        self.starts = [0, *ends]

    def span(self, node: Node) -> Span | None:
        """Return where `node` stands."""
        if node.start is None or node.end is None:
            return None
        return Span(*self.place(node.start.index), *self.place(node.end.index))

    def place(self, index: int) -> tuple[int, int]:
        """Return line and column of the character `index`, the byte order mark not counted."""
        at = index + self.skipped
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1


def no_file(
    source: Source, framework: str, reason: Phrase, where: Span | None = None
) -> ConfigError:
    """Return the error that `source` is no file of `framework`."""
    found: Diagnostic = finding("I010", where, framework=framework, reason=reason)
    return ConfigError(found, source)


class Block:
    """One mapping. Reading a key marks it; `finish` tells the keys that nobody read."""

    def __init__(self, node: MapNode, lines: Lines, draft: Draft, place: str = "") -> None:
        """Read `node`, which stands at `place` of the source of `lines`."""
        self.node = node
        self.lines = lines
        self.source = lines.source
        self.draft = draft
        self.place = place
        self.read: set[str] = set()

    @property
    def keys(self) -> list[str]:
        """The keys, in the order of the file."""
        return list(self.node.entries)

    def span(self, key: str | None = None) -> Span | None:
        """Return where `key` stands, or the mapping."""
        if key is not None and key in self.node.entries:
            return self.lines.span(self.node.entries[key][0])
        first = next((name for name, _ in self.node.entries.values()), self.node)
        return self.lines.span(first)

    def path(self, key: str) -> str:
        """Return the path of `key` as people write it."""
        return f"{self.place}.{key}" if self.place else key

    # --- values ---

    def _value(self, key: str) -> Node | None:
        """Return what is written for `key`; None for nothing."""
        self.read.add(key)
        found = self.node.entries.get(key)
        return None if found is None or is_null(found[1]) else found[1]

    def _read(self, key: str, expected: Phrase, read: Callable[[Node], Any]) -> Any:
        node = self._value(key)
        if node is None:
            return None
        value = read(node)
        if value is None:
            self.lost(key, phrase("{expected} was expected", expected=expected))
        return value

    def text(self, key: str) -> str | None:
        """Return a text without the space around it."""
        return self._read(  # type: ignore[no-any-return]
            key,
            phrase("a text"),
            lambda node: node.text.strip() if isinstance(node, Scalar) else None,
        )

    def flag(self, key: str) -> bool:
        """Return whether yes is written."""
        return bool(
            self._read(
                key,
                phrase("true or false"),
                lambda node: (
                    _FLAGS.get(node.text.casefold()) if isinstance(node, Scalar) else None
                ),
            )
        )

    def number(self, key: str, least: float, most: float) -> float | None:
        """Return a number from `least` to `most`."""

        def read(node: Node) -> float | None:
            try:
                number = float(node.text) if isinstance(node, Scalar) else None
            except ValueError:
                return None
            return number if number is not None and least <= number <= most else None

        found = self._read(
            key,
            phrase("a number from {least} to {most}", least=f"{least:g}", most=f"{most:g}"),
            read,
        )
        return None if found is None else float(found)

    def whole(self, key: str, most: int = 2**53) -> int | None:
        """Return a whole number from 1 to `most`."""
        found = self.number(key, 1, most)
        return None if found is None else int(found)

    def texts(self, key: str) -> list[tuple[str, Span | None]]:
        """Return the texts of a list, or a single one, each with its place."""
        node = self._value(key)
        if node is None:
            return []
        items = node.items if isinstance(node, ListNode) else [node]
        found = []
        for item in items:
            if isinstance(item, Scalar):
                if not is_null(item):
                    found.append((item.text.strip(), self.lines.span(item)))
            else:
                self.lost(
                    key,
                    phrase("{expected} was expected", expected=phrase("a text")),
                    self.lines.span(item),
                )
        return found

    def data(self, key: str) -> Any:
        """Return what is written for `key`, whatever it is; unquoted, JSON is what it says."""
        node = self._value(key)
        return None if node is None else _data(node)

    def block(self, key: str) -> Block | None:
        """Return a mapping."""
        node = self._read(key, phrase("a mapping"), _as_map)
        return None if node is None else self._inside(node, self.path(key))

    def blocks(self, key: str) -> list[Block]:
        """Return the mappings of a list."""
        node = self._value(key)
        if node is None:
            return []
        if not isinstance(node, ListNode):
            self.lost(key, phrase("{expected} was expected", expected=phrase("a list")))
            return []
        found = []
        for number, item in enumerate(node.items):
            if isinstance(item, MapNode):
                found.append(self._inside(item, f"{self.path(key)}[{number}]"))
            elif not is_null(item):
                self.lost(
                    key,
                    phrase("{expected} was expected", expected=phrase("a mapping")),
                    self.lines.span(item),
                )
        return found

    def is_text(self, key: str) -> bool:
        """Whether `key` holds a single value."""
        return isinstance(self.node.entries.get(key, (None, None))[1], Scalar)

    def is_map(self, key: str) -> bool:
        """Whether `key` holds a mapping."""
        return isinstance(self.node.entries.get(key, (None, None))[1], MapNode)

    def is_list(self, key: str) -> bool:
        """Whether `key` holds a list."""
        return isinstance(self.node.entries.get(key, (None, None))[1], ListNode)

    def _inside(self, node: MapNode, place: str) -> Block:
        return Block(node, self.lines, self.draft, place)

    # --- what is left out ---

    def lost(self, key: str, reason: Phrase, where: Span | None = None) -> None:
        """Note that `key` is left out."""
        self.read.add(key)
        place = where or self.span(key)
        self.draft.lose("I001", self.source, place, field=self.path(key), reason=reason)

    def ignore(self, keys: Iterable[str]) -> None:
        """Read `keys`, which mean nothing to a run."""
        self.read.update(keys)

    def finish(self) -> None:
        """Note each key that nobody read and that holds more than nothing or no."""
        for key, (_, node) in self.node.entries.items():
            if key not in self.read and key[:1] != "_" and not _is_empty(node):
                self.lost(key, NO_MATCH)


def _data(node: Node) -> Any:
    if isinstance(node, MapNode):
        return {key: _data(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, ListNode):
        return [_data(item) for item in node.items]
    if node.kind == TEXT:
        return node.text
    try:
        return None if is_null(node) else STRICT.decode(node.text)
    except ValueError:
        return node.text


def _as_map(node: Node) -> MapNode | None:
    return node if isinstance(node, MapNode) else None


def _is_empty(node: Node) -> bool:
    match node:
        case Scalar():
            return is_null(node) or not node.text.strip() or node.text.casefold() == "false"
        case ListNode():
            return not node.items
        case _:
            return _is_off(node) or all(_is_empty(inner) for _, inner in node.entries.values())


def _is_off(node: MapNode) -> bool:
    """Whether `node` says of itself that it has no effect."""
    for key in _SWITCHES:
        _, value = node.entries.get(key, (None, None))
        if isinstance(value, Scalar) and _FLAGS.get(value.text.casefold()) is False:
            return True
    return False
