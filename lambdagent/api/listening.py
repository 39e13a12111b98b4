"""Listeners of one run: from before its start until after its end.

What tells them is loaded for runs that have some.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import attrs

from lambdagent.errors import LambdagentError, SuspendedError
from lambdagent.ir.data import Data
from lambdagent.machine.text import cut

if TYPE_CHECKING:
    from lambdagent.effects.listeners import Audience, Listening
    from lambdagent.effects.narrator import Narrator

_SHOWN = 500


@attrs.frozen
class Heard:
    """What listeners are told of a run before it moves.

    Attributes:
        agent: The name of the program.
        input: What it is run on.
        run: The name of the run; a new one is made where there is none.
        resumed: Whether some of it happened in an earlier process.
    """

    agent: str
    input: Data
    run: str = ""
    resumed: bool = False


@contextmanager
def heard(listeners: Sequence[Listening], what: Heard) -> Iterator[Narrator | None]:
    """Yield who tells `listeners` of a run; None if there are none."""
    if not listeners:
        yield None
        return
    audience = _audience(listeners, None)
    try:
        with _told(audience, what) as narrator:
            yield narrator
    finally:
        audience.close()


@asynccontextmanager
async def aheard(listeners: Sequence[Listening], what: Heard) -> AsyncIterator[Narrator | None]:
    """Do as `heard` does; coroutines of listeners run on the running event loop."""
    if not listeners:
        yield None
        return
    audience = _audience(listeners, asyncio.get_running_loop())
    try:
        with _told(audience, what) as narrator:
            yield narrator
    finally:
        await audience.aclose()


def _audience(listeners: Sequence[Listening], loop: asyncio.AbstractEventLoop | None) -> Audience:
    audience: Audience = import_module("lambdagent.effects.listeners").Audience(listeners, loop)
    return audience


@contextmanager
def _told(audience: Audience, what: Heard) -> Iterator[Narrator]:
    """Tell the start of a run and its end, whatever that is."""
    narrator = audience.narrator(
        what.run or secrets.token_hex(6), what.agent, resumed=what.resumed
    )
    narrator.began(what.input)
    try:
        yield narrator
    except SuspendedError as error:
        narrator.ended("suspended", _why(error))
        raise
    except LambdagentError as error:
        narrator.ended("failed", _why(error))
        raise
    except BaseException as error:
        outcome = "failed" if isinstance(error, Exception) else "interrupted"
        narrator.ended(outcome, type(error).__name__)
        raise
    narrator.ended("answered")


def _why(error: LambdagentError) -> str:
    return cut(error.diagnostic.what, _SHOWN)
