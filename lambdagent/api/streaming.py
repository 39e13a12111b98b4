"""A run as an iterator: what models say and tools do in it, and at last its result.

for chunk in agent.stream("the input"): …          async for chunk in agent.stream("…"): …
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import attrs

from lambdagent.api.running import Result, Session, session_of
from lambdagent.effects.confirming import Confirm, Confirmation, Decision
from lambdagent.effects.listeners import Direct, Listening
from lambdagent.effects.loop_thread import LoopThread
from lambdagent.effects.run_events import RunEvent, Token, ToolCompleted, ToolDispatched
from lambdagent.effects.stores import Owner
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Term
from lambdagent.machine.engines import EngineName
from lambdagent.machine.state import Path

# A signal that comes just before a wait does not end it: Ctrl-C is then noticed at the next look.
_LOOK_UP_S = 0.25


@attrs.frozen(kw_only=True)
class ToolStart:
    """A tool is about to be called; the attributes are those of `ToolDispatched`."""

    tool_name: str
    tool_call_id: str
    turn_number: int
    agent: str
    branch: Path
    arguments_json: str


@attrs.frozen(kw_only=True)
class ToolEnd:
    """A tool has answered, or failed; the attributes are those of `ToolCompleted`."""

    tool_name: str
    tool_call_id: str
    success: bool
    turn_number: int
    agent: str
    branch: Path


@attrs.frozen
class Done:
    """The run has come to its end; nothing comes after it."""

    result: Result


Chunk: TypeAlias = Token | ToolStart | ToolEnd | Done
T = TypeVar("T")


class Stream:
    """A run that begins when somebody iterates over it, with ``for`` or with ``async for``.

    The run does not wait for who iterates. Who stops before its end ends the run, and what it has
    under way. A run that fails raises its error where `Done` would have come.
    """

    def __init__(
        self,
        begin: Callable[..., Coroutine[Any, Any, Result]],
        *,
        confirm: Confirm | None = None,
        listeners: Sequence[Listening] = (),
        **options: Any,
    ) -> None:
        """Be about to run.

        Args:
            begin: Runs, with the options of `Session.arun`.
            confirm: As for `Session.run`; called on the thread that iterates.
            listeners: Others who are told.
            options: Others of `begin`.
        """
        self._begin = partial(begin, **options)
        self._confirm = confirm
        self._listeners = listeners

    def __iter__(self) -> Generator[Chunk]:
        """Run on another thread, and yield what comes."""
        return self._iterate(_chunk)

    def events(self) -> Generator[RunEvent | Done]:
        """Do as ``for`` does, but yield everything that listeners are told, and `Done`."""
        return self._iterate(lambda event: event)

    def _iterate(self, select: Callable[[RunEvent], T | None]) -> Generator[T | Done]:
        items: queue.SimpleQueue[Any] = queue.SimpleQueue()
        thread, own = LoopThread("lambdagent-stream"), threading.get_ident()
        confirm = None if self._confirm is None else partial(_ask, items)
        run = thread.submit(_held(self._run(select, items.put, confirm)))
        try:
            run.add_done_callback(items.put)
            while (item := _next(items)) is not run:
                if isinstance(item, _Question):
                    assert self._confirm is not None
                    item.answer(self._confirm(item.call))
                else:
                    yield item
            outcome = run.result()
            if isinstance(outcome, BaseException):
                raise outcome
            yield Done(outcome)
        finally:
            if threading.get_ident() == own:
                thread.close()
            else:  # the collector ended it, on a thread for which the run may have to wait
                threading.Thread(target=thread.close, daemon=True).start()

    async def __aiter__(self) -> AsyncGenerator[Chunk]:
        """Run on the running event loop, and yield what comes."""
        loop = asyncio.get_running_loop()
        items: asyncio.Queue[Any] = asyncio.Queue()

        def tell(chunk: Chunk) -> None:
            loop.call_soon_threadsafe(items.put_nowait, chunk)

        run = loop.create_task(self._run(_chunk, tell, self._confirm))
        run.add_done_callback(items.put_nowait)
        try:
            while (item := await items.get()) is not run:
                yield item
            yield Done(run.result())
        finally:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)

    def _run(
        self,
        select: Callable[[RunEvent], object],
        tell: Callable[[Any], object],
        confirm: Confirm | None,
    ) -> Coroutine[Any, Any, Result]:
        def listen(event: RunEvent) -> None:
            chunk = select(event)
            if chunk is not None:
                tell(chunk)

        return self._begin(confirm=confirm, listeners=[*self._listeners, Direct(listen)])


def stream(
    agent: Term | Program,
    value: object,
    *,
    engine: EngineName | None = None,
    owner: Owner | None = None,
    **options: Any,
) -> Stream:
    """Return the run of `agent` on `value` as an iterator.

    Args:
        agent: A term, which runs in the session that its calls share; or a program, which gets a
            session of its own, as does a term with an engine or an owner.
        value: Text, or any JSON value.
        engine: That of `Session`.
        owner: That of `Session`.
        options: Those of `Session.run`.
    """
    return Stream(partial(_begin, agent, value, engine, owner), **options)


async def _held(run: Coroutine[Any, Any, Result]) -> Result | SystemExit | KeyboardInterrupt:
    """Return what a run comes to, and what would end the event loop besides it, had it escaped."""
    try:
        return await run
    except (SystemExit, KeyboardInterrupt) as error:
        return error


async def _begin(
    agent: Term | Program,
    value: object,
    engine: EngineName | None,
    owner: Owner | None,
    **options: Any,
) -> Result:
    if isinstance(agent, Term) and engine is None and owner is None:
        # It is held here: its session ends with it.
        return await session_of(agent).arun(value, **options)
    with Session(agent, engine=engine, owner=owner) as session:
        return await session.arun(value, **options)


def _chunk(event: RunEvent) -> Token | ToolStart | ToolEnd | None:
    match event:
        case Token():
            return event
        case ToolDispatched():
            return ToolStart(
                tool_name=event.tool_name,
                tool_call_id=event.tool_call_id,
                turn_number=event.turn_number,
                agent=event.agent,
                branch=event.branch,
                arguments_json=event.arguments_json,
            )
        case ToolCompleted():
            return ToolEnd(
                tool_name=event.tool_name,
                tool_call_id=event.tool_call_id,
                success=event.success,
                turn_number=event.turn_number,
                agent=event.agent,
                branch=event.branch,
            )
    return None


@attrs.frozen(eq=False)
class _Question:
    """A call that waits for a person, asked on the thread that iterates."""

    call: Confirmation
    decision: asyncio.Future[Any]

    def answer(self, decision: object) -> None:
        loop = self.decision.get_loop()
        loop.call_soon_threadsafe(self.decision.set_result, decision)


async def _ask(items: queue.SimpleQueue[Any], call: Confirmation) -> Decision:
    question = _Question(call, asyncio.get_running_loop().create_future())
    items.put(question)
    decision: Decision = await question.decision
    return decision


def _next(items: queue.SimpleQueue[Any]) -> Any:
    while True:
        try:
            return items.get(timeout=_LOOK_UP_S)
        except queue.Empty:
            continue
