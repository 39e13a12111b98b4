"""References inside a JSON Schema, and a schema → the same without any.

A reference is a pointer into the schema that holds it, such as ``#/$defs/name``.
"""

from __future__ import annotations

import re
from typing import Final

from lambdagent.ir.data import Data, Record

# Where a schema stands in a schema: alone, in a list, or in a mapping.
ONE: Final = (
    "items",
    "additionalProperties",
    "propertyNames",
    "not",
    "contains",
    "if",
    "then",
    "else",
)
LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPPINGS: Final = ("properties", "patternProperties")
DEFINITIONS: Final = ("$defs", "definitions")
# What says nothing about what fits.
COMMENTS: Final = frozenset(
    {
        *("title", "description", "default", "examples", "format", "deprecated", "readOnly"),
        *("writeOnly", "$schema", "$id", "$comment", "$anchor"),
        *("contentMediaType", "contentEncoding"),
    }
)

_ENCODED: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
# Few definitions that hold each other twice are a schema of any size.
_MOST_SCHEMAS: Final = 5_000
_DEEPEST: Final = 60


def referred(root: Data, reference: object) -> tuple[Data] | None:
    """Return what stands at ``#/…`` of `root`; None if nothing does, or it is no such reference.

    >>> referred(Record({"$defs": Record(n=Record(type="null"))}), "#/$defs/n/type")
    ('null',)
    """
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    found = root
    for part in _decoded(reference).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, tuple) and key.isdecimal() and int(key[:9]) < len(found):
            found = found[int(key[:9])]
        elif isinstance(found, Record) and key in found:
            found = found[key]
        else:
            return None
    return (found,)


def _decoded(reference: str) -> str:
    """Return a reference without its ``%``: it is written as a part of a URL."""
    if "%" not in reference:
        return reference
    written = reference.encode("utf-8", "surrogatepass")
    decoded = _ENCODED.sub(lambda found: bytes([int(found[1], 16)]), written)
    return decoded.decode("utf-8", "replace")


def leads_nowhere(root: Data, reference: object) -> bool:
    """Whether following `reference` comes to no schema, or back to itself."""
    seen: set[object] = set()
    while reference not in seen:
        seen.add(reference)
        found = referred(root, reference)
        if found is None or not isinstance(found[0], Record | bool):
            return True
        if not isinstance(found[0], Record) or "$ref" not in found[0]:
            return False
        reference = found[0]["$ref"]
    return True


def inlined(schema: Record) -> Record | None:
    """Return `schema` with what it refers to in the place of each reference.

    None if that has no end, since something holds itself, or none worth mentioning.
    """
    try:
        found = _Inliner(schema).schema(schema, ())
    except _EndlessError:
        return None
    return found if isinstance(found, Record) else None


class _EndlessError(Exception):
    """A schema holds itself, or is too large without references."""


class _Inliner:
    def __init__(self, root: Record) -> None:
        self._root = root
        self._left = _MOST_SCHEMAS

    def schema(self, schema: Data, inside: tuple[object, ...]) -> Data:
        """Return `schema`, which stands `inside` of so many others, the references among them.

        Raises:
            _EndlessError: It holds itself.
        """
        self._left -= 1
        if self._left < 0 or len(inside) > _DEEPEST:
            raise _EndlessError
        if not isinstance(schema, Record):
            return schema
        inside = (*inside, None)
        written = {
            key: self._part(key, value, inside)
            for key, value in schema.items()
            if key not in DEFINITIONS and key != "$ref"
        }
        if "$ref" not in schema:
            return Record(written)
        reference = schema["$ref"]
        found = referred(self._root, reference)
        if found is None or reference in inside:
            raise _EndlessError
        target = self.schema(found[0], (*inside, reference))
        if isinstance(target, Record) and written.keys() <= COMMENTS:
            return Record({**target, **written})
        others = written.get("allOf")
        each = (target, *others) if isinstance(others, tuple) else (target,)
        return Record({**written, "allOf": each})

    def _part(self, key: str, value: Data, inside: tuple[object, ...]) -> Data:
        if key in ONE:
            return self.schema(value, inside)
        if key in LISTS and isinstance(value, tuple):
            return tuple(self.schema(each, inside) for each in value)
        if key in MAPPINGS and isinstance(value, Record):
            return Record({name: self.schema(each, inside) for name, each in value.items()})
        return value
