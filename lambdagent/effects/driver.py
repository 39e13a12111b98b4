"""Drivers: the only loops that step a machine. `drive` uses threads, `adrive` an event loop.

Each steps until every thread of the run waits, hands the new requests to their handlers, and gives
the machine whichever answer comes first. All requests that wait at one time are in flight at once.
A request has its own time limit and the run may have one; at either the wait ends, whatever the
handler does. When only people can answer, whoever called the driver is asked.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from typing import NoReturn

from lambdagent.effects.collector import relaxed
from lambdagent.effects.confirming import Confirm, People
from lambdagent.effects.crew import Crew
from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers, Request
from lambdagent.effects.waiting import (
    Answer,
    Clock,
    Done,
    Flight,
    amove,
    keep_landed,
    move,
    settle,
)

# How long tasks that are cancelled at the end of a run may take for it.
_FAREWELL_S = 1.0
# Turns of the loop from the return of a thread to the end of the task that waits for it.
_TURNS = 2


def drive(
    execution: Execution,
    handlers: Handlers,
    limit_s: float | None = None,
    confirm: Confirm | None = None,
) -> None:
    """Run `execution` to its end, on this thread and on others.

    Args:
        execution: The run.
        handlers: Who answers.
        limit_s: Longest time for the whole run, in seconds; that of people does not count.
        confirm: Decides about calls that wait for a person; called on this thread.

    Raises:
        BudgetError: Out of time or transitions.
        SuspendedError: Nobody knows about a call that waits for a person.
    """
    clock = Clock(limit_s)
    people = People(execution, handlers, confirm, clock)
    try:
        with relaxed():
            _drive(execution, handlers, clock, is_limited=limit_s is not None)
            while not execution.finished:
                people.ask()
                _drive(execution, handlers, clock, is_limited=limit_s is not None)
    finally:
        execution.cancel()


def _drive(execution: Execution, handlers: Handlers, clock: Clock, *, is_limited: bool) -> None:
    """Run `execution` until it is at rest."""
    if execution.is_direct:
        if is_limited or not handlers.all_instant:
            Crew(execution, handlers, clock).run([])
            return
        _run_direct(execution, handlers, clock)
    flights = [] if execution.finished else move(execution, handlers, clock)
    if not execution.at_rest:
        Crew(execution, handlers, clock).run(flights)


def _run_direct(execution: Execution, handlers: Handlers, clock: Clock) -> None:
    """Run in direct style on the caller's thread, where Ctrl-C arrives by itself."""

    def ask(request: Request) -> Answer:
        clock.check()
        return handlers.of(request.site).answer(request)

    execution.run_direct(ask, clock.now)


async def adrive(
    execution: Execution,
    handlers: Handlers,
    limit_s: float | None = None,
    confirm: Confirm | None = None,
) -> None:
    """Run `execution` to its end, on the running event loop; see `drive`.

    What `confirm` returns may be awaitable.
    """
    clock = Clock(limit_s)
    people = People(execution, handlers, confirm, clock)
    tasks = _Tasks()
    try:
        with relaxed():
            execution.leave_direct("direct style would hold up the event loop")
            while True:
                for flight in await amove(execution, handlers, clock):
                    tasks.start(flight, handlers.of(flight.request.site).aanswer(flight.request))
                if execution.finished:
                    return
                if execution.at_rest:
                    await people.aask()
                    continue
                done = await tasks.landed(clock)
                for late in settle(execution, done, tasks.flights, clock):
                    tasks.abandon(late)
    finally:
        try:
            await tasks.have_turns()
        finally:
            try:
                keep_landed(execution, tasks.take(), clock, sys.exception())
            finally:
                execution.cancel()
                await tasks.end()


class _Tasks:
    """Requests under way on the running event loop, each a task.

    A task tells of its end by itself, while it still has its turn: `asyncio.wait` would touch
    every task at every answer, and the callback of a task comes a turn of the loop later.

    As a rule answers come long before the time of a flight is over. So a timer is not set anew for
    each flight: it rings when the first of those that were under way together would be late, and
    then is set for those that are under way now.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._by_flight: dict[Flight, asyncio.Task[None]] = {}
        self._ended: Done = []
        self._change: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._rings_s = inf  # in seconds of the event loop

    @property
    def flights(self) -> list[Flight]:
        """What is under way."""
        return list(self._by_flight)

    def start(self, flight: Flight, work: Awaitable[Answer]) -> None:
        """Have `work` answer the request of `flight`."""
        self._by_flight[flight] = self._loop.create_task(self._fly(flight, work))

    async def _fly(self, flight: Flight, work: Awaitable[Answer]) -> None:
        try:
            answer = await work
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is used
            self._land(flight, partial(_raise, error))
        else:
            self._land(flight, lambda: answer)

    def _land(self, flight: Flight, result: Callable[[], Answer]) -> None:
        """Tell of the end of `flight`, unless nobody waits for it any more."""
        if self._by_flight.pop(flight, None) is not None:
            self._ended.append((flight, result))
            self._wake()

    async def landed(self, clock: Clock) -> Done:
        """Return what has landed; nothing if a flight or the run is out of time before."""
        if not self._ended:
            self._change = self._loop.create_future()
            wait_s = clock.wait_s(self._by_flight)
            if wait_s is not None:
                self._ring(self._loop.time() + wait_s)
            try:
                await self._change
            finally:
                self._change = None
        return self.take()

    def _ring(self, at_s: float) -> None:
        """Set the timer, unless it rings before that anyway."""
        if at_s < self._rings_s:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._rings_s = self._loop.call_at(at_s, self._rung), at_s

    def _rung(self) -> None:
        self._timer, self._rings_s = None, inf
        self._wake()

    def take(self) -> Done:
        """Return what has landed and was not returned before."""
        ended, self._ended = self._ended, []
        return ended

    async def have_turns(self) -> None:
        """Let those land whose answers are there already, such as on the way from a thread."""
        for _ in range(_TURNS if self._by_flight else 0):
            await asyncio.sleep(0)

    def _wake(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)

    def abandon(self, flight: Flight) -> None:
        """Cancel the work for `flight`."""
        self._by_flight.pop(flight).cancel()

    async def end(self) -> None:
        """Abandon all that is under way, and give it a moment to end."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._by_flight.values())
        for flight in self.flights:
            self.abandon(flight)
        if tasks:
            await asyncio.wait(tasks, timeout=_FAREWELL_S)


def _raise(error: BaseException) -> NoReturn:
    raise error
