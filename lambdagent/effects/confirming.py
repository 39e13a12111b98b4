"""Calls that wait for a person: ask (key, tool, argument) → true, or why not, or nobody knows yet.

A site of kind ``confirm`` has no handler. Its request stays open while everything else goes on;
when nothing else can, whoever drives the run is asked about all that is open, on the thread that
drives it. What nobody knows suspends the run, with nothing else under way: no answer is lost.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Awaitable, Callable
from pathlib import PurePath
from typing import Any, TypeAlias

import attrs

from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers, Request, tool_argument
from lambdagent.effects.waiting import Clock, on_disk
from lambdagent.errors import Diagnostic, SuspendedError, finding, plain
from lambdagent.ir.data import Data, freeze, thaw
from lambdagent.ir.exchange import key_text
from lambdagent.machine.state import Path as Key
from lambdagent.machine.text import cut, text_of_data
from lambdagent.messages import phrase

# Most characters of an argument in a message; people decide by what they see.
_SHOWN = 2_000


@attrs.frozen
class Confirmation:
    """A call that waits for a person.

    Attributes:
        key: Names it in its run: the path of its thread, and the clock.
        tool: Who would be called.
        argument: With what: text, or any JSON value.
        shown: The argument as text, as much of it as people read.
    """

    key: Key
    tool: str
    argument: Any
    shown: str = attrs.field(eq=False)

    @shown.default
    def _shown(self) -> str:
        return _shown(freeze(self.argument))


def _shown(argument: Data) -> str:
    return cut(text_of_data(argument), _SHOWN)


Decision: TypeAlias = "bool | str | None"
"""True approves. A text denies: the agent is told it; False denies without a reason. None: nobody
knows yet."""
Confirm: TypeAlias = "Callable[[Confirmation], Decision | Awaitable[Decision]]"


def confirmation(request: Request) -> Confirmation:
    """Return the call that `request` asks about."""
    argument = tool_argument(request.argument)
    tool = str(request.site.static["tool"])
    return Confirmation(request.key, tool, thaw(argument), _shown(argument))


class People:
    """Whoever decides about the calls of one run; nobody is asked the same twice."""

    def __init__(
        self, execution: Execution, handlers: Handlers, confirm: Confirm | None, clock: Clock
    ) -> None:
        """Ask `confirm`; without one, nobody knows anything."""
        self._execution = execution
        self._handlers = handlers
        self._confirm: Confirm = confirm or (lambda _: None)
        self._clock = clock
        self._asked: frozenset[Key] = frozenset()

    def ask(self) -> None:
        """Ask about all that is open, and give the run the answers.

        Raises:
            SuspendedError: Nobody knows.
        """
        for request in self._open():
            asked_s = self._clock.now()
            decision = self._confirm(confirmation(request))
            self._decide(request, decision, asked_s)
        self._execution.commit()

    async def aask(self) -> None:
        """Do as `ask` does; who is asked may be awaited."""
        for request in self._open():
            asked_s = self._clock.now()
            decision = self._confirm(confirmation(request))
            if inspect.isawaitable(decision):
                decision = await decision
            self._decide(request, decision, asked_s)
        await on_disk(self._execution, self._execution.commit)

    def _open(self) -> list[Request]:
        waiting = self._execution.unconfirmed
        fresh = [request for request in waiting if request.key not in self._asked]
        if not fresh:
            raise _suspended(self._execution, waiting)
        self._asked |= {request.key for request in fresh}
        return fresh

    def _decide(self, request: Request, decision: object, asked_s: float) -> None:
        now_s = self._clock.now()
        self._clock.allow(now_s - asked_s)
        if decision is not None:
            answer = self._handlers.redaction.answer(_answer(decision))
            self._execution.complete(request, answer, now_s)


def _answer(decision: object) -> Data:
    """Return what the journal says of a decision.

    Raises:
        TypeError: It is none.
    """
    if isinstance(decision, bool | str):
        return decision
    if inspect.iscoroutine(decision):
        decision.close()
    what = phrase(
        "`confirm` must return True, False, a reason or None, got {got}", got=plain(decision)
    )
    raise TypeError(what)


def _suspended(execution: Execution, waiting: list[Request]) -> SuspendedError:
    """Return the error that says what the run waits for, and how to go on."""
    calls = tuple(map(confirmation, sorted(waiting, key=lambda request: request.key)))
    found = [_found(call, execution.place, alone=len(calls) == 1) for call in calls]
    return SuspendedError(found, calls)


def _found(call: Confirmation, place: PurePath | None, *, alone: bool) -> Diagnostic:
    key, words = key_text(call.key), call.shown
    if place is None:
        return finding("R009", tool=call.tool, call=words)
    path = shlex.quote(str(place))
    approve, deny = ("--approve", "why") if alone else (f"--approve {key}", f"{key}=why")
    return finding(
        "R008", tool=call.tool, key=key, call=words, path=path, approve=approve, deny=deny
    )
