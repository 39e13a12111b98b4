"""Annotations in a Python source → JSON Schemas, as far as they are written in the file.

Classes of fields are models of pydantic, dataclasses and `TypedDict`s; nothing of them is run.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lambdagent.frontend.foreign.python_code import Names, name_of, number_of, text_of, walk
from lambdagent.ir.schema_faults import can_be_checked

_SCALARS: Final = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "EmailStr": "string",
    "AnyUrl": "string",
    "HttpUrl": "string",
    "UUID": "string",
    "date": "string",
    "datetime": "string",
    "time": "string",
    "Decimal": "number",
}
_LISTS: Final = {"list", "List", "Sequence", "set", "Set", "frozenset", "Iterable"}
_OBJECTS: Final = {"dict", "Dict", "Mapping"}
_FIELDS: Final = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "multiple_of": "multipleOf",
}
_OF_LISTS: Final = {"minLength": "minItems", "maxLength": "maxItems"}
# What of a field says nothing about what is answered.
_SILENT: Final = {"default", "default_factory", "title", "examples", "description", "repr"}
_DEEPEST: Final = 30
_MOST: Final = 2_000

Schema = dict[str, Any]


class _UnknownError(Exception):
    """Something is not said in the file, or cannot be said in a schema."""


def form_of(node: ast.expr, tree: ast.Module, names: Names) -> Schema | None:
    """Return the schema of what `node` names or annotates; None if the file does not say all."""
    reader = _Reader(tree, names)
    try:
        found = reader.schema(node, 0)
        if reader.defined:
            found = {**found, "$defs": reader.defined}
    except _UnknownError:
        return None
    return found if can_be_checked(found) else None


class _Reader:
    def __init__(self, tree: ast.Module, names: Names) -> None:
        self.names = names
        self.classes = {node.name: node for node in walk(tree) if isinstance(node, ast.ClassDef)}
        self.open: list[str] = []
        self.defined: dict[str, Any] = {}
        self.left = _MOST

    def schema(self, node: ast.expr, depth: int) -> Schema:
        """Return the schema of an annotation.

        Raises:
            _UnknownError: It is not known.
        """
        self.left -= 1
        if self.left < 0 or depth > _DEEPEST:
            raise _UnknownError
        depth += 1
        match node:
            case ast.Constant(value=None):
                return {"type": "null"}
            case ast.Constant(value=str(text)):
                return self.schema(_parsed(text), depth)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.either([left, right], depth)
            case ast.Subscript(slice=inside):
                return self.generic(name_of(node), _parts(inside), depth)
            case ast.Name() | ast.Attribute():
                return self.named(name_of(node), depth)
        raise _UnknownError

    def named(self, name: str, depth: int) -> Schema:
        if name in self.classes:
            return self.of_class(self.classes[name], depth)
        if name in _SCALARS:
            return {"type": _SCALARS[name]}
        if name in _LISTS:
            return {"type": "array"}
        if name in _OBJECTS:
            return {"type": "object"}
        if name == "Any":
            return {}
        if name in self.names:
            return self.schema(self.names[name], depth)
        raise _UnknownError

    def generic(self, name: str, parts: list[ast.expr], depth: int) -> Schema:
        match name, parts:
            case "Optional", [inner]:
                return self.either([inner, ast.Constant(None)], depth)
            case "Union", _:
                return self.either(parts, depth)
            case "Literal", _:
                return {"enum": [self.constant(part) for part in parts]}
            case "Annotated", [inner, *comments]:
                return self.commented(self.schema(inner, depth), comments)
            case (("Required" | "NotRequired"), [inner]):
                return self.schema(inner, depth)
            case _, [inner] if name in _LISTS:
                return {"type": "array", "items": self.schema(inner, depth)}
            case _, [_, inner] if name in _OBJECTS:
                return {"type": "object", "additionalProperties": self.schema(inner, depth)}
        raise _UnknownError

    def either(self, parts: list[ast.expr], depth: int) -> Schema:
        found = [self.schema(part, depth) for part in parts]
        if all(each.keys() == {"type"} and isinstance(each["type"], str) for each in found):
            return {"type": list(dict.fromkeys(each["type"] for each in found))}
        return {"anyOf": found}

    def constant(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=None | bool() | int() | str() as value):
                return value
            case ast.Attribute(value=ast.Name(id=name), attr=member) if name in self.classes:
                members = dict(self.members(self.classes[name]))
                if member in members:
                    return members[member]
        raise _UnknownError

    # --- classes ---

    def of_class(self, node: ast.ClassDef, depth: int) -> Schema:
        if any(name_of(base).endswith("Enum") for base in node.bases):
            values = [value for _, value in self.members(node)]
            if not values:
                raise _UnknownError
            return {"enum": values}
        reference = {"$ref": f"#/$defs/{node.name}"}
        if node.name in self.open:
            self.defined.setdefault(node.name, None)
            return reference
        self.open.append(node.name)
        written = self.object(node, depth)
        self.open.pop()
        if node.name not in self.defined:
            return written
        self.defined[node.name] = written
        return reference

    def members(self, node: ast.ClassDef) -> Iterator[tuple[str, Any]]:
        """Yield the members of an enumeration."""
        for line in node.body:
            match line:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    yield name, self.constant(value)

    def object(self, node: ast.ClassDef, depth: int) -> Schema:
        properties: dict[str, Any] = {}
        required: list[str] = []
        for line in self.lines(node, {node.name}):
            name = name_of(line.target)
            if name.startswith("_") or name_of(line.annotation) == "ClassVar":
                continue
            properties[name], needed = self.field(line, depth)
            required = [each for each in required if each != name]
            if needed:
                required.append(name)
        if not properties:
            raise _UnknownError
        written: Schema = {"type": "object"}
        docstring = ast.get_docstring(node)
        if docstring:
            written["description"] = inspect.cleandoc(docstring)
        written["properties"] = properties
        if required:
            written["required"] = required
        return {**written, "additionalProperties": False}

    def lines(self, node: ast.ClassDef, seen: set[str]) -> Iterator[ast.AnnAssign]:
        """Yield the fields of a class, those of the classes that it is made of first."""
        if len(seen) > _DEEPEST:
            raise _UnknownError
        for base in node.bases:
            inherited = self.classes.get(name_of(base))
            if inherited is not None and inherited.name not in seen:
                seen.add(inherited.name)
                yield from self.lines(inherited, seen)
        yield from (line for line in node.body if isinstance(line, ast.AnnAssign))

    def field(self, line: ast.AnnAssign, depth: int) -> tuple[Schema, bool]:
        """Return the schema of a field, and whether it must be there."""
        schema = self.schema(line.annotation, depth)
        if name_of(line.annotation) == "NotRequired":
            return schema, False
        match line.value:
            case None:
                return schema, True
            case ast.Call(func=called, args=given) as call if name_of(called) in {
                "Field",
                "field",
            }:
                keys = {each.arg for each in call.keywords}
                has_default = bool({"default", "default_factory"} & keys) or any(
                    not (isinstance(each, ast.Constant) and each.value is ...) for each in given
                )
                return self.commented(schema, [call]), not has_default
        return schema, False

    def commented(self, schema: Schema, comments: Iterable[ast.expr]) -> Schema:
        """Return `schema` with what `Field(…)` or a text says of it besides."""
        schema = dict(schema)
        for each in comments:
            text = text_of(each, self.names)
            if text is not None:
                schema["description"] = text
            if isinstance(each, ast.Call) and name_of(each) in {"Field", "field"}:
                self.limited(schema, each.keywords)
        return schema

    def limited(self, schema: Schema, keywords: list[ast.keyword]) -> None:
        for each in keywords:
            key = _FIELDS.get(each.arg or "")
            if key is not None:
                key = _OF_LISTS.get(key, key) if schema.get("type") == "array" else key
                number = number_of(each.value, self.names)
                if number is None:
                    raise _UnknownError
                schema[key] = int(number) if number.is_integer() else number
            elif each.arg in {"pattern", "description"}:
                text = text_of(each.value, self.names)
                if text is None:
                    raise _UnknownError
                schema[each.arg] = text
            elif each.arg not in _SILENT:  # such as another name for the field
                raise _UnknownError


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _UnknownError from None


def _parts(inside: ast.expr) -> list[ast.expr]:
    return list(inside.elts) if isinstance(inside, ast.Tuple) else [inside]
