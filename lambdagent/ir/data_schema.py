"""A JSON Schema as data, and a value → what of the value does not fit it.

What it knows of draft 2020-12 it checks exactly; `unknown_keywords` names what it does not know,
for whoever takes in schemas. Formats and descriptions say nothing about what fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.pattern import Pattern, PatternError, compile_pattern

# What does not fit: sentences about values by their places.
Problems: TypeAlias = Iterator[str]
_Check: TypeAlias = "Callable[[_Reader, Data, Record, Data, str], Problems]"

_MOST = 5  # problems that are told
_SHOWN = 60
# A schema may refer to itself, and so be as deep as the value.
_DEEPEST = 100
_LONGEST_MATCH_US = 1_000_000


def is_number(value: Data) -> bool:
    """Whether `value` is a number of JSON; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, Callable[[Data], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: is_number(value) and value == value // 1,  # type: ignore[operator]
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, tuple),
    "object": lambda value: isinstance(value, Record),
}
TYPE_NAMES: Final = tuple(_TYPES)
_ANNOTATIONS: Final = {
    *("title", "description", "default", "examples", "format", "deprecated", "readOnly"),
    *("writeOnly", "$schema", "$id", "$comment", "$defs", "definitions", "$anchor"),
    *("contentMediaType", "contentEncoding", "then", "else"),
}
# Where a schema stands in a schema: alone, in a list, or in a mapping.
_ONE: Final = (
    "items",
    "additionalProperties",
    "propertyNames",
    "not",
    "contains",
    "if",
    "then",
    "else",
)
# What says nothing but the type of one value, and of an object with one.
_PLAIN: Final = frozenset({"type", "description", "title", "default"})
_PLAIN_OBJECT: Final = _PLAIN | {"properties", "required", "additionalProperties"}
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPPINGS: Final = ("properties", "patternProperties", "$defs", "definitions")


def problems_of(value: Data, schema: Data) -> list[str]:
    """Return what of `value` does not fit `schema`, the first few things; none if it fits.

    >>> problems_of("a", Record(type="integer"))
    ['it must be an integer, not "a"']
    """
    found: list[str] = []
    for problem in _Reader(schema).problems(value, schema, "", _DEEPEST):
        found.append(problem)
        if len(found) == _MOST:
            break
    return found


def fits_alone(value: Data, name: str, schema: Record) -> bool:
    """Whether an object with `value` as its one property `name` fits `schema`.

    Most schemas of functions of one argument say no more than its type: to ask that alone takes a
    tenth of the time.

    >>> one = Record(type="object", properties=Record(n=Record(type="integer")), required=("n",))
    >>> fits_alone(1, "n", one), fits_alone("1", "n", one)
    (True, False)
    """
    properties = schema.get("properties")
    only = properties.get(name) if isinstance(properties, Record) else None
    kind = only.get("type") if isinstance(only, Record) else None
    if (
        isinstance(only, Record)
        and isinstance(kind, str)
        and only.keys() <= _PLAIN
        and schema.keys() <= _PLAIN_OBJECT
        and schema.get("type") == "object"
        and schema.get("required", ()) in ((), (name,))
    ):
        return kind in _TYPES and _TYPES[kind](value)
    return not problems_of(Record({name: value}), schema)


def unknown_keywords(schema: Data) -> list[tuple[str, str]]:
    """Return where in `schema` stands what cannot be checked, and what that should have been.

    That is a ``schema``, a ``keyword``, a ``type``, a ``pattern`` or a ``reference``.
    """
    found: list[tuple[str, str]] = []
    stack: list[tuple[str, Data]] = [("", schema)]
    while stack:
        place, each = stack.pop()
        if isinstance(each, bool):
            continue
        if not isinstance(each, Record):
            found.append((place, "schema"))
            continue
        found += [(_inside(place, key), why) for key, why in _unfit(each)]
        stack += [(_inside(place, key), each[key]) for key in _ONE if key in each]
        for key in _LISTS:
            stack += [(f"{place}.{key}"[not place :], one) for one in _items(each.get(key))]
        for key in _MAPPINGS:
            entries = each.get(key)
            if isinstance(entries, Record):
                stack += [(_inside(place, f"{key}.{name}"), one) for name, one in entries.items()]
    return found


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _items(value: Data) -> tuple[Data, ...]:
    return value if isinstance(value, tuple) else ()


def _unfit(schema: Record) -> Iterator[tuple[str, str]]:
    for key, value in schema.items():
        if key in _ANNOTATIONS or key.startswith("x-"):
            continue
        if key not in _CHECKS:
            yield key, "keyword"
        elif key == "type" and not all(name in _TYPES for name in _texts(value)):
            yield key, "type"
        elif key == "pattern":
            try:
                compile_pattern(str(value))
            except PatternError:
                yield key, "pattern"
        elif key == "$ref" and not str(value).startswith("#"):
            yield key, "reference"


