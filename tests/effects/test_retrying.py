"""Tools that fail are called again inside the same call (specification 6.1)."""

import asyncio
from typing import Any

import pytest

from lambdagent import Tool, compile_term
from lambdagent.effects import handlers
from lambdagent.effects.handlers import Handlers, Request
from lambdagent.effects.protocol import Cancellation
from lambdagent.effects.retrying import pause, retry_delay_s, whole_limit_s
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure
from lambdagent.ir.sites import Site


class Flaky:
    """A tool that fails so many times."""

    def __init__(self, failures: int) -> None:
        self.left = failures
        self.called = 0

    def __call__(self, text: Any) -> str:
        self.called += 1
        self.left -= 1
        if self.left >= 0:
            raise OSError("down")
        return f"up: {text}"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, in place of waiting."""
    waited: list[float] = []

    async def sleep(delay_s: float) -> None:
        waited.append(delay_s)

    monkeypatch.setattr(handlers, "pause", lambda delay_s, _: waited.append(delay_s))
    monkeypatch.setattr(handlers.asyncio, "sleep", sleep)
    return waited


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest):
    def by_face(tool: Tool, argument: Data = "x", cancel: Cancellation | None = None) -> Any:
        program = compile_term(tool)
        site = program.sites["tool:flaky"]
        handler = Handlers(program.sites, {}).of(site)
        asked = Request((0,), site, argument, cancel or Cancellation())
        return (
            handler.answer(asked)
            if request.param == "sync"
            else asyncio.run(handler.aanswer(asked))
        )

    return by_face


def test_a_call_is_made_again_until_it_succeeds(ask, waits: list[float]):
    flaky = Flaky(2)
    assert ask(Tool("flaky", flaky, retries=3)) == "up: x"
    assert (flaky.called, waits) == (3, [1.0, 2.0])


def test_the_last_failure_is_the_answer(ask, waits: list[float]):
    flaky = Flaky(9)
    answer = ask(Tool("flaky", flaky, retries=2))
    assert answer == Failure("ToolError", "[TOOL_ERROR: flaky] OSError: down")
    assert (flaky.called, waits) == (3, [1.0, 2.0])


def test_without_retries_there_is_one_attempt(ask, waits: list[float]):
    flaky = Flaky(1)
    assert isinstance(ask(Tool("flaky", flaky)), Failure)
    assert (flaky.called, waits) == (1, [])


def test_what_trying_again_does_not_mend_is_not_tried_again(ask, waits: list[float]):
    def flaky(a, b):
        return a

    assert isinstance(ask(Tool("flaky", flaky, retries=3)), Failure)
    assert waits == []


def test_who_is_not_waited_for_does_not_go_on(ask, waits: list[float]):
    flaky, cancel = Flaky(9), Cancellation()
    cancel.cancel()
    assert isinstance(ask(Tool("flaky", flaky, retries=3), cancel=cancel), Failure)
    assert (flaky.called, waits) == (1, [])


def test_who_is_not_waited_for_after_a_pause_makes_no_call(ask, monkeypatch: pytest.MonkeyPatch):
    flaky, cancel = Flaky(9), Cancellation()

    async def sleep(_delay_s: float) -> None:
        cancel.cancel()

    monkeypatch.setattr(handlers, "pause", lambda _, told: told.cancel())
    monkeypatch.setattr(handlers.asyncio, "sleep", sleep)
    assert isinstance(ask(Tool("flaky", flaky, retries=3), cancel=cancel), Failure)
    assert flaky.called == 1


def test_delays_double_up_to_thirty_seconds_and_count_for_the_whole_call():
    tool = compile_term(Tool("t", command="true", timeout_s=5.0, retries=7)).sites["tool:t"]
    assert whole_limit_s(tool) == 8 * 5.0 + sum(map(retry_delay_s, range(7)))
    assert whole_limit_s(Site("tool:t", "tool", timeout_s=5.0)) == 5.0
    assert whole_limit_s(Site("tool:t", "tool")) is None
    assert retry_delay_s(5000) == 30.0


def test_a_pause_ends_with_the_wait_for_the_call():
    cancel = Cancellation()
    cancel.cancel()
    pause(60.0, cancel)
