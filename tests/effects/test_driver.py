"""The driver: requests that overlap, ends of waits, cancellation, faults; both faces do the same.

Nothing here looks at a clock: what must overlap meets at a barrier, what must not be waited for
never answers, and what must happen in some thread sets an event.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator

import attrs
import pytest

from lambdagent import BudgetError, Compose, EffectError, Fst, Loop, Par, Session, Snd
from lambdagent.effects import driver, waiting
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.errors import Diagnostic, finding
from tests.effects.agents import (
    PATIENCE_S,
    Face,
    Speaker,
    call,
    face,
    parallel,
    react,
    say,
    speaker,
)

__all__ = ["face"]

LIMIT_S = 0.05


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What a thread may wait for that shall not return before the test ends."""
    event = threading.Event()
    yield event
    event.set()


class Slow:
    """A provider that is not instant; its subclasses say how it answers."""

    instant = False

    def chat(self, call: ModelCall) -> Reply:
        raise NotImplementedError

    async def achat(self, call: ModelCall) -> Reply:
        return self.chat(call)

    def close(self) -> None:
        pass


class Meeting(Slow):
    """Answers no call before `count` calls are under way."""

    def __init__(self, count: int) -> None:
        self.threads = threading.Barrier(count, timeout=PATIENCE_S)
        self.tasks = asyncio.Barrier(count)

    def chat(self, call: ModelCall) -> Reply:
        self.threads.wait()
        return Reply(f"{call.agent} met")

    async def achat(self, call: ModelCall) -> Reply:
        async with asyncio.timeout(PATIENCE_S):
            await self.tasks.wait()
        return Reply(f"{call.agent} met")


class Silent(Slow):
    """Never answers; keeps its calls, and says when it hears of their end."""

    def __init__(self, never: threading.Event) -> None:
        self.never = never
        self.calls: list[ModelCall] = []
        self.asked, self.told = threading.Event(), threading.Event()

    def listen(self, call: ModelCall) -> None:
        self.calls.append(call)
        call.cancel.on_cancel(self.told.set)
        self.asked.set()

    def chat(self, call: ModelCall) -> Reply:
        self.listen(call)
        self.never.wait()
        return Reply("too late")

    async def achat(self, call: ModelCall) -> Reply:
        self.listen(call)
        await asyncio.Event().wait()
        return Reply("too late")


# --- overlap -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 16])
def test_model_calls_of_parallel_branches_are_under_way_together(face: Face, count: int):
    answer = face.ask(parallel(Meeting(count), count), "x").value
    assert answer == tuple(f"b{i} met" for i in range(count))


def test_tool_calls_of_parallel_branches_are_under_way_together(face: Face):
    barrier = threading.Barrier(3, timeout=PATIENCE_S)
    model = Speaker(lambda c: call("meet") if c.last_text == "x" else say(c.last_text))
    agent = react(model, {"meet": lambda _: f"met {barrier.wait() >= 0}"})
    answer = face.ask(agent | agent | agent, "x").value
    assert answer == ("Observation from meet: met True",) * 3


def test_asynchronous_tools_of_parallel_branches_are_under_way_together():
    barrier = asyncio.Barrier(3)

    async def meet(_: str) -> str:
        async with asyncio.timeout(PATIENCE_S):
            await barrier.wait()
        return "met"

    model = Speaker(lambda c: call("meet") if c.last_text == "x" else say(c.last_text))
    agent = react(model, {"meet": meet})
    answer = Face("async").ask(agent | agent | agent, "x").value
    assert answer == ("Observation from meet: met",) * 3


def test_answers_stand_in_the_order_of_the_branches_not_of_their_arrival(face: Face):
    arrived = [threading.Event() for _ in range(3)]

    def in_turn(text: str) -> str:
        number = int(text)
        if number < 2:  # the last branch answers first
            assert arrived[number + 1].wait(PATIENCE_S)
        arrived[number].set()
        return text

    def speak(c: ModelCall) -> str:
        return call("turn", c.agent[1:]) if c.last_text == "x" else say(c.last_text[-1])

    agent = react(Speaker(speak), {"turn": in_turn})
    branches = [attrs.evolve(agent, body=_named(agent, f"b{i}")) for i in range(3)]
    assert face.ask(branches[0] | branches[1] | branches[2], "x").value == ("0", "1", "2")


