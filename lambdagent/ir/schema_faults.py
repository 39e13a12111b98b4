"""A JSON Schema → what of it cannot be checked, or makes no sense.

Whoever takes in schemas asks here, so that a fault of one is told once, and not with each value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

from lambdagent.ir.data import Data, NotDataError, Record, freeze, is_json
from lambdagent.ir.data_schema import KEYWORDS, TYPE_NAMES, is_number
from lambdagent.ir.pattern import PatternError, compile_pattern
from lambdagent.ir.schema_references import (
    COMMENTS,
    DEFINITIONS,
    LISTS,
    MAPPINGS,
    ONE,
    leads_nowhere,
)

Why: TypeAlias = Literal[
    "schema",
    "schemas",
    "keyword",
    "type",
    "pattern",
    "reference",
    "number",
    "positive",
    "count",
    "flag",
    "list",
    "names",
    "mapping",
    "json",
]

# What is looked at with `if` and `contains`.
_COMPANIONS: Final = {"then", "else"}


def can_be_checked(schema: object) -> bool:
    """Whether `schema`, made of dicts and lists, is a JSON Schema of which all can be checked."""
    try:
        return not unknown_keywords(freeze(schema))
    except NotDataError:
        return False


def unknown_keywords(schema: Data) -> list[tuple[str, Why]]:
    """Return where in `schema` stands what cannot be checked, and what that should have been."""
    found: list[tuple[str, Why]] = []
    stack: list[tuple[str, Data]] = [("", schema)]
    while stack:
        place, each = stack.pop()
        if isinstance(each, bool):
            continue
        if not isinstance(each, Record):
            found.append((place, "schema"))
            continue
        found += [(_inside(place, key), why) for key, why in _unfit(each, schema)]
        stack += [(_inside(place, key), each[key]) for key in ONE if key in each]
        for key in LISTS:
            items = each.get(key)
            if isinstance(items, tuple):
                stack += [(_inside(place, key), one) for one in items]
        for key in (*MAPPINGS, *DEFINITIONS):
            entries = each.get(key)
            if isinstance(entries, Record):
                stack += [(_inside(place, f"{key}.{name}"), one) for name, one in entries.items()]
    return found


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _unfit(schema: Record, root: Data) -> Iterator[tuple[str, Why]]:
    for key, value in schema.items():
        wants = _WANTS.get(key)
        if wants is not None:
            why, fits = wants
            if not fits(value):
                yield key, why
            elif key == "$ref" and leads_nowhere(root, value):
                yield key, "reference"
            elif key == "patternProperties" and not all(map(_is_pattern, _keys(value))):
                yield key, "pattern"
        elif key in COMMENTS or key.startswith("x-"):
            if not is_json(value):
                yield key, "json"
        elif key not in KEYWORDS and key not in _COMPANIONS:
            yield key, "keyword"


def _is_number(value: Data) -> bool:
    return is_number(value) and math.isfinite(value)  # type: ignore[arg-type]


def _is_positive(value: Data) -> bool:
    return _is_number(value) and value > 0  # type: ignore[operator]


def _is_count(value: Data) -> bool:
    return _is_number(value) and value >= 0 and value == value // 1  # type: ignore[operator]


def _is_text(value: Data) -> bool:
    return isinstance(value, str)


def _is_names(value: Data) -> bool:
    return isinstance(value, tuple) and all(map(_is_text, value))


def _is_type(value: Data) -> bool:
    names = value if isinstance(value, tuple) else (value,)
    return bool(names) and all(name in TYPE_NAMES for name in names)


def _is_pattern(value: Data) -> bool:
    try:
        compile_pattern(str(value))
    except PatternError:
        return False
    return isinstance(value, str)


def _is_list(value: Data) -> bool:
    return isinstance(value, tuple) and is_json(value)


def _keys(value: Data) -> tuple[str, ...]:
    return (*value,) if isinstance(value, Record) else ()


def _is_mapping(value: Data) -> bool:
    return isinstance(value, Record)


def _is_dependency(value: Data) -> bool:
    return isinstance(value, Record) and all(map(_is_names, value.values()))


_Fits: TypeAlias = Callable[[Data], bool]
_WANTS: Final[Mapping[str, tuple[Why, _Fits]]] = {
    "type": ("type", _is_type),
    "enum": ("list", _is_list),
    "const": ("json", is_json),
    "$ref": ("reference", _is_text),
    "pattern": ("pattern", _is_pattern),
    "multipleOf": ("positive", _is_positive),
    "uniqueItems": ("flag", lambda value: isinstance(value, bool)),
    "required": ("names", _is_names),
    "dependentRequired": ("mapping", _is_dependency),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), ("number", _is_number)
    ),
    **dict.fromkeys(
        (
            *("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"),
            *("minProperties", "maxProperties"),
        ),
        ("count", _is_count),
    ),
    **dict.fromkeys(LISTS, ("schemas", lambda value: isinstance(value, tuple) and bool(value))),
    **dict.fromkeys((*MAPPINGS, *DEFINITIONS), ("mapping", _is_mapping)),
}
