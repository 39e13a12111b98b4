"""TOOL INVOCATION → DATA: one handler per kind of tool, and what they share."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Return what `work` returns, run on a thread of its own.

    Unlike a thread of the loop's pool it waits for no free one, and should `work` hang, the
    process can end all the same.
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

    def body() -> None:
        try:
            result = within.run(work)
        except StopIteration as error:  # a future cannot carry it
            deliver(None, RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001 - it is raised again, where it is awaited
            deliver(None, error)
        else:
            deliver(result, None)

    threading.Thread(target=body, daemon=True).start()
    return await future
