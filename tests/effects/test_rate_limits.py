"""Requests and tokens in any minute."""

import asyncio
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects.rate_limits import RateLimit, Slot, TooOftenError, Turn, shared_limit
from lambdagent.ir.limits import Limits


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


LIMITS = st.builds(Limits, st.none() | st.integers(1, 5), st.none() | st.integers(1, 100))
REQUESTS = st.lists(st.tuples(st.floats(0, 50), st.integers(0, 150)), max_size=30)


@given(LIMITS, REQUESTS)
def test_no_minute_has_more_than_the_limits(limits: Limits, requests: list[tuple[float, int]]):
    clock = Clock()
    limit = RateLimit(limits, clock)
    slots = []
    for pause_s, tokens in requests:
        clock.now_s += pause_s
        slot, wait_s = limit.reserve(tokens)
        assert slot.at_s == pytest.approx(clock.now_s + wait_s)
        assert wait_s >= 0
        slots.append(slot)
    assert [slot.at_s for slot in slots] == sorted(slot.at_s for slot in slots)
    for first in slots:
        minute = [slot for slot in slots if first.at_s <= slot.at_s < first.at_s + 60]
        if limits.requests is not None:
            assert len(minute) <= limits.requests
        if limits.tokens is not None and len(minute) > 1:
            assert sum(slot.tokens for slot in minute) <= max(limits.tokens, minute[0].tokens)


@given(LIMITS, REQUESTS)
def test_nobody_waits_without_need(limits: Limits, requests: list[tuple[float, int]]):
    """Who waits could not have gone out when the wait began."""
    clock = Clock()
    limit = RateLimit(limits, clock)
    slots: list[Slot] = []
    for pause_s, tokens in requests:
        clock.now_s += pause_s
        slot, wait_s = limit.reserve(tokens)
        if wait_s > 0:
            begun = max([clock.now_s, *(each.at_s for each in slots)])
            minute = [each for each in slots if each.at_s > begun - 60]
            full = limits.requests is not None and len(minute) >= limits.requests
            heavy = limits.tokens is not None and (
                sum(each.tokens for each in minute) + tokens > limits.tokens
            )
            assert full or heavy or slot.at_s == begun
        slots.append(slot)


def test_a_moment_that_is_given_back_is_free_again():
    limit = RateLimit(Limits(requests=1), Clock())
    slot, _ = limit.reserve(1)
    limit.give_back(slot)
    limit.give_back(slot)
    assert limit.reserve(1)[1] == 0


def test_all_wait_when_the_provider_says_so():
    clock = Clock()
    limit = RateLimit(Limits(), clock)
    limit.hold(7)
    limit.hold(3)
    assert limit.reserve(1)[1] == 7
    clock.now_s += 7
    assert limit.reserve(1)[1] == 0


def test_the_true_tokens_count_once_they_are_known():
    async def ask() -> None:
        limit = RateLimit(Limits(tokens=100))
        turn = Turn(limit, 90, inf)
        await turn.come()
        assert limit.reserve(90)[1] > 50
        turn.took(1)
        assert limit.reserve(9)[1] > 50  # behind the one that waits

    asyncio.run(ask())


def test_a_wait_that_is_cancelled_gives_its_moment_back():
    async def ask() -> None:
        limit = RateLimit(Limits(requests=1))
        limit.reserve(1)
        task = asyncio.create_task(Turn(limit, 1, inf).come())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert limit.reserve(1)[1] == pytest.approx(60, abs=5)

    asyncio.run(ask())


def test_a_wait_beyond_the_call_is_told_at_once_and_gives_its_moment_back():
    async def ask() -> None:
        limit = RateLimit(Limits(requests=1))
        limit.reserve(1)
        deadline_s = asyncio.get_running_loop().time() + 30
        with pytest.raises(TooOftenError) as caught:
            await Turn(limit, 1, deadline_s).come()
        assert caught.value.wait_s == pytest.approx(60, abs=5)
        assert limit.reserve(1)[1] == pytest.approx(60, abs=5)

    asyncio.run(ask())


def test_the_same_account_with_the_same_limits_is_shared():
    one = shared_limit("a", Limits(1))
    assert shared_limit("a", Limits(1)) is one
    assert shared_limit("b", Limits(1)) is not one
    assert shared_limit("a", Limits(2)) is not one
