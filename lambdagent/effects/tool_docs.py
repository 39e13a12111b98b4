"""Tools → what a prompt says of them, for models that call tools by text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text

_PROTOCOL: Final = """\
You can use tools. To call one, write a single JSON object and nothing after it:
{{"tool": "NAME", "args": ARGUMENTS}}
{several}You will get what the tool answered, and can then go on. \
When you know the final answer, write
{{"tool": "terminate", "args": "THE ANSWER"}}
Tools:
{tools}"""
_SEVERAL: Final = """\
To call several at once, write one such object after the other, each on a line of its own.
"""
_DEEPEST: Final = 4  # levels of objects that are described


def tool_prompt(tools: tuple[Record, ...], *, several: bool = False) -> str:
    """Return how tools are called, if need be `several` at once, and which there are."""
    listed = "\n".join(line for tool in tools for line in _tool(tool))
    return _PROTOCOL.format(several=_SEVERAL if several else "", tools=listed)


def _tool(tool: Record) -> Iterator[str]:
    description = tool["description"]
    yield f"- {tool['name']}: {description}" if description else f"- {tool['name']}"
    schema = tool.get("parameters")
    if isinstance(schema, Record):
        yield from _properties(schema, schema, "    ", _DEEPEST)


def _properties(schema: Record, root: Record, indent: str, left: int) -> Iterator[str]:
    required: Any = schema.get("required") or ()
    properties: Any = schema.get("properties") or {}
    for name, written in properties.items():
        each = _resolved(written, root)
        traits = [_kind(each, root), *(() if name in required else ("optional",))]
        if "default" in each:
            traits.append(f"default {data_text(each['default'])}")
        description = each.get("description")
        text = f": {description}" if description else ""
        yield f"{indent}{name} ({', '.join(traits)}){text}"
        if left > 1:
            yield from _properties(_object_in(each, root), root, f"{indent}    ", left - 1)


def _object_in(schema: Record, root: Record) -> Record:
    """Return the object that `schema` is, or that its items or one of its forms are."""
    inner: list[Data] = [schema.get("items"), *(schema.get("anyOf") or ())]
    for each in (schema, *(_resolved(one, root) for one in inner if one is not None)):
        if "properties" in each:
            return each
    return Record()


def _resolved(schema: Data, root: Record) -> Record:
    """Return a schema in the place of a reference to it; what is no object says nothing."""
    if isinstance(schema, Record) and "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        definitions: Any = root.get("$defs") or root.get("definitions") or {}
        found = definitions.get(name)
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return Record({**found, **rest}) if isinstance(found, Record) else Record(rest)
    return schema if isinstance(schema, Record) else Record()


def _kind(schema: Record, root: Record) -> str:
    if "const" in schema:
        return data_text(schema["const"])
    if schema.get("enum"):
        return f"one of {', '.join(map(data_text, schema['enum']))}"  # type: ignore[arg-type]
    forms = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(forms, tuple):
        kinds = [_kind(_resolved(form, root), root) for form in forms]
        return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type", "anything")
    names = [str(name) for name in kind] if isinstance(kind, tuple) else [str(kind)]
    items = schema.get("items")
    if "array" in names and isinstance(items, Record):
        inner = _kind(_resolved(items, root), root)
        names[names.index("array")] = f"array of {inner}"
    return " or ".join(names)
