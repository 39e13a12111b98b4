"""Values of the machine ⇄ data of the world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import NamedTuple, TypeVar

from lambdagent.errors import RunError, finding
from lambdagent.ir.core import UNIT, Unit
from lambdagent.ir.data import Data
from lambdagent.ir.data_text import data_text
from lambdagent.machine.state import CONS, NIL, NIL_VALUE, OPAQUE, PAIR, TAGGED, Value

# Longest text of a leaf in a message.
_SKETCHED = 60
_FUNCTION = "<function>"
# Most parts of what leaves the machine, if it has more than twice as many as are in memory.
_LARGEST = 1_000_000

T = TypeVar("T")


class Noted(NamedTuple):
    """What a host function returns when it has something to tell beside its value.

    Attributes:
        kind: The kind of the event: ``note`` for a remark, ``exit`` for why a loop ends.
    """

    value: Value
    note: str
    kind: str = "note"


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


def proper_list(value: Value) -> list[Value] | None:
    """Return the items of a list value that ends as lists do, None for all else."""
    items = []
    while type(value) is tuple and value[0] == CONS:
        items.append(value[1])
        value = value[2]
    return items if type(value) is tuple and value[0] == NIL else None


def is_pair(value: Value) -> bool:
    """Whether `value` is a native pair."""
    return type(value) is tuple and value[0] == PAIR


def parts(value: Value) -> tuple[Value, Value]:
    """Return the components of a native pair.

    Raises:
        TypeError: `value` is none.
    """
    if not is_pair(value):
        raise TypeError
    return value[1], value[2]


def project(root: Value) -> Data:
    """Return `root` as data: pairs and lists as arrays, unit as null, tagged values untagged.

    A function, of either engine, becomes the text ``<function>``: it has no other form outside.

    Raises:
        RunError: It shares its parts, and without that would be too large for the world.
    """
    while type(root) is tuple and root[0] == TAGGED:
        root = root[3]
    return fold(root, leaf_data, _arrays()) if _has_parts(root) else leaf_data(root)


def _arrays() -> Callable[[int, list[Data]], Data]:
    """Return what makes arrays, and counts their parts as the world sees them: without sharing."""
    sizes: dict[int, int] = {}  # by identity; what is not in it has no parts
    held = 0  # parts of all arrays, each array counted once

    def made(tag: int, parts: list[Data]) -> Data:
        nonlocal held
        if tag == TAGGED:
            return parts[0]
        array = tuple(parts)
        size = len(parts) + sum([sizes.get(id(part), 0) for part in parts])
        sizes[id(array)] = size
        held += len(parts)
        if size > _LARGEST and size > 2 * held:
            raise RunError(finding("R012", limit=f"{_LARGEST:,}"))
        return array

    return made


def leaf_data(value: Value) -> Data:
    """Return a value that has no parts as data."""
    if type(value) is not tuple:
        if type(value) is FunctionType:
            return _FUNCTION
        return None if value is UNIT else value
    opaque: Data = value[1] if value[0] == OPAQUE else _FUNCTION
    return opaque


def fold(root: Value, leaf: Callable[[Value], T], node: Callable[[int, list[T]], T]) -> T:
    """Return what `node` makes of the pairs, lists and tagged values of `root`, leaves first.

    Shared parts are folded once, and nothing recurses.

    Args:
        root: Any value.
        leaf: Called with each value without parts.
        node: Called with the tag of a value and its folded parts: the components of a tuple, the
            items of a list, the payload of a tagged value.
    """
    if not _has_parts(root):
        return leaf(root)
    done: dict[int, T] = {}
    stack = [(root, False)]
    while stack:
        value, ready = stack.pop()
        if id(value) in done:
            continue
        parts = _parts_of(value)
        if ready:
            folded = [done[id(part)] if _has_parts(part) else leaf(part) for part in parts]
            done[id(value)] = node(value[0], folded)
        else:
            stack.append((value, True))
            stack.extend((part, False) for part in parts if _has_parts(part))
    return done[id(root)]


def _has_parts(value: Value) -> bool:
    return type(value) is tuple and value[0] <= TAGGED


def _parts_of(value: Value) -> list[Value]:
    if value[0] == PAIR:
        return tuple_items(value)
    return [value[3]] if value[0] == TAGGED else list(list_items(value))


def sketch(value: Value, depth: int = 3) -> str:
    """Return a short text for `value`, for messages: no more than a few parts and levels of it."""
    if not _has_parts(value):
        return data_text(leaf_data(value))[:_SKETCHED]
    if depth == 0:
        return "…"
    if value[0] == TAGGED:
        return f"{value[1][value[2]]}({sketch(value[3], depth - 1)})"
    if value[0] == PAIR:
        return f"({sketch(value[1], depth - 1)}, {sketch(value[2], depth - 1)})"
    return "[]" if len(value) == 1 else f"[{sketch(value[1], depth - 1)}, …]"


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
