"""Who waits for a store on an event loop."""

import asyncio

from lambdagent.effects import stores
from lambdagent.effects.stores.local import LocalStore


class Narrow(LocalStore):
    at_once, shared = 2, "one of a kind"


async def crowd(count: int) -> int:
    """Return how many used the store at once at most."""
    now, most = 0, 0

    async def use() -> None:
        nonlocal now, most
        async with stores.turn(Narrow()):
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1

    await asyncio.gather(*(use() for _ in range(count)))
    return most


def test_no_more_use_a_store_than_it_is_good_for():
    assert asyncio.run(crowd(10)) == 2


def test_loops_that_are_closed_are_not_kept():
    for _ in range(5):
        asyncio.run(crowd(10))
    assert sum(loop.is_closed() for loop in stores._turns) <= 1
