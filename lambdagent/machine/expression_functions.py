"""The functions and methods of safe expressions.

In: a `Meter`, then the values of the arguments. Out: a value, or an exception that the evaluator
turns into an `EvaluationError`. Every function pays before it works.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from lambdagent.ir.data import freeze
from lambdagent.ir.pattern import PatternError, compile_pattern
from lambdagent.machine.expression_values import (
    LIMIT_ITEMS,
    EvaluationError,
    Meter,
    arithmetic,
    check_bits,
    check_characters,
    check_items,
    fail,
    items,
    key,
    kind,
    search_steps,
    size,
    text,
)


def _extreme(pick: Callable[..., Any]) -> Callable[..., object]:
    def function(meter: Meter, *values: Any, **more: Any) -> object:
        found = items(meter, values[0]) if len(values) == 1 else values
        meter.pay_walk(found)
        return pick(found, **more) if len(values) == 1 else pick(*values)

    return function


def _sorted(meter: Meter, value: Any, *, reverse: bool = False) -> object:
    found = items(meter, value)
    total = meter.pay_walk(found)
    meter.pay(total * len(found).bit_length() >> 4)
    return tuple(sorted(found, reverse=bool(reverse)))


def _sum(meter: Meter, value: Any, start: Any = 0) -> object:
    total = start
    for number in items(meter, value):
        if not isinstance(number, int | float) or not isinstance(start, int | float):
            fail(f"`sum` adds numbers, got {kind(number)}")
        meter.pay(1)
        total = arithmetic("+", total, number)
    return total


def _absolute(_meter: Meter, value: Any) -> object:
    check_bits(value)
    return abs(value)


def _round(_meter: Meter, value: Any, ndigits: Any = None) -> object:
    check_bits(value)
    if isinstance(ndigits, int) and abs(ndigits) > 400:
        fail("`round` takes at most 400 digits")
    return round(value, ndigits)


def _integer(_meter: Meter, value: Any, *base: Any) -> object:
    if isinstance(value, str) and len(value) > 2000:
        fail("`int` takes a text of at most 2000 characters")
    number = int(value, *base)
    check_bits(number)
    return number


def _floating(_meter: Meter, value: Any) -> object:
    if isinstance(value, str) and len(value) > 2000:
        fail("`float` takes a text of at most 2000 characters")
    return float(value)


def _no_constant(name: str) -> NoReturn:
    fail(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _json(meter: Meter, value: Any) -> object:
    if not isinstance(value, str):
        fail(f"`json.loads` takes a text, got {kind(value)}")
    check_characters(len(value))
    parts = sum(map(value.count, "[{,"))
    check_items(parts)
    meter.pay(4 + (len(value) >> 6) + 2 * parts)
    return freeze(_DECODER.decode(value))


def _regular(name: str) -> Callable[..., object]:
    def function(meter: Meter, pattern: Any, subject: Any, flags: Any = 0) -> object:
        if not isinstance(pattern, str) or not isinstance(subject, str):
            fail(f"`re.{name}` takes two texts, got {kind(pattern)} and {kind(subject)}")
        check_characters(len(subject))
        try:
            compiled = compile_pattern(pattern, int(flags))
            meter.pay_pattern(pattern, int(flags), compiled.setup_us)
            meter.pay(2 * len(pattern) + compiled.cost(subject, searching=name == "search"))
        except PatternError as error:
            raise EvaluationError(str(error)) from error
        found = getattr(compiled.regex, name)(subject)
        return found and (found.group(), *found.groups())

    return function


FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "abs": _absolute,
    "all": lambda meter, value: all(items(meter, value)),
    "any": lambda meter, value: any(items(meter, value)),
    "bool": lambda _meter, value=False: bool(value),
    "float": _floating,
    "int": _integer,
    "json.loads": _json,
    "len": lambda _meter, value: size(value),
    "max": _extreme(max),
    "min": _extreme(min),
    "re.fullmatch": _regular("fullmatch"),
    "re.match": _regular("match"),
    "re.search": _regular("search"),
    "round": _round,
    "sorted": _sorted,
    "str": text,
    "sum": _sum,
}


def _linear(name: str) -> Callable[..., object]:
    def method(meter: Meter, subject: str) -> object:
        meter.pay(1 + (len(subject) >> 5))
        return getattr(subject, name)()

    return method


def _searching(name: str) -> Callable[..., object]:
    backwards = name in {"rfind", "strip", "lstrip", "rstrip"}

    def method(meter: Meter, subject: str, *args: Any) -> object:
        wanted = max((size(part) for part in args if isinstance(part, str | tuple)), default=1)
        steps = search_steps(len(subject), wanted)
        # These have no linear search.
        meter.pay(len(subject) * wanted // 1000 + steps if backwards else steps)
        return getattr(subject, name)(*args)

    return method


def _affix(name: str) -> Callable[..., object]:
    def method(meter: Meter, subject: str, part: Any) -> object:
        meter.pay_walk(part)
        meter.pay(len(subject) >> 6)
        return getattr(subject, name)(part)

    return method


def _splitting(name: str) -> Callable[..., object]:
    def method(meter: Meter, subject: str, sep: Any = None, maxsplit: Any = -1) -> object:
        wanted = len(sep) if isinstance(sep, str) else 1
        meter.pay(len(subject) * wanted // 1000 + search_steps(len(subject), wanted))
        most = maxsplit if 0 <= maxsplit <= LIMIT_ITEMS else LIMIT_ITEMS + 1
        found = getattr(subject, name)(sep, most)
        check_items(len(found))
        meter.pay(len(found) >> 3)
        return tuple(found)

    return method


def _split_lines(meter: Meter, subject: str, keepends: Any = False) -> object:  # noqa: FBT002
    meter.pay(1 + (len(subject) >> 5))
    check_items(sum(map(subject.count, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")))
    found = tuple(subject.splitlines(bool(keepends)))
    meter.pay(len(found) >> 3)
    return found


def _replace(meter: Meter, subject: str, old: Any, new: Any, count: Any = -1) -> object:
    meter.pay(2 * search_steps(len(subject), size(old)))
    times = subject.count(old) if count < 0 else min(count, subject.count(old))
    length = len(subject) + times * (size(new) - size(old))
    check_characters(length)
    meter.pay((length >> 6) + (times >> 5))
    return subject.replace(old, new, count)


def _join(meter: Meter, subject: str, values: Any) -> object:
    found = items(meter, values)
    if not all(isinstance(part, str) for part in found):
        fail("`join` joins texts only")
    length = sum(map(len, found)) + len(subject) * len(found)
    check_characters(length)
    meter.pay(length >> 6)
    return subject.join(found)


def _walking(name: str) -> Callable[..., object]:
    def method(meter: Meter, subject: tuple[Any, ...], value: Any) -> object:
        meter.pay_walk(subject, value)
        return getattr(subject, name)(value)

    return method


def _get(meter: Meter, subject: Mapping[Any, Any], name: Any, default: Any = None) -> object:
    return subject.get(key(meter, name), default)


def _listed(pick: Callable[[Any], object]) -> Callable[..., object]:
    def method(meter: Meter, subject: Mapping[Any, Any]) -> object:
        meter.pay(1 + (len(subject) >> 2))
        return pick(subject)

    return method


_LINEAR = ["casefold", "lower", "title", "upper", "isalnum", "isalpha", "isdigit", "islower"]
_LINEAR += ["isnumeric", "isspace", "isupper"]
_SEARCHING = ["count", "find", "index", "partition", "rfind", "lstrip", "rstrip", "strip"]
_AFFIXES = ["startswith", "endswith", "removeprefix", "removesuffix"]

TEXT_METHODS: Mapping[str, Callable[..., object]] = {
    **{name: _linear(name) for name in _LINEAR},
    **{name: _searching(name) for name in _SEARCHING},
    **{name: _affix(name) for name in _AFFIXES},
    "split": _splitting("split"),
    "rsplit": _splitting("rsplit"),
    "splitlines": _split_lines,
    "replace": _replace,
    "join": _join,
}
LIST_METHODS: Mapping[str, Callable[..., object]] = {
    "count": _walking("count"),
    "index": _walking("index"),
}
DICT_METHODS: Mapping[str, Callable[..., object]] = {
    "get": _get,
    "keys": _listed(lambda subject: dict.fromkeys(subject).keys()),
    "values": _listed(lambda subject: tuple(subject.values())),
    "items": _listed(lambda subject: tuple(subject.items())),
}


def method_of(subject: object, name: str) -> Callable[..., object]:
    """Return the method `name` of `subject`, to be called with a meter and the subject first."""
    match subject:
        case str():
            table = TEXT_METHODS
        case Mapping():
            table = DICT_METHODS
        case tuple():
            table = LIST_METHODS
        case _:
            table = {}
    if name not in table:
        fail(f"{kind(subject)} has no method `{name}`")
    return table[name]
