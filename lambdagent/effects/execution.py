"""One run, between machine and world: what is asked, what was answered, when it is over.

Does no I/O and reads no clock: a driver tells it the time. Both drivers share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lambdagent.effects.handlers import Request
from lambdagent.errors import BudgetError, finding
from lambdagent.ir.core import Unit
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Exchange
from lambdagent.machine.link import Linked
from lambdagent.machine.state import Event, Fail, Failure, Halt, Machine, Path, Store
from lambdagent.machine.step import requests, resume, run, runnable, start

Watch = Callable[[Event, Mapping[Path, Exchange]], None]

_ENDED = frozenset({Halt, Fail})

# Transitions between two looks at the clock.
SLICE = 200_000


class Execution:
    """A run in progress.

    Attributes:
        machine: The newest state.
        events: Macro events so far.
        exchanges: Answered requests so far, by key.
    """

    def __init__(
        self,
        linked: Linked,
        value: Data | Unit,
        *,
        store: Store | None = None,
        transition_limit: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Be about to apply the program to `value`; `watch` sees each macro event at once."""
        self.linked = linked
        self.machine: Machine = start(linked, value, store)
        self.events: list[Event] = []
        self.exchanges: dict[Path, Exchange] = {}
        self._limit = transition_limit
        self._watch = watch
        self._asked: dict[Path, tuple[Request, float]] = {}

    @property
    def finished(self) -> bool:
        """Whether the root thread has halted or failed."""
        return type(self.machine.root.state) in _ENDED

    @property
    def can_move(self) -> bool:
        """Whether some thread can move without an answer."""
        return bool(runnable(self.machine))

    def advance(self, budget: int = SLICE) -> None:
        """Step until every thread waits or has ended, or `budget` transitions were made.

        Raises:
            BudgetError: The limit of transitions is reached.
        """
        if self._limit is not None:
            budget = min(budget, self._limit - self.machine.transitions)
            if budget <= 0 and self.can_move:
                raise BudgetError(finding("R005", limit=self._limit))
        seen = len(self.events)
        self.machine = run(self.linked, self.machine, budget=budget, events=self.events)
        if self._watch is not None:
            for event in self.events[seen:]:
                self._watch(event, self.exchanges)

    def new_requests(self, now_s: float) -> list[Request]:
        """Return what is asked and was not returned before, lowest key first."""
        fresh = []
        for key, asked in requests(self.machine):
            if key not in self._asked:
                request = Request(key, self.linked.sites[asked.site].site, asked.argument)
                self._asked[key] = (request, now_s)
                fresh.append(request)
        return fresh

    def complete(self, request: Request, answer: Data | Failure, now_s: float) -> None:
        """Give the machine the answer to `request`."""
        _, started_s = self._asked.pop(request.key)
        failed = isinstance(answer, Failure)
        self.exchanges[request.key] = Exchange(
            request.key,
            request.site,
            request.argument,
            answer.message if isinstance(answer, Failure) else answer,
            failed,
            started_s,
            now_s - started_s,
        )
        self.machine = resume(self.linked, self.machine, request.key, answer)

    def cancel(self) -> None:
        """Tell everybody who works on a request that nobody waits any more."""
        for request, _ in self._asked.values():
            request.cancel.cancel()
