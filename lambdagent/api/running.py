"""Terms and programs → results: runs on the machine, one-shot or in sessions."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs

import lambdagent
from lambdagent.api.budgets import check_prices
from lambdagent.api.compiling import compile_term
from lambdagent.api.doubts import Remark, warn
from lambdagent.api.failures import error_of
from lambdagent.api.finite import finite
from lambdagent.api.listening import Heard, aheard, heard
from lambdagent.effects.budget import meter_of, within_budget
from lambdagent.effects.confirming import Confirm
from lambdagent.effects.driver import adrive, drive
from lambdagent.effects.execution import Execution
from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.handlers import Handlers
from lambdagent.effects.llm.scripted import write_recording
from lambdagent.effects.protocol import Reply
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.stores import Owner, owner_of
from lambdagent.errors import (
    LambdagentError,
    RunError,
    SchemaError,
    SuspendedError,
    finding,
)
from lambdagent.ir.bounds import bounds
from lambdagent.ir.by_identity import ByIdentity
from lambdagent.ir.costs import Count
from lambdagent.ir.data import Data, freeze, thaw
from lambdagent.ir.exchange import Exchange, Failure
from lambdagent.ir.program import Program
from lambdagent.ir.surface import Term
from lambdagent.machine.engines import ENGINES, EngineName, choose
from lambdagent.machine.link import Linked, link
from lambdagent.machine.state import PAIR, TAGGED, Fail, Halt, Kind, Store, Value
from lambdagent.machine.state import Path as Key
from lambdagent.machine.step import start
from lambdagent.machine.text import text_of_data
from lambdagent.machine.values import fold, leaf_data, project
from lambdagent.messages import phrase
from lambdagent.trace.macro import TraceRecord, macro_trace, total_cost, total_tokens, watcher

if TYPE_CHECKING:
    from lambdagent.effects.listeners import Listening


@attrs.frozen(eq=False, slots=False)
class Result:
    """What a run came to.

    Attributes:
        value: The answer: text, or what the agent's output parser makes of it; a tuple for
            parallel agents without merge.
        engine: The engine that ran: ``recursive`` or ``cek``.
        engine_reason: Why that one, in a few words.
        elapsed_s: Seconds of wall time.
    """

    value: Any
    engine: str
    engine_reason: str
    elapsed_s: float
    _execution: Execution = attrs.field(repr=False)
    _history: Callable[[], Execution] = attrs.field(repr=False)

    @property
    def execution(self) -> Execution:
        """The run from its start."""
        return self._history()

    @property
    def text(self) -> str:
        """The answer as text."""
        return text_of_data(project(self.final))

    @property
    def final(self) -> Value:
        """The value of the machine that the answer is."""
        return cast(Halt, self._execution.machine.root.state).value

    @cached_property
    def trace(self) -> tuple[TraceRecord, ...]:
        """One record for each model call, tool call, route and terminate."""
        return trace_of(self.execution)

    @property
    def counters(self) -> dict[str, int]:
        """Reductions by kind."""
        counters = self._execution.machine.counters
        return {kind.name.lower(): counters[kind] for kind in Kind}

    @property
    def transitions(self) -> int:
        """Transitions of the machine, administrative ones included; 0 in direct style."""
        return self._execution.machine.transitions

    @property
    def tokens(self) -> int | None:
        """Model tokens of all calls; None if some provider did not count."""
        return total_tokens(self.trace)

    @property
    def cost_usd(self) -> float | None:
        """What all model calls cost, in US dollars; None if that is not known of each."""
        return total_cost(self.trace)

    @property
    def store(self) -> Store:
        """Conversations and memories after the run."""
        return self._execution.machine.root.store


def write_record(path: Path, exchanges: Mapping[Key, Exchange]) -> None:
    """Write what models said, in canonical order, for the provider ``scripted`` to play back.

    Raises:
        OSError: The file cannot be written.
    """
    asked = [exchanges[key] for key in sorted(exchanges)]
    write_recording(
        path,
        [
            (str(each.site.static["agent"]), Reply.from_data(each.answer))
            for each in asked
            if each.site.kind == "llm" and not isinstance(each.answer, Failure)
        ],
    )


def trace_of(execution: Execution) -> tuple[TraceRecord, ...]:
    """Return the macro trace of a run so far."""
    return macro_trace(execution.events, execution.exchanges)


class Session:
    """Runs of one agent that share its conversation and its memory.

    Not safe for use from several threads at once: questions of one conversation have an order.
    """

    def __init__(  # noqa: PLR0913 - keywords, each with a usual value
        self,
        agent: Term | Program,
        *,
        engine: EngineName | None = None,
        environment: Mapping[str, str] | None = None,
        base_dir: Path | None = None,
        clock: Callable[[], float] = time.time,
        owner: Owner | None = None,
        asks: bool = True,
        remark: Remark = warn,
    ) -> None:
        """Make the agent ready.

        Args:
            agent: A term, or a program that was compiled before.
            engine: Which one; else LAMBDAGENT_ENGINE says it, or the file, or it is ``recursive``.
            environment: Where keys come from; `os.environ` by default.
            base_dir: Where relative paths start and commands run; by default where we are.
            clock: Seconds since the epoch, for memories.
            owner: Whose memories are read and written; by default LAMBDAGENT_USER and
                LAMBDAGENT_SESSION say that.
            asks: Models and tools are asked; a run that has ended asks nobody, and needs none.
            remark: Told at the end of what the session remembered and a store does not forget.

        Raises:
            EffectError: A key is not set, a tool has no implementation, a command is refused, a
                memory store cannot be used.
            SchemaError: There is no such engine.
        """
        self.program = agent if isinstance(agent, Program) else compile_term(agent)
        self.store: Store = {}
        self._remark = remark
        environment = os.environ if environment is None else environment
        self._engine = _wanted_engine(engine, environment, self.program)
        self.linked: Linked = link(self.program)
        self._newest: Execution | None = None
        self.owner = owner_of(environment) if owner is None else owner
        if asks:  # before the handlers are there, which would have to be given back
            check_prices(self.program, environment)
        self.handlers = Handlers(
            self.program.sites if asks else {},
            environment,
            base_dir=base_dir,
            clock=clock,
            limits=self.program.limits,
            owner=self.owner,
        )

    def run(
        self,
        value: object,
        *,
        timeout_s: float | None = None,
        transition_limit: int | None = None,
        watch: Callable[[TraceRecord], None] | None = None,
        confirm: Confirm | None = None,
        listeners: Sequence[Listening] = (),
    ) -> Result:
        """Run the agent on `value`.

        Args:
            value: Text, or any JSON value.
            timeout_s: Longest time for the whole run, in seconds.
            transition_limit: Most transitions of the machine.
            watch: Called with each record of the trace as it ends, in order of time.
            confirm: Decides about calls that wait for a person, once nothing else can go on:
                returns True, or why not; False or None where there is no reason, or no decision.
            listeners: Who is told what happens, while it does; see docs/listeners.md.

        Raises:
            RunError: The run failed; its `trace` says how far it came.
            SuspendedError: Nobody decided about a call that waits for a person.
        """
        data = self._data(value)
        with heard(listeners, Heard(self.program.name, data)) as narrator:
            execution = self._execution(data, transition_limit, watch)
            execution.narrator = narrator
            return self.drive(execution, timeout_s, confirm=confirm)

    async def arun(
        self,
        value: object,
        *,
        timeout_s: float | None = None,
        transition_limit: int | None = None,
        watch: Callable[[TraceRecord], None] | None = None,
        confirm: Confirm | None = None,
        listeners: Sequence[Listening] = (),
    ) -> Result:
        """Run the agent on `value` on the running event loop; see `run`.

        What `confirm` returns may be awaitable; so may be what listeners return.
        """
        needs_states = "direct style would hold up the event loop"
        data = self._data(value)
        async with aheard(listeners, Heard(self.program.name, data)) as narrator:
            execution = self._execution(data, transition_limit, watch, needs_states)
            execution.narrator = narrator
            return await self.adrive(execution, timeout_s, confirm=confirm)

    def stream(self, value: object, **options: Any) -> lambdagent.Stream:
        """Return a run as an iterator over what is said and done in it; options as for `run`."""
        return lambdagent.Stream(partial(self.arun, value), **options)

    def drive(
        self,
        execution: Execution,
        timeout_s: float | None,
        history: Callable[[], Execution] | None = None,
        confirm: Confirm | None = None,
    ) -> Result:
        """Move a run of this session's program to its end.

        Args:
            execution: The run.
            timeout_s: Longest time, in seconds.
            history: Returns the run from its start, where `execution` began later.
            confirm: As for `run`.

        Raises:
            RunError: The run failed; its `trace` says how far it came.
            SuspendedError: Nobody decided about a call that waits for a person.
        """
        history = history or (lambda: execution)
        began = time.monotonic()
        try:
            with within_budget(execution.meter, timeout_s) as limit_s:
                drive(execution, self.handlers, limit_s, confirm)
        except (RunError, SuspendedError) as error:
            raise _with_trace(error, history()) from error.__cause__
        return self._result(execution, history, time.monotonic() - began)

    async def adrive(
        self,
        execution: Execution,
        timeout_s: float | None,
        history: Callable[[], Execution] | None = None,
        confirm: Confirm | None = None,
    ) -> Result:
        """Move a run to its end on the running event loop; see `drive`."""
        history = history or (lambda: execution)
        began = time.monotonic()
        try:
            with within_budget(execution.meter, timeout_s) as limit_s:
                await adrive(execution, self.handlers, limit_s, confirm)
        except (RunError, SuspendedError) as error:
            raise _with_trace(error, history()) from error.__cause__
        return self._result(execution, history, time.monotonic() - began)

    def history(self) -> Execution | None:
        """Return the newest run, from its start; None if there was none."""
        return self._newest

    @property
    def redaction(self) -> Redaction:
        """Keeps secrets out of what is written."""
        return self.handlers.redaction

    def record(self, path: Path) -> None:
        """Write what models said in the newest run, for the provider ``scripted`` to play back.

        The replies stand in canonical order, whatever the schedule of the run and its end were.

        Raises:
            OSError: The file cannot be written.
        """
        write_record(path, {} if self._newest is None else self._newest.exchanges)

    def close(self) -> None:
        """Give back connections, and forget what is of this session alone."""
        for remark in self.handlers.close():
            self._remark(remark)

    def __enter__(self) -> Session:
        """Return the session; leaving it closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _data(self, value: object) -> Data:
        return self.handlers.redaction.data(freeze(value))

    def _execution(
        self,
        data: Data,
        transition_limit: int | None,
        watch: Callable[[TraceRecord], None] | None,
        needs_states: str | None = None,
    ) -> Execution:
        if transition_limit is not None:
            needs_states = "only cek counts transitions, which are limited"
        self._newest = Execution(
            self.linked,
            start(self.linked, data, self.store),
            transition_limit=transition_limit,
            watch=None if watch is None else watcher(watch),
            choice=choose(
                self._engine,
                self.linked,
                bound=lambda: self._most_model_calls,
                needs_states=needs_states,
            ),
        )
        self._newest.meter = meter_of(self.program)
        return self._newest

    @cached_property
    def _most_model_calls(self) -> Count:
        return bounds(self.program).model_calls.most

    def _result(
        self, execution: Execution, history: Callable[[], Execution], elapsed_s: float
    ) -> Result:
        state = execution.machine.root.state
        self.store = execution.machine.root.store
        if isinstance(state, Fail):
            raise _with_trace(error_of(state.error, by_hand=self.program.by_hand), history())
        value = to_python(cast(Halt, state).value)
        result = Result(value, *execution.choice, elapsed_s, execution, history)
        if execution.narrator is not None:
            execution.narrator.answer(result.text)
        return result


