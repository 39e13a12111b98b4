"""Every state that a run went through, found again from the answers that it got.

The next transition is a function of the state: the lowest thread that can move moves; where none
can, the lowest request that was answered is. Macro events, counters and outcome are those of the
run, whatever its schedule was (semantics.md §3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Event, Machine, Path
from lambdagent.machine.step import requests, resume, run, runnable, step
from lambdagent.trace.transition import Move

# States that are kept to start from; at twice as many each second one is forgotten.
_MARKS = 256
_FIRST_STRIDE = 64
# A run that was stopped in the middle of its work has no end of its own.
LIMIT = 10_000_000


class History:
    """The states of one run; memory is bounded by `_MARKS` of them, whatever its length.

    Attributes:
        events: Macro events, by transition.
        last: The state in which nothing can move, or at which `limit` was reached.
        is_cut: Whether it was.
    """

    def __init__(
        self,
        linked: Linked,
        first: Machine,
        answers: Mapping[Path, Data | Failure],
        *,
        limit: int = LIMIT,
    ) -> None:
        """Go through the run once.

        Args:
            linked: The program.
            first: Its first state.
            answers: What requests were answered, by key.
            limit: Most transitions.
        """
        self.linked = linked
        self._answers = answers
        self._stride = _FIRST_STRIDE
        self._marks = [first]
        self.events: list[Event] = []
        machine = first
        while machine.transitions < limit:
            goal = min(limit, first.transitions + self._stride * len(self._marks))
            machine = self._onwards(machine, goal, self.events)
            if machine.transitions < goal:
                break
            self._mark(machine)
        self.last = machine
        self.is_cut = self._next(machine) is not None

    @property
    def first(self) -> int:
        """The number of transitions before the first state."""
        return self._marks[0].transitions

    @property
    def length(self) -> int:
        """The number of transitions at the end."""
        return self.last.transitions

    def state(self, number: int) -> Machine:
        """Return the state after `number` transitions in all.

        Raises:
            IndexError: There is none.
        """
        if not self.first <= number <= self.length:
            raise IndexError(number)
        return self._onwards(self._mark_before(number), number)

    def move(self, number: int, before: Machine | None = None) -> Move:
        """Return the transition that leads to the state `number`.

        Args:
            number: At least one more than `first`.
            before: The state before it, where it is known.

        Raises:
            IndexError: There is none.
        """
        before = self.state(number - 1) if before is None else before
        where = self._next(before)
        if where is None:
            raise IndexError(number)
        path, key = where
        if key is None:
            return Move(number, path, before, step(self.linked, before, path))
        return Move(number, path, before, resume(self.linked, before, key, self._answers[key]))

    def after(self, number: int, wanted: Callable[[Move], bool]) -> int | None:
        """Return the first transition after the state `number` that is `wanted`, None if none."""
        machine = self.state(number)
        for goal in range(number + 1, self.length + 1):
            move = self.move(goal, machine)
            if wanted(move):
                return goal
            machine = move.after
        return None

    def until(self, number: int, wanted: Callable[[Move], bool]) -> int | None:
        """Return the last transition up to the state `number` that is `wanted`, None if none.

        Looks back from mark to mark.
        """
        end = number
        while end > self.first:
            machine = self._mark_before(end - 1)
            start, found = machine.transitions, None
            for goal in range(start + 1, end + 1):
                move = self.move(goal, machine)
                if wanted(move):
                    found = goal
                machine = move.after
            if found is not None:
                return found
            end = start
        return None

    def _mark_before(self, number: int) -> Machine:
        index = min((number - self.first) // self._stride, len(self._marks) - 1)
        return self._marks[index]

    def _mark(self, machine: Machine) -> None:
        self._marks.append(machine)
        if len(self._marks) > 2 * _MARKS:
            del self._marks[1::2]
            self._stride *= 2

    def _next(self, machine: Machine) -> tuple[Path, Path | None] | None:
        """Return which thread moves next, and by the answer to which request; None at the end."""
        ready = runnable(machine)
        if ready:
            return ready[0], None
        for key, _ in requests(machine):
            if key in self._answers:
                return key[:-1], key
        return None

    def _onwards(self, machine: Machine, goal: int, events: list[Event] | None = None) -> Machine:
        """Return the state after `goal` transitions, or the last one where there are fewer."""
        while machine.transitions < goal:
            budget = goal - machine.transitions
            machine = run(self.linked, machine, budget=budget, events=events)
            if machine.transitions == goal:
                break
            following = self._next(machine)
            if following is None:
                break
            _, key = following
            assert key is not None
            machine = resume(self.linked, machine, key, self._answers[key])
        return machine
