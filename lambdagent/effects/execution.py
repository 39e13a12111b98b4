"""One run, between machine and world: what is asked, what was answered, when it is over.

Does no I/O and reads no clock: a driver tells it the time. Both drivers share it.
"""

# Note [From direct style to the stepping machine]
#
# While a run is in direct style its continuation is the stack of the thread in `run_direct`, and
# `machine` stays the first state. Every answer is kept. To hand over is to forget that stack and
# step from the first state: a request whose answer is kept is resumed with it and never asked
# again, and an event that was shown is not shown again.

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol

from lambdagent.effects.budget import Meter
from lambdagent.effects.handlers import Request
from lambdagent.effects.journal import Recorded
from lambdagent.errors import BudgetError, CheckpointError, finding
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Exchange, Failure
from lambdagent.ir.labels import UNSHOWN
from lambdagent.ir.sites import Site
from lambdagent.machine.engines import Choice, handed_over
from lambdagent.machine.link import Linked
from lambdagent.machine.recursive import HandOver, Recursive
from lambdagent.machine.state import (
    Event,
    Fail,
    Halt,
    Machine,
    Path,
    Value,
)
from lambdagent.machine.step import requests, resume, run, runnable

if TYPE_CHECKING:  # loaded where somebody listens
    from lambdagent.effects.narrator import Narrator

Watch = Callable[[Event, Mapping[Path, Exchange]], None]

_ENDED = frozenset({Halt, Fail})
# What the machine raises where the values of a state are none.
_NO_STATE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_STEPPING = Choice("cek", "asked for")

# Transitions between two looks at the clock.
SLICE = 200_000


class Keeping(Protocol):
    """Keeps what happens on disk, and knows what happened in other processes; see `keeper`."""

    begun_s: float
    machine: Machine | None

    @property
    def place(self) -> PurePath | None:
        """Where the run is kept."""
        ...

    @property
    def slice(self) -> int | None:
        """Most transitions until `is_due` is asked again, None for any number."""
        ...

    def answer_to(self, request: Request) -> Recorded | None:
        """Return the answer that came to `request` before, if one did."""
        ...

    def intent(self, request: Request, at_s: float) -> str | None:
        """Keep that `request` is about to go out; return its idempotency key."""
        ...

    def result(self, key: Path, answer: Data | Failure, at_s: float, took_s: float) -> None:
        """Keep what came of a request."""
        ...

    @property
    def syncs(self) -> bool:
        """Whether `commit` and `save` wait for the disk."""
        ...

    def commit(self) -> None:
        """Wait until all of it is on the disk."""
        ...

    def is_due(self, machine: Machine) -> bool:
        """Whether it is time to save `machine`."""
        ...

    def save(self, machine: Machine) -> None:
        """Save `machine`, after everything that led to it."""
        ...

    def leave(self, machine: Machine) -> None:
        """Keep that the run stands at `machine`, now that this process ends."""
        ...


