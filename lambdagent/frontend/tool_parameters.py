"""`parameters` of a tool in a file → JSON Schema.

It is a JSON Schema of an object, or says what each argument is: a type such as ``integer`` or
``string[]``, or a JSON Schema. Arguments are required unless they have a default, or their name
ends with ``?``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from lambdagent.frontend.report import nearest
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_schema import KEYWORDS, TYPE_NAMES
from lambdagent.ir.schema_faults import Why, unknown_keywords
from lambdagent.messages import Phrase, phrase

_WHOLE: Final = {"properties", "$ref", "allOf", "anyOf", "oneOf"}
_LIST: Final = "[]"
_EXPECTED: Final[Mapping[Why, Phrase]] = {
    "schema": phrase("a JSON Schema"),
    "schemas": phrase("a list of JSON Schemas"),
    "keyword": phrase("a keyword of JSON Schema that is checked"),
    "type": phrase("a type of JSON"),
    "pattern": phrase("a pattern that matches quickly"),
    "reference": phrase("a reference into the schema, as in `#/$defs/name`"),
    "number": phrase("a number"),
    "positive": phrase("a number above 0"),
    "count": phrase("a whole number from 0"),
    "flag": phrase("true or false"),
    "list": phrase("a list"),
    "names": phrase("a list of names"),
    "mapping": phrase("a mapping"),
    "json": phrase("a value of JSON"),
}

# Told a path, what is expected there, what stands there, and what to write instead.
Refuse = Callable[[tuple[str, ...], str, object, str], None]


def tool_parameters(written: Record, refuse: Refuse) -> Record:
    """Return the JSON Schema that `written` is or stands for; `refuse` is told what is wrong."""
    if written.get("type") == "object" or (_WHOLE & written.keys()):
        schema = Record({"type": "object", **written})
    else:
        schema = _from_short(written, refuse)
    check_schema(schema, refuse)
    return schema


def check_schema(schema: Record, refuse: Refuse) -> None:
    """Tell `refuse` what of `schema` cannot be checked."""
    for place, why in unknown_keywords(schema):
        path = tuple(place.split("."))
        found, hint = _found(schema, path), ""
        if why == "keyword":
            found = path[-1]
            hint = _meant(found, KEYWORDS)
        elif why == "type" and isinstance(found, str):
            hint = _meant(found, TYPE_NAMES)
        refuse(path, _EXPECTED[why], found, hint)


def _found(schema: Record, path: tuple[str, ...]) -> Data:
    """Return what stands at `path`; its end where that leads through a list."""
    found: Data = schema
    for key in path:
        if not isinstance(found, Record) or key not in found:
            return path[-1]
        found = found[key]
    return found


def _meant(written: str, known: Iterable[str]) -> str:
    meant = nearest(written, known)
    return phrase("write `{meant}`", meant=meant) if meant else ""


def _from_short(written: Record, refuse: Refuse) -> Record:
    properties: dict[str, Data] = {}
    required = []
    for key, value in written.items():
        name = key.removesuffix("?")
        schema = _one(value, lambda *found, at=key: refuse((at,), *found))
        properties[name] = schema
        if name == key and "default" not in schema:
            required.append(name)
    made: dict[str, Data] = {"type": "object", "properties": Record(properties)}
    if required:
        made["required"] = tuple(required)
    return Record(made, additionalProperties=False)


def _one(value: Data, refuse: Callable[[str, object, str], None]) -> Record:
    if isinstance(value, Record):
        return value
    word: Any = value
    if isinstance(word, str) and word.removesuffix(_LIST) in TYPE_NAMES:
        kind = Record(type=word.removesuffix(_LIST))
        return Record({"type": "array", "items": kind}) if word.endswith(_LIST) else kind
    hint = _meant(str(value), TYPE_NAMES)
    known = ", ".join(TYPE_NAMES)
    refuse(phrase("one of {words}", words=known), value, hint or phrase("see docs/yaml.md"))
    return Record()
