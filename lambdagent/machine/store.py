"""Store sites: deterministic functions of a cell of the store and an argument (ε, not journalled).

Each factory gets the static data of a site and returns (cell before, argument) → (answer, cell
after). Cells are values, so they are shared between states and stored with them.

    conversation   a list of turns, see `conversation`
    memory         opaque array of {id, key, value, time, number}, oldest first
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Final

from lambdagent.ir.data import Data, Record
from lambdagent.machine.conversation import (
    append_conversation,
    fold_conversation,
    merge_conversation,
    old_conversation,
    over_conversation,
    read_conversation,
)
from lambdagent.machine.state import OPAQUE, Cell, StoreFunction, Value
from lambdagent.machine.text import cut, text_of_value
from lambdagent.machine.values import parts, project

_KEY_LENGTH = 60
# Most characters that are remembered of an answer, and of what a model wrote to be remembered.
_VALUE_LENGTH = 200
_SUMMARY_LENGTH = 1_000


def read_memory(static: Record) -> StoreFunction:
    """Return the newest entries that still live, oldest first, with their age at time `now`."""
    size, ttl = _number(static["size"]), static["ttl"]

    def run(cell: Cell, now: Value) -> tuple[Value, Cell]:
        rows = [_aged(row, now) for row in _entries(cell, static) if _lives(row, now, ttl)]
        return (OPAQUE, tuple(rows[-size:] if size else ())), cell

    return run


def append_memory(static: Record) -> StoreFunction:
    """Remember ⟨⟨input, answer⟩, now⟩; forget the expired, and the oldest beyond size."""
    size, ttl, summarized = _number(static["size"]), static["ttl"], "summarized" in static

    def run(cell: Cell, argument: Value) -> tuple[Value, Cell]:
        exchanged, now = parts(argument)
        exchange, answer = parts(exchanged)
        known = _entries(cell, static)
        rows = [row for row in known if _lives(row, now, ttl)]
        asked = text_of_value(exchange)
        entry = Record(
            id=memory_key(asked),
            key=cut(asked, _KEY_LENGTH),
            value=memory_value(text_of_value(answer), summarized=summarized),
            time=project(now),
        )
        # Numbers go on where everything has expired: a join tells by them what is fresh.
        rows = _remembered(rows, entry, 1 + _newest(known))
        return None, (OPAQUE, tuple(rows[-size:] if size else ()))

    return run


def _newest(rows: list[Record]) -> int:
    return max((_number(row["number"]) for row in rows), default=0)


def memory_key(asked: str) -> str:
    """Return the key under which the answer to `asked` is remembered; other texts get others."""
    shown = cut(asked, _KEY_LENGTH)
    if shown == asked:
        return asked
    digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{shown} #{digest[:12]}"


def memory_value(answered: str, *, summarized: bool) -> str:
    """Return what is remembered of an answer, or of what a model wrote to be remembered."""
    return cut(answered, _SUMMARY_LENGTH if summarized else _VALUE_LENGTH)


def _remembered(rows: list[Record], entry: Record, number: int) -> list[Record]:
    kept = [row for row in rows if row["id"] != entry["id"]]
    return [*kept, Record(entry, number=number)]


def merge_memory(base: Cell, left: Cell, right: Cell) -> Cell:
    """Return `left` with the entries that `right` has and `base` has not."""
    known = _newest(_rows(base))
    merged = _rows(left)
    for row in _rows(right):
        if _number(row["number"]) > known:
            merged = _remembered(merged, row, 1 + _newest(merged))
    return (OPAQUE, tuple(merged))


def _entries(cell: Cell, static: Record) -> list[Record]:
    if cell is not None:
        return _rows(cell)
    initial = static.get("initial")
    items = initial.items() if isinstance(initial, Record) else ()
    return [Record(id=key, key=key, value=value, time=None, number=0) for key, value in items]


def _rows(cell: Cell) -> list[Record]:
    return [row for row in cell[1] if isinstance(row, Record)] if cell is not None else []


def _lives(row: Record, now: Value, ttl: Data) -> bool:
    time = row["time"]
    if not isinstance(ttl, int | float) or not ttl or not isinstance(time, int | float):
        return True
    return bool(now - time <= ttl)


def _aged(row: Record, now: Value) -> Record:
    time = row["time"]
    age = max(0, now - time) if isinstance(time, int | float) else None
    return Record(key=row["key"], value=row["value"], age=age)


def _number(data: Data) -> int:
    return data if isinstance(data, int) else 0


# The kind whose answers listeners are told.
REMEMBERS: Final = "mem.append"
STORES: Mapping[str, Callable[[Record], StoreFunction]] = {
    "conv.read": read_conversation,
    "conv.append": append_conversation,
    "conv.over": over_conversation,
    "conv.old": old_conversation,
    "conv.fold": fold_conversation,
    "mem.read": read_memory,
    "mem.append": append_memory,
}

MERGES: Mapping[str, Callable[[Cell, Cell, Cell], Cell]] = {
    "conv": merge_conversation,
    "mem": merge_memory,
}
