"""Store sites: deterministic functions of a cell of the store and an argument (ε, not journalled).

Each factory gets the static data of a site and returns (cell before, argument) → (answer, cell
after). Cells are values, so they are shared between states and stored with them.

    conversation   newest turn first: turn :: older;  turn = ⟨input, ⟨reply, number⟩⟩
    memory         opaque array of {id, key, value, time, number}, oldest first
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Final

from lambdagent.ir.data import Data, Record
from lambdagent.machine.state import CONS, NIL_VALUE, OPAQUE, PAIR, Value
from lambdagent.machine.text import cut, text_of_value
from lambdagent.machine.values import list_items, pair, parts, project

Cell = Value | None
StoreFunction = Callable[[Cell, Value], tuple[Value, Cell]]

_KEY_LENGTH = 60
# Most characters that are remembered of an answer, and of what a model wrote to be remembered.
_VALUE_LENGTH = 200
_SUMMARY_LENGTH = 1_000


def read_conversation(static: Record) -> StoreFunction:
    """Return ⟨all turns, newest first, ⟨token limit, turn limit⟩⟩.

    It costs the same however long the conversation is: the turns are the cell, shared, and what of
    them a model sees is chosen when the request is rendered; see `effects.render`.
    """
    limits = pair(_number(static["max_tokens"]), _number(static["recent_turns"]))

    def run(cell: Cell, _argument: Value) -> tuple[Value, Cell]:
        return (PAIR, cell or NIL_VALUE, limits), cell

    return run


def append_conversation(_static: Record) -> StoreFunction:
    """Add the turn ⟨input, reply⟩."""

    def run(cell: Cell, argument: Value) -> tuple[Value, Cell]:
        exchange, reply = parts(argument)
        return None, _with_turn(cell or NIL_VALUE, exchange, reply)

    return run


def _with_turn(older: Value, exchange: Value, reply: Value) -> Value:
    return (CONS, (PAIR, exchange, (PAIR, reply, _turn_number(older) + 1)), older)


def _turn_number(cell: Value) -> int:
    number: int = cell[1][2][2] if cell[0] == CONS else 0
    return number


def merge_conversation(base: Cell, left: Cell, right: Cell) -> Cell:
    """Return `left` with the turns that `right` has and `base` has not."""
    known = _turn_number(base or NIL_VALUE)
    fresh = []
    for turn in list_items(right or NIL_VALUE):
        if turn[2][2] <= known:
            break
        fresh.append(turn)
    merged = left or NIL_VALUE
    for turn in reversed(fresh):
        merged = _with_turn(merged, turn[1], turn[2][1])
    return merged


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
    "mem.read": read_memory,
    "mem.append": append_memory,
}

MERGES: Mapping[str, Callable[[Cell, Cell, Cell], Cell]] = {
    "conv": merge_conversation,
    "mem": merge_memory,
}
