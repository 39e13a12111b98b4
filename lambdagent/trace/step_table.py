"""Moves → numbers and the texts that they stand for: a run small enough for a page.

Most steps repeat what others have: each text, frame, environment and store is written once, and a
step is a row of numbers. Frames are linked, so a deep continuation costs no more than its top.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from lambdagent.machine.crowd import is_alone
from lambdagent.machine.state import LABEL, Kont, Machine, Path, Suspend, Thread
from lambdagent.trace.rulebook import RULES
from lambdagent.trace.sight import Binding, Sight, path_text, stands
from lambdagent.trace.transition import Move, transition_of

# Where a state has nothing to show; the first row of each table.
EMPTY = 0
COLUMNS = (
    *("rule", "thread", "site", "redex", "result"),
    *("around", "left", "kont", "env", "store", "others"),
)


class _Table:
    """Rows that are kept once, numbered from 0."""

    def __init__(self, *rows: Hashable) -> None:
        self.rows: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        for row in rows:
            self.number(row)

    def number(self, row: Hashable) -> int:
        """Return the number of `row`, which is added if it is new."""
        number = self._numbers.setdefault(row, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


class StepTable:
    """The steps of a run, added one after the other.

    Attributes:
        asked: The step at which each request went out, by key.
    """

    def __init__(self, sight: Sight, first: Machine) -> None:
        """Begin with the state `first`, to which no step leads."""
        self.asked: dict[Path, int] = {}
        self._sight = sight
        self._first = first.transitions
        self._texts = _Table("")
        self._rules = _Table("")
        self._threads = _Table()
        self._frames = _Table((EMPTY, EMPTY, EMPTY))
        self._bindings = _Table(())
        # Numbers by identity, and what has them, which must not make way for another.
        self._known: dict[tuple[str, int], tuple[object, int]] = {}
        # The same of where threads stand: numbers of two texts.
        self._told: dict[int, tuple[Thread, list[int]]] = {}
        self._columns: dict[str, list[int]] = {name: [] for name in COLUMNS}
        focus = self._texts.number(sight.term(sight.readback.focus(first.root, {})))
        kont = self._kont(first.root.kont)
        self._add(
            {"rule": EMPTY, "site": EMPTY, "redex": focus, "result": focus}
            | {"around": kont, "left": kont}
            | self._state(first, first.root)
        )

    def add(self, move: Move) -> None:
        """Add the next step."""
        made = transition_of(self._sight.readback, move)
        thread = move.after.threads[made.path]
        if made.rule.name == "ask" and isinstance(thread.state, Suspend):
            self.asked[(*thread.path, thread.clock)] = made.number
        self._add(
            {
                "rule": self._rules.number(made.rule.name),
                "site": self._texts.number(made.site),
                "redex": self._texts.number(self._sight.term(made.redex)),
                "result": self._texts.number(self._sight.term(made.result)),
                "around": self._kont(made.around),
                "left": self._kont(move.before.threads[made.path].kont),
            }
            | self._state(move.after, thread)
        )

    def to_json(self) -> dict[str, object]:
        """Return all of it: a list for each column, and the tables that they number."""
        names = [name for name in self._rules.rows if name]
        before, after, following = zip(*self._frames.rows, strict=True)
        return {
            "first": self._first,
            "texts": self._texts.rows,
            "rules": [["", "", "", ""], *(list(RULES[name]) for name in names)],
            "threads": self._threads.rows,
            "frames": {"before": before, "after": after, "next": following},
            "bindings": self._bindings.rows,
            "steps": self._columns,
        }

    def _add(self, row: dict[str, int]) -> None:
        for name, number in row.items():
            self._columns[name].append(number)

    def _state(self, machine: Machine, thread: Thread) -> dict[str, int]:
        """Return what is around the term that a thread is at."""
        return {
            "thread": self._threads.number(path_text(thread.path)),
            "kont": self._kont(thread.kont),
            "env": self._bound(self._sight.environment(thread)),
            "store": self._store(thread),
            "others": self._others(machine, thread),
        }

    def _others(self, machine: Machine, thread: Thread) -> int:
        """Return the number of the other threads; most stand where they stood before."""
        if is_alone(machine.threads):
            return EMPTY
        shown, rest = self._sight.others(machine, thread.path)
        row: list[int] = []
        for each in shown:
            told = self._told.get(id(each))
            if told is None:
                texts = path_text(each.path), stands(each)
                told = self._told[id(each)] = (each, [*map(self._texts.number, texts)])
            row += told[1]
        return self._bindings.number((*row, *self._texts_of(rest)))

    def _store(self, thread: Thread) -> int:
        place = ("store", id(thread.store))
        known = self._known.get(place)
        if known is None:
            number = self._bound(self._sight.store(thread))
            known = self._known[place] = (thread.store, number)
        return known[1]

    def _bound(self, bindings: Iterable[Binding]) -> int:
        """Return the number of some bindings: texts of names and values in turn."""
        return self._bindings.number(self._texts_of(bindings))

    def _texts_of(self, bindings: Iterable[Binding]) -> tuple[int, ...]:
        return tuple(self._texts.number(text) for binding in bindings for text in binding)

    def _kont(self, kont: Kont) -> int:
        """Return the number of the innermost frame of `kont` that is no label."""
        above: list[Kont] = []
        while kont and ("kont", id(kont)) not in self._known:
            above.append(kont)
            kont = kont[1]
        number = self._known[("kont", id(kont))][1] if kont else EMPTY
        for frame in reversed(above):
            if frame[0] != LABEL:
                before, _, after = self._sight.frame(frame)
                row = (self._texts.number(before), self._texts.number(after), number)
                number = self._frames.number(row)
            self._known["kont", id(frame)] = (frame, number)
        return number