def _texts(value: Data) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def _shown(value: Data) -> str:
    text = data_text(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _same(left: Data, right: Data) -> bool:
    """Whether two values are one in JSON: 1 is 1.0, and not true."""
    if is_number(left) and is_number(right):
        return left == right
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, Record) and isinstance(right, Record):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    return type(left) is type(right) and left == right


def _must(place: str, what: str, value: Data) -> str:
    return f"{_named(place)} must be {what}, not {_shown(value)}"


def _named(place: str) -> str:
    return f"`{place}`" if place else "it"


_WORDS: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "null": "null",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
}


class _Reader:
    """Looks at values by a schema and what it refers to."""

    def __init__(self, root: Data) -> None:
        self._root = root
        self.left = _DEEPEST

    def problems(self, value: Data, schema: Data, place: str, left: int) -> Problems:
        """Yield what of `value`, which stands at `place`, does not fit."""
        if schema is False:
            yield f"{_named(place)} must not be there"
        if not isinstance(schema, Record):
            return
        if left == 0:
            yield f"{_named(place)} is nested too deeply"
            return
        outer, self.left = self.left, left - 1
        for key, wanted in schema.items():
            check = _CHECKS.get(key)
            if check is not None:
                yield from check(self, value, schema, wanted, place)
        self.left = outer

    def below(self, value: Data, schema: Data, place: str) -> list[str]:
        """Return what does not fit of a part of what is looked at."""
        return list(self.problems(value, schema, place, self.left))

    def fits(self, value: Data, schema: Data) -> bool:
        """Whether `value` fits."""
        return not self.below(value, schema, "")

    def referred(self, reference: str) -> Data:
        """Return the schema at ``#/…``; nothing at all fits one that is not there."""
        found: Data = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, tuple) and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            elif isinstance(found, Record) and key in found:
                found = found[key]
            else:
                return False
        return found

    # --- any value ---

    def ref(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        yield from self.below(value, self.referred(str(wanted)), place)

    def type(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        names = _texts(wanted)
        if not any(name in _TYPES and _TYPES[name](value) for name in names):
            yield _must(place, " or ".join(_WORDS.get(name, name) for name in names), value)

    def enum(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        choices = _items(wanted)
        if not any(_same(value, choice) for choice in choices):
            listed = ", ".join(map(_shown, choices))
            yield _must(place, listed if len(choices) == 1 else f"one of {listed}", value)

    def const(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        if not _same(value, wanted):
            yield _must(place, _shown(wanted), value)

    def all_of(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        for each in _items(wanted):
            yield from self.below(value, each, place)

    def any_of(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        tried = [self.below(value, each, place) for each in _items(wanted)]
        if tried and all(tried):
            yield " or ".join(problems[0] for problems in tried)

    def one_of(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        tried = [self.below(value, each, place) for each in _items(wanted)]
        fitting = sum(not problems for problems in tried)
        if not fitting:
            yield " or ".join(problems[0] for problems in tried if problems)
        elif fitting > 1:
            yield f"{_named(place)} fits {fitting} forms of which it must fit one"

    def not_(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        if self.fits(value, wanted):
            yield _must(place, "something else", value)

    def if_(self, value: Data, schema: Record, wanted: Data, place: str) -> Problems:
        branch = schema.get("then" if self.fits(value, wanted) else "else", True)
        yield from self.below(value, branch, place)

    # --- numbers and texts ---

    def multiple_of(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        if is_number(value) and Fraction(str(value)) % Fraction(str(wanted)):
            yield _must(place, f"a multiple of {_shown(wanted)}", value)

    def pattern(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        if isinstance(value, str) and not _found(str(wanted), value):
            yield _must(place, f"a text that matches {_shown(wanted)}", value)

    # --- arrays ---

    def items(self, value: Data, schema: Record, wanted: Data, place: str) -> Problems:
        first = len(_items(schema.get("prefixItems")))
        for number, each in enumerate(_items(value)[first:], first):
            yield from self.below(each, wanted, f"{place}[{number}]")

    def prefix_items(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        for number, (each, one) in enumerate(zip(_items(value), _items(wanted), strict=False)):
            yield from self.below(each, one, f"{place}[{number}]")

    def contains(self, value: Data, schema: Record, wanted: Data, place: str) -> Problems:
        if not isinstance(value, tuple):
            return
        count = sum(self.fits(each, wanted) for each in value)
        least, most = schema.get("minContains", 1), schema.get("maxContains", count)
        if not least <= count <= most:
            yield f"{_named(place)} has {count} items of the wanted form"

    def unique_items(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        items = _items(value)
        if wanted is True and any(
            _same(one, other) for number, one in enumerate(items) for other in items[:number]
        ):
            yield _must(place, "an array of different items", value)

    # --- objects ---

    def properties(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        if isinstance(value, Record) and isinstance(wanted, Record):
            for name, each in wanted.items():
                if name in value:
                    yield from self.below(value[name], each, _inside(place, name))

    def pattern_properties(self, value: Data, _schema: Record, wanted: Data, at: str) -> Problems:
        if isinstance(value, Record) and isinstance(wanted, Record):
            for pattern, each in wanted.items():
                for name in value:
                    if _found(pattern, name):
                        yield from self.below(value[name], each, _inside(at, name))

    def additional(self, value: Data, schema: Record, wanted: Data, place: str) -> Problems:
        if not isinstance(value, Record):
            return
        known = schema.get("properties") or {}
        patterns = schema.get("patternProperties") or {}
        for name in value:
            if name in known or any(_found(pattern, name) for pattern in patterns):
                continue
            if wanted is False:
                yield f"there is no `{_inside(place, name)}`"
            else:
                yield from self.below(value[name], wanted, _inside(place, name))

    def property_names(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        if isinstance(value, Record):
            for name in value:
                yield from self.below(name, wanted, _inside(place, name))

    def required(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        if isinstance(value, Record):
            for name in _texts(wanted):
                if name not in value:
                    yield f"`{_inside(place, name)}` is missing"

    def dependent_required(self, value: Data, _schema: Record, wanted: Data, at: str) -> Problems:
        if isinstance(value, Record) and isinstance(wanted, Record):
            for name, needed in wanted.items():
                if name in value:
                    yield from self.required(value, value, needed, at)


def _found(pattern: str, text: str) -> bool:
    """Whether `text` holds `pattern`; one that is none, or would take too long, is in no text."""
    try:
        compiled: Pattern = compile_pattern(pattern)
        return (
            compiled.cost(text, searching=True) <= _LONGEST_MATCH_US
            and compiled.regex.search(text) is not None
        )
    except PatternError:
        return False


def _limit(
    measure: Callable[[Data], Data], fits: Callable[[Data, Data], bool], what: str
) -> _Check:
    """Return the check that a measure of a value, None if it has none, is within a limit."""

    def check(_self: _Reader, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        measured = measure(value)
        if measured is not None and not fits(measured, wanted):
            yield _must(place, what.format(_shown(wanted)), value)

    return check


def _number(value: Data) -> Data:
    return value if is_number(value) else None


def _length(kind: type) -> Callable[[Data], Data]:
    return lambda value: len(value) if isinstance(value, kind) else None  # type: ignore[arg-type]


def _at_least(measured: Data, wanted: Data) -> bool:
    return bool(measured >= wanted)  # type: ignore[operator]


def _at_most(measured: Data, wanted: Data) -> bool:
    return bool(measured <= wanted)  # type: ignore[operator]


_CHECKS: Final[Mapping[str, _Check]] = {
    "$ref": _Reader.ref,
    "type": _Reader.type,
    "enum": _Reader.enum,
    "const": _Reader.const,
    "allOf": _Reader.all_of,
    "anyOf": _Reader.any_of,
    "oneOf": _Reader.one_of,
    "not": _Reader.not_,
    "if": _Reader.if_,
    "minimum": _limit(_number, _at_least, "at least {}"),
    "maximum": _limit(_number, _at_most, "at most {}"),
    "exclusiveMinimum": _limit(_number, lambda m, w: not _at_most(m, w), "above {}"),
    "exclusiveMaximum": _limit(_number, lambda m, w: not _at_least(m, w), "below {}"),
    "multipleOf": _Reader.multiple_of,
    "minLength": _limit(_length(str), _at_least, "a text of at least {} characters"),
    "maxLength": _limit(_length(str), _at_most, "a text of at most {} characters"),
    "pattern": _Reader.pattern,
    "items": _Reader.items,
    "prefixItems": _Reader.prefix_items,
    "contains": _Reader.contains,
    "minContains": _limit(lambda _: None, _at_least, ""),
    "maxContains": _limit(lambda _: None, _at_most, ""),
    "minItems": _limit(_length(tuple), _at_least, "an array of at least {} items"),
    "maxItems": _limit(_length(tuple), _at_most, "an array of at most {} items"),
    "uniqueItems": _Reader.unique_items,
    "properties": _Reader.properties,
    "patternProperties": _Reader.pattern_properties,
    "additionalProperties": _Reader.additional,
    "propertyNames": _Reader.property_names,
    "required": _Reader.required,
    "dependentRequired": _Reader.dependent_required,
    "minProperties": _limit(_length(Record), _at_least, "an object of at least {} entries"),
    "maxProperties": _limit(_length(Record), _at_most, "an object of at most {} entries"),
}
