"""Requests and tokens in any minute."""

import asyncio
import gc
import os
import signal
import threading
import time
import warnings
import weakref
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


STEPS = st.lists(
    st.tuples(st.sampled_from("rrrgc"), st.floats(0, 50), st.integers(0, 150), st.integers(0, 9)),
    max_size=40,
)


@given(LIMITS, STEPS)
def test_no_minute_has_more_when_slots_are_given_back_and_corrected(
    limits: Limits, steps: list[tuple[str, float, int, int]]
):
    """What goes out fits with all that is known at that time."""
    clock = Clock()
    limit = RateLimit(limits, clock)
    slots: list[Slot] = []
    for what, pause_s, tokens, number in steps:
        clock.now_s += pause_s
        if what == "r":
            slot, _ = limit.reserve(tokens)
            minute = [each for each in slots if each.at_s > slot.at_s - 60 + 1e-9]
            assert limits.requests is None or len(minute) < limits.requests
            total = tokens + sum(each.tokens for each in minute)
            assert limits.tokens is None or not minute or total <= limits.tokens
            slots.append(slot)
        elif slots and what == "g":
            limit.give_back(slots.pop(number % len(slots)))
        elif slots:
            limit.correct(slots[number % len(slots)], tokens)


@pytest.mark.parametrize("limits", [Limits(), Limits(requests=10**9), Limits(tokens=10**9)])
def test_many_requests_in_a_minute_cost_the_same_each(limits: Limits):
    """Far below the hours that it takes to look at all earlier ones for each."""
    limit = RateLimit(limits, Clock())
    began = time.process_time()
    for _ in range(200_000):
        limit.reserve(1)
    assert time.process_time() - began < 20


def test_a_fork_has_its_turns_though_another_thread_was_at_the_limit():
    """A lock that a thread holds while another one forks would stay locked in the child."""
    limit = RateLimit(Limits(requests=10**9))
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            limit.reserve(1)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(20):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                signal.alarm(10)  # ends a child that waits for ever
                limit.reserve(1)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        worker.join()


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


class Waiting:
    """Turns that wait at one limit, whose clock goes on as soon as nobody can."""

    def __init__(self, limits: Limits) -> None:
        self.clock = Clock()
        self.limit = RateLimit(limits, self.clock)
        self.went: list[tuple[int, float]] = []
        self.tasks: list[asyncio.Task[None]] = []

    def come(self, count: int, tokens: int = 1) -> None:
        for _ in range(count):
            self.tasks.append(asyncio.create_task(self._one(len(self.tasks), tokens)))

    async def _one(self, number: int, tokens: int) -> None:
        await Turn(self.limit, tokens, inf).come()
        self.went.append((number, self.clock.now_s - 1000))

    async def until(self, at_s: float) -> None:
        """Let the time be so many seconds after the start, and everybody look again."""
        self.clock.now_s = 1000 + at_s
        await settle()
        for wake in list(self.limit._waiting.values()):
            wake()
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_waits_moves_up_when_somebody_before_leaves():
    waiting = Waiting(Limits(requests=1))
    waiting.come(5)
    await waiting.until(0)
    assert waiting.went == [(0, 0)]
    waiting.tasks[1].cancel()
    waiting.tasks[2].cancel()
    await waiting.until(60)
    await waiting.until(120)
    assert waiting.went == [(0, 0), (3, 60), (4, 120)]
    assert waiting.limit.reserve(1)[1] == 60


async def test_who_waits_moves_with_the_tokens_that_answers_took():
    waiting = Waiting(Limits(tokens=100))
    slot, _ = waiting.limit.reserve(60)
    waiting.come(1, 50)
    waiting.come(1, 30)
    await waiting.until(1)
    assert waiting.went == []
    waiting.limit.correct(slot, 20)  # less than expected: both fit
    await waiting.until(2)
    assert waiting.went == [(0, 2), (1, 2)]
    waiting.come(1, 100)
    await waiting.until(3)
    waiting.limit.correct(slot, 1000)
    assert waiting.limit.reserve(1)[1] == 119  # behind the one of 100 tokens, at 62


async def test_who_waits_keeps_waiting_when_the_provider_says_so():
    for limits in (Limits(), Limits(requests=1)):
        waiting = Waiting(limits)
        waiting.limit.reserve(1)
        waiting.limit.hold(10)
        waiting.come(2)
        await waiting.until(1)
        waiting.limit.hold(100)  # until 101
        await settle()
        await waiting.until(62)
        assert waiting.went == []
        await waiting.until(101)
        assert waiting.went[:1] == [(0, 101)]
        await waiting.until(161)
        assert len(waiting.went) == 2


async def test_whose_call_cannot_wait_so_long_any_more_is_told():
    """And those behind go on."""
    limit = RateLimit(Limits(), clock := Clock())
    limit.hold(10)
    soon = asyncio.get_running_loop().time() + 20
    task = asyncio.create_task(Turn(limit, 1, soon).come())
    await settle()
    limit.hold(30)
    with pytest.raises(TooOftenError):
        await task
    assert (clock.now_s, limit._waiting) == (1000, {})


async def test_many_that_leave_at_once_cost_each_the_same():
    waiting = Waiting(Limits(requests=1))
    waiting.come(3_000)
    await settle()
    began = time.process_time()
    for task in waiting.tasks[1:-1]:
        task.cancel()
    await asyncio.gather(*waiting.tasks[1:-1], return_exceptions=True)
    assert time.process_time() - began < 3  # 0.2 s; each moving all others would take minutes
    await waiting.until(60)
    assert waiting.went == [(0, 0), (2_999, 60)]


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


def test_a_limit_outlives_the_runs_that_used_it_by_a_minute(monkeypatch: pytest.MonkeyPatch):
    """And no longer: accounts that nobody asks any more are not kept."""
    clock = Clock()
    monkeypatch.setattr(RateLimit.__init__, "__defaults__", (clock,))
    used, unused, held = (shared_limit(name, Limits(2)) for name in ("used", "unused", "held"))
    used.reserve(1)
    held.hold(300)
    gone = [weakref.ref(each) for each in (used, unused, held)]
    del used, unused, held
    shared_limit("another", Limits(2))
    gc.collect()
    assert [each() is None for each in gone] == [False, True, False]
    limit = shared_limit("used", Limits(2))
    limit.reserve(1)
    assert limit.reserve(1)[1] == 60
    del limit
    clock.now_s += 121
    shared_limit("another", Limits(2))
    gc.collect()
    assert [each() is None for each in gone] == [True, True, False]