def _named(agent: object, name: str) -> object:
    step = agent.body  # type: ignore[attr-defined]
    return attrs.evolve(step, name=f"{name}.step", think=attrs.evolve(step.think, name=name))


def test_a_branch_goes_on_while_another_one_waits(face: Face):
    """The first branch needs three rounds before it sets free the second one."""
    free = threading.Event()

    def tool(argument: str) -> str:
        if argument == "wait":
            assert free.wait(PATIENCE_S)
        if argument == "3":
            free.set()
        return argument

    def speak(c: ModelCall) -> str:
        last = c.last_text.removeprefix("Observation from tool: ")
        return {"x": call("tool", "wait"), "y": call("tool", "1")}.get(last) or (
            call("tool", str(int(last) + 1)) if last in {"1", "2"} else say(last)
        )

    agent = react(Speaker(speak), {"tool": tool})
    both = Par(Fst() >> agent, Snd() >> agent)
    source = parallel(Speaker(lambda c: {"b0": "x", "b1": "y"}[c.agent]), 2)
    assert face.ask(source >> both, "go").value == ("wait", "3")


# --- ends of waits -------------------------------------------------------------------------------


def test_a_tool_that_never_returns_becomes_an_observation(face: Face, never: threading.Event):
    model = speaker(call("hang"), say("gone on"))
    agent = react(model, {"hang": lambda _: never.wait()}, toolTimeout=LIMIT_S)
    assert face.ask(agent, "x").value == "gone on"
    assert model.asked[1] == "Observation from hang: [TIMEOUT after 0.05s]"


def test_each_of_several_tools_that_never_return_is_given_up(face: Face, never: threading.Event):
    model = Speaker(lambda c: call("hang") if c.last_text == "x" else say(c.last_text))
    agent = react(model, {"hang": lambda _: never.wait()}, toolTimeout=LIMIT_S)
    answer = face.ask(agent | agent, "x").value
    assert answer == ("Observation from hang: [TIMEOUT after 0.05s]",) * 2


def test_a_tool_may_hang_in_every_round(face: Face, never: threading.Event):
    model = speaker(call("hang"), call("hang"), call("hang"), say("gone on"))
    agent = react(model, {"hang": lambda _: never.wait()}, toolTimeout=LIMIT_S)
    result = face.ask(agent, "x")
    assert result.value == "gone on"
    observations = [record.output for record in result.trace if record.kind == "tool"]
    assert observations == ["[TIMEOUT after 0.05s]"] * 3


