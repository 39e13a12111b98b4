"""Work on the event loop of another thread, and who waits for it."""

import asyncio

import pytest

from lambdagent.effects.loop_thread import LoopThread, aresult_of
from lambdagent.effects.protocol import Cancellation
from tests.effects.agents import PATIENCE_S


class GoneError(Exception):
    pass


async def test_who_waits_for_a_thread_that_is_closed_gets_an_error_and_is_not_cancelled():
    thread = LoopThread("t")
    work = thread.submit(asyncio.sleep(PATIENCE_S))
    waiting = asyncio.ensure_future(aresult_of(work, Cancellation(), GoneError))
    await asyncio.sleep(0)
    thread.close()
    with pytest.raises(GoneError):
        await waiting


async def test_a_task_that_is_cancelled_while_it_waits_is_cancelled_and_so_is_the_work():
    thread = LoopThread("t")
    work = thread.submit(asyncio.sleep(PATIENCE_S))
    waiting = asyncio.ensure_future(aresult_of(work, Cancellation(), GoneError))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.cancelled()
    thread.close()
