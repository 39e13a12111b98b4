"""A JSON Schema as data, and a value → what of the value does not fit it.

What it knows of draft 2020-12 it checks exactly; `schema_faults` names what it does not know, for
whoever takes in schemas. Formats and descriptions say nothing about what fits. A schema may come
from anybody: of what makes no sense nothing is asked, and no look at a value goes on for ever.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Final, TypeAlias

from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.pattern import Pattern, PatternError, compile_pattern
from lambdagent.ir.schema_references import referred

# What does not fit: sentences about values by their places.
Problems: TypeAlias = Iterator[str]
_Check: TypeAlias = "Callable[[_Reader, Data, Record, Data, str], Problems]"

_MOST = 5  # problems that are told
_SHOWN = 60
# A schema may refer to itself, and so be as deep as the value.
_DEEPEST = 100
# One that does so twice has twice as much to look at on each level.
_MOST_REFERENCES = 100_000
_LONGEST_MATCH_US = 1_000_000


def is_number(value: Data) -> bool:
    """Whether `value` is a number of JSON; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite(value: Data) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _is_positive(value: Data) -> bool:
    return is_number(value) and _is_finite(value) and value > 0  # type: ignore[operator]


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
_EXCLUSIVE: Final = tuple(each for each in _TYPES if each != "integer")
# What says nothing but the type of one value, and of an object with one.
_PLAIN: Final = frozenset({"type", "description", "title", "default"})
_PLAIN_OBJECT: Final = _PLAIN | {"properties", "required", "additionalProperties"}


def named_types(schema: Data) -> set[str]:
    """Return the types that `schema` says its values are of; none where it does not say so.

    >>> sorted(named_types(Record(enum=("a", 1)))), named_types(Record())
    (['number', 'string'], set())
    """
    if not isinstance(schema, Record):
        return set()
    if "type" in schema:
        return set(_texts(schema["type"]))
    values = (schema["const"],) if "const" in schema else _items(schema.get("enum"))
    return {next(n for n in _EXCLUSIVE if _TYPES[n](each)) for each in values}


def problems_of(value: Data, schema: Data) -> list[str]:
    """Return what of `value` does not fit `schema`, the first few things; none if it fits.

    >>> problems_of("a", Record(type="integer"))
    ['it must be an integer, not "a"']
    """
    reader = _Reader(schema)
    try:
        return reader.below(value, schema, "")
    except _EndlessError:
        return ["there is too much to look at"]


def checker_of(schema: Record) -> Callable[[Data], bool]:
    """Return what tells whether a value fits `schema`.

    Most schemas of arguments say no more than which there are and of what type each is: to ask
    that alone takes a tenth of the time.

    >>> fits = checker_of(Record(type="object", properties=Record(n=Record(type="integer"))))
    >>> fits(Record(n=1)), fits(Record(n="1")), fits(Record())
    (True, False, True)
    """
    tests = _plain_tests(schema)
    if tests is None:
        return lambda value: not problems_of(value, schema)
    required = frozenset(_texts(schema.get("required", ())))
    closed = schema.get("additionalProperties", True) is False

    def fits(value: Data) -> bool:
        if type(value) is not Record or not required <= value.keys():
            return False
        for name, each in value.items():
            test = tests.get(name)
            if closed if test is None else not test(each):
                return False
        return True

    return fits


def checker_alone(schema: Record, name: str) -> Callable[[Data], bool]:
    """Return what tells whether an object with a value as its one property `name` fits."""
    tests, fits = _plain_tests(schema), checker_of(schema)
    required = _texts(schema.get("required", ()))
    if tests is not None and name in tests and {name}.issuperset(required):
        return tests[name]
    return lambda value: fits(Record({name: value}))