class Execution:
    """A run in progress.

    Attributes:
        first: The state that it began with.
        machine: The newest state; in direct style the first one, until the last.
        choice: The engine that runs, and why.
        events: Macro events so far, without those that only listeners are told: a loop that asks
            nothing has one a round.
        exchanges: Answered requests so far, by key.
        narrator: Tells listeners what happens, if there are any; set before the run moves.
        meter: Counts what is spent, where there is a budget; set before the run moves.
    """

    def __init__(
        self,
        linked: Linked,
        machine: Machine,
        *,
        transition_limit: int | None = None,
        watch: Watch | None = None,
        choice: Choice = _STEPPING,
        keeper: Keeping | None = None,
    ) -> None:
        """Be about to go on from `machine`.

        Args:
            linked: The program.
            machine: Its first state, or one that was kept.
            transition_limit: Most transitions, those before `machine` included.
            watch: Sees each macro event at once.
            choice: The engine; direct style wants the first state.
            keeper: Keeps what happens on disk, and knows what happened in other processes.
        """
        self.linked = linked
        self.first = self.machine = machine
        self.narrator: Narrator | None = None
        self.meter: Meter | None = None
        self._refused: Site | None = None  # what the budget did not let go out first
        self._keeper = keeper
        self._was_read = keeper is not None and machine is keeper.machine
        self.events: list[Event] = []
        self.exchanges: dict[Path, Exchange] = {}
        self._limit = transition_limit
        self._watch = watch
        self._asked: dict[Path, tuple[Request, float]] = {}
        self._answers: dict[Path, Data | Failure] = {}
        self._shown = 0
        self._happened = 0
        self.choice = choice
        self._direct: Recursive | None = None
        if choice.engine == "recursive":
            try:
                self._direct = Recursive(linked, self.machine, self._perform, self._emit)
            except HandOver as reason:
                self.choice = handed_over(reason)

    # --- direct style ----------------------------------------------------------------------------

    @property
    def is_direct(self) -> bool:
        """Whether the run is in direct style: `run_direct` moves it, not `advance`."""
        return self._direct is not None and not self.finished

    def run_direct(
        self, ask: Callable[[Request], Data | Failure], now: Callable[[], float]
    ) -> None:
        """Run in direct style, on this thread, to the end or until the stepping machine has to.

        Args:
            ask: Answers a request; what it raises ends this call and leaves the run as it is.
            now: Tells the time.

        Raises:
            Stopped: `stop` was called.
        """
        assert self._direct is not None
        self._ask, self._now = ask, now
        try:
            self.machine = self._direct.run()
        except HandOver as reason:
            self.leave_direct(reason)

    def stop(self) -> None:
        """Have `run_direct` end, from another thread."""
        if self._direct is not None:
            self._direct.stop()

    def leave_direct(self, reason: object) -> None:
        """Hand over, if in direct style.

        See Note [From direct style to the stepping machine].
        """
        if self.is_direct:
            self._direct = None
            self.choice = handed_over(reason)
            self._shown, self._happened = self._happened, 0
            self.events.clear()

    def _perform(self, key: Path, site: str, argument: Value) -> Data | Failure:
        request = Request(key, self.linked.sites[site].site, argument)
        if request.site.kind == "confirm":
            raise HandOver("a call waits for a person")
        if self.meter is not None:
            self.meter.begin(request.site)
        self._asked[key] = (request, self._now())
        if self.narrator is not None:
            self.narrator.asked(request)
        answer = self._ask(request)
        self.complete(request, answer, self._now())
        return answer

    def _emit(self, event: Event) -> None:
        self._happened += 1
        if event.kind not in UNSHOWN:
            self.events.append(event)
        self._show(event)

    def _show(self, event: Event) -> None:
        if self._watch is not None:
            self._watch(event, self.exchanges)
        if self.narrator is not None:
            self.narrator.happened(event)

    # --- the stepping machine --------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether the root thread has halted or failed."""
        return type(self.machine.root.state) in _ENDED

    @property
    def pending(self) -> list[Request]:
        """What is asked and not answered."""
        return [request for request, _ in self._asked.values()]

    @property
    def unconfirmed(self) -> list[Request]:
        """What a person is asked and has not answered."""
        return [request for request in self.pending if request.site.kind == "confirm"]

    @property
    def at_rest(self) -> bool:
        """Whether a run that cannot move now goes on by itself no more."""
        if self.finished:
            return True
        asked = self._asked.values()
        return bool(asked) and all(request.site.kind == "confirm" for request, _ in asked)

    @property
    def place(self) -> PurePath | None:
        """Where the run is kept, if it is."""
        return None if self._keeper is None else self._keeper.place

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
        if self._keeper is not None:
            budget = min(budget, self._keeper.slice or budget)
        seen = len(self.events)
        try:
            machine = run(self.linked, self.machine, budget=budget, events=self.events)
        except _NO_STATE as error:
            self._check_was_state(error)
            raise
        state = machine.root.state
        if type(state) is Fail and state.error["kind"] == "Stuck" and not self.finished:
            self._check_was_state(None)
        self.machine = machine
        if len(self.events) > seen:
            self._tell(seen)
        if self._answers:
            self._replay()

    def _tell(self, seen: int) -> None:
        """Tell watchers of the events after the first `seen`; keep those that are shown."""
        fresh = self.events[seen:]
        if self._watch is not None or self.narrator is not None:
            for event in fresh[max(0, self._shown - self._happened) :]:
                self._show(event)
        self._happened += len(fresh)
        self.events[seen:] = [event for event in fresh if event.kind not in UNSHOWN]

    def _check_was_state(self, error: Exception | None) -> None:
        """Do nothing, unless the run goes on from a state that was read and is none.

        Its values are not looked at before; see `machine.tenable`.

        Raises:
            CheckpointError: The states on disk are at fault.
        """
        if self._was_read and self.place is not None:
            path = self.place / "states"
            raise CheckpointError(finding("K018", path=str(path))) from error

    def _replay(self) -> None:
        for key, _ in requests(self.machine):
            if key in self._answers:
                answer = self._answers.pop(key)
                self.machine = resume(self.linked, self.machine, key, answer)

    def new_requests(self, now_s: float) -> list[Request]:
        """Return what is asked and was not returned before, lowest key first.

        What was answered in an earlier process is answered again at once, and not returned.

        Raises:
            CheckpointError: The run asks something else than it did before.
            BudgetError: The budget is used up, and all that was asked is answered: what is under
                way in other branches is paid for already.
        """
        fresh: list[Request] = []
        before = None
        while before is not self.machine:  # an answer may let other branches ask
            before = self.machine
            for key, asked in requests(self.machine):
                if key not in self._asked:
                    request = Request(key, self.linked.sites[asked.site].site, asked.argument)
                    if not self._recall(request) and self._affords(request):
                        self._asked[key] = (request, now_s)
                        fresh.append(request)
        if self._refused is not None and len(self.unconfirmed) == len(self._asked):
            assert self.meter is not None
            self.meter.begin(self._refused)  # refused again, now with all that was spent
        if self._keeper is not None:
            for request in fresh:
                request.idempotency_key = self._keeper.intent(request, now_s)
        if self.narrator is not None:
            for request in fresh:
                self.narrator.asked(request)
        return fresh

    def _affords(self, request: Request) -> bool:
        """Whether the budget lets `request` go out; nothing does any more once it is used up."""
        if self.meter is not None and self._refused is None:
            try:
                self.meter.begin(request.site)
            except BudgetError:
                self._refused = request.site
        return self._refused is None

    def _recall(self, request: Request) -> bool:
        """Answer `request` as in an earlier process, if it was; return whether it was."""
        recorded = None if self._keeper is None else self._keeper.answer_to(request)
        if recorded is None:
            return False
        self._note(request, *recorded)
        if self.narrator is not None:
            self.narrator.recalled(request, recorded.answer, recorded.took_s)
        self.machine = resume(self.linked, self.machine, request.key, recorded.answer)
        return True

    @property
    def is_watched(self) -> bool:
        """Whether a function of the caller's sees each macro event."""
        return self._watch is not None

    @property
    def is_kept(self) -> bool:
        """Whether what happens is kept on disk."""
        return self._keeper is not None

    @property
    def syncs(self) -> bool:
        """Whether `commit` and `save` wait for the disk."""
        return self._keeper is not None and self._keeper.syncs

    def commit(self) -> None:
        """Wait until what is known is on the disk, before anything leaves because of it."""
        if self._keeper is not None:
            self._keeper.commit()

    @property
    def is_due(self) -> bool:
        """Whether it is time to save the state."""
        return self._keeper is not None and self._keeper.is_due(self.machine)

    def save(self) -> None:
        """Put the state on disk, if the run is kept."""
        if self._keeper is not None:
            self._keeper.save(self.machine)

    def leave(self) -> None:
        """Keep where the run stands, if it is kept, before nobody goes on with it."""
        if self._keeper is not None:
            self._keeper.leave(self.machine)

    def complete(self, request: Request, answer: Data | Failure, now_s: float) -> None:
        """Give the machine the answer to `request`."""
        _, started_s = self._asked.pop(request.key)
        took_s = now_s - started_s
        if self._keeper is not None:
            self._keeper.result(request.key, answer, started_s, took_s)
            started_s += self._keeper.begun_s
        self._note(request, answer, started_s, took_s)
        if self.meter is not None:
            self.meter.end(request.site, answer)
        if self.narrator is not None:
            self.narrator.answered(request, answer, took_s)
        if self._direct is None:
            self.machine = resume(self.linked, self.machine, request.key, answer)
        else:
            self._answers[request.key] = answer

    def _note(
        self, request: Request, answer: Data | Failure, started_s: float, took_s: float
    ) -> None:
        self.exchanges[request.key] = Exchange(
            request.key, request.site, request.argument, answer, started_s, took_s
        )

    def cancel(self) -> None:
        """Tell everybody who works on a request that nobody waits any more."""
        for request, _ in self._asked.values():
            request.cancel.cancel()
