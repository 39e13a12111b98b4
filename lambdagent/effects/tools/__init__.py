"""TOOL INVOCATION → DATA: one handler per kind of tool, and what they share."""

# Note [Threads that wait for work]
#
# An awaited call on a thread that is started for it takes 120 µs, on one that waits 40 µs. So a
# thread that has finished a call waits `_IDLE_S` for another one; only when none waits is one more
# started. Where calls are further apart, starting one is 0.1 % of the time between them. A call
# that hangs keeps its own thread and nothing else: it is not among those that wait, and as a
# daemon it cannot keep the process alive.
#
# `_idle` needs no lock: `append`, `pop` and `remove` of a list are atomic. Whoever takes a queue
# off the list owns its thread; a thread that wants to end takes off its own, and if somebody was
# faster it has one more call to make.

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Job: TypeAlias = Callable[[], Callable[[], None]]
"""Does the work, and returns what tells its end to the waiter."""

_IDLE_S = 0.1
_idle: list[queue.SimpleQueue[Job]] = []

if hasattr(os, "register_at_fork"):  # the child of a fork has none of these threads
    os.register_at_fork(after_in_child=_idle.clear)


async def in_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, run on a thread that does nothing else meanwhile.

    Unlike a thread of the loop's pool it waits for no free one, and should `work` hang, the
    process can end all the same. See Note [Threads that wait for work].
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    within = contextvars.copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def deliver(result: T | None, error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    def body() -> Callable[[], None]:
        try:
            result = within.run(work)
        except StopIteration as error:  # a future cannot carry it
            return partial(deliver, None, RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001 - it is raised again, where it is awaited
            return partial(deliver, None, error)
        return partial(deliver, result, None)

    hand_over(body)
    return await future


def hand_over(job: Job) -> None:
    """Have a waiting thread do `job`, or a new one if none waits.

    Raises:
        RuntimeError: The system gives us no more threads.
        MemoryError: The same.
    """
    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(jobs,), name="lambdagent", daemon=True).start()
    jobs.put(job)


def _serve(jobs: queue.SimpleQueue[Job]) -> None:
    """Do the jobs that come, until none has come for a while."""
    while _serve_next(jobs):
        pass


def _serve_next(jobs: queue.SimpleQueue[Job]) -> bool:
    """Do the next job, and return whether there may be another one.

    It is a function of its own so that a waiting thread holds on to nothing of the last job.
    """
    try:
        job = jobs.get(timeout=_IDLE_S)
    except queue.Empty:
        try:
            _idle.remove(jobs)
        except ValueError:  # taken off just now
            job = jobs.get()
        else:
            return False
    tell = job()
    # Before its end is told: the waiter's next call is to find this thread waiting.
    _idle.append(jobs)
    tell()
    return True