def test_an_asynchronous_tool_is_cancelled_at_its_limit(face: Face):
    told = threading.Event()

    async def hang(_: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.set()
            raise

    agent = react(speaker(call("hang"), say("gone on")), {"hang": hang}, toolTimeout=LIMIT_S)
    assert face.ask(agent, "x").value == "gone on"
    assert told.wait(PATIENCE_S)


def test_a_tool_that_ignores_its_cancellation_is_left_alone():
    """The run ends all the same; the task ends with its loop."""
    heard = threading.Event()

    async def stubborn(_: str) -> str:
        while not heard.is_set():
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                heard.set()
        return "too late"

    agent = react(speaker(call("hang"), say("gone on")), {"hang": stubborn}, toolTimeout=LIMIT_S)
    assert Face("async").ask(agent, "x").value == "gone on"
    assert heard.is_set()


async def test_the_end_of_a_run_waits_for_no_task_that_ignores_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(driver, "_FAREWELL_S", LIMIT_S)
    release, left = asyncio.Event(), asyncio.Event()

    async def stubborn(_: str) -> str:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()
        left.set()
        return "too late"

    session = Session(react(speaker(call("hang")), {"hang": stubborn}))
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(BudgetError):
            await session.arun("x", timeout_s=LIMIT_S)
        assert not left.is_set()
        release.set()
        await left.wait()


def test_a_model_that_never_answers_fails_the_run(
    face: Face, never: threading.Event, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(waiting, "_GRACE_S", 0.0)
    silent = Silent(never)
    agent = parallel(silent, 1, model={"timeout": LIMIT_S})
    with pytest.raises(EffectError, match=r"E003.*`llm:b0` gave no answer within 0.05 s"):
        face.ask(agent, "x")
    assert silent.told.wait(PATIENCE_S)
    assert silent.calls[0].cancel.cancelled


@pytest.mark.parametrize("count", [1, 3])
def test_the_limit_of_the_run_ends_every_wait(face: Face, never: threading.Event, count: int):
    silent = Silent(never)
    with pytest.raises(BudgetError, match=r"R006.*the run took longer than 0.05 s"):
        face.ask(parallel(silent, count), "x", timeout_s=LIMIT_S)
    assert silent.told.wait(PATIENCE_S)
    assert all(each.cancel.cancelled for each in silent.calls)


def test_a_run_out_of_time_says_how_far_it_came(face: Face, never: threading.Event):
    agent = react(speaker(call("hang")), {"hang": lambda _: never.wait()})
    with pytest.raises(BudgetError) as caught:
        face.ask(agent, "x", timeout_s=LIMIT_S)
    assert [record.term for record in caught.value.trace] == ["think", "route"]


def test_a_program_that_never_asks_is_ended_by_the_limit_of_the_run(face: Face):
    endless = Loop(Compose(), "False", 10**9)
    with pytest.raises(BudgetError, match="R006"):
        face.ask(endless, "x", timeout_s=LIMIT_S)


def test_a_program_that_never_asks_is_ended_by_the_limit_of_transitions(face: Face):
    endless = Loop(Compose(), "False", 10**9)
    with pytest.raises(BudgetError, match=r"R005.*1000 transitions"):
        face.ask(endless, "x", transition_limit=1000)


def test_late_answers_change_nothing(face: Face):
    """The first call outlives its limit and returns while the second one is under way."""
    go, back = threading.Event(), threading.Event()

    def tool(argument: str) -> str:
        if argument == "first":
            assert go.wait(PATIENCE_S)
            back.set()
            return "late"
        go.set()
        assert back.wait(PATIENCE_S)
        return "in time"

    model = speaker(call("tool", "first"), call("other", "second"), say("end"))
    agent = react(model, {"tool": tool, "other": tool}, toolTimeout=LIMIT_S)
    step = agent.body  # type: ignore[attr-defined]
    tools = [attrs.evolve(t, timeout_s=PATIENCE_S) if t.name == "other" else t for t in step.tools]
    agent = attrs.evolve(agent, body=attrs.evolve(step, tools=tools))
    result = face.ask(agent, "x")
    assert result.value == "end"
    assert model.asked[1:] == [
        "Observation from tool: [TIMEOUT after 0.05s]",
        "Observation from other: in time",
    ]
    assert sum(record.kind == "tool" for record in result.trace) == 2


def test_a_late_exception_changes_nothing(face: Face):
    go, back = threading.Event(), threading.Event()

    def tool(_: str) -> str:
        assert go.wait(PATIENCE_S)
        back.set()
        what = "too late"
        raise RuntimeError(what)

    def after(_: str) -> str:
        go.set()
        assert back.wait(PATIENCE_S)
        return "fine"

    model = speaker(call("tool"), call("after"), say("end"))
    agent = react(model, {"tool": tool, "after": after}, toolTimeout=LIMIT_S)
    step = agent.body  # type: ignore[attr-defined]
    tools = [attrs.evolve(t, timeout_s=PATIENCE_S) if t.name == "after" else t for t in step.tools]
    agent = attrs.evolve(agent, body=attrs.evolve(step, tools=tools))
    assert face.ask(agent, "x").value == "end"
    assert model.asked[2] == "Observation from after: fine"


# --- faults --------------------------------------------------------------------------------------


class Failing(Slow):
    """Raises what nobody expects; for one agent, or for all."""

    def __init__(self, error: BaseException, other: Callable[[ModelCall], Reply]) -> None:
        self.error = error
        self.other = other

    def chat(self, call: ModelCall) -> Reply:
        if call.agent == "b0":
            raise self.error
        return self.other(call)


@pytest.mark.parametrize("count", [1, 2])
def test_an_unexpected_exception_of_a_provider_leaves_the_run_as_it_is(face: Face, count: int):
    provider = Failing(ZeroDivisionError("by zero"), lambda c: Reply("fine"))
    with pytest.raises(ZeroDivisionError, match="by zero"):
        face.ask(parallel(provider, count), "x")


def test_an_unexpected_exception_of_an_instant_provider_leaves_the_run_too(face: Face):
    def fail(_: ModelCall) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        face.ask(parallel(Speaker(fail), 2), "x")


def test_a_failing_branch_lets_the_others_end_and_the_first_one_is_told(face: Face):
    """The last branch fails first; the error of the lowest one is that of the run."""
    failed = threading.Event()

    class Mixed(Slow):
        def chat(self, call: ModelCall) -> Reply:
            if call.agent == "b2":
                failed.set()
                raise EffectError(_broken("the third"))
            if call.agent == "b1":
                raise EffectError(_broken("the second"))
            assert failed.wait(PATIENCE_S)
            return Reply("fine")

        async def achat(self, call: ModelCall) -> Reply:
            return await asyncio.to_thread(self.chat, call)

    with pytest.raises(EffectError, match="the second is broken") as caught:
        face.ask(parallel(Mixed(), 3), "x")
    assert [(r.term, r.output) for r in caught.value.trace if r.term == "b0"] == [("b0", "fine")]


def _broken(what: str) -> Diagnostic:
    return finding("E002", provider="p", message=f"{what} is broken", site="llm", hint="mend it")


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), SystemExit("bye")])
def test_whatever_a_tool_raises_is_an_observation(face: Face, error: BaseException):
    def fail(_: str) -> None:
        raise error

    model = speaker(call("fail"), say("end"))
    assert face.ask(react(model, {"fail": fail}), "x").value == "end"
    assert model.asked[1].startswith("Observation from fail: [TOOL_ERROR: fail] ")
    assert str(error) in model.asked[1]


