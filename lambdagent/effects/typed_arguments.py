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
import types
import typing
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from functools import partial
from typing import Any, Final, get_args, get_origin

from lambdagent.ir.data import thaw
from lambdagent.ir.signature import (
    UNIONS,
    choices_of,
    hints_of,
    members_of,
    plain_hint,
    validates_itself,
)

# Makes the value of a parameter from plain data.
Maker = Callable[[Any], Any]

_FROM_TEXT: Final[Mapping[type, Callable[[str], Any]]] = {
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    bytes: str.encode,
}


class MisfitError(ValueError):
    """Data that is not of the kind that a parameter wants; it says why where a class does."""


def makers_of(
    function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]
) -> dict[str, Maker]:
    """Return, for each of `parameters` that plain data will not do for, what makes its value."""
    hints = {name: plain_hint(hint) for name, hint in hints_of(function).items()}
    makers: dict[str, Maker] = {}
    for name, parameter in parameters.items():
        hint = hints.get(name, Any)
        if _is_plain(hint):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            makers[name] = partial(_all_made, hint)
        elif parameter.kind is parameter.VAR_KEYWORD:
            makers[name] = partial(made, types.GenericAlias(dict, (str, hint)))
        else:
            makers[name] = partial(made, hint)
    return makers


def _all_made(hint: Any, values: Any) -> Any:
    return tuple(made(hint, each) for each in values)


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
    if kind is int and isinstance(value, float):
        _checked(value.is_integer(), value)
    return _tried(kind, value)


def _instance(kind: type, value: Any) -> Any:
    if issubclass(kind, enum.Enum):
        return _member(kind, value)
    if validates_itself(kind):
        return _tried(kind.model_validate, value)  # type: ignore[attr-defined]
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


def _member(kind: type[enum.Enum], value: Any) -> Any:
    for choice, member in choices_of(kind):
        if thaw(choice) == value and isinstance(value, bool) is isinstance(choice, bool):
            return member
    return _tried(kind, value)


def _tried(make: Callable[[Any], Any], value: Any) -> Any:
    try:
        return make(value)
    except Exception as error:  # what a class of the user's raises, it alone knows
        raise MisfitError(str(error)) from error


def _collection(kind: Any, arguments: tuple[Any, ...], value: Any) -> Any:
    if issubclass(kind, Mapping):
        _checked(isinstance(value, Mapping), value)
        outer, inner = arguments if len(arguments) == 2 else (Any, Any)
        return {_key(outer, key): made(inner, each) for key, each in value.items()}
    if issubclass(kind, tuple) and arguments and arguments[-1] is not Ellipsis:
        _checked(isinstance(value, list) and len(value) == len(arguments), value)
        return tuple(made(one, each) for one, each in zip(arguments, value, strict=True))
    if issubclass(kind, str) or not (issubclass(kind, Collection | Iterator) or kind is Iterable):
        return value
    _checked(isinstance(value, list), value)
    items = [made(arguments[0] if arguments else Any, each) for each in value]
    if not inspect.isabstract(kind):
        return items if kind is list else _tried(kind, items)
    if issubclass(kind, Set):
        return _tried(set, items)
    return iter(items) if issubclass(kind, Iterator) else items


def _key(hint: Any, key: str) -> Any:
    """Return a key of an object, which is a text in JSON, as `hint` wants it."""
    hint = plain_hint(hint)
    return _tried(hint, key) if hint in {int, float} else made(hint, key)
