"""Attempts inside one call of a tool: how long between them, and how long all of them may take.

Bounds and journals count calls, not attempts. Source: specification 6.1, semantics.md §5.
"""

from __future__ import annotations

import threading
from typing import Final

from lambdagent.effects.protocol import Cancellation
from lambdagent.ir.sites import Site

_LONGEST_S: Final = 30.0
_DOUBLINGS: Final = 5  # after so many the longest is reached


def retry_delay_s(attempt: int) -> float:
    """Return the time between an attempt, counted from 0, and the next one.

    >>> [retry_delay_s(attempt) for attempt in range(7)]
    [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    """
    return min(2.0 ** min(attempt, _DOUBLINGS), _LONGEST_S)


def retries_of(site: Site) -> int:
    """Return how often a failed call of `site` is made again."""
    retries = site.static.get("retries", 0)
    return retries if isinstance(retries, int) else 0


def whole_limit_s(site: Site) -> float | None:
    """Return how long a call of `site` may take with all of its attempts; None for ever."""
    limit_s = site.timeout_s
    if limit_s is None or not (retries := retries_of(site)):
        return limit_s
    first = min(retries, _DOUBLINGS)
    delays_s = 2.0**first - 1 + (retries - first) * _LONGEST_S
    return limit_s * (retries + 1) + delays_s


def pause(delay_s: float, cancel: Cancellation) -> None:
    """Wait, unless nobody waits for the call any more."""
    ended = threading.Event()
    forget = cancel.on_cancel(ended.set)
    ended.wait(delay_s)
    forget()
