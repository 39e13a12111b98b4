"""Data: what may cross the border between a program and the world.

JSON-like and immutable: None, bool, int, float, str, tuples (arrays) and `Record`s (objects).
"""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, TypeAlias

from lambdagent.errors import plain
from lambdagent.messages import phrase

Data: TypeAlias = "bool | int | float | str | tuple[Data, ...] | Record | None"


class Record(Mapping[str, "Data"]):
    """An immutable object with string keys, in insertion order; equal whatever the order."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[str, Data] | None = None, **more: Data) -> None:
        """Copy `items`, then `more`; their values must already be `Data`."""
        self._items: dict[str, Data] = {**items, **more} if items else more
        self._hash: int | None = None

    def __getitem__(self, key: str) -> Data:
        return self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, or `default`."""
        return self._items.get(key, default)

    # The views of `Mapping` look each value up by a call of ours.
    def keys(self) -> KeysView[str]:
        """Return the keys."""
        return self._items.keys()

    def values(self) -> ValuesView[Data]:
        """Return the values."""
        return self._items.values()

    def items(self) -> ItemsView[str, Data]:
        """Return keys and values."""
        return self._items.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Record({self._items!r})"

    def to_dict(self) -> dict[str, Data]:
        """Return a copy that `json` takes, its values as they are."""
        return dict(self._items)


# Levels of lists and objects in what crosses the border.
DEEPEST = 200
# Python writes no integer of more than 4,300 digits in decimal.
_LARGEST_BITS = 14_000


class NotDataError(TypeError):
    """A value that cannot cross the border: a function, a handle, a set, a non-string key."""


def freeze(value: object, *, max_depth: int = DEEPEST) -> Data:
    """Return `value` as `Data`: lists become tuples, dicts become `Record`s.

    Raises:
        NotDataError: `value` holds something that JSON cannot, nests deeper than `max_depth`, or
            is a number of thousands of digits.
    """
    if value is None or isinstance(value, bool | int | float | str):
        if type(value) is int and value.bit_length() > _LARGEST_BITS:
            what = phrase("the number has too many digits")
            raise NotDataError(what)
        return value
    if max_depth == 0:
        what = phrase("the value is nested too deeply")
        raise NotDataError(what)
    if isinstance(value, list | tuple):
        return tuple(freeze(item, max_depth=max_depth - 1) for item in value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                what = phrase("the key {got} is no string", got=plain(key))
                raise NotDataError(what)
        return Record({k: freeze(v, max_depth=max_depth - 1) for k, v in value.items()})
    what = phrase("{name} is no JSON value", name=type(value).__name__)
    raise NotDataError(what)


def is_json(root: Data) -> bool:
    """Whether `root` holds nothing that JSON cannot: an infinity, or what is no number."""
    stack = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, tuple):
            stack += value
        elif isinstance(value, Record):
            stack += value.values()
        elif isinstance(value, float) and not math.isfinite(value):
            return False
    return True


def shallow(data: Data, depth: int = 20) -> Data:
    """Return `data` with what is nested deeper than `depth` replaced by ``…``."""
    if isinstance(data, tuple | Record) and depth == 0:
        return "…"
    if isinstance(data, tuple):
        return tuple(shallow(item, depth - 1) for item in data)
    if isinstance(data, Record):
        return Record({key: shallow(item, depth - 1) for key, item in data.items()})
    return data


def thaw(root: Data) -> Any:
    """Return `root` with fresh dicts and lists, as `json` and the SDKs want it, of any depth."""
    if not isinstance(root, tuple | Record):
        return root
    top: list[Any] = [None]
    stack: list[tuple[Data, Any, Any]] = [(root, top, 0)]
    while stack:
        value, holder, place = stack.pop()
        if isinstance(value, tuple):
            items: list[Any] = [None] * len(value)
            holder[place] = items
            stack.extend((item, items, i) for i, item in enumerate(value))
        elif isinstance(value, Record):
            entries: dict[str, Any] = dict.fromkeys(value)
            holder[place] = entries
            stack.extend((item, entries, key) for key, item in value.items())
        else:
            holder[place] = value
    return top[0]
