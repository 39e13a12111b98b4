"""An event loop on a thread of its own."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from lambdagent.effects.protocol import Cancellation
from lambdagent.effects.tools import in_thread

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose blocking work, such as looking up a name, keeps no process alive.

    The threads of the default executor are joined when the interpreter ends.
    """

    def run_in_executor(
        self, executor: Any, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        if executor is not None:
            return super().run_in_executor(executor, func, *args)
        return self.create_task(in_thread(partial(func, *args)))


def result_of(work: Future[T], cancel: Cancellation, cancelled: Callable[[], Exception]) -> T:
    """Wait for what `work` comes to; when nobody waits any more, it is cancelled.

    Raises:
        Exception: What the work raises; what `cancelled` returns, if `cancel` was said or the
            thread of the work was closed.
    """
    forget = cancel.on_cancel(work.cancel)
    try:
        return work.result()
    except CancelledError as error:
        raise cancelled() from error
    finally:
        work.cancel()  # an interrupted wait, such as Ctrl-C; a finished future does not mind
        forget()


async def aresult_of(
    work: Future[T], cancel: Cancellation, cancelled: Callable[[], Exception]
) -> T:
    """Wait on an event loop; see `result_of`. The cancellation of the task that waits goes on."""
    forget = cancel.on_cancel(work.cancel)
    try:
        return await asyncio.wrap_future(work)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if work.cancelled() and task is not None and not task.cancelling():
            raise cancelled() from error
        raise
    finally:
        forget()


class LoopThread:
    """An event loop and its thread, started by the first work.

    A process has its own: the child of a fork does not have the thread.

    Attributes:
        thread: None before the first work.
    """

    def __init__(self, name: str) -> None:
        """Give the thread a name."""
        self.thread: threading.Thread | None = None
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Have `work` done on the loop."""
        with self._lock:
            if self._loop is None:
                self._loop = _Loop()
                self.thread = threading.Thread(
                    target=_run, args=(self._loop,), name=self._name, daemon=True
                )
                self.thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(
        self,
        last: Callable[[], Coroutine[Any, Any, None]] | None = None,
        patience_s: float | None = None,
    ) -> None:
        """Cancel what is under way, do `last` where anything was done, and end the thread.

        What has not ended after `patience_s` is left alone, as a daemon; None waits for it. When
        the interpreter ends, threads do not run any more: there is nothing to wait for.
        """
        if sys.is_finalizing():
            return
        with self._lock:
            loop, thread = self._loop, self.thread
            self._loop = self.thread = None
        if loop is None or thread is None:
            return
        try:
            asyncio.run_coroutine_threadsafe(_end(last), loop).result(patience_s)
        except TimeoutError:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _end(last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    if last is not None:
        await last()
