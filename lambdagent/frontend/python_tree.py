"""Python values → tree: the same tree as a file gives, without places.

In: dicts, lists, tuples, texts, numbers, booleans, None. Values that are shared stay shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lambdagent.errors import Diagnostic, finding, plain
from lambdagent.frontend.nodes import (
    BOOL,
    FLOAT,
    INT,
    MAX_COPIES,
    MAX_DEPTH,
    NULL,
    REFUSED,
    TEXT,
    Entries,
    ListNode,
    MapNode,
    Node,
    Scalar,
    Tree,
    expanded,
)


def tree_of(value: object) -> Tree:
    """Return the tree of `value`, and all that cannot be part of one."""
    return _Reader().read(value)


class _Reader:
    """Turns values into nodes, innermost first."""

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []
        self.nodes: dict[int, Node] = {}  # of the lists and dicts that are done
        self.open: set[int] = set()  # the lists and dicts around the current value

    def read(self, value: object) -> Tree:
        root = self._collections(value)
        if root is not None:
            copies, depth = expanded(root)
            if copies > MAX_COPIES:
                self._report("S006", limit=MAX_COPIES)
            elif depth > MAX_DEPTH:
                self._report("S007", limit=MAX_DEPTH)
            else:
                return Tree(root, tuple(self.findings))
        return Tree(None, tuple(self.findings))

    def _report(self, code: str, **values: Any) -> None:
        self.findings.append(finding(code, None, **values))

    def _collections(self, value: object) -> Node | None:
        """Return the node of `value`; None if it holds itself."""
        stack = [value]
        while stack:
            top = stack[-1]
            inside = _inside(top)
            if id(top) in self.nodes or inside is None:
                stack.pop()
            elif id(top) in self.open:
                stack.pop()
                self.open.remove(id(top))
                self.nodes[id(top)] = self._collection(top)
            else:
                self.open.add(id(top))
                below = [each for each in inside if _inside(each) is not None]
                if any(id(each) in self.open for each in below):
                    self._report("S014")
                    return None
                stack += (each for each in below if id(each) not in self.nodes)
        return self._node(value)

    def _collection(self, value: Any) -> Node:
        if not isinstance(value, Mapping):
            return ListNode([self._node(item) for item in value])
        entries: Entries = {}
        for key, item in value.items():
            if isinstance(key, str):
                entries[key] = (Scalar(key, TEXT), self._node(item))
            else:
                self._report("S013", actual=plain(key))
        return MapNode(entries)

    def _node(self, value: object) -> Node:
        known = self.nodes.get(id(value))
        return self._scalar(value) if known is None else known

    def _scalar(self, value: object) -> Scalar:
        match value:
            case None:
                return Scalar("", NULL)
            case str():
                return Scalar(value, TEXT)
            case bool():
                return Scalar("true" if value else "false", BOOL)
            case int():
                return Scalar(f"{value:d}" if abs(value) < 2**64 else f"{value:#x}", INT)
            case float():
                return Scalar(repr(value), FLOAT)
        self._report("S015", actual=type(value).__name__)
        return Scalar("", REFUSED)


def _inside(value: object) -> list[object] | None:
    """Return what `value` holds; None if it is no collection."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else None
