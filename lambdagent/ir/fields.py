"""What the fields of surface terms may hold: converters and validators."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, cast

import attrs

from lambdagent.errors import plain
from lambdagent.ir.data import Record, freeze, is_json
from lambdagent.ir.data_text import integer_text
from lambdagent.ir.schema_faults import unknown_keywords
from lambdagent.ir.strategies import is_strategy, parse_strategy

# Most characters of a value in a message.
_SHOWN = 60


def sized(text: object) -> str:
    """Return how a text that nobody asked for stands in a repr, which may end in a log.

    >>> sized("Be kind.")
    '<8 characters>'
    """
    return f"<{len(str(text))} characters>"


def plain_float(value: Any) -> Any:
    """Return `value` as a float, and zero without a sign; what is no number is left as it is."""
    try:
        return float(value) + 0.0
    except (TypeError, ValueError, OverflowError):
        return value


def plain_zero(value: Any) -> Any:
    """Return `value`, and zero without a sign: the λ syntax writes zero as 0."""
    return 0.0 if isinstance(value, float) and value == 0 else value


def number(_owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no number from 0."""
    if not _is_number(value):
        refuse(field, "a number from 0", value)


def number_or_none(_owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is neither a number from 0 nor None."""
    if value is not None and not _is_number(value):
        refuse(field, "a number from 0, or None", value)


def seconds(_owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no number above 0."""
    if not _is_number(value) or not value:
        refuse(field, "a number above 0", value)


def whole(_owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no whole number from 0 that a float can hold."""
    if not _is_number(value) or type(value) is not int:
        refuse(field, "a whole number from 0", value)


def whole_or_none(owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is neither such a whole number nor None."""
    if value is not None:
        whole(owner, field, value)


def count(_owner: object, field: attrs.Attribute[int], value: object) -> None:
    """Refuse what is no natural number: a bound of the calculus, as large as one likes."""
    if type(value) is not int or value < 0:
        refuse(field, "a whole number from 0", value)


def spelled_strategy(value: Any) -> Any:
    """Return a strategy as it is usually written; what is none is left as it is."""
    return str(parse_strategy(value)) if is_strategy(value) else value


def strategy(_owner: object, field: attrs.Attribute[str], value: object) -> None:
    """Refuse what is no strategy of conversations."""
    if not is_strategy(value):
        refuse(field, "managed, full, sliding_window(n), token_budget(n) or summary(n)", value)


def schema_or_none(_owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is neither a JSON Schema that can be checked nor None."""
    if value is not None and not is_schema(value):
        refuse(field, "a JSON Schema of which all can be checked, or None", value)


def object_schema(value: Any) -> Any:
    """Return a JSON Schema of an object, which need not say so; None stays None."""
    return freeze({"type": "object", **value}) if isinstance(value, Mapping) else value


def object_schema_or_none(_owner: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is neither the JSON Schema of an object nor None."""
    if value is not None and not is_object_schema(value):
        refuse(field, "the JSON Schema of an object, or None", value)


def is_object_schema(value: Any) -> bool:
    """Whether `value` is the JSON Schema of an object; else it may say what it likes."""
    return isinstance(value, Record) and value.get("type") == "object" and is_json(value)


def is_schema(value: Any) -> bool:
    """Whether `value` is a JSON Schema, an object, of which all can be checked."""
    return isinstance(value, Record) and not unknown_keywords(value)


def one_of(known: tuple[str, ...]) -> Callable[[object, attrs.Attribute[str], str], None]:
    """Return what refuses all but `known` texts."""

    def check(_owner: object, field: attrs.Attribute[str], value: str) -> None:
        if value not in known:
            refuse(field, f"one of {', '.join(known)}", value)

    return check


def _is_number(value: object) -> bool:
    """Whether `value` is a number from 0 that a float can hold, as in the rows of λ texts."""
    return type(value) in {int, float} and 0 <= cast(float, value) <= sys.float_info.max


def refuse(field: attrs.Attribute[Any], expected: str, value: object) -> NoReturn:
    """Raise the error that `field` is not what is expected."""
    shown = integer_text(value) if type(value) is int else plain(value)
    what = f"{field.name} must be {expected}, got {shown[:_SHOWN]}"
    raise ValueError(what)