def test_a_session_can_be_asked_again_after_a_failure(face: Face, never: threading.Event):
    model = speaker(call("hang"), say("second"))
    agent = react(model, {"hang": lambda _: never.wait()})
    with Session(agent) as session:
        with pytest.raises(BudgetError):
            face.run(session, "one", timeout_s=LIMIT_S)
        assert face.run(session, "two").value == "second"


# --- threads -------------------------------------------------------------------------------------


def test_tools_see_the_context_variables_of_the_caller(face: Face):
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    agent = react(speaker(call("look"), say("end")), {"look": lambda _: variable.get()})
    trace = face.ask(agent, "x").trace
    assert trace[2].output == "set"


def test_no_thread_is_left_when_all_handlers_came_back(face: Face):
    model = Speaker(lambda c: call("count", c.last_text) if c.last_text != "x" else call("count"))
    agent = react(model, {"count": lambda _: "1"}, maxSteps=50)
    before = set(threading.enumerate())
    face.ask(agent | agent | agent, "x")
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_one_agent_may_run_in_several_threads_at_once():
    """Sessions of one agent share nothing."""
    barrier = threading.Barrier(4, timeout=PATIENCE_S)

    def meet(_: str) -> str:
        barrier.wait()
        return "met"

    model = Speaker(lambda c: call("meet") if c.last_text == "x" else say(c.last_text[-3:]))
    agent = react(model, {"meet": meet})
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda: answers.append(Face("sync").ask(agent, "x").value))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert answers == ["met"] * 4


async def test_several_runs_share_an_event_loop():
    barrier = asyncio.Barrier(4)

    async def meet(_: str) -> str:
        async with asyncio.timeout(PATIENCE_S):
            await barrier.wait()
        return "met"

    model = Speaker(lambda c: call("meet") if c.last_text == "x" else say(c.last_text[-3:]))
    agent = react(model, {"meet": meet})
    sessions = [Session(agent) for _ in range(4)]
    results = await asyncio.gather(*(session.arun("x") for session in sessions))
    assert [result.value for result in results] == ["met"] * 4


async def test_cancelling_the_task_cancels_the_handlers(never: threading.Event):
    silent = Silent(never)
    task = asyncio.ensure_future(Session(parallel(silent, 2)).arun("x"))
    while len(silent.calls) < 2:  # noqa: ASYNC110 - the calls are made by tasks of this loop
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(each.cancel.cancelled for each in silent.calls)