def _wanted_engine(
    engine: str | None, environment: Mapping[str, str], program: Program
) -> EngineName | None:
    """Return the engine that the caller, the environment or the file wants, if one does.

    Raises:
        SchemaError: It does not exist.
    """
    variable = environment.get("LAMBDAGENT_ENGINE", "").strip()
    field = "engine" if engine is not None else "LAMBDAGENT_ENGINE"
    wanted = engine or variable or program.engine
    if wanted is None:
        return None
    for known in ENGINES:
        if wanted == known:
            return known
    expected = phrase("`recursive`, `cek` or `adaptive`")
    raise SchemaError(finding("S103", field=field, expected=expected, actual=wanted))


def to_json(result: Result) -> dict[str, object]:
    """Return a result as in specification 15.8; numbers that JSON does not have, as texts."""
    records = result.trace
    return {
        "result": json_value(result.final),
        "trace": [record.to_json() for record in records],
        "stats": {
            "total_steps": len(records),
            "total_time_ms": round(result.elapsed_s * 1000),
            "total_tokens": total_tokens(records),
            "total_cost_usd": total_cost(records),
            "engine": result.engine,
            "engine_reason": result.engine_reason,
            "transitions": result.transitions,
            "reductions": result.counters,
        },
    }


def _with_trace(error: LambdagentError, execution: Execution) -> LambdagentError:
    if isinstance(error, RunError | SuspendedError):
        error.trace, error.execution = trace_of(execution), execution
    return error