def _plain_tests(schema: Record) -> Mapping[str, Callable[[Data], bool]] | None:
    """Return a test for each property of an object of which `schema` says no more than that."""
    if (
        schema.get("type") != "object"
        or not schema.keys() <= _PLAIN_OBJECT
        or type(schema.get("additionalProperties", True)) is not bool
    ):
        return None
    tests: dict[str, Callable[[Data], bool]] = {}
    for name, each in _entries(schema, "properties").items():
        is_plain = isinstance(each, Record) and each.keys() <= _PLAIN
        kind = each.get("type") if is_plain else None  # type: ignore[union-attr]
        if not isinstance(kind, str) or kind not in _TYPES:
            return None
        tests[name] = _TYPES[kind]
    return tests


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _items(value: Data) -> tuple[Data, ...]:
    return value if isinstance(value, tuple) else ()


def _entries(schema: Record, key: str) -> Record:
    found = schema.get(key)
    return found if isinstance(found, Record) else Record()


def _texts(value: Data) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def _shown(value: Data) -> str:
    text = data_text(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


class _EndlessError(Exception):
    """Too many references were followed."""


def _same(left: Data, right: Data) -> bool:
    """Whether two values are one in JSON: 1 is 1.0, and not true."""
    return _identity(left) == _identity(right)


def _identity(value: Data) -> Hashable:
    """Return what is equal for values that are one in JSON, and differs for others."""
    if isinstance(value, tuple):
        return tuple(map(_identity, value))
    if isinstance(value, Record):
        return frozenset((key, _identity(each)) for key, each in value.items())
    return (value,) if is_number(value) else (type(value), value)


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
        self._left = _DEEPEST
        self._references = _MOST_REFERENCES

    def below(self, value: Data, schema: Data, place: str) -> list[str]:
        """Return what does not fit of a part of what is looked at, the first few things."""
        left = self._left
        found = list(islice(self._problems(value, schema, place), _MOST))
        self._left = left  # if there were more
        return found

    def fits(self, value: Data, schema: Data) -> bool:
        """Whether `value` fits."""
        return not self.below(value, schema, "")

    def _problems(self, value: Data, schema: Data, place: str) -> Problems:
        if schema is False:
            yield f"{_named(place)} must not be there"
        if not isinstance(schema, Record):
            return
        if self._left == 0:
            yield f"{_named(place)} is nested too deeply"
            return
        self._left -= 1
        for key, wanted in schema.items():
            check = _CHECKS.get(key)
            if check is not None:
                yield from check(self, value, schema, wanted, place)
        self._left += 1

    # --- any value ---

    def ref(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        self._references -= 1
        if self._references < 0:
            raise _EndlessError
        found = referred(self._root, wanted)
        yield from self.below(value, False if found is None else found[0], place)

    def type(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        names = _texts(wanted)
        if not any(name in _TYPES and _TYPES[name](value) for name in names):
            yield _must(place, " or ".join(_WORDS.get(name, name) for name in names), value)

    def enum(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        choices = _items(wanted)
        if isinstance(value, str):  # nothing else is equal to a text
            fits = value in choices
        else:
            same = _identity(value)
            fits = any(_identity(choice) == same for choice in choices)
        if not fits:
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
        if not is_number(value) or not _is_positive(wanted):
            return
        if not _is_finite(value) or Fraction(str(value)) % Fraction(str(wanted)):
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
        if (is_number(least) and count < least) or (is_number(most) and count > most):
            yield f"{_named(place)} has {count} items of the wanted form"

    def unique_items(self, value: Data, _schema: Record, wanted: Data, place: str) -> Problems:
        items = _items(value)
        if wanted is True and len(set(map(_identity, items))) < len(items):
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
        known = _entries(schema, "properties")
        patterns = _entries(schema, "patternProperties")
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
        if isinstance(value, Record) and isinstance(wanted, tuple):
            for name in _texts(wanted):
                if name not in value:
                    yield f"`{_inside(place, name)}` is missing"

    def dependent_required(self, value: Data, _schema: Record, wanted: Data, at: str) -> Problems:
        if isinstance(value, Record) and isinstance(wanted, Record):
            for name, needed in wanted.items():
                if name in value and isinstance(needed, tuple):
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
        if measured is not None and is_number(wanted) and not fits(measured, wanted):
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

# What is asked of values, `then` and `else` aside.
KEYWORDS: Final = frozenset(_CHECKS)
