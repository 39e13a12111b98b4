"""Text → tree: what is written where, without a meaning yet.

In: the text of a file. Out: a `Tree` of `Scalar`, `ListNode` and `MapNode`, each of which knows
its place, and what was wrong with the text. Scalars stay text: whether `010` is a number is
decided by the field that it stands in.

Aliases share nodes, so the tree is a directed graph without circles. It is at most `MAX_DEPTH`
deep, and written out in full it has at most `MAX_COPIES` nodes more than the file: whoever walks
it may recurse, and need not remember what it saw.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import yaml

from lambdagent.errors import Diagnostic, finding
from lambdagent.frontend.nodes import (
    BOOL,
    BYTE_ORDER_MARK,
    FLOAT,
    INT,
    MAX_COPIES,
    MAX_DEPTH,
    MAX_EVENTS,
    MAX_FINDINGS,
    NULL,
    PLAIN,
    REFUSED,
    TEXT,
    Entries,
    ListNode,
    MapNode,
    Node,
    Scalar,
    Tree,
    expanded,
    is_refused,
    kind_of,
    path_text,
    span_between,
    span_of,
)
from lambdagent.frontend.yaml_faults import fault_of
from lambdagent.messages import phrase
from lambdagent.source import Source

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_PREFIX = "tag:yaml.org,2002:"
_SCALAR_TAGS = {
    "!": TEXT,
    f"{_PREFIX}str": TEXT,
    f"{_PREFIX}int": INT,
    f"{_PREFIX}float": FLOAT,
    f"{_PREFIX}bool": BOOL,
    f"{_PREFIX}null": NULL,
}
_LIST_TAGS = ("!", f"{_PREFIX}seq")
_MAP_TAGS = ("!", f"{_PREFIX}map")
_MERGE = "<<"


def parse_yaml(source: Source) -> Tree:
    """Return the tree of `source`, with all that is wrong with it as YAML."""
    return _Reader(source).read()


class _Unreadable(Exception):  # noqa: N818 - ends the reading, and is caught here
    """Reading cannot go on; the finding is recorded."""


class _Reader:
    """Reads the events of one text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text.removeprefix(BYTE_ORDER_MARK)
        self.findings: list[Diagnostic] = []
        self.anchors: dict[str, Node | None] = {}  # None while the anchor's value is being read
        self.aliases = False
        self.copies = 0  # entries copied by merge keys
        # The open collections, outermost first: the event that opened each, and the values that
        # stood beside it by then. Keys and values of a mapping stand in one list, by turns.
        self.open: list[tuple[Any, list[Node]]] = []

    def read(self) -> Tree:
        root: Node | None = None
        try:
            root = self._document()
        except _Unreadable:
            pass
        except (yaml.YAMLError, UnicodeEncodeError) as error:
            fault = fault_of(error, self.text)
            where = span_between(fault.index, fault.index + 1, self.source.text)
            self.findings.append(finding(fault.code, where, **fault.values))
        return Tree(root, tuple(self.findings))

    # --- findings ---

    def _report(self, code: str, at: Any, **values: Any) -> None:
        """Add a finding at `at`, an event of the YAML library."""
        if len(self.findings) < MAX_FINDINGS:
            where = span_between(at.start_mark.index, at.end_mark.index, self.source.text)
            self.findings.append(finding(code, where, **values))

    def _report_node(self, code: str, node: Node, **values: Any) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding(code, span_of(node, self.source), **values))

    def _path(self) -> tuple[str | int, ...]:
        """Return where the innermost open collection stands."""
        path: list[str | int] = []
        for (opened, _), (_, beside) in pairwise(self.open):
            in_mapping = isinstance(opened, yaml.MappingStartEvent)
            last = beside[-1] if in_mapping else None
            path.append(last.text if isinstance(last, Scalar) else len(beside))
        return tuple(path)

    # --- events ---

    def _document(self) -> Node:
        """Return the first document; a second one is a finding."""
        loader = _LOADER(self.text)
        try:
            loader.get_event()
            if type(loader.get_event()) is yaml.StreamEndEvent:
                return Scalar("", NULL)
            root = self._value(loader.get_event)
            loader.get_event()
            event = loader.get_event()
            if type(event) is not yaml.StreamEndEvent:
                self._report("S004", event)
        finally:
            loader.dispose()
        if self.aliases:
            self._check_size(root)
        return root

    def _value(self, get_event: Callable[[], Any]) -> Node:
        """Return the value that starts with the next event."""
        beside: list[Node] = []
        event: Any = None
        for _ in range(MAX_EVENTS):
            event = get_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                plain = PLAIN if event.implicit[0] else TEXT
                node = Scalar(event.value, plain, event.start_mark, event.end_mark)
                beside.append(node)
                if event.tag is not None or event.anchor is not None:
                    self._mark_scalar(event, node)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                closed = self._close(beside, event)
                beside = self.open.pop()[1]
                beside.append(closed)
            elif kind is yaml.AliasEvent:
                beside.append(self._alias(event))
            else:
                self._check_depth(event)
                self.open.append((event, beside))
                beside = []
            if not self.open:
                return beside[0]
        self._report("S017", event, limit=f"{MAX_EVENTS:,}")
        raise _Unreadable

    def _check_depth(self, event: Any) -> None:
        if len(self.open) >= MAX_DEPTH:
            self._report("S007", event, limit=MAX_DEPTH)
            raise _Unreadable
        if event.anchor is not None:
            self.anchors[event.anchor] = None

    def _mark_scalar(self, event: Any, node: Scalar) -> None:
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if event.tag is None:
            return
        kind = _SCALAR_TAGS.get(event.tag)
        if kind is None:
            self._bad_tag(event)
        node.kind = kind or REFUSED

    def _bad_tag(self, event: Any) -> None:
        self._report("S005", event, tag=event.tag.replace(_PREFIX, "!!"))

    def _close(self, inside: list[Node], end: Any) -> Node:
        """Return the innermost open collection, which holds `inside` and closes with `end`."""
        start = self.open[-1][0]
        node: Node
        if type(start) is yaml.SequenceStartEvent:
            tags = _LIST_TAGS
            node = ListNode(inside, start.start_mark, end.end_mark)
        else:
            tags = _MAP_TAGS
            node = MapNode(self._entries(inside), start.start_mark, end.end_mark)
        if start.tag is not None and start.tag not in tags:
            self._bad_tag(start)
            node = Scalar("", REFUSED, start.start_mark, end.end_mark)
        if start.anchor is not None:
            self.anchors[start.anchor] = node
        return node

    def _entries(self, inside: list[Node]) -> Entries:
        entries: Entries = {}
        merged: list[MapNode] = []
        pairs = iter(inside)
        for key, value in zip(pairs, pairs, strict=True):
            if type(key) is not Scalar:
                self._report_node("S013", key, actual=kind_of(key))
            elif key.text in entries:
                self._duplicate(key, entries[key.text][0])
            elif key.text == _MERGE and key.kind == PLAIN:
                merged += self._merged(value)
            else:
                entries[key.text] = (key, value)
        return self._merge(merged, entries) if merged else entries

    def _duplicate(self, key: Scalar, first: Scalar) -> None:
        if len(self.findings) >= MAX_FINDINGS:
            return
        place = span_of(first, self.source)
        line = place.line if place else 0
        field = path_text((*self._path(), key.text))
        self._report_node("S003", key, field=field, key=key.text, first=line)

    # --- aliases and merge keys ---

    def _alias(self, event: Any) -> Node:
        self.aliases = True
        name = event.anchor
        node = self.anchors.get(name)
        if node is None:
            if name in self.anchors:
                self._report("S009", event, name=name)
            else:
                self._report(
                    "S001",
                    event,
                    reason=phrase("there is no anchor `&{name}`", name=name),
                    hint=phrase("put quotes around it to mean the text"),
                )
            node = Scalar("", REFUSED, event.start_mark, event.end_mark)
        return node

    def _merged(self, value: Node) -> list[MapNode]:
        """Return the mappings that a merge key names."""
        candidates = value.items if isinstance(value, ListNode) else [value]
        for node in candidates:
            if not isinstance(node, MapNode) and not is_refused(node):
                self._report_node("S010", node, actual=kind_of(node))
        return [node for node in candidates if isinstance(node, MapNode)]

    def _merge(self, merged: list[MapNode], own: Entries) -> Entries:
        """Return the entries of `merged`, earlier ones first in rank, below those of `own`."""
        entries: Entries = {}
        for node in reversed(merged):
            self.copies += len(node.entries)
            if self.copies > MAX_COPIES:
                self._report("S006", self.open[-1][0], limit=MAX_COPIES)
                raise _Unreadable
            entries |= node.entries
        return entries | own

    def _check_size(self, root: Node) -> None:
        """Refuse a tree that its aliases make too large or too deep to be walked."""
        copies, depth = expanded(root)
        if copies > MAX_COPIES or depth > MAX_DEPTH:
            code, limit = ("S006", MAX_COPIES) if copies > MAX_COPIES else ("S007", MAX_DEPTH)
            self._report_node(code, root, limit=limit)
            raise _Unreadable
