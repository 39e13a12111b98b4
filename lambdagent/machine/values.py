"""Values of the machine ⇄ data of the world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lambdagent.ir.core import UNIT, Unit
from lambdagent.ir.data import Data, Record
from lambdagent.machine.state import CONS, NIL_VALUE, OPAQUE, PAIR, TAGGED, Value

_DEEP = 200


class Noted(NamedTuple):
    """What a host function returns when it has a remark for the trace."""

    value: Value
    note: str


def inject(data: Data | Unit) -> Value:
    """Return `data` as a value: arrays are passed along unopened, so that they are no pairs."""
    return (OPAQUE, data) if isinstance(data, tuple) else data


def pair(left: Value, right: Value) -> Value:
    """Return ``⟨left, right⟩``."""
    return (PAIR, left, right)


def list_value(items: Iterable[Value]) -> Value:
    """Return the list value of `items`."""
    result = NIL_VALUE
    for item in reversed(list(items)):
        result = (CONS, item, result)
    return result


def list_items(value: Value) -> Iterator[Value]:
    """Yield the items of a list value; of an improper one, those before its end."""
    while type(value) is tuple and value[0] == CONS:
        yield value[1]
        value = value[2]


def project(value: Value, *, depth: int = 0) -> Data:
    """Return `value` as data: pairs and lists as arrays, unit as null, tagged values untagged.

    A function becomes the text ``<function>``: it has no other form outside.
    """
    if type(value) is not tuple:
        return None if value is UNIT else value
    if depth > _DEEP:
        return "…"
    match value[0]:
        case 0:
            return tuple(project(part, depth=depth + 1) for part in tuple_items(value))
        case 1 | 2:
            return tuple(project(item, depth=depth + 1) for item in list_items(value))
        case 3:
            return project(value[3], depth=depth + 1)
        case 9:
            opaque: Data = value[1]
            return opaque
    return "<function>"


def tuple_items(value: Value) -> list[Value]:
    """Return the components of right-nested pairs: ``⟨a, ⟨b, c⟩⟩`` gives a, b, c."""
    items = []
    while type(value) is tuple and value[0] == PAIR:
        items.append(value[1])
        value = value[2]
    return [*items, value]


def tagged(labels: tuple[str, ...], index: int, payload: Value) -> Value:
    """Return ``lᵢ⟨payload⟩`` of the sum whose labels are `labels`."""
    return (TAGGED, labels, index, payload)


def record(**items: Data) -> Record:
    """Return a record of `items`."""
    return Record(items)
