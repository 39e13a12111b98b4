"""What a server says of its tools, and what they answer → data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from lambdagent.effects.protocol import ToolFailure, ToolInvocation, as_data
from lambdagent.effects.transport_log import LOGGER
from lambdagent.ir.data import Data, NotDataError, Record, freeze, is_json, thaw
from lambdagent.ir.remote import OPEN_ENDED
from lambdagent.ir.schema_faults import unknown_keywords
from lambdagent.ir.surface import Tool

# What may stay in a schema though it is not known: it just is not checked. All else would refuse
# whatever is held against it, or make no sense to whoever is told it.
_HARMLESS: Final = "keyword"


def declared_tool(server: str, listed: Any) -> Tool:
    """Return a tool as its server describes it.

    Its hints are not taken over: the protocol says that they cannot be trusted.
    """
    description = listed.description or listed.title or ""
    return Tool(
        listed.name,
        None,
        description=description,
        parameters=_schema(f"{server}/{listed.name}", listed.input_schema),
        server=server,
    )


def _schema(place: str, written: dict[str, Any]) -> Record:
    """Return the schema that a server gives, without what no arguments could fit."""
    try:
        # Some services take no object without `properties`.
        frozen = freeze({"properties": {}, **written, "type": "object"})
    except NotDataError as error:
        LOGGER.warning("mcp %s: its schema is not used: %s", place, error)
        return OPEN_ENDED
    if not isinstance(frozen, Record) or not is_json(frozen):
        LOGGER.warning("mcp %s: its schema is not used", place)
        return OPEN_ENDED
    spoiling = _spoiling(frozen)
    if not spoiling:
        return frozen
    LOGGER.warning("mcp %s: left out of its schema: %s", place, ", ".join(spoiling))
    kept = thaw(frozen)
    for path in spoiling:
        _leave_out(kept, path)
    mended = freeze(kept)
    assert isinstance(mended, Record)
    return OPEN_ENDED if _spoiling(mended) else mended


def _spoiling(schema: Record) -> list[str]:
    return [path for path, why in unknown_keywords(schema) if why != _HARMLESS]


def _leave_out(schema: Any, path: str) -> None:
    """Remove the keyword at `path`, in each schema of a list; names with dots are not found."""
    if isinstance(schema, list):
        for each in schema:
            _leave_out(each, path)
    elif isinstance(schema, dict):
        first, _, rest = path.partition(".")
        if rest:
            _leave_out(schema.get(first), rest)
        else:
            schema.pop(first, None)


def answer_of(result: Any) -> Data:
    """Return what a tool answered: its texts, or else its structured content."""
    texts = [block.text for block in result.content if block.type == "text"]
    others = list(_named(result.content))
    if not texts and result.structured_content is not None:
        return as_data(result.structured_content)
    return "\n".join([*texts, *others])


def _named(blocks: Iterable[Any]) -> Iterator[str]:
    """Yield what stands for each block that is no text."""
    for block in blocks:
        match block.type:
            case "image" | "audio":
                yield f"[{block.type} {block.mime_type}, {_size(block.data)}]"
            case "resource_link":
                yield f"[resource {block.name}: {block.uri}]"
            case "resource":
                yield _resource(block.resource)


def _resource(resource: Any) -> str:
    text = getattr(resource, "text", None)
    if text is not None:
        return str(text)
    kind = resource.mime_type or "data"
    return f"[resource {resource.uri}: {kind}, {_size(resource.blob)}]"


def _size(encoded: str) -> str:
    """Return how much is in a text of base64."""
    return f"{len(encoded.rstrip('=')) * 3 // 4} bytes"


def arguments_of(invocation: ToolInvocation, schema: Record) -> dict[str, Any]:
    """Return the arguments of a call as an object.

    A single value is the only argument that the tool has or wants, or else JSON of all of them.

    Raises:
        ToolFailure: It cannot be any of these.
    """
    argument = invocation.argument
    if not is_json(argument):
        what = "its arguments hold a number that JSON does not have"
        raise ToolFailure(f"[TOOL_ERROR: {invocation.name}] {what}", may_pass=False)
    if isinstance(argument, Record):
        return dict(thaw(argument))
    properties, required = schema.get("properties") or (), schema.get("required") or ()
    names = [*required] if len(required) == 1 else [*properties]
    if len(names) == 1:
        return {names[0]: thaw(argument)}
    if isinstance(argument, str):
        with suppress(ValueError, RecursionError):
            read = json.loads(argument)
            if isinstance(read, dict):
                return read
    if not properties:
        return {} if argument in {None, ""} else {"input": thaw(argument)}
    what = ", ".join(f"`{name}`" for name in properties)
    text = f"[TOOL_ERROR: {invocation.name}] it takes an object with {what}"
    raise ToolFailure(text, may_pass=False)
