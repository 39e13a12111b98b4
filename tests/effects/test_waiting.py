"""The event loop has its turns, whatever the run does."""

import asyncio
import threading

import pytest

from lambdagent import Compose, Loop, Session, Term, build_agent
from tests.effects.agents import MODEL, PATIENCE_S, Speaker, call, react

# Long enough that a run which keeps the loop to itself fails instead of hanging.
LIMIT = 3_000_000
LONG = {
    "instant model": lambda: react(Speaker(lambda _: call("unknown")), maxSteps=10**9),
    "no request at all": lambda: Loop(Compose(), "False", 10**9),
    "parallel": lambda: Loop(Compose(), "False", 10**9) | Loop(Compose(), "False", 10**9),
}


@pytest.mark.parametrize("kind", LONG)
async def test_a_run_that_never_waits_can_be_cancelled(kind: str):
    task = asyncio.ensure_future(Session(LONG[kind]()).arun("x", transition_limit=LIMIT))
    for _ in range(3):
        await asyncio.sleep(0)
        assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("kind", LONG)
async def test_a_time_limit_around_a_run_that_never_waits_holds(kind: str):
    session = Session(LONG[kind]())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await session.arun("x", transition_limit=LIMIT)


class Hanging:
    """A store that does not answer."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.asked = threading.Event()

    def list_recent(self, n: int) -> list[tuple[str, object]]:
        self.asked.set()
        self.release.wait()
        return []

    def put(self, key: str, value: object, ttl: int = 0) -> None:
        pass


def remembering(store: object) -> Term:
    config = {"type": "simple", "systemPrompt": "p", "model": MODEL, "memory": {"enabled": True}}
    model = Speaker(lambda _: "hi")
    return build_agent(config, providers={"openai": model}, memory_store=store)


def test_an_event_loop_ends_while_a_store_hangs():
    """`asyncio.run` waits for the threads of the loop's own pool, for ever if need be."""
    store = Hanging()

    async def give_up() -> None:
        task = asyncio.ensure_future(Session(remembering(store)).arun("x"))
        while not store.asked.is_set():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    ended = threading.Event()
    loop = threading.Thread(target=lambda: (asyncio.run(give_up()), ended.set()), daemon=True)
    loop.start()
    try:
        assert ended.wait(PATIENCE_S)
    finally:
        store.release.set()
        loop.join(PATIENCE_S)


def test_a_store_that_answers_late_is_waited_for():
    store = Hanging()
    store.release.set()
    assert asyncio.run(Session(remembering(store)).arun("x")).value == "hi"
