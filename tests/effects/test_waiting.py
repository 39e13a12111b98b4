"""The event loop has its turns, and what comes while a run is ended is kept or told."""

import asyncio
import threading
from typing import Any

import pytest

from lambdagent import CheckpointError, Compose, Lam, Loop, Session, Term, build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.effects.execution import Execution
from lambdagent.effects.waiting import Clock, Done, keep_landed, take_off
from lambdagent.errors import finding
from lambdagent.ir.data import Record
from lambdagent.machine.link import link
from lambdagent.machine.step import start
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


# --- what comes while a run is ended -------------------------------------------------------------


def landed(*outcomes: Any) -> tuple[Execution, Done]:
    """Return a run of branches that each ask a model, and what came of them."""
    agents = [Lam(f"m{number}", "p") for number, _ in enumerate(outcomes)]
    linked = link(compile_term(agents[0] | agents[1] | agents[2]))
    execution = Execution(linked, start(linked, "x"))
    execution.advance()

    def of(outcome: Any) -> Any:
        def result() -> Any:
            if isinstance(outcome, BaseException):
                raise outcome
            return Record(text=outcome)

        return result

    flights = [take_off(request, 0.0) for request in execution.new_requests(0.0)]
    return execution, list(zip(flights, map(of, outcomes), strict=True))


def kept(execution: Execution) -> list[str]:
    return [exchange.site.name for exchange in execution.exchanges.values()]


@pytest.mark.parametrize("failure", [ValueError("oh"), SystemExit(3), asyncio.CancelledError()])
def test_what_fails_while_a_run_is_ended_is_told_with_what_ends_it(failure: BaseException):
    execution, done = landed("a", failure, "c")
    ending = KeyboardInterrupt()
    keep_landed(execution, done, Clock(None), ending)
    assert kept(execution) == ["llm:m0", "llm:m2"]
    (note,) = ending.__notes__
    assert note.startswith("meanwhile `llm:m1` failed: ")
    assert type(failure).__name__ in note


def test_what_fails_where_nothing_ends_a_run_ends_it():
    execution, done = landed("a", ValueError("oh"), "c")
    with pytest.raises(ValueError, match="oh"):
        keep_landed(execution, done, Clock(None), None)


def test_an_answer_that_cannot_be_kept_is_told_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch,
):
    execution, done = landed("a", "b", "c")
    complete = execution.complete

    def full(request: Any, *rest: Any) -> None:
        if request.site.name == "llm:m1":
            raise CheckpointError(finding("K008", path="journal", reason="full"))
        complete(request, *rest)

    monkeypatch.setattr(execution, "complete", full)
    with pytest.raises(CheckpointError, match="K008"):
        keep_landed(execution, done, Clock(None), KeyboardInterrupt())
    assert kept(execution) == ["llm:m0", "llm:m2"]


def test_a_fault_of_ours_is_not_taken_for_a_failure(monkeypatch: pytest.MonkeyPatch):
    execution, done = landed("a", "b", "c")
    monkeypatch.setattr(execution, "complete", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        keep_landed(execution, done, Clock(None), KeyboardInterrupt())
