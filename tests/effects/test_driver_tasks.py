"""On an event loop, one task answers several requests of a run."""

import asyncio
import contextlib
from contextvars import ContextVar

import pytest

from lambdagent import Session
from lambdagent.effects.execution import Execution
from lambdagent.effects.protocol import ModelCall
from tests.effects.agents import (
    PATIENCE_S,
    Speaker,
    call,
    react,
    say,
    speaker,
)

LIMIT_S = 0.05


async def test_a_run_that_never_waits_lets_other_tasks_have_their_turns():
    async def at_once(_: str) -> str:
        return "1"

    rounds = 64
    model = speaker(*[call("at_once")] * rounds, say("end"))
    agent = react(model, {"at_once": at_once}, maxSteps=rounds + 1)
    task = asyncio.ensure_future(Session(agent).arun("x"))
    turns = 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    assert task.result().value == "end"
    assert turns > rounds / 16


async def test_a_tool_that_is_cancelled_and_answers_nevertheless_harms_no_later_one():
    async def stubborn(_: str) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(PATIENCE_S)
        return "still here"

    async def hang(_: str) -> None:
        await asyncio.sleep(PATIENCE_S)

    model = speaker(call("stubborn"), call("hang"), say("end"))
    agent = react(model, {"stubborn": stubborn, "hang": hang}, toolTimeout=LIMIT_S)
    assert (await Session(agent).arun("x")).value == "end"
    assert model.asked[1:] == [
        "Observation from stubborn: still here",
        "Observation from hang: [TIMEOUT after 0.05s]",
    ]


async def test_what_a_tool_sets_in_its_context_is_seen_by_no_later_one():
    user: ContextVar[str] = ContextVar("user", default="nobody")

    async def log_in(_: str) -> str:
        before = user.get()
        user.set("somebody")
        await asyncio.sleep(0)
        return before

    model = speaker(call("log_in"), call("log_in"), say("end"))
    await Session(react(model, {"log_in": log_in})).arun("x")
    assert set(model.asked[1:]) == {"Observation from log_in: nobody"}


async def test_a_run_is_watched_in_the_task_of_the_caller():
    async def soon(_: str) -> str:
        await asyncio.sleep(0)
        return "1"

    agent = react(speaker(call("soon"), call("soon"), say("end")), {"soon": soon})
    tasks: list[object] = []
    await Session(agent).arun("x", watch=lambda _: tasks.append(asyncio.current_task()))
    assert len(tasks) > 3
    assert set(tasks) == {asyncio.current_task()}


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), StopIteration("by zero")])
async def test_what_is_raised_while_a_task_moves_the_run_ends_the_run(error: Exception):
    """The model answers at once, so it is asked by whoever moves the run."""

    async def soon(_: str) -> str:
        await asyncio.sleep(0)
        return "1"

    def fail(each: ModelCall) -> str:
        if each.last_text == "x":
            return call("soon")
        raise error

    with pytest.raises((ZeroDivisionError, RuntimeError)) as caught:
        await Session(react(Speaker(fail), {"soon": soon})).arun("x")
    assert error in {caught.value, caught.value.__cause__}


async def test_a_loop_that_computes_long_after_an_answer_lets_others_have_their_turns(
    monkeypatch: pytest.MonkeyPatch,
):
    """What is left to compute when an answer came is done by the driver, in turns."""
    turns: list[int] = []
    advance = Execution.advance

    def counted(execution: Execution, transitions: int) -> None:
        turns.append(transitions)
        advance(execution, 5)

    async def soon(_: str) -> str:
        await asyncio.sleep(0)
        return "1"

    monkeypatch.setattr(Execution, "advance", counted)
    model = speaker(call("soon"), say("end"))
    assert (await Session(react(model, {"soon": soon})).arun("x")).value == "end"
    assert len(turns) > 10
    assert max(turns) < 200_000
