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
#
# Moments only grow, so the minute before the newest one is a window that slides over them: each
# slot comes into it once and leaves it once, however many are kept.
#
# Who waits is moved when what is before it changes: a slot is given back, an answer took more or
# fewer tokens than estimated, the provider says that all are to wait. All who wait are then put
# anew behind what went out, in their order, when the first of them or somebody new asks for its
# moment; so a thousand runs that are cancelled at once cost a thousand steps, not a million.

from __future__ import annotations

import asyncio
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from math import inf
from typing import Final

import attrs

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.ir.limits import Limits

_WINDOW_S: Final = 60.0

_lock = ForkSafeLock(holds_up_forks=True)  # of all limits


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
        self._not_before_s = 0.0
        # Slots by time: those up to `_edge_s`, and those within the minute before the newest one,
        # with the sum of their tokens. See Note [Any minute].
        self._older: deque[Slot] = deque()
        self._within: deque[Slot] = deque()
        self._tokens = 0
        self._edge_s = -inf
        # Who waits, the first one first, and how each is told that it may look again.
        self._waiting: dict[Slot, Callable[[], object]] = {}
        self._is_stale = False  # whether who waits is to be put anew

    def reserve(self, tokens: int, wake: Callable[[], object] | None = None) -> tuple[Slot, float]:
        """Return when a request of so many tokens may go out, and how many seconds are left.

        A request of more tokens than the limit goes out alone. `wake` is called when its moment
        may have come earlier, on any thread; see `left_s`.
        """
        with _lock:
            now_s = self._clock()
            slot = Slot(max(now_s, self._not_before_s), tokens)
            if self.limits != Limits():
                _recent.add(self)
                self._refit(now_s)
                self._fit(slot)
                self._forget(now_s)
            if wake is not None and slot.at_s > now_s:
                self._waiting[slot] = wake
            return slot, slot.at_s - now_s

    def left_s(self, slot: Slot) -> float:
        """Return how many seconds are left before the request of `slot` may go out; 0 is now."""
        with _lock:
            now_s = self._clock()
            if slot.at_s > now_s:
                self._refit(now_s)
            if slot.at_s <= now_s:
                self._waiting.pop(slot, None)
            return max(slot.at_s - now_s, 0.0)

    def give_back(self, slot: Slot) -> None:
        """Say that the request of `slot` does not go out."""
        with _lock:
            self._waiting.pop(slot, None)
            if slot in self._older:
                self._older.remove(slot)
            elif slot in self._within:
                self._within.remove(slot)
                self._tokens -= slot.tokens
                self._slide_back()
            self._change()

    def correct(self, slot: Slot, tokens: int) -> None:
        """Tell how many tokens the request of `slot` took."""
        with _lock:
            if slot.at_s > self._edge_s:
                self._tokens += tokens - slot.tokens
            slot.tokens = tokens
            self._change()

    def hold(self, wait_s: float) -> None:
        """Let nothing go out for `wait_s` seconds: the provider said so."""
        with _lock:
            self._not_before_s = max(self._not_before_s, self._clock() + wait_s)
            _recent.add(self)
            self._change()

    def is_in_use(self) -> bool:
        """Whether what went out may still hold something up; asked with the lock held."""
        now_s = self._clock()
        newest = self._within or self._older
        return self._not_before_s > now_s or (bool(newest) and newest[-1].at_s > now_s - _WINDOW_S)

    def forget_waiting(self) -> None:
        """Let nobody wait any more: they wait in another process."""
        self._waiting.clear()

    def _change(self) -> None:
        """Have those who wait be put anew, by the first of them."""
        for wake in self._waiting.values():
            self._is_stale = True
            wake()
            return

    def _refit(self, now_s: float) -> None:
        """Put those who wait at the first moments at which they fit now, if anything changed."""
        if not self._is_stale:
            return
        self._is_stale = False
        slots = [*self._older, *self._within]
        moments = {slot: slot.at_s for slot in (*slots, *self._waiting) if slot.at_s > now_s}
        self._older = deque(slot for slot in slots if slot.at_s <= now_s)
        self._within.clear()
        self._tokens = 0
        self._slide_back()
        tracked = set(slots)
        for slot, before_s in moments.items():
            slot.at_s = max(now_s, self._not_before_s)
            if slot in tracked:
                self._fit(slot)
            if slot.at_s < before_s and slot in self._waiting:
                self._waiting[slot]()

    def _fit(self, slot: Slot) -> None:
        """Put `slot` at the first moment from its own on at which it fits."""
        within, limits = self._within, self.limits
        if within:
            slot.at_s = max(slot.at_s, within[-1].at_s)
        self._slide_to(slot.at_s - _WINDOW_S)
        while within and (
            (limits.requests is not None and len(within) >= limits.requests)
            or (limits.tokens is not None and self._tokens + slot.tokens > limits.tokens)
        ):
            edge_s = within[0].at_s
            slot.at_s = max(slot.at_s, edge_s + _WINDOW_S)
            self._slide_to(edge_s)
        within.append(slot)
        self._tokens += slot.tokens

    def _slide_to(self, edge_s: float) -> None:
        """Let the window begin behind `edge_s`."""
        self._edge_s = max(self._edge_s, edge_s)
        while self._within and self._within[0].at_s <= self._edge_s:
            slot = self._within.popleft()
            self._tokens -= slot.tokens
            self._older.append(slot)

    def _slide_back(self) -> None:
        """Let the window be the minute before what is the newest slot now."""
        newest = self._within or self._older
        self._edge_s = newest[-1].at_s - _WINDOW_S if newest else -inf
        while self._older and self._older[-1].at_s > self._edge_s:
            slot = self._older.pop()
            self._tokens += slot.tokens
            self._within.appendleft(slot)

    def _forget(self, now_s: float) -> None:
        while self._older and self._older[0].at_s <= now_s - _WINDOW_S:
            self._older.popleft()


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
        number: How many requests went out.
    """

    def __init__(self, rate: RateLimit, tokens: int, deadline_s: float) -> None:
        """Be about to send requests of about so many tokens."""
        self.deadline_s = deadline_s
        self.number = 0
        self._rate = rate
        self._tokens = tokens
        self._slot: Slot | None = None

    async def come(self) -> None:
        """Wait until the next request may go out.

        Raises:
            TooOftenError: The call would be over before.
        """
        loop, moved = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits there
                loop.call_soon_threadsafe(moved.set)

        slot, left_s = self._rate.reserve(self._tokens, wake)
        try:
            await self._wait(slot, left_s, moved)
        except BaseException:
            self._rate.give_back(slot)
            raise
        self._slot = slot
        self.number += 1

    async def _wait(self, slot: Slot, left_s: float, moved: asyncio.Event) -> None:
        """Wait for the moment of `slot`, and look again when it may have `moved`."""
        while left_s > 0:
            if asyncio.get_running_loop().time() + left_s > self.deadline_s:
                raise TooOftenError(left_s)
            with suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    await moved.wait()
            moved.clear()
            left_s = self._rate.left_s(slot)

    def took(self, tokens: int) -> None:
        """Tell how many tokens the last request took."""
        if self._slot is not None:
            self._rate.correct(self._slot, tokens)


# What those who are there share; and what was used in the last minute, though nobody is there now:
# the next run of this process is to find it.
_shared: weakref.WeakValueDictionary[Hashable, RateLimit] = weakref.WeakValueDictionary()
_recent: set[RateLimit] = set()


def shared_limit(account: Hashable, limits: Limits) -> RateLimit:
    """Return the limit that all share who reach `account` with the same `limits`."""
    with _lock:
        for each in [each for each in _recent if not each.is_in_use()]:
            _recent.remove(each)
        found = _shared.get((account, limits))
        if found is None:
            found = _shared[account, limits] = RateLimit(limits)
        return found


def _in_child() -> None:
    for limit in {*_shared.values(), *_recent}:
        limit.forget_waiting()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
