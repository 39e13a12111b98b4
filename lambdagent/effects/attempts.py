"""Attempts at one request: which failures may pass, and how long to wait before the next try.

A server that says how long to wait is believed, up to a minute; else the waits double, with some
chance in them so that those who failed together do not come back together. Nothing is tried again
that would be refused again, and nothing that the time of the call does not allow.

Source: RFC 9110 10.2.3 (Retry-After).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from lambdagent.effects.refusals import is_used_up
from lambdagent.effects.streams import BrokenOffError

T = TypeVar("T")

# A request that took too long or came at a bad time, and faults of the server itself.
RETRIED: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT_S: Final = 60.0
_FIRST_WAIT_S: Final = 0.5
_LONGEST_BACKOFF_S: Final = 8.0
_DOUBLINGS: Final = 4


async def persist(
    attempt: Callable[[], Awaitable[T]],
    *,
    retries: int,
    deadline_s: float,
    again: Callable[[Exception, float], object],
) -> T:
    """Return what `attempt` returns, tried again after failures that may pass.

    Args:
        attempt: Makes one attempt.
        retries: How often at most it is made again.
        deadline_s: Time of the event loop after which nothing is begun.
        again: Told what failed, and how many seconds will be waited before the next attempt.

    Raises:
        Exception: What the last attempt raised.
    """
    number = 0
    while True:
        try:
            return await attempt()
        except Exception as failed:
            error = failed
            wait_s = wait_before_next(error, number)
            now_s = asyncio.get_running_loop().time()
            if wait_s is None or number >= retries or now_s + wait_s > deadline_s:
                raise
        number += 1
        again(error, wait_s)
        await asyncio.sleep(wait_s)


def wait_before_next(error: Exception, number: int) -> float | None:
    """Return how many seconds to wait after `error`; None if another attempt makes no sense.

    Args:
        error: What the attempt raised: an error of an SDK, or of a stream.
        number: How many attempts there were before.
    """
    status = getattr(error, "status_code", None)
    if isinstance(error, BrokenOffError) and status is None:
        return backoff_s(number)
    if not isinstance(status, int):
        # No answer came at all. A time limit of the SDK is that of the call, and who is not
        # trusted now is not trusted in a second.
        is_lost = type(error).__name__ == "APIConnectionError"
        is_stranger = "CERTIFICATE" in str(error.__cause__)
        return backoff_s(number) if is_lost and not is_stranger else None
    headers = getattr(getattr(error, "response", None), "headers", {})
    if not _may_pass(status, headers, getattr(error, "body", None)):
        return None
    asked_s = retry_after_s(headers, time.time())
    return backoff_s(number) if asked_s is None else min(asked_s, LONGEST_WAIT_S)


def _may_pass(status: int, headers: Mapping[str, str], body: object) -> bool:
    told = headers.get("x-should-retry")
    if told in {"true", "false"}:
        return told == "true"
    return status in RETRIED and not is_used_up(body)


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """Return how many seconds an answer asks to wait: a number of them, or a date.

    Args:
        headers: Of the answer, by name in small letters.
        now_s: Seconds since the epoch.

    >>> retry_after_s({"retry-after": "3"}, 0.0), retry_after_s({"retry-after-ms": "250"}, 0.0)
    (3.0, 0.25)
    >>> retry_after_s({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, 40.0)
    20.0
    >>> retry_after_s({"retry-after": "soon"}, 0.0)
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        # Several, as of a server and what stands before it, come as one: the longest holds.
        numbers = [each.strip() for each in headers.get(name, "").split(",")]
        if all(each.isascii() and each.replace(".", "", 1).isdecimal() for each in numbers):
            return max(map(float, numbers)) * unit
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        if date.tzinfo is None:  # of the older forms, which mean the same time
            date = date.replace(tzinfo=UTC)
        return max(date.timestamp() - now_s, 0.0)
    except (ValueError, OverflowError, OSError):
        return None


def backoff_s(number: int) -> float:
    """Return the wait after `number` + 1 attempts of which nobody said how long to wait."""
    longest = min(_FIRST_WAIT_S * 2.0 ** min(number, _DOUBLINGS), _LONGEST_BACKOFF_S)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret hangs on it
