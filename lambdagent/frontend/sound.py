"""A configuration with findings → one that can be built, to find what else is wrong with it.

In: what `check.read_config` returns, with `BAD` in the place of what is wrong. Out: the same with
harmless values there, so that the builder comes to all that is sound and says nothing about what
is not. What is built of it is thrown away.
"""

from __future__ import annotations

from typing import Any, Final

from lambdagent.frontend import schema
from lambdagent.frontend.kinds import (
    Agent,
    Block,
    Choice,
    Flag,
    Integer,
    Kind,
    ListOf,
    MapOf,
    Number,
    Script,
    Step,
)
from lambdagent.frontend.report import BAD
from lambdagent.ir.data import Record

_SCRIPT: Final = Record(replies=("",))
# What decides which provider a model has: without it nothing can be said of the others.
_DECIDES: Final = ("provider", "name")


def sound(data: Record) -> Record:
    """Return the agent `data` with harmless values for what is wrong or missing."""
    found: Record = _Mender().agent(data)
    return found


class _Mender:
    """Walks along the schema; what several agents inherit stays one and the same."""

    def __init__(self) -> None:
        self.models: dict[int, tuple[object, Any]] = {}

    def value(self, kind: Kind, value: Any) -> Any:
        """Return a value of `kind` that is sound; never `BAD`."""
        if value is BAD:
            return _harmless(kind)
        match kind:
            case Agent():
                return self.agent(value)
            case Step():
                return self.agent(value) if "type" in value else self.block(schema.STEP, value)
            case Block():
                return self.block(kind, value)
            case ListOf(item):
                return tuple(self.value(item, each) for each in value)
            case MapOf(inner):
                return Record({key: self.value(inner, each) for key, each in value.items()})
            case Script():
                return self.block(schema.SCRIPT, value)
        return value

    def agent(self, data: Any) -> Any:
        if data.get("type", BAD) is BAD:
            type_ = next((each for each in schema.BODIES if each in data), "simple")
            data = Record({**data, "type": type_})
        found = self.block(schema.AGENT, data)
        if found["type"] in schema.BODIES and found["type"] not in found:
            body = self.block(schema.BODIES[found["type"]], Record())
            found = Record({**found, found["type"]: body})
        return found

    def block(self, block: Block, data: Any) -> Record:
        """Return `data` without what is wrong, and with all that must be there."""
        found = dict(block.defaults)
        for name, value in data.items():
            field = block.fields.get(name)
            if name == "model":
                found |= self.model(value)
            elif value is not BAD and not (name == "confirm" and _unsure(data)):
                found[name] = value if field is None else self.value(field.kind, value)
        for name, field in block.fields.items():
            if field.required and name not in found:
                found[name] = _harmless(field.kind)
        return Record(found)

    def model(self, settings: Any) -> dict[str, Any]:
        """Return the `model` of a block; none if it is not known who is asked."""
        known = self.models.get(id(settings))
        if known is None:
            known = self.models[id(settings)] = (settings, self.settings(settings))
        return {} if known[1] is None else {"model": known[1]}

    def settings(self, settings: Any) -> Any:
        if settings is BAD or any(settings.get(name) is BAD for name in _DECIDES):
            return None
        fields = schema.MODEL.fields
        found = {
            name: self.value(fields[name].kind, value)
            for name, value in settings.items()
            if value is not BAD or name == "script"
        }
        return Record({**schema.MODEL.defaults, **found})


def _unsure(agent: Any) -> bool:
    """Whether it is not known which tools `agent` has, or which of them it names."""
    named, mcp, own = agent["confirm"], agent.get("mcp", Record()), agent.get("tools", ())
    tools = BAD if mcp is BAD else mcp.get("localTools", ())
    if BAD in (named, tools, own):
        return True
    names = [BAD if each is BAD else each.get("name", BAD) for each in own]
    return BAD in (*named, *tools, *names)


def _harmless(kind: Kind) -> Any:
    """Return a value of `kind` about which nothing is to be said."""
    match kind:
        case Agent():
            return Record(type="simple", systemPrompt="")
        case Step():
            return Record({**schema.STEP.defaults, "prompt": ""})
        case Block():
            return _Mender().block(kind, Record())
        case ListOf(item, empty):
            return (_harmless(item),) if empty else ()
        case MapOf(value, empty=empty):
            return Record(a=_harmless(value)) if empty else Record()
        case Script():
            return _SCRIPT
        case Choice(words):
            return words[0]
        case Integer(least=least) | Number(least=least):
            return least
        case Flag():
            return False
    return ""
