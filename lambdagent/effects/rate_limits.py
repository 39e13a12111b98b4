"""How often a provider may be asked: requests and tokens in any minute, for all who ask it here.

One `RateLimit` is shared by all runs of the process that reach the same account with the same
limits. Who comes first is let go first.
"""

# Note [Any minute]
#
# What went out in the last 60 seconds is kept, with the tokens of each, so that no minute has more
# than the limits, wherever it begins; a bucket that refills would let twice as many into some.
# A request reserves the earliest moment at which it fits behind those that were reserved before,
# and waits for that moment. Its tokens are an estimate, until its answer tells the number.

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final

import attrs

from lambdagent.ir.limits import Limits

_WINDOW_S: Final = 60.0


@attrs.define(eq=False)
class Slot:
    """The moment at which one request goes out, and its tokens."""

    at_s: float
    tokens: int


class RateLimit:
    """Lets requests go as `limits` allow. Safe to share between threads and event loops."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nothing sent."""
        self.limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._slots: deque[Slot] = deque()  # by time
        self._not_before_s = 0.0

    def reserve(self, tokens: int) -> tuple[Slot, float]:
        """Return when a request of so many tokens may go out, and how many seconds are left.

        A request of more tokens than the limit goes out alone.
        """
        with self._lock:
            now_s = self._clock()
            self._forget(now_s)
            last_s = self._slots[-1].at_s if self._slots else now_s
            at_s = self._earliest(max(now_s, last_s, self._not_before_s), tokens)
            slot = Slot(at_s, tokens)
            self._slots.append(slot)
            return slot, at_s - now_s

    def give_back(self, slot: Slot) -> None:
        """Say that the request of `slot` does not go out."""
        with self._lock:
            if slot in self._slots:
                self._slots.remove(slot)

    def hold(self, wait_s: float) -> None:
        """Let nothing new go out for `wait_s` seconds: the provider said so."""
        with self._lock:
            self._not_before_s = max(self._not_before_s, self._clock() + wait_s)

    def _forget(self, now_s: float) -> None:
        while self._slots and self._slots[0].at_s <= now_s - _WINDOW_S:
            self._slots.popleft()

    def _earliest(self, at_s: float, tokens: int) -> float:
        """Return the first moment from `at_s` on at which a request of `tokens` fits."""
        most_requests, most_tokens = self.limits.requests, self.limits.tokens
        within = [slot for slot in self._slots if slot.at_s > at_s - _WINDOW_S]
        count, total = len(within), sum(slot.tokens for slot in within)
        for slot in within:
            is_full = most_requests is not None and count >= most_requests
            is_heavy = most_tokens is not None and total + tokens > most_tokens
            if not is_full and not is_heavy:
                break
            at_s = max(at_s, slot.at_s + _WINDOW_S)
            count, total = count - 1, total - slot.tokens
        return at_s


class TooOftenError(Exception):
    """A request would have to wait for longer than its call may take.

    Attributes:
        wait_s: How long.
    """

    def __init__(self, wait_s: float) -> None:
        """Say how long it would have to wait."""
        super().__init__(f"{wait_s:.1f} s")
        self.wait_s = wait_s


class Turn:
    """The requests of one call: each waits until it may go out.

    Attributes:
        deadline_s: Time of the event loop at which the call is over.
    """

    def __init__(self, rate: RateLimit, tokens: int, deadline_s: float) -> None:
        """Be about to send requests of about so many tokens."""
        self.deadline_s = deadline_s
        self._rate = rate
        self._tokens = tokens
        self._slot: Slot | None = None

    async def come(self) -> None:
        """Wait until the next request may go out.

        Raises:
            TooOftenError: The call would be over before.
        """
        slot, wait_s = self._rate.reserve(self._tokens)
        if asyncio.get_running_loop().time() + wait_s > self.deadline_s:
            self._rate.give_back(slot)
            raise TooOftenError(wait_s)
        try:
            await asyncio.sleep(wait_s)
        except asyncio.CancelledError:
            self._rate.give_back(slot)
            raise
        self._slot = slot

    def took(self, tokens: int) -> None:
        """Tell how many tokens the last request took."""
        if self._slot is not None:
            self._slot.tokens = tokens


_shared: weakref.WeakValueDictionary[Hashable, RateLimit] = weakref.WeakValueDictionary()
_sharing = threading.Lock()


def shared_limit(account: Hashable, limits: Limits) -> RateLimit:
    """Return the limit that all share who reach `account` with the same `limits`."""
    with _sharing:
        found = _shared.get((account, limits))
        if found is None:
            found = _shared[account, limits] = RateLimit(limits)
        return found
