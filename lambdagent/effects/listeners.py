"""Who is told of a run, and how: each listener on a thread of its own, one event at a time.

A run never waits for its listeners while it moves, and nothing that they do can end it.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import sys
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterable
from traceback import format_exception_only
from typing import Any, TypeAlias

import attrs

from lambdagent.effects.narrator import Narrator
from lambdagent.effects.run_events import (
    GuardRetried,
    LlmCalled,
    LoopExited,
    MemoryWritten,
    RouteTaken,
    RunEvent,
    RunFinished,
    RunStarted,
    Token,
    ToolCompleted,
    ToolDispatched,
    TurnStarted,
)
from lambdagent.effects.tools import in_thread

Listening: TypeAlias = "Callable[[RunEvent], Awaitable[object] | object]"
"""A listener: a function of one event, be it asynchronous; a `Listener` is one too."""

# How long the end of a run waits for its listeners.
_FAREWELL_S = 2.0
# Events that wait for a listener which does not keep up; it misses what comes beyond.
_MOST_WAITING = 100_000


class Listener:
    """A listener that does nothing: override what you care for, with or without ``async``."""

    def __call__(self, event: RunEvent) -> Awaitable[object] | object:
        """Call the method that is about such events."""
        method: Callable[[Any], Awaitable[object] | object] = getattr(self, _METHODS[type(event)])
        return method(event)

    def on_run_started(self, event: RunStarted) -> Awaitable[object] | object:
        """The run is about to begin, or to go on."""

    def on_turn_started(self, event: TurnStarted) -> Awaitable[object] | object:
        """A model is about to be asked."""

    def on_token(self, event: Token) -> Awaitable[object] | object:
        """A model said something; models are asked to stream only if somebody listens to this."""

    def on_llm_called(self, event: LlmCalled) -> Awaitable[object] | object:
        """A model has answered, or failed."""

    def on_tool_dispatched(self, event: ToolDispatched) -> Awaitable[object] | object:
        """A tool is about to be called."""

    def on_tool_completed(self, event: ToolCompleted) -> Awaitable[object] | object:
        """A tool has answered, or failed."""

    def on_route_taken(self, event: RouteTaken) -> Awaitable[object] | object:
        """A router has chosen."""

    def on_guard_retried(self, event: GuardRetried) -> Awaitable[object] | object:
        """A guard has refused an answer."""

    def on_memory_written(self, event: MemoryWritten) -> Awaitable[object] | object:
        """A memory has remembered an exchange."""

    def on_loop_exited(self, event: LoopExited) -> Awaitable[object] | object:
        """A loop has ended."""

    def on_run_finished(self, event: RunFinished) -> Awaitable[object] | object:
        """The run is over, for now."""


_METHODS: dict[type[RunEvent], str] = {
    RunStarted: "on_run_started",
    TurnStarted: "on_turn_started",
    Token: "on_token",
    LlmCalled: "on_llm_called",
    ToolDispatched: "on_tool_dispatched",
    ToolCompleted: "on_tool_completed",
    RouteTaken: "on_route_taken",
    GuardRetried: "on_guard_retried",
    MemoryWritten: "on_memory_written",
    LoopExited: "on_loop_exited",
    RunFinished: "on_run_finished",
}


@attrs.frozen
class Direct:
    """A listener of ours that returns at once and raises nothing: it needs no thread."""

    hear: Callable[[RunEvent], object]

    def __call__(self, event: RunEvent) -> None:
        """Hear `event`, on the thread where it happened."""
        self.hear(event)


class Audience:
    """The listeners of one run.

    Attributes:
        wants_tokens: Whether somebody wants to hear models while they speak.
    """

    def __init__(
        self, listeners: Iterable[Listening], loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """Be about to tell `listeners`.

        Args:
            listeners: Who is told.
            loop: Where their coroutines run; without one each listener gets a loop of its own.
        """
        found = list(listeners)
        self.wants_tokens = any(map(_wants_tokens, found))
        self._direct = [each for each in found if isinstance(each, Direct)]
        self._posts = [_Post(each, loop) for each in found if not isinstance(each, Direct)]

    def narrator(self, run: str, agent: str, *, resumed: bool) -> Narrator:
        """Return who tells all of them what happens in `run`."""
        return Narrator(
            self.tell, run=run, agent=agent, wants_tokens=self.wants_tokens, resumed=resumed
        )

    def tell(self, event: RunEvent) -> None:
        """Have all told of `event`; returns at once. From any thread."""
        for listener in self._direct:
            listener(event)
        for post in self._posts:
            post.put(event)

    def close(self) -> None:
        """Wait for listeners that are behind, but not for ever."""
        ends_s = time.monotonic() + _FAREWELL_S
        for post in self._posts:
            post.end()
        for post in self._posts:
            post.wait(max(0.0, ends_s - time.monotonic()))

    async def aclose(self) -> None:
        """Do as `close` does, without blocking the event loop."""
        if self._posts:
            await in_thread(self.close)


def _wants_tokens(listener: Listening) -> bool:
    return not isinstance(listener, Listener) or type(listener).on_token is not Listener.on_token


class _Post:
    """Delivers events to one listener, and tells once what goes wrong with it."""

    def __init__(self, listener: Listening, loop: asyncio.AbstractEventLoop | None) -> None:
        self._listener = listener
        self._loop = loop
        self._events: queue.SimpleQueue[RunEvent | None] = queue.SimpleQueue()
        self._runner: asyncio.Runner | None = None
        self._complaints: set[str] = set()
        self._work: Any = None
        self._is_left = False
        self._thread = threading.Thread(
            target=contextvars.copy_context().run,
            args=(self._deliver,),
            name="lambdagent-listener",
            daemon=True,
        )
        try:
            self._thread.start()
        except (RuntimeError, MemoryError) as error:
            self._complain("hears nothing", f"there is no thread for it: {error}")
            self._is_left = True

    def put(self, event: RunEvent) -> None:
        if self._is_left:
            return
        if self._events.qsize() < _MOST_WAITING:
            self._events.put(event)
        else:
            self._complain("misses events", f"{_MOST_WAITING} others wait for it already")

    def end(self) -> None:
        self._events.put(None)

    def wait(self, wait_s: float) -> None:
        if self._is_left:
            return
        self._thread.join(wait_s)
        if self._thread.is_alive():
            late = max(0, self._events.qsize() - 1)
            self._complain("does not keep up", f"the run is over, and {late} events wait for it")
            if self._loop is not None:  # which may end now, and would leave it hanging
                self._is_left = True
                if self._work is not None:
                    self._work.cancel()

    # --- on the thread of the listener -----------------------------------------------------------

    def _deliver(self) -> None:
        while (event := self._events.get()) is not None and not self._is_left:
            try:
                told = self._listener(event)
                if inspect.isawaitable(told):
                    self._await(told)
            except BaseException as error:  # noqa: BLE001 - foreign code; the run goes on
                if not self._is_left:
                    self._complain("failed", format_exception_only(error)[-1].strip())
        if self._runner is not None:
            self._runner.close()

    def _await(self, told: Awaitable[object]) -> None:
        if self._loop is not None:
            self._work = asyncio.run_coroutine_threadsafe(_awaited(told), self._loop)
            ending = self._work.result()
        else:
            if self._runner is None:
                self._runner = asyncio.Runner()
            ending = self._runner.run(_awaited(told))
        if ending is not None:
            raise ending

    def _complain(self, what: str, why: str) -> None:
        """Warn of a fault, once of each kind."""
        if what in self._complaints:
            return
        self._complaints.add(what)
        name = getattr(self._listener, "__qualname__", type(self._listener).__qualname__)
        text = f"the listener `{name}` {what}: {why}"
        try:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        except RuntimeWarning:  # warnings are errors, but there is nobody to catch it
            sys.stderr.write(f"{text}\n")


async def _awaited(told: Awaitable[object]) -> BaseException | None:
    """Await `told`; return what it raises that would end the event loop."""
    try:
        await told
    except (SystemExit, KeyboardInterrupt) as error:
        return error
    return None