def run(
    agent: Term | Program,
    value: object,
    *,
    engine: EngineName | None = None,
    owner: Owner | None = None,
    **options: Any,
) -> Result:
    """Run `agent` once on `value`, with a fresh conversation; see `Session` and `Session.run`."""
    with Session(agent, engine=engine, owner=owner) as session:
        return session.run(value, **options)


async def arun(
    agent: Term | Program,
    value: object,
    *,
    engine: EngineName | None = None,
    owner: Owner | None = None,
    **options: Any,
) -> Result:
    """Run `agent` once on `value` on the running event loop; see `Session` and `Session.run`."""
    with Session(agent, engine=engine, owner=owner) as session:
        return await session.arun(value, **options)


# Reentrant: making a session may run code of the user, which may call another term.
_making = ForkSafeLock()


def call(term: Term, value: object) -> Any:
    """Run `term` on `value` in the term's own session and return the answer."""
    return session_of(term).run(value).value


def session_of(term: Term) -> Session:
    """Return the session that calls of `term` share, whatever their threads; made at the first."""
    with _making:
        session = _SESSIONS.get(term)
        if session is None:
            session = Session(term)
            _SESSIONS.put(term, session)
        return session


def _close(session: Session) -> None:
    """Close the session of a term that is gone.

    On a thread of its own: closing waits for connections, and a term may go anywhere. For the same
    reason it takes no lock.
    """
    threading.Thread(target=session.close, daemon=True).start()


# The sessions behind ``term(value)``.
_SESSIONS: ByIdentity[Session] = ByIdentity(_close)


def to_python(value: Value) -> Any:
    """Return a machine value as plain Python: tuples for pairs, lists, dicts, text, numbers."""
    return fold(value, lambda leaf: thaw(leaf_data(leaf)), _python_node)


def json_value(value: Value) -> Any:
    """Return a machine value as JSON; numbers that it does not have, as texts."""
    return fold(value, lambda leaf: finite(thaw(leaf_data(leaf))), _python_node)


def _python_node(tag: int, parts: list[Any]) -> Any:
    if tag == TAGGED:
        return parts[0]
    return tuple(parts) if tag == PAIR else parts
