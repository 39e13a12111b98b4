"""What both drivers know about time: how long a request may take, and how long the whole run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from traceback import format_exception_only
from typing import TypeAlias

import attrs

from lambdagent.effects.execution import SLICE, Execution
from lambdagent.effects.handlers import Handlers, Request
from lambdagent.effects.protocol import timeout_text
from lambdagent.effects.retrying import whole_limit_s
from lambdagent.effects.tools import in_thread
from lambdagent.errors import BudgetError, CheckpointError, finding, in_english
from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Failure
from lambdagent.messages import phrase, say

Answer: TypeAlias = "Data | Failure"

# Providers and servers of tools keep their own limits and tell more about it; the driver's is the
# backstop.
_GRACE_S = 1.0
_SETTINGS = {"llm": "model.timeout", "tool": "react.toolTimeout"}
_FOREVER = float("inf")
# Kinds whose requests do not leave this process.
_STAYS_HERE = {"now"}
# How long an event loop is kept from its other tasks at a stretch, and transitions between two
# looks at the clock for that: about half of it.
_TURN_S = 0.005
_TURN_SLICE = 2_000


class Clock:
    """Seconds from the start of the run, and the time that is left."""

    def __init__(self, limit_s: float | None) -> None:
        """Start now; the run may take `limit_s`, or for ever."""
        self._start = time.monotonic()
        self._limit_s = self._end_s = _FOREVER if limit_s is None else limit_s
        self._stopped = False

    def now(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._start

    def stop(self) -> None:
        """Let the time of the run be over, whatever its limit is."""
        self._stopped = True

    def allow(self, more_s: float) -> None:
        """Let the run take `more_s` longer than its limit: that was the time of a person."""
        self._end_s += more_s

    def is_over(self, now_s: float) -> bool:
        """Whether the run is out of time `now_s` seconds after its start."""
        return self._stopped or now_s >= self._end_s

    def check(self) -> float:
        """Return the seconds since the start, while there is time left.

        Raises:
            BudgetError: The run took too long.
        """
        now_s = self.now()
        if self.is_over(now_s):
            raise BudgetError(finding("R006", limit=f"{self._limit_s:g}"))
        return now_s

    def wait_s(self, flights: Iterable[Flight]) -> float | None:
        """Return how long to wait until the first of `flights`, or the run, is out of time."""
        end = min((flight.expires_s for flight in flights), default=_FOREVER)
        end = min(end, self._end_s)
        return None if end == _FOREVER else max(0.0, end - self.now())


@attrs.define(eq=False)
class Flight:
    """A request under way, and the second of the run at which its wait ends; never assigned to."""

    request: Request
    expires_s: float


# Flights that have landed, each with a function that returns its answer or raises what its handler
# raised.
Done = list[tuple[Flight, Callable[[], Answer]]]


def take_off(request: Request, now_s: float) -> Flight:
    """Return `request` as it goes under way."""
    limit = whole_limit_s(request.site)
    told = request.site.kind == "llm" or "server" in request.site.static
    grace = _GRACE_S if told else 0.0
    return Flight(request, _FOREVER if limit is None else now_s + limit + grace)


def expiry(request: Request) -> Failure:
    """Return the answer of a request whose time is over."""
    limit = request.site.timeout_s or 0.0
    setting = _SETTINGS.get(request.site.kind, phrase("the timeout"))
    found = finding("E003", site=request.site.name, limit=f"{limit:g}", setting=setting)
    data = Record(in_english(found))
    return Failure("Timeout", timeout_text(limit), data)


def move(execution: Execution, handlers: Handlers, clock: Clock) -> list[Flight]:
    """Step, and answer instant requests, until others must be waited for; return those.

    What a person has to confirm is not among them.

    Raises:
        BudgetError: Out of time or transitions.
    """
    waiting: list[Flight] = []
    while move_a_turn(execution, handlers, clock, waiting, SLICE):
        pass
    return waiting


def move_a_turn(
    execution: Execution,
    handlers: Handlers,
    clock: Clock,
    waiting: list[Flight],
    transitions: int = _TURN_SLICE,
) -> bool:
    """Step for so many transitions at most, and answer instant requests; add others to `waiting`.

    Returns:
        Whether the run can move on.

    Raises:
        BudgetError: Out of time or transitions.
    """
    execution.advance(transitions)
    if execution.is_due:
        execution.save()
    fresh = execution.new_requests(clock.check())
    if execution.is_kept and _leaves(fresh):
        execution.commit()
    return _hand_out(execution, handlers, clock, fresh, waiting)


async def amove(execution: Execution, handlers: Handlers, clock: Clock) -> list[Flight]:
    """Do as `move` does, and let the other tasks of the event loop have their turns."""
    waiting: list[Flight] = []
    turn_ends_s = None
    while True:
        execution.advance(_TURN_SLICE)
        if execution.is_due:
            await on_disk(execution, execution.save)
        now_s = clock.check()
        fresh = execution.new_requests(now_s)
        if execution.is_kept and _leaves(fresh):
            await on_disk(execution, execution.commit)
        if not _hand_out(execution, handlers, clock, fresh, waiting):
            return waiting
        if turn_ends_s is None:
            turn_ends_s = now_s + _TURN_S
        elif now_s >= turn_ends_s:
            await asyncio.sleep(0)
            turn_ends_s = None


async def on_disk(execution: Execution, work: Callable[[], None]) -> None:
    """Do `work` without making the event loop wait for the disk.

    It has ended when this has, whatever happens meanwhile: `work` and what comes next are never at
    the files of the run together.

    Args:
        execution: The run that is kept.
        work: Its `commit` or `save`.
    """
    if not execution.syncs:
        work()
        return
    task = asyncio.ensure_future(in_thread(work))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as caught:
            cancelled = caught
    error = task.exception()
    if cancelled is not None:
        raise cancelled from error
    if error is not None:
        raise error


def _leaves(fresh: list[Request]) -> bool:
    """Whether one of `fresh` leaves this process."""
    return any(request.site.kind not in _STAYS_HERE for request in fresh)


def _hand_out(
    execution: Execution,
    handlers: Handlers,
    clock: Clock,
    fresh: list[Request],
    waiting: list[Flight],
) -> bool:
    """Answer those of `fresh` that are instant, and add the others to `waiting`.

    Returns:
        Whether the run can move on.
    """
    instant = False
    for request in fresh:
        if request.site.kind == "confirm":  # whoever drives asks when nothing else can go on
            continue
        handler = handlers.of(request.site)
        if handler.instant:
            execution.complete(request, handler.answer(request), clock.now())
            instant = True
        else:
            waiting.append(take_off(request, clock.now()))
    return instant or execution.can_move


def settle(
    execution: Execution, done: Done, under_way: list[Flight], clock: Clock
) -> list[Flight]:
    """Give the machine the answers that came, and failures for flights whose time is over.

    Args:
        execution: The run.
        done: What came.
        under_way: What has not come.
        clock: The time.

    Returns:
        The flights that nobody waits for any more.

    Raises:
        BaseException: What a handler raised; the answers that came are not lost by it.
    """
    raised: BaseException | None = None
    now_s = clock.now()
    for flight, result in done:
        try:
            answer = result()
        except BaseException as error:  # noqa: BLE001 - raised again when all is kept
            raised = raised or error
        else:
            execution.complete(flight.request, answer, now_s)
    if raised is not None:
        raise raised
    late = [flight for flight in under_way if flight.expires_s <= now_s] if under_way else []
    for flight in late:
        expire(execution, flight, now_s)
    return late


def keep_landed(
    execution: Execution, done: Done, clock: Clock, ending: BaseException | None
) -> None:
    """Give the machine the answers that came before the run was ended from outside.

    What was answered is not to be asked again when the run goes on.

    Args:
        execution: The run.
        done: What came.
        clock: The time.
        ending: What ends the run; a note in it tells of each request that failed meanwhile.

    Raises:
        CheckpointError: An answer cannot be kept. Those after it are, if they can be.
    """
    lost: CheckpointError | None = None
    for flight, result in done:
        try:
            answer = result()
        except BaseException as error:
            if ending is None:
                raise
            said = format_exception_only(error)[-1].strip()
            site = flight.request.site.name
            ending.add_note(say("meanwhile `{site}` failed: {error}", site=site, error=said))
            continue
        try:
            execution.complete(flight.request, answer, clock.now())
        except CheckpointError as error:
            lost = lost or error
    if lost is not None:
        raise lost


def expire(execution: Execution, flight: Flight, now_s: float) -> None:
    """End the wait for `flight`: tell its handler, and give the machine the failure."""
    flight.request.cancel.cancel()
    execution.complete(flight.request, expiry(flight.request), now_s)
