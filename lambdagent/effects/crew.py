"""The threads that move one run.

Invariant: at any moment at most one thread, the leader, touches the execution.
"""

# Note [Who moves a threaded run]
#
# Handing each request to a worker and waking up for its answer costs more than a whole round of
# a ReAct loop. So a leader thread moves the run and, when exactly one request is under way,
# answers it itself. The caller's thread only watches the clock: when that request is out of time
# it appoints a new leader, which goes on with the failure; the old one finds out when its
# handler comes back, and ends. With several requests under way all go to workers, and the leader
# waits for them.
#
# In direct style the continuation is the leader's own stack, so a new leader cannot go on with it:
# it hands over to the stepping machine. See Note [From direct style to the stepping machine].
#
# All threads are daemons: a handler that never returns cannot keep the process alive.

from __future__ import annotations

import contextvars
import queue
import sys
import threading
from collections.abc import Callable
from functools import partial

from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers, Request
from lambdagent.effects.tools import hand_over
from lambdagent.effects.waiting import (
    Answer,
    Clock,
    Done,
    Flight,
    expire,
    keep_landed,
    move,
    settle,
    take_off,
)
from lambdagent.errors import EffectError, finding
from lambdagent.machine.recursive import Stopped

_POLL_S = 0.02
# Requests that are under way at once; further ones wait in line. Their time runs there too.
_MOST_WORKERS = 1_000
# A signal that comes just before a wait does not end it: Ctrl-C is then noticed at the next look.
_LOOK_UP_S = 0.25


class _ReplacedError(Exception):
    """Another leader moves the run now."""


class Crew:
    """Moves one run until it is at rest; see Note [Who moves a threaded run]."""

    def __init__(self, execution: Execution, handlers: Handlers, clock: Clock) -> None:
        """Be ready to move `execution`."""
        self._execution = execution
        self._handlers = handlers
        self._clock = clock
        self._workers = _Workers()
        self._under_way: list[Flight] = []
        # What came of the leader's own request last, whether or not there is still a leader.
        self._arrived: tuple[Flight, Callable[[], Answer]] | None = None
        # All below is guarded by this lock.
        self._change = threading.Condition()
        self._leader = 0
        self._moving = False  # whether the leader is at the execution
        self._own: Flight | None = None
        self._wakes_s = 0.0
        self._over = False
        self._error: BaseException | None = None

    def run(self, flights: list[Flight]) -> None:
        """Move the run until it is at rest, `flights` first.

        The calling thread only watches the clock. A run in direct style has no flights.

        Raises:
            BudgetError: Out of time or transitions.
            EffectError: The system gives us no thread at all.
        """
        try:
            with self._change:
                is_direct = self._execution.is_direct
                self._appoint(self._run_direct if is_direct else lambda _: flights)
                while not self._over:
                    self._watch()
        finally:
            if not self._over:
                self._dismiss()
            ending = self._error if self._over else sys.exception()
            try:
                keep_landed(self._execution, self._landed(), self._clock, ending)
            finally:
                self._workers.close()
        if self._error is not None:
            raise self._error

    # --- on the caller's thread ------------------------------------------------------------------

    def _appoint(self, begin: Callable[[int], list[Flight]]) -> None:
        """Have a new thread move the run, from the flights that `begin` returns there.

        `begin` gets the number of the new leader.
        """
        self._leader += 1
        _start(self._lead, self._leader, begin)

    def _watch(self) -> None:
        """Wait for a change, or until the leader's own request or the run is out of time."""
        own = self._own
        wait_s = self._clock.wait_s([] if own is None else [own])
        wait_s = _LOOK_UP_S if wait_s is None else min(max(wait_s, _POLL_S), _LOOK_UP_S)
        self._wakes_s = self._clock.now() + wait_s
        self._change.wait(wait_s)
        own = self._own
        if self._over:
            return
        if own is None:
            if self._clock.is_over(self._clock.now()):
                self._execution.stop()
            return
        self._clock.check()
        if own.expires_s <= self._clock.now():
            self._own = None
            self._appoint(lambda _: self._expire(own))

    def _dismiss(self) -> None:
        """Have the leader end, and wait until it leaves the machine alone."""
        self._clock.stop()
        self._workers.wake()
        with self._change:
            self._leader += 1
            while self._moving:
                self._execution.stop()
                self._change.wait(_POLL_S)

    def _landed(self) -> Done:
        """Return what landed and was not used, now that nobody leads."""
        landed = self._workers.next(0.0)
        if self._arrived is not None and self._arrived[0] is self._own:
            return [self._arrived]
        return [each for each in landed if each[0] in self._under_way]

    # --- on the leader's thread ------------------------------------------------------------------

    def _lead(self, number: int, begin: Callable[[int], list[Flight]]) -> Callable[[], None]:
        """Move the run; return what tells of the end."""
        error: BaseException | None = None
        try:
            self._take_over(number)
            flights = begin(number)
            while not self._execution.at_rest:
                if len(flights) == 1 and not self._under_way:
                    self._answer(number, flights[0])
                else:
                    self._wait_for_workers(flights)
                flights = move(self._execution, self._handlers, self._clock)
        except _ReplacedError:
            return _nothing
        except BaseException as caught:  # noqa: BLE001 - raised again on the caller's thread
            error = caught
        return partial(self._end, error)

    def _end(self, error: BaseException | None) -> None:
        """Tell the caller that the run is at rest, or why it is not."""
        with self._change:
            self._over = True
            self._moving = False
            self._error = error
            self._change.notify_all()

    def _take_over(self, number: int) -> None:
        with self._change:
            if self._leader != number:
                raise _ReplacedError
            self._own = None
            self._moving = True

    def _run_direct(self, number: int) -> list[Flight]:
        """Run in direct style; return the flights with which the stepping machine goes on."""

        def ask(request: Request) -> Answer:
            now_s = self._clock.check()
            handler = self._handlers.of(request.site)
            if handler.instant:
                return handler.answer(request)
            return self._fly(number, take_off(request, now_s))

        try:
            self._execution.run_direct(ask, self._clock.now)
        except Stopped:
            self._clock.check()
            raise
        if self._execution.finished:
            return []
        return move(self._execution, self._handlers, self._clock)

    def _answer(self, number: int, flight: Flight) -> None:
        """Answer the only request that is under way."""
        answer = self._fly(number, flight)
        self._execution.complete(flight.request, answer, self._clock.now())

    def _fly(self, number: int, flight: Flight) -> Answer:
        """Return the answer to the only request that is under way.

        Raises:
            _ReplacedError: Somebody else goes on without it.
        """
        with self._change:
            self._moving = False
            if self._leader != number:  # dismissed
                raise _ReplacedError
            self._own = flight
            if flight.expires_s < self._wakes_s:
                self._change.notify_all()
        result = _outcome(self._handlers.of(flight.request.site).answer, flight.request)
        self._arrived = (flight, result)
        self._take_over(number)
        return result()

    def _wait_for_workers(self, flights: list[Flight]) -> None:
        """Hand `flights` to workers, and wait for the first of those under way."""
        for flight in flights:
            self._workers.submit(self._handlers.of(flight.request.site).answer, flight)
        self._under_way += flights
        landed = self._workers.next(self._clock.wait_s(self._under_way))
        # What comes after its wait has ended is under way no more.
        done = [(flight, result) for flight, result in landed if flight in self._under_way]
        for flight, _ in done:
            self._under_way.remove(flight)
        for flight in settle(self._execution, done, self._under_way, self._clock):
            self._under_way.remove(flight)

    def _expire(self, flight: Flight) -> list[Flight]:
        expire(self._execution, flight, self._clock.now())
        self._execution.leave_direct("a request ran out of time")
        return move(self._execution, self._handlers, self._clock)


