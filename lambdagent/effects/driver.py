"""Drivers: the only loops that step a machine. `drive` uses threads, `adrive` an event loop.

Each steps until every thread of the run waits, hands the new requests to their handlers, and gives
the machine whichever answer comes first. All requests that wait at one time are in flight at once.
A request has its own time limit and the run may have one; at either the wait ends, whatever the
handler does.
"""

from __future__ import annotations

import asyncio

from lambdagent.effects.collector import relaxed
from lambdagent.effects.crew import Crew
from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers, Request
from lambdagent.effects.waiting import Answer, Clock, Done, Flight, amove, move, settle

# How long tasks that are cancelled at the end of a run may take for it.
_FAREWELL_S = 1.0


def drive(execution: Execution, handlers: Handlers, limit_s: float | None = None) -> None:
    """Run `execution` to its end, on this thread and on others.

    Args:
        execution: The run.
        handlers: Who answers.
        limit_s: Longest time for the whole run, in seconds.

    Raises:
        BudgetError: Out of time or transitions.
    """
    clock = Clock(limit_s)
    try:
        with relaxed():
            if execution.is_direct:
                if limit_s is not None or not handlers.all_instant:
                    Crew(execution, handlers, clock).run([])
                    return
                _run_direct(execution, handlers, clock)
            flights = [] if execution.finished else move(execution, handlers, clock)
            if not execution.finished:
                Crew(execution, handlers, clock).run(flights)
    finally:
        execution.cancel()


def _run_direct(execution: Execution, handlers: Handlers, clock: Clock) -> None:
    """Run in direct style on the caller's thread, where Ctrl-C arrives by itself."""

    def ask(request: Request) -> Answer:
        clock.check()
        return handlers.of(request.site).answer(request)

    execution.run_direct(ask, clock.now)


async def adrive(execution: Execution, handlers: Handlers, limit_s: float | None = None) -> None:
    """Run `execution` to its end, on the running event loop; see `drive`."""
    clock = Clock(limit_s)
    tasks: dict[asyncio.Task[Answer], Flight] = {}
    try:
        with relaxed():
            execution.leave_direct("direct style would hold up the event loop")
            while True:
                for flight in await amove(execution, handlers, clock):
                    work = handlers.of(flight.request.site).aanswer(flight.request)
                    tasks[asyncio.ensure_future(work)] = flight
                if execution.finished:
                    return
                finished, _ = await asyncio.wait(
                    tasks,
                    timeout=clock.wait_s(tasks.values()),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                done: Done = [(tasks.pop(task), task.result) for task in finished]
                for flight in settle(execution, done, list(tasks.values()), clock):
                    task = next(task for task, other in tasks.items() if other is flight)
                    _abandon(task)
                    del tasks[task]
    finally:
        execution.cancel()
        for task in tasks:
            _abandon(task)
        if tasks:
            await asyncio.wait(tasks, timeout=_FAREWELL_S)


def _abandon(task: asyncio.Task[Answer]) -> None:
    """Cancel `task`, and let nobody complain that its result is not looked at."""
    task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
