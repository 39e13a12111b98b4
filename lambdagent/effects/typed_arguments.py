"""Arguments as data → what the parameters of a Python function are annotated with.

In: data that fits the schema of the function (see `ir.signature`), or may not. Out: members of
enumerations, instances of dataclasses, sets, dates; whatever does not fit stays as it is.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import inspect
import pathlib
import typing
import uuid
from collections.abc import Callable, Mapping, Set
from functools import partial
from typing import Any, Final, get_args, get_origin

from lambdagent.ir.signature import UNIONS, hints_of, members_of, plain_hint

# Makes the value of a parameter from plain data.
Maker = Callable[[Any], Any]

_FROM_TEXT: Final[Mapping[type, Callable[[str], Any]]] = {
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    bytes: str.encode,
}
_REFUSED: Final = (TypeError, ValueError, ArithmeticError)


class MisfitError(ValueError):
    """Data that is not of the kind that a parameter wants."""


def makers_of(function: Callable[..., Any]) -> dict[str, Maker]:
    """Return, for each parameter that plain data will not do for, what makes its value."""
    hints = {name: plain_hint(hint) for name, hint in hints_of(function).items()}
    return {name: partial(made, hint) for name, hint in hints.items() if not _is_plain(hint)}


def _is_plain(hint: Any) -> bool:
    """Whether plain data is already what `hint` says."""
    return hint in {str, bool, None, type(None), Any, dict, list, object}


def made(hint: Any, value: Any) -> Any:
    """Return `value`, plain data, as `hint` wants it.

    Raises:
        MisfitError: It is of another kind.
    """
    hint = plain_hint(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in UNIONS:
        return _one_of(arguments, value)
    if hint in {int, float}:
        return _number(hint, value)
    if hint is str:
        return _checked(isinstance(value, str), value)
    if hint in {None, type(None)}:
        return _checked(value is None, value)
    if inspect.isclass(hint) and origin is None:
        return _instance(hint, value)
    if inspect.isclass(origin):
        return _collection(origin, arguments, value)
    return value


def _checked(fits: bool, value: Any) -> Any:  # noqa: FBT001 - it is what is checked
    if not fits:
        raise MisfitError
    return value


def _one_of(choices: tuple[Any, ...], value: Any) -> Any:
    for choice in choices:
        try:
            return made(choice, value)
        except MisfitError:
            continue
    raise MisfitError


def _number(kind: type, value: Any) -> Any:
    _checked(isinstance(value, int | float) and not isinstance(value, bool), value)
    if kind is int:
        return _checked(value == value // 1, int(value)) if isinstance(value, float) else value
    return float(value)


def _instance(kind: type, value: Any) -> Any:
    if issubclass(kind, enum.Enum):
        return _tried(kind, value)
    members = members_of(kind)
    if members is not None:
        _checked(isinstance(value, Mapping), value)
        unknown = value.keys() - members.keys()
        _checked(not unknown, value)
        fields = {name: made(members[name].hint, each) for name, each in value.items()}
        return fields if typing.is_typeddict(kind) else _tried(lambda given: kind(**given), fields)
    if kind in _FROM_TEXT:
        _checked(isinstance(value, str), value)
        return _tried(_FROM_TEXT[kind], value)
    if issubclass(kind, decimal.Decimal):
        return _tried(lambda number: kind(str(number)), value)
    if issubclass(kind, pathlib.PurePath):
        return _tried(kind, value)
    return _collection(kind, (), value)


def _tried(make: Callable[[Any], Any], value: Any) -> Any:
    try:
        return make(value)
    except _REFUSED as error:
        raise MisfitError from error


def _collection(kind: type, arguments: tuple[Any, ...], value: Any) -> Any:
    if issubclass(kind, Mapping):
        _checked(isinstance(value, Mapping), value)
        inner = arguments[1] if len(arguments) == 2 else Any
        return {key: made(inner, each) for key, each in value.items()}
    if issubclass(kind, tuple) and arguments and arguments[-1] is not Ellipsis:
        _checked(isinstance(value, list) and len(value) == len(arguments), value)
        return tuple(made(one, each) for one, each in zip(arguments, value, strict=True))
    if issubclass(kind, str) or not hasattr(kind, "__iter__"):
        return value
    _checked(isinstance(value, list), value)
    items = [made(arguments[0] if arguments else Any, each) for each in value]
    if issubclass(kind, tuple | frozenset):
        return kind(items)
    return set(items) if issubclass(kind, Set) else items
