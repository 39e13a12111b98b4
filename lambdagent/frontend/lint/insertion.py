"""Edits that add `terminate` to the tools of an agent, in the layout that the file has."""

from __future__ import annotations

import re
from functools import lru_cache

from lambdagent.frontend.lint.rules import Edit, File
from lambdagent.frontend.lint.spots import Spot
from lambdagent.frontend.nodes import BYTE_ORDER_MARK, ListNode, MapNode, Node, Scalar
from lambdagent.ir.labels import TERMINATE

# What an alias looks like: an edit of what it stands for would change other agents too.
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*\S")
_ITEM = re.compile(r"[ \t]*- +")
_KEY_END = re.compile(r"[ \t]*:")
_TOOLS = f"localTools: [{TERMINATE}]"


def add_terminate(spot: Spot, file: File, meant: str | None) -> tuple[Edit, ...]:
    """Return the edits that give `spot` the tool; none where it is not certain what to write.

    Args:
        spot: A `react` agent without it.
        file: Where it stands.
        meant: The tool whose name is a slip of it, if there is one.
    """
    text = file.source.text
    if spot.node.start is None or _has_aliases(text):
        return ()
    edit = _Insertion(text).edit(spot, meant)
    return () if edit is None else (edit,)


# Asked for each agent of a file.
@lru_cache(maxsize=4)
def _has_aliases(text: str) -> bool:
    return _ALIAS.search(text) is not None


@lru_cache(maxsize=4)
def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


class _Insertion:
    def __init__(self, text: str) -> None:
        self.text = text
        self.shift = int(text.startswith(BYTE_ORDER_MARK))  # not counted by the places of nodes
        self.newline = _newline(text)

    def edit(self, spot: Spot, meant: str | None) -> Edit | None:
        tools, mcp = spot.written("mcp", "localTools"), spot.written("mcp")
        if isinstance(tools, ListNode):
            return self._renamed(tools, meant) if meant else self._appended(tools)
        if tools is not None and isinstance(mcp, MapNode):
            return self._after_key(mcp.entries["localTools"][0], f" [{TERMINATE}]", tools)
        if isinstance(mcp, MapNode):
            return self._into(mcp)
        if mcp is not None and isinstance(spot.node, MapNode):
            return self._after_key(spot.node.entries["mcp"][0], f" {{{_TOOLS}}}", mcp)
        return self._beside_type(spot)

    def _renamed(self, tools: ListNode, meant: str) -> Edit | None:
        items = (each for each in tools.items if isinstance(each, Scalar))
        item = next(each for each in items if each.text == meant)
        return Edit(self._start(item), self._end(item), TERMINATE)

    def _appended(self, tools: ListNode) -> Edit | None:
        start = self._start(tools)
        if self.text[start : start + 1] == "[":
            if not tools.items:
                return Edit(start, self._end(tools), f"[{TERMINATE}]")
            end = self._end(tools.items[-1])
            return Edit(end, end, f", {TERMINATE}")
        last = tools.items[-1] if tools.items else None
        if not isinstance(last, Scalar):
            return None
        line = self.text.rfind("\n", 0, self._start(last)) + 1
        margin = self.text[line : self._start(last)]
        if not _ITEM.fullmatch(margin) or "\n" in self.text[self._start(last) : self._end(last)]:
            return None
        return self._line_below(self._end(last), f"{margin}{TERMINATE}")

    def _into(self, mcp: MapNode) -> Edit | None:
        start = self._start(mcp)
        if self.text[start : start + 1] == "{":
            between = ", " if mcp.entries else ""
            return Edit(start + 1, start + 1, f"{_TOOLS}{between}")
        first = next((self._start(key) for key, _ in mcp.entries.values()), None)
        if first is None:
            return None
        margin = self.text[self.text.rfind("\n", 0, first) + 1 : first]
        return Edit(first, first, f"{_TOOLS}{self.newline}{margin}") if margin.isspace() else None

    def _after_key(self, key: Scalar, text: str, value: Node) -> Edit | None:
        """Return the edit that writes `text` after a key without a value."""
        colon = _KEY_END.match(self.text, self._end(key))
        empty = isinstance(value, Scalar) and value.text == ""
        return Edit(colon.end(), colon.end(), text) if colon and empty else None

    def _beside_type(self, spot: Spot) -> Edit | None:
        """Return the edit that writes the block after the type of the agent."""
        node = spot.node
        value = spot.written("type")
        if not isinstance(node, MapNode) or value is None:
            return None
        key = self._start(node.entries["type"][0])
        end = self._end(value)
        if self.text[self._start(node) : self._start(node) + 1] == "{":
            return Edit(end, end, f", mcp: {{{_TOOLS}}}")
        line = self.text.rfind("\n", 0, key) + 1
        margin = self.text[line:key].removeprefix(BYTE_ORDER_MARK)
        blank = re.sub(r"[^ \t]", " ", margin)  # a first key may stand after `- `
        return self._line_below(end, f"{blank}mcp: {{{_TOOLS}}}")

    def _line_below(self, index: int, text: str) -> Edit:
        end = self.text.find("\n", index)
        if end < 0:
            return Edit(len(self.text), len(self.text), f"{self.newline}{text}")
        return Edit(end + 1, end + 1, f"{text}{self.newline}")

    def _start(self, node: Node) -> int:
        assert node.start is not None
        return node.start.index + self.shift

    def _end(self, node: Node) -> int:
        assert node.end is not None
        return node.end.index + self.shift
