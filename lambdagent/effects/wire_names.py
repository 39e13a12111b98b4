"""Tools and their calls as services accept them.

Names are of letters, digits, `_` and `-`, at most 64; arguments are objects. Thoughts go back only
to who wants them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import attrs

from lambdagent.effects.protocol import Message, Reply, ToolCall, ToolSpec
from lambdagent.ir.data import is_json, thaw
from lambdagent.ir.data_text import data_text
from lambdagent.ir.loose_json import STRICT

_LONGEST: Final = 64
_SPOKEN: Final = {"assistant", "tool"}
_HALF: Final = re.compile("[\ud800-\udfff]")
_ACCEPTED: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST}}}")
_OTHERS: Final = re.compile(r"[^A-Za-z0-9_-]+")


def sent_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of an earlier call as an object, whatever the model wrote then."""
    arguments: Any = thaw(call.arguments)
    if isinstance(arguments, str):  # JSON in JSON, or none
        with suppress(ValueError, RecursionError):
            arguments = STRICT.decode(arguments)
    if not isinstance(arguments, dict):
        arguments = {"input": arguments}
    elif not is_json(call.arguments):  # no request may hold an infinity
        arguments = {"input": data_text(call.arguments)}
    return whole_data(arguments)


def whole_data(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return `arguments` with a mark for each half of a character."""
    written = json.dumps(arguments, ensure_ascii=False)
    whole = whole_text(written)
    return arguments if whole is written else json.loads(whole)


def whole_text(text: str) -> str:
    """Return `text` with a mark for each half of a character: models and tools write them."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def told_beside(names: Iterable[str]) -> list[str]:
    """Return what descriptions of tools with these names say besides, on the wire."""
    return [f"{name}: " for name in names if not _ACCEPTED.fullmatch(name)]


class WireNames:
    """The names of the tools of one call; most are as they are."""

    def __init__(self, tools: Iterable[ToolSpec], *, reasoning: bool = False) -> None:
        """Find names for `tools`, different ones for different tools.

        `reasoning` says whether the service wants the thoughts of its model back: it is told those
        from before, and what comes with a reply is kept.
        """
        self._reasoning = reasoning
        names = [tool.name for tool in tools]
        taken = {name for name in names if _ACCEPTED.fullmatch(name)}
        self._out: dict[str, str] = {}
        for name in names:
            if name not in taken:
                taken.add(self._out.setdefault(name, _accepted(name, taken)))
        self._back = {wire: name for name, wire in self._out.items()}

    def spec(self, tool: ToolSpec) -> ToolSpec:
        """Return `tool` under its name on the wire; one that is renamed tells its own."""
        name, told = self._wire(tool.name), tool.description
        if name != tool.name:
            told = f"{tool.name}: {told}" if told else tool.name
        return attrs.evolve(tool, name=name, description=told)

    def message(self, message: Message) -> Message:
        """Return `message`, its calls under their names on the wire.

        Halves of characters are replaced, unless they are of the prompt or the input.
        """
        if message.role in _SPOKEN:
            text = whole_text(message.text)
            message = message if text is message.text else attrs.evolve(message, text=text)
        if message.reasoning is not None:
            thought = whole_text(message.reasoning) if self._reasoning else None
            message = attrs.evolve(message, reasoning=thought)
        if not message.tool_calls:
            return message
        calls = tuple(attrs.evolve(c, name=self._wire(c.name)) for c in message.tool_calls)
        return attrs.evolve(message, tool_calls=calls)

    def reply(self, reply: Reply) -> Reply:
        """Return `reply`, its calls under the names of the program."""
        if reply.reasoning is not None and not self._reasoning:
            reply = attrs.evolve(reply, reasoning=None)
        if not self._back or not reply.tool_calls:
            return reply
        return attrs.evolve(reply, tool_calls=tuple(map(self._known, reply.tool_calls)))

    def _known(self, call: ToolCall) -> ToolCall:
        return attrs.evolve(call, name=self._back.get(call.name, call.name))

    def _wire(self, name: str) -> str:
        found = self._out.get(name, name)
        return found if _ACCEPTED.fullmatch(found) else _accepted(name, set())


def _accepted(name: str, taken: set[str]) -> str:
    """Return a name like `name` that services accept and that is not `taken`."""
    stem = _OTHERS.sub("_", name).strip("_")[: _LONGEST - 4] or "tool"
    found, number = stem, 1
    while found in taken:
        number += 1
        found = f"{stem}_{number}"
    return found