class _Workers:
    """Threads that answer requests; one more is started only when all are busy.

    Where the system gives us no more of them, requests wait until one is free.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[Request], Answer], Flight] | None]
        self._jobs = queue.SimpleQueue()
        self._landed: queue.SimpleQueue[tuple[Flight, Callable[[], Answer]] | None]
        self._landed = queue.SimpleQueue()
        self._most = _MOST_WORKERS
        self._threads = 0
        self._busy = 0
        self._closed = False

    def submit(self, handler: Callable[[Request], Answer], flight: Flight) -> None:
        """Have the request of `flight` answered.

        Raises:
            EffectError: There is no thread, and none can be started.
        """
        self._busy += 1
        if self._threads < min(self._busy, self._most):
            self._grow()
        self._jobs.put((handler, flight))

    def _grow(self) -> None:
        """Start one more thread; where that fails, be content with those that are there."""
        try:
            _start(self._work)
        except EffectError:
            if not self._threads:
                raise
            self._most = self._threads
        else:
            self._threads += 1

    def next(self, timeout_s: float | None) -> Done:
        """Return what has landed, waiting for the first one at most `timeout_s`."""
        done: Done = []
        try:
            done += self._take(self._landed.get(timeout=timeout_s))
            while True:
                done += self._take(self._landed.get_nowait())
        except queue.Empty:
            return done

    def _take(self, landed: tuple[Flight, Callable[[], Answer]] | None) -> Done:
        if landed is None:
            return []
        self._busy -= 1
        return [landed]

    def wake(self) -> None:
        """Have `next` return."""
        self._landed.put(None)

    def close(self) -> None:
        """Let idle threads end, and what waits in line be left undone."""
        self._closed = True
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> Callable[[], None]:
        while (job := self._jobs.get()) is not None:
            handler, flight = job
            unwanted = self._closed or flight.request.cancel.cancelled
            result = _unanswered if unwanted else _outcome(handler, flight.request)
            self._landed.put((flight, result))
        return _nothing


def _unanswered() -> Answer:
    """Stand for the answer to a request that nobody waited for when its turn came."""
    return None


def _outcome(handler: Callable[[Request], Answer], request: Request) -> Callable[[], Answer]:
    """Return a function that returns the handler's answer, or raises what it raised."""
    try:
        answer = handler(request)
    except BaseException as error:  # noqa: BLE001 - raised again where the answer is used
        caught = error

        def result() -> Answer:
            raise caught

        return result
    return lambda: answer


def _nothing() -> None:
    """Tell nobody."""


def _start(work: Callable[..., Callable[[], None]], *arguments: object) -> None:
    """Have `work` done on a thread, with the context variables of this one.

    It returns what tells of its end. See Note [Threads that wait for work].

    Raises:
        EffectError: The system gives us no more threads.
    """
    try:
        hand_over(partial(contextvars.copy_context().run, work, *arguments))
    except (RuntimeError, MemoryError) as error:
        raise EffectError(finding("E011", reason=str(error))) from error
