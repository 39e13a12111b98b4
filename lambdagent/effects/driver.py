"""Drivers: the only loops that step a machine. `drive` uses threads, `adrive` an event loop.

Each steps until every thread of the run waits, hands the new requests to their handlers, and gives
the machine whichever answer comes first. All requests that wait at one time are in flight at once.
A request has its own time limit and the run may have one; at either the wait ends, whatever the
handler does. When only people can answer, whoever called the driver is asked.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextvars import Context, copy_context
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
    move_a_turn,
    settle,
)

# How long tasks that are cancelled at the end of a run may take for it.
_FAREWELL_S = 1.0
# Turns of the loop from the return of a thread to the end of the task that waits for it.
_TURNS = 2
# Flights that a task answers in a row, and how often it moves the run in between: once more after
# each answer that was there at once.
_FLIGHTS = 8
_MOVES = 4


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
    tasks = _Tasks(execution, handlers, clock)
    try:
        with relaxed():
            execution.leave_direct("direct style would hold up the event loop")
            while True:
                for flight in await amove(execution, handlers, clock):
                    tasks.start(flight)
                if execution.finished:
                    return
                if execution.at_rest:
                    await people.aask()
                    continue
                tasks.settle(await tasks.landed())
    finally:
        try:
            await tasks.have_turns()
        finally:
            try:
                keep_landed(execution, tasks.take(), clock, sys.exception())
            finally:
                execution.cancel()
                await tasks.end()


# Note [Who moves a run on an event loop]
#
# A task for each request, and a turn of the loop until the driver hears of the answer, take as
# long as all else of a call. So the task that has an answer moves the run, where that can be done
# at once, and goes on with the next request; the driver only waits. Its turn comes when the run is
# over, waits for a person or the disk, or has much to compute; when somebody watches, who is told
# in the task of the caller; when something was raised; and when a flight is late.
#
# A task goes on after an answer alone, and never after somebody cancelled it, or after a handler
# has set context variables: those are for nobody else. After some flights it leaves the next one
# to a new task: handlers that never wait must not keep the loop.


class _Tasks:
    """Requests under way on the running event loop, and the tasks that answer them.

    See Note [Who moves a run on an event loop]. Most answers come long before their flights are
    late, so a timer is not set for each: it rings when the first of those that were under way
    together would be late, and is set again for those that are under way then.
    """

    def __init__(self, execution: Execution, handlers: Handlers, clock: Clock) -> None:
        self._execution = execution
        self._handlers = handlers
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._by_flight: dict[Flight, asyncio.Task[None]] = {}
        self._ended: Done = []
        self._turn: asyncio.Future[None] | None = None  # that of the driver, while it waits
        self._began_s = self._loop.time() - clock.now()  # as the event loop counts
        self._timer: asyncio.TimerHandle | None = None
        self._rings_s = inf  # in seconds of the run

    def start(self, flight: Flight) -> None:
        """Have the request of `flight` answered."""
        self._under_way(flight, self._loop.create_task(self._answer(flight)))

    def _under_way(self, flight: Flight, task: asyncio.Task[None]) -> None:
        self._by_flight[flight] = task
        self._ring(flight.expires_s)

    async def _answer(self, flight: Flight) -> None:
        """Answer the request of `flight`, and those that are asked because of it, for a while."""
        context = copy_context()
        for _ in range(_FLIGHTS):
            handler = self._handlers.of(flight.request.site)
            try:
                answer = await handler.aanswer(flight.request)
            except BaseException as error:  # noqa: BLE001 - raised again where the answer is used
                if self._land(flight, partial(_raise, error)):
                    self._wake()
                return
            if not self._land(flight, partial(_same, answer)):
                return
            following = self._move(flight, context)
            if following is None:
                return
            flight = following
        self.start(flight)

    def _land(self, flight: Flight, result: Callable[[], Answer]) -> bool:
        """Note the end of `flight`; return whether somebody still waits for it."""
        if self._by_flight.pop(flight, None) is None:
            return False
        self._ended.append((flight, result))
        return True

    def _move(self, landed: Flight, context: Context) -> Flight | None:
        """Move the run, or have the driver do so; return the flight with which to go on.

        Args:
            landed: What has just been answered.
            context: The variables of the task at its start.
        """
        task, turn, execution = asyncio.current_task(), self._turn, self._execution
        assert task is not None
        if turn is None or turn.done():  # the driver moves it, or is about to
            return None
        is_as_ever = not task.cancelling() and _is_current(context)
        if execution.is_watched or execution.syncs or not is_as_ever:
            self._wake()
            return None
        fresh: list[Flight] = []
        try:
            self.settle(self.take())
            is_moving, moves = True, 0
            while is_moving and moves < _MOVES:
                is_moving = move_a_turn(execution, self._handlers, self._clock, fresh)
                moves += 1
        except BaseException as error:  # noqa: BLE001 - raised again on the driver's turn
            self._ended.append((landed, partial(_raise, error)))
            self._wake()
            return None
        if is_moving or (not fresh and execution.at_rest):
            self._wake()
        if not fresh:
            return None
        for flight in fresh[1:]:
            self.start(flight)
        self._under_way(fresh[0], task)
        return fresh[0]

    def settle(self, done: Done) -> None:
        """Give the machine what came of `done`, and failures for flights that are late."""
        for late in settle(self._execution, done, list(self._by_flight), self._clock):
            self._by_flight.pop(late).cancel()

    async def landed(self) -> Done:
        """Return what has landed when it is the driver's turn, be that nothing."""
        if not self._ended:
            self._turn = self._loop.create_future()
            wait_s = self._clock.wait_s(self._by_flight)
            if wait_s is not None:
                self._ring(self._clock.now() + wait_s)
            try:
                await self._turn
            finally:
                self._turn = None
        return self.take()

    def _ring(self, at_s: float) -> None:
        """Set the timer, unless it rings before that anyway."""
        if at_s < self._rings_s:
            if self._timer is not None:
                self._timer.cancel()
            self._rings_s = at_s
            self._timer = self._loop.call_at(self._began_s + at_s, self._rung)

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
        """Let it be the driver's turn."""
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)

    async def end(self) -> None:
        """Abandon all that is under way, and give it a moment to end."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._by_flight.values())
        self._by_flight.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_FAREWELL_S)


def _is_current(context: Context) -> bool:
    """Whether all variables have the values that they have in `context`, the very objects."""
    now = copy_context()
    return len(now) == len(context) and all(
        variable in context and context[variable] is value for variable, value in now.items()
    )


def _same(answer: Answer) -> Answer:
    return answer


def _raise(error: BaseException) -> NoReturn:
    raise error
