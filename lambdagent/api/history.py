"""Every state that a run went through, found again from the answers that it got.

The next transition is a function of the state: the lowest thread that can move moves; where none
can, the lowest request that was answered is. Macro events, counters and outcome are those of the
run, whatever its schedule was (semantics.md §3.3).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping

from lambdagent.effects.collector import relaxed
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure
from lambdagent.machine.crowd import asking
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Event, Machine, Path
from lambdagent.machine.step import lowest, resume, run, step
from lambdagent.trace.transition import Move

# States that are kept to start from; at twice as many each second one is forgotten.
_MARKS = 256
_FIRST_STRIDE = 64
# A run that was stopped in the middle of its work has no end of its own.
LIMIT = 10_000_000

# Told how many transitions are gone through, and of how many where that is known.
Watch = Callable[[int, int | None], object]


def unwatched(_number: int, _length: int | None) -> None:
    """Tell nobody."""


class History:
    """The states of one run; memory is bounded by `_MARKS` of them, whatever its length.

    Attributes:
        events: Macro events, by transition.
        answered: The transitions that took an answer of the world, and the keys of the requests.
        last: The state in which nothing can move, or at which `limit` was reached; of a history
            that is not whole, as far as it is known.
        is_whole: Nothing comes after `last`, or nothing that is gone through.
        is_cut: `limit` was reached.
    """

    def __init__(
        self,
        linked: Linked,
        first: Machine,
        answers: Mapping[Path, Data | Failure],
        *,
        limit: int = LIMIT,
        whole: bool = True,
        watch: Watch = unwatched,
    ) -> None:
        """Go through the run once.

        Args:
            linked: The program.
            first: Its first state.
            answers: What requests were answered, by key.
            limit: Most transitions.
            whole: Go to the end at once; else `grow` does.
            watch: Told how far that is, now and then.
        """
        self.linked = linked
        self._answers = answers
        self._limit = limit
        self._watch = watch
        self._stride = _FIRST_STRIDE
        self._marks = [first]
        self.events: list[Event] = []
        self.answered: list[tuple[int, Path]] = []
        self.last = first
        self.is_whole = self.is_cut = False
        if whole:
            self.grow(limit)

    def grow(self, goal: int) -> None:
        """Go on until `goal` transitions are known, or the end of the run is."""
        goal = min(goal, self._limit)
        with relaxed():
            while self.length < goal:
                mark = self.first + self._stride * len(self._marks)
                self.last = self._onwards(self.last, min(goal, mark), grows=True)
                if self.length == mark:
                    self._mark(self.last)
                    self._watch(self.length, None)
                elif self.length < goal:
                    break
        following = self._next(self.last)
        self.is_cut = following is not None and self.length >= self._limit
        self.is_whole = following is None or self.is_cut

    @property
    def first(self) -> int:
        """The number of transitions before the first state."""
        return self._marks[0].transitions

    @property
    def length(self) -> int:
        """The number of transitions at the end, as far as it is known."""
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

    def reached(self, has: Callable[[Machine], bool]) -> int | None:
        """Return the number of the first known state that `has` what all after it have too."""
        index = bisect_left(self._marks, True, key=has)  # noqa: FBT003 - what is looked for
        if index == 0:
            return self.first
        machine = self._marks[index - 1]
        for number in range(machine.transitions + 1, self.length + 1):
            machine = self.move(number, machine).after
            if has(machine):
                return number
        return None

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
        path = lowest(machine)
        if path is not None:
            return path, None
        for key, _ in asking(machine.threads):
            if key in self._answers:
                return key[:-1], key
        return None

    def _onwards(self, machine: Machine, goal: int, *, grows: bool = False) -> Machine:
        """Return the state after `goal` transitions, or the last one where there are fewer."""
        events = self.events if grows else None
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
            if grows:
                self.answered.append((machine.transitions, key))
        return machine
