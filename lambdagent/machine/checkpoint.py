"""States ⇄ flat rows, and a digest of a state.

Each value, environment and frame becomes one row, children before parents; what is shared in
memory is one row, so the size is linear in distinct nodes. Code is named by node id, so rows are
read against the program that wrote them.

    ("c", data)  ("u",)              a constant, unit
    ("e", value, outer)              an environment; -1 is the empty one
    (tag, …)                         a compound value or a frame; the items are as `SHAPES` says:
                                     values, environments and continuations by row, code by node id

Source: semantics.md §5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import attrs

from lambdagent.ir.alpha import digest_rows
from lambdagent.ir.codec import typed
from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Data, Record
from lambdagent.machine.link import Linked
from lambdagent.machine.state import (
    AWAIT_OPERAND,
    LABELLED,
    PARTIAL,
    SHAPES,
    Code,
    Eval,
    Fail,
    Halt,
    Join,
    Machine,
    Return,
    Suspend,
    Thread,
    ThreadState,
)

FORMAT = 1
_EMPTY = -1


class MalformedStateError(ValueError):
    """Rows that are no state of this program."""


def encode_machine(linked: Linked, machine: Machine) -> Record:
    """Return `machine` as data; `decode_machine` is the inverse."""
    table = _Encoder()
    threads = [_thread_row(table, machine.threads[path]) for path in sorted(machine.threads)]
    return Record(
        format=FORMAT,
        program=linked.digest,
        rows=tuple(table.rows),
        threads=tuple(threads),
        counters=machine.counters,
        transitions=machine.transitions,
    )


def digest_machine(linked: Linked, machine: Machine) -> str:
    """Return a hash of a state: equal for states that were reached in the same way."""
    return digest_rows(encode_machine(linked, machine))


def _thread_row(table: _Encoder, thread: Thread) -> Data:
    cells = tuple((name, table.add(thread.store[name], "value")) for name in sorted(thread.store))
    return (thread.path, thread.clock, cells, _state_row(table, thread.state))


def _state_row(table: _Encoder, state: ThreadState) -> Data:
    match state:
        case Eval(control, env, kont):
            return ("eval", control[1], table.add(env, "env"), table.add(kont, "kont"))
        case Return(value, kont):
            return ("return", table.add(value, "value"), table.add(kont, "kont"))
        case Suspend(site, argument, kont):
            return ("suspend", site, table.add(argument, "value"), table.add(kont, "kont"))
        case Join(form, clock, count, pending, kont):
            return ("join", form, clock, count, pending, table.add(kont, "kont"))
        case Halt(value):
            return ("halt", table.add(value, "value"))
    return ("fail", state.error)


@attrs.frozen(eq=False)
class _Encoder:
    """Rows that grow as values are added; equal values get the same number.

    Equal by content, not only by identity: a state has the same rows however it came to be.
    """

    rows: list[Data] = attrs.field(factory=list)
    _numbers: dict[tuple[int, str], int] = attrs.field(factory=dict)
    _of_row: dict[object, int] = attrs.field(factory=dict)
    _kept: list[object] = attrs.field(factory=list)

    def add(self, root: Any, sort: str) -> int:
        """Return the number of `root`, which is a value, an environment or a continuation."""
        stack = [(root, sort, False)]
        number = _EMPTY
        while stack:
            item, kind, ready = stack.pop()
            known = self._known(item, kind)
            if known is not None:
                number = known
                continue
            needed = _parts(item, kind)
            if ready or not needed:
                number = self._enter(item, kind)
            else:
                stack.append((item, kind, True))
                stack.extend((part, part_kind, False) for part, part_kind in reversed(needed))
        return number

    def _known(self, item: Any, kind: str) -> int | None:
        if item == () and kind != "value":
            return _EMPTY
        if type(item) is tuple:
            return self._numbers.get((id(item), kind))
        return self._of_row.get(typed(_constant(item)))

    def _enter(self, item: Any, kind: str) -> int:
        row = self._row(item, kind) if type(item) is tuple else _constant(item)
        key = typed(row)
        number = self._of_row.get(key)
        if number is None:
            number = self._of_row[key] = len(self.rows)
            self.rows.append(row)
        if type(item) is tuple:
            self._numbers[id(item), kind] = number
            self._kept.append(item)
        return number

    def _row(self, item: Any, kind: str) -> Data:
        if kind == "env":
            return ("e", self._number(item[0], "value"), self._number(item[1], "env"))
        fields = zip(item[1:], SHAPES[item[0]], strict=True)
        return (item[0], *(self._field(value, sort) for value, sort in fields))

    def _field(self, value: Any, sort: str) -> Data:
        if sort == "data":
            data: Data = value
            return data
        if sort == "code":
            number: int = value[1]
            return number
        if sort == "args":
            return tuple(self._number(arg, "value") for arg in value)
        return self._number(value, sort)

    def _number(self, item: Any, kind: str) -> int:
        known = self._known(item, kind)
        if known is None:
            raise AssertionError(item)
        return known


def _constant(item: object) -> Data:
    return ("u",) if item is UNIT else ("c", cast(Data, item))


def _parts(item: Any, kind: str) -> list[tuple[Any, str]]:
    if type(item) is not tuple:
        return []
    if kind == "env":
        return [(item[0], "value"), (item[1], "env")]
    parts: list[tuple[Any, str]] = []
    for value, sort in zip(item[1:], SHAPES[item[0]], strict=True):
        if sort == "args":
            parts += [(arg, "value") for arg in value]
        elif sort in {"value", "env", "kont"}:
            parts.append((value, sort))
    return parts


def decode_machine(linked: Linked, data: Data) -> Machine:
    """Return the state that `encode_machine` wrote.

    Raises:
        MalformedStateError: The data is no state, or a state of another program.
    """
    try:
        return _decode(linked, data)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        what = f"no state of this program: {error}"
        raise MalformedStateError(what) from error


def _decode(linked: Linked, data: Any) -> Machine:
    if data["format"] != FORMAT:
        what = f"format {data['format']!r} is not {FORMAT}"
        raise ValueError(what)
    if data["program"] != linked.digest:
        what = "it belongs to another program"
        raise ValueError(what)
    table = _Decoder(linked)
    for row in data["rows"]:
        table.add(row)
    threads = [_thread(table, row) for row in data["threads"]]
    return Machine(
        {thread.path: thread for thread in threads},
        tuple(map(int, data["counters"])),
        int(data["transitions"]),
    )


@attrs.frozen(eq=False)
class _Decoder:
    """What the rows so far stand for, each with its sort."""

    linked: Linked
    items: list[tuple[str, Any]] = attrs.field(factory=list)

    def add(self, row: Sequence[Any]) -> None:
        """Read one more row."""
        match row[0]:
            case "c":
                self.items.append(("value", row[1]))
            case "u":
                self.items.append(("value", UNIT))
            case "e":
                env = (self.pick(row[1], "value"), self.pick(row[2], "env"))
                self.items.append(("env", env))
            case tag:
                sort = "kont" if SHAPES[tag][:1] == ("kont",) else "value"
                self.items.append((sort, self._compound(row)))

    def pick(self, number: int, sort: str) -> Any:
        """Return what row `number` stands for, which must be of `sort`."""
        if number == _EMPTY and sort != "value":
            return ()
        if not 0 <= number < len(self.items):
            what = f"there is no row {number}"
            raise IndexError(what)
        found, item = self.items[number]
        if found != sort:
            what = f"row {number} is a {found} where a {sort} belongs"
            raise ValueError(what)
        return item

    def code(self, number: int) -> Code:
        """Return the code of node `number`."""
        if number < 0:
            raise IndexError(number)
        return self.linked.codes[number]

    def _compound(self, row: Sequence[Any]) -> Any:
        shape = SHAPES[row[0]]
        fields = (self._field(value, sort) for value, sort in zip(row[1:], shape, strict=True))
        item = (row[0], *fields)
        if item[0] == PARTIAL:
            # A partial application holds the specification inside its constant; see `link`.
            return (PARTIAL, item[1][2][1], item[2])
        if item[0] == AWAIT_OPERAND and item[2][0] == LABELLED:
            # The label was left behind when its application began.
            return (AWAIT_OPERAND, item[1], item[2][2], *item[3:])
        return item

    def _field(self, value: Any, sort: str) -> Any:
        match sort:
            case "data":
                return value
            case "code":
                return self.code(value)
            case "args":
                return tuple(self.pick(number, "value") for number in value)
        return self.pick(value, sort)


def _thread(table: _Decoder, row: Sequence[Any]) -> Thread:
    path, clock, cells, state = row
    store: Mapping[str, Any] = {name: table.pick(number, "value") for name, number in cells}
    return Thread(tuple(path), clock, store, _state(table, state))


def _state(table: _Decoder, row: Sequence[Any]) -> ThreadState:
    match row:
        case ("eval", node, env, kont):
            return Eval(table.code(node), table.pick(env, "env"), table.pick(kont, "kont"))
        case ("return", value, kont):
            return Return(table.pick(value, "value"), table.pick(kont, "kont"))
        case ("suspend", site, argument, kont):
            return Suspend(site, table.pick(argument, "value"), table.pick(kont, "kont"))
        case ("join", form, clock, count, pending, kont):
            return Join(form, clock, count, pending, table.pick(kont, "kont"))
        case ("halt", value):
            return Halt(table.pick(value, "value"))
        case ("fail", error):
            return Fail(error)
    what = f"unknown thread state {row!r:.40}"
    raise ValueError(what)
