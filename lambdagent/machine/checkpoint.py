"""States ⇄ flat rows, and a digest of a state.

Each value, environment and frame becomes one row, children before parents; what is shared in
memory is one row, so the size is linear in distinct nodes. Code is named by node id, so rows are
read against the program that wrote them.

    ("c", data)  ("u",)              a constant, unit
    ("e", value, outer)              an environment; -1 is the empty one
    (tag, …)                         a compound value or a frame; the items are as `SHAPES` says:
                                     values, environments and continuations by row, code by node id

States are written one after another as deltas ``(rows, threads, gone, counters, transitions)``:
the rows, threads and cells that the states before did not have, and the threads that are no more.
The first delta is a whole state.

    thread = (path, clock, ((cell, row), …), state)

Source: semantics.md §5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from lambdagent.errors import plain
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
    Kind,
    Machine,
    Path,
    Return,
    Store,
    Suspend,
    Thread,
    ThreadState,
)
from lambdagent.machine.tenable import is_item
from lambdagent.messages import phrase

FORMAT = 1
_EMPTY = -1


class MalformedStateError(ValueError):
    """Rows that are no state of this program."""


@attrs.frozen(eq=False)
class StateEncoder:
    """Writes the states of one run as deltas; `StateDecoder` reads them.

    The cost of a delta is linear in what is new, and in the number of threads and cells, which
    are looked at. All that was written is kept alive.
    """

    _table: _Encoder = attrs.field(factory=lambda: _Encoder())  # noqa: PLW0108 - defined below
    _threads: dict[Path, Thread] = attrs.field(factory=dict)

    def delta(self, machine: Machine) -> tuple[Data, ...]:
        """Return what is new in `machine`."""
        begin = len(self._table.rows)
        threads = machine.threads
        before = dict(self._threads)
        self._threads.clear()
        self._threads.update(threads)
        rows = tuple(
            self._thread_row(threads[path], before.get(path))
            for path in sorted(threads)
            if threads[path] is not before.get(path)
        )
        gone = tuple(sorted(before.keys() - threads.keys()))
        new = tuple(self._table.rows[begin:])
        return (new, rows, gone, machine.counters, machine.transitions)

    def _thread_row(self, thread: Thread, before: Thread | None) -> Data:
        table, known = self._table, {} if before is None else before.store
        cells = tuple(
            (name, table.add(thread.store[name], "value"))
            for name in sorted(thread.store)
            if name not in known or known[name] is not thread.store[name]
        )
        return (thread.path, thread.clock, cells, _state_row(table, thread.state))


def encode_machine(linked: Linked, machine: Machine) -> Record:
    """Return one state as data that says what it is; `decode_machine` is the inverse."""
    rows, threads, _, counters, transitions = StateEncoder().delta(machine)
    return Record(
        format=FORMAT,
        program=linked.digest,
        rows=rows,
        threads=threads,
        counters=counters,
        transitions=transitions,
    )


def digest_machine(linked: Linked, machine: Machine) -> str:
    """Return a hash of a state: equal for states that were reached in the same way."""
    return digest_rows(encode_machine(linked, machine))


def _state_row(table: _Encoder, state: ThreadState) -> Data:
    match state:
        case Eval(control, env, kont):
            return ("eval", control[1], table.add(env, "env"), table.add(kont, "kont"))
        case Return(value, kont):
            return ("return", table.add(value, "value"), table.add(kont, "kont"))
        case Suspend(site, argument, kont):
            return ("suspend", site, table.add(argument, "value"), table.add(kont, "kont"))
        case Join(form, clock, count, pending, kont, at_once):
            row = ("join", form, clock, count, pending, table.add(kont, "kont"))
            return row if at_once is None else (*row, at_once)
        case Halt(value):
            return ("halt", table.add(value, "value"))
    return ("fail", state.error)


# Rows with data in them: 1, 1.0 and True would be one key of a dict.
_WITH_DATA = {"c"} | {tag for tag, shape in SHAPES.items() if "data" in shape}
_ENVIRONMENT = ("value", "env")
# Sorts of parts that are rows by themselves.
_BY_ROW = {"value", "env", "kont"}


@attrs.frozen(eq=False)
class _Encoder:
    """Rows that grow as values are added; equal values get the same number.

    Equal by content, not only by identity: a state has the same rows however it came to be.
    """

    rows: list[Data] = attrs.field(factory=list)
    _numbers: dict[int, int] = attrs.field(factory=dict)
    _of_row: dict[object, int] = attrs.field(factory=dict)
    _kept: list[object] = attrs.field(factory=list)

    def add(self, root: Any, sort: str) -> int:
        """Return the number of `root`, which is a value, an environment or a continuation."""
        stack = [(root, sort)]
        while stack:
            item, sort = stack[-1]
            if self._find(item, sort) is None:
                missing: list[tuple[Any, str]] = []
                row = self._row(item, sort, missing)
                if missing:
                    stack += reversed(missing)
                    continue
                self._numbers[id(item)] = self._enter(row)
                self._kept.append(item)
            stack.pop()
        return self._number(root, sort)

    def _find(self, item: Any, sort: str) -> int | None:
        """Return the number of `item`, None where its parts have to be added first."""
        if type(item) is tuple:
            return self._numbers.get(id(item)) if item or sort == "value" else _EMPTY
        if type(item) is not str:
            return self._enter(("u",) if item is UNIT else ("c", item))
        number = self._of_row.get(item)
        if number is None:
            number = self._of_row[item] = len(self.rows)
            self.rows.append(("c", item))
        return number

    def _number(self, item: Any, sort: str) -> int:
        number = self._find(item, sort)
        if number is None:
            raise AssertionError(item)
        return number

    def _enter(self, row: tuple[Any, ...]) -> int:
        """Return the number of `row`, which is entered if it is new."""
        key = typed(row) if row[0] in _WITH_DATA else row
        number = self._of_row.get(key)
        if number is None:
            number = self._of_row[key] = len(self.rows)
            self.rows.append(row)
        return number

    def _row(self, item: Any, sort: str, missing: list[tuple[Any, str]]) -> tuple[Any, ...]:
        """Return the row of a compound value, or add those of its parts that are `missing`."""
        if sort == "env":
            return ("e", *self._fields(item, _ENVIRONMENT, missing))
        return (item[0], *self._fields(item[1:], SHAPES[item[0]], missing))

    def _fields(
        self, parts: tuple[Any, ...], sorts: tuple[str, ...], missing: list[tuple[Any, str]]
    ) -> list[Any]:
        fields: list[Any] = []
        for part, sort in zip(parts, sorts, strict=True):
            if sort == "data":
                fields.append(part)
            elif sort == "code":
                fields.append(part[1])
            elif sort == "args":
                fields.append(tuple(self._fields(part, ("value",) * len(part), missing)))
            else:
                number = self._find(part, sort)
                fields.append(number)
                if number is None:
                    missing.append((part, sort))
        return fields


def decode_machine(linked: Linked, data: Data) -> Machine:
    """Return the state that `encode_machine` wrote.

    Raises:
        MalformedStateError: The data is no state, or a state of another program.
    """
    row: Any = data
    try:
        check_origin(linked, row["format"], row["program"])
        delta = (row["rows"], row["threads"], (), row["counters"], row["transitions"])
    except (KeyError, TypeError) as error:
        what = phrase("no state: {error}", error=error)
        raise MalformedStateError(what) from error
    return StateDecoder(linked).state(delta)


def check_origin(linked: Linked, form: Data, program: Data) -> None:
    """Do nothing if states of format `form` that `program` wrote can be read.

    Raises:
        MalformedStateError: They are of another version, or of another program.
    """
    if form != FORMAT:
        what = phrase("format {got} is not {form}", got=plain(form), form=FORMAT)
        raise MalformedStateError(what)
    if program != linked.digest:
        what = phrase("it belongs to another program")
        raise MalformedStateError(what)


@attrs.frozen(eq=False)
class StateDecoder:
    """Reads the deltas that one `StateEncoder` wrote, in order.

    Attributes:
        linked: The program that ran.
    """

    linked: Linked
    _threads: dict[Path, Thread] = attrs.field(factory=dict)
    _table: _Decoder = attrs.field(
        default=attrs.Factory(lambda self: _Decoder(self.linked), takes_self=True)
    )

    def state(self, delta: Data) -> Machine:
        """Return the state after `delta`.

        Raises:
            MalformedStateError: The data is no delta, or one of another program.
        """
        try:
            return self._state(delta)
        except MalformedStateError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            what = phrase("it is no state of this program")
            raise MalformedStateError(what) from error

    def _state(self, delta: Any) -> Machine:
        rows, threads, gone, counters, transitions = delta
        for row in rows:
            self._table.add(row)
        for path in gone:
            del self._threads[tuple(path)]
        for row in threads:
            thread = self._thread(row)
            self._threads[thread.path] = thread
        if () not in self._threads or len(counters) != len(Kind):
            what = phrase("the root or a counter is missing")
            raise MalformedStateError(what)
        return Machine(dict(self._threads), tuple(map(int, counters)), int(transitions))

    def _thread(self, row: Sequence[Any]) -> Thread:
        path, clock, cells, state = row
        before = self._threads.get(tuple(path))
        store: Store = {
            **(before.store if before else {}),
            **{name: self._table.pick(number, "value") for name, number in cells},
        }
        return Thread(tuple(path), int(clock), store, _state(self._table, state))


@attrs.frozen(eq=False)
class _Decoder:
    """What the rows so far stand for, each with its sort."""

    linked: Linked
    items: list[tuple[str, Any]] = attrs.field(factory=list)

    def add(self, row: Sequence[Any]) -> None:
        """Read one more row."""
        match row[0]:
            case "c":
                if type(row[1]) is tuple:
                    what = phrase("row {row} is no constant", row=len(self.items))
                    raise MalformedStateError(what)
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
        if number < 0:
            if number == _EMPTY and sort != "value":
                return ()
            what = phrase("there is no row {row}", row=number)
            raise MalformedStateError(what)
        found, item = self.items[number]
        if found != sort:
            what = phrase(
                "row {row} is a {found} where a {sort} belongs", row=number, found=found, sort=sort
            )
            raise MalformedStateError(what)
        return item

    def code(self, number: int) -> Code:
        """Return the code of node `number`."""
        if number < 0:
            raise IndexError(number)
        return self.linked.codes[number]

    def _compound(self, row: Sequence[Any]) -> Any:
        tag = row[0]
        fields = [
            self.pick(value, sort) if sort in _BY_ROW else self._field(value, sort)
            for value, sort in zip(row[1:], SHAPES[tag], strict=True)
        ]
        item = (tag, *fields)
        if item[0] == PARTIAL:
            # A partial application holds the specification inside its constant; see `link`.
            item = (PARTIAL, item[1][2][1], item[2])
        elif item[0] == AWAIT_OPERAND and item[2][0] == LABELLED:
            # The label was left behind when its application began.
            item = (AWAIT_OPERAND, item[1], item[2][2], *item[3:])
        if not is_item(self.linked, item):
            what = phrase("row {row} holds what its tag does not", row=len(self.items))
            raise MalformedStateError(what)
        return item

    def _field(self, value: Any, sort: str) -> Any:
        match sort:
            case "data":
                return value
            case "code":
                return self.code(value)
        return tuple(self.pick(number, "value") for number in value)


def _state(table: _Decoder, row: Sequence[Any]) -> ThreadState:
    match row:
        case ("eval", node, env, kont):
            return Eval(table.code(node), table.pick(env, "env"), table.pick(kont, "kont"))
        case ("return", value, kont):
            return Return(table.pick(value, "value"), table.pick(kont, "kont"))
        case ("suspend", site, argument, kont):
            return Suspend(site, table.pick(argument, "value"), table.pick(kont, "kont"))
        case ("join", form, clock, count, pending, kont, *at_once) if len(at_once) < 2:
            return Join(form, clock, count, pending, table.pick(kont, "kont"), *at_once)
        case ("halt", value):
            return Halt(table.pick(value, "value"))
        case ("fail", Record() as error):
            return Fail(error)
    what = phrase("a thread is in an unknown state")
    raise MalformedStateError(what)
