"""Tools → what a prompt says of them, for models that call tools by text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.schema_references import referred

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
_MOST_LINES: Final = 200  # of one tool
_MOST_KINDS: Final = 2_000
_AGAIN: Final = "a value told above"  # what a schema says that holds itself
_ANYTHING: Final = "anything"
_FORMS: Final = ("anyOf", "oneOf", "allOf")


def tool_prompt(tools: tuple[Record, ...], *, several: bool = False) -> str:
    """Return how tools are called, if need be `several` at once, and which there are."""
    listed = "\n".join(line for tool in tools for line in tool_lines(tool))
    return _PROTOCOL.format(several=_SEVERAL if several else "", tools=listed)


def tool_lines(tool: Record) -> Iterator[str]:
    """Yield what is said of `tool`: its name, what it is for, and what it takes."""
    description = str(tool["description"]).strip().replace("\n", "\n  ")
    yield f"- {tool['name']}: {description}" if description else f"- {tool['name']}"
    schema = tool.get("parameters")
    if isinstance(schema, Record):
        lines = list(islice(_Writer(schema).properties(schema, "    ", ()), _MOST_LINES + 1))
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield "    …"


class _Writer:
    """Describes parts of a schema; `inside` are the references that led to one."""

    def __init__(self, root: Record) -> None:
        self._root = root
        self._left = _MOST_KINDS

    def properties(self, schema: Record, indent: str, inside: tuple[Data, ...]) -> Iterator[str]:
        """Yield a line for each property, and those for its own below it."""
        required = _items(schema.get("required"))
        for name, written in _entries(schema.get("properties")).items():
            each, within = self._resolved(written, inside)
            traits = [self._kind(written, inside), *(() if name in required else ("optional",))]
            if "default" in each:
                traits.append(f"default {data_text(each['default'])}")
            description = " ".join(str(each.get("description") or "").split())
            text = f": {description}" if description else ""
            yield f"{indent}{name} ({', '.join(traits)}){text}"
            if len(indent) < 4 * _DEEPEST:
                yield from self.properties(*self._object_in(each, f"{indent}    ", within))

    def _object_in(
        self, schema: Record, indent: str, inside: tuple[Data, ...]
    ) -> tuple[Record, str, tuple[Data, ...]]:
        """Return the object that `schema` is, or that its items or one of its forms are."""
        inner = [schema.get("items"), schema.get("additionalProperties")]
        inner += [form for key in _FORMS for form in _items(schema.get(key))]
        for each, within in ((schema, inside), *(self._resolved(one, inside) for one in inner)):
            if "properties" in each:
                return each, indent, within
        return Record(), indent, inside

    def _resolved(self, schema: Data, inside: tuple[Data, ...]) -> tuple[Record, tuple[Data, ...]]:
        """Return a schema in the place of a reference; nothing in that of one that led to it."""
        found = _entries(schema)
        while "$ref" in found:
            reference = found["$ref"]
            target = None if reference in inside else referred(self._root, reference)
            rest = {key: value for key, value in found.items() if key != "$ref"}
            found = Record({**(_entries(target[0]) if target else {}), **rest})
            inside = (*inside, reference)
        return found, inside

    def _kind(self, written: Data, inside: tuple[Data, ...]) -> str:
        schema, within = self._resolved(written, inside)
        self._left -= 1
        if self._left < 0 or len(within) > len({*within}):
            return _AGAIN
        inside = within
        if "const" in schema:
            return data_text(schema["const"])
        choices = _items(schema.get("enum"))
        if choices:
            return f"one of {', '.join(map(data_text, choices))}"
        forms = _items(schema.get("anyOf")) or _items(schema.get("oneOf"))
        if forms:
            return " or ".join(dict.fromkeys(self._kind(form, inside) for form in forms))
        if "type" not in schema:
            kinds = [self._kind(form, inside) for form in _items(schema.get("allOf"))]
            said = [kind for kind in dict.fromkeys(kinds) if kind != _ANYTHING]
            return " and ".join(said) or _ANYTHING
        kind = schema["type"]
        names = [str(name) for name in kind] if isinstance(kind, tuple) else [str(kind)]
        for name, key in (("array", "items"), ("object", "additionalProperties")):
            inner = schema.get(key)
            if name in names and isinstance(inner, Record) and inner:
                names[names.index(name)] = f"{name} of {self._kind(inner, inside)}"
        return " or ".join(names)


def _items(value: Data) -> tuple[Data, ...]:
    return value if isinstance(value, tuple) else ()


def _entries(value: Data) -> Record:
    return value if isinstance(value, Record) else Record()
