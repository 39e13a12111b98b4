"""Runs as iterators: what comes, in which order, and what ends them."""

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import attrs
import pytest

import lambdagent
from lambdagent import Done, Session, SuspendedError, Term, Token, Tool, ToolEnd, ToolStart
from lambdagent.api.compiling import compile_term
from lambdagent.api.kept import Run
from lambdagent.api.streaming import Stream
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.errors import EffectError
from tests.api.kept_world import World, searching
from tests.api.kept_world import react as kept_react
from tests.effects.agents import PATIENCE_S, Speaker, call, parallel, react, say, speaker
from tests.effects.local_server import LocalServer

Collect = Callable[[Stream], list[Any]]


@pytest.fixture(params=["for", "async for"])
def collect(request: pytest.FixtureRequest) -> Collect:
    """One of the two ways to iterate."""

    async def collected(stream: Stream) -> list[Any]:
        return [chunk async for chunk in stream]

    if request.param == "for":
        return list
    return lambda stream: asyncio.run(collected(stream))


def looking() -> Term:
    return react(speaker(call("look", {"q": "x"}), say("done")), {"look": lambda q: f"saw {q}"})


def simple(model: dict[str, Any], **options: Any) -> Term:
    config = {"type": "simple", "name": "a", "systemPrompt": "S.", "model": model}
    return lambdagent.build_agent(config, **options)


def test_tokens_and_tools_come_in_order_and_the_result_last(collect: Collect):
    chunks = collect(looking().stream("go"))
    assert [type(each) for each in chunks] == [Token, ToolStart, ToolEnd, Token, Done]
    first, start, end, last, done = chunks
    assert (first.text, first.turn_number, first.attempt) == (call("look", {"q": "x"}), 1, 1)
    assert (start.tool_name, start.arguments_json) == ("look", '{"q": "x"}')
    assert (end.tool_name, end.success, end.turn_number) == ("look", True, 1)
    assert start.tool_call_id == end.tool_call_id
    assert (last.text, last.turn_number, last.agent) == (say("done"), 2, "worker")
    assert done.result.text == "done"
    assert [record.kind for record in done.result.trace][-1] == "terminate"


def test_streams_share_the_conversation_of_the_agent(collect: Collect):
    model = Speaker(lambda call: str(len(call.messages)))
    agent = simple({"provider": "openai", "name": "m"}, providers={"openai": model})
    assert collect(agent.stream("one"))[-1].result.text == "2"
    assert collect(agent.stream("two"))[-1].result.text == "4"
    program = compile_term(agent)
    assert collect(lambdagent.stream(program, "one"))[-1].result.text == "2"


def test_a_stream_is_of_whoever_it_is_for(collect: Collect):
    memory = {"strategy": "local", "scope": "user", "name": uuid4().hex}
    model = Speaker(lambda call: str(call.messages[-1].text.count("I am")))
    config = {
        "type": "simple",
        "name": "a",
        "systemPrompt": "S.",
        "model": {"provider": "openai", "name": "m"},
        "memory": memory,
    }
    agent = lambdagent.build_agent(config, providers={"openai": model})
    said = []
    for user in ("ann", "bob", "ann"):
        for each in (agent.stream, partial(lambdagent.stream, agent)):
            stream = each("I am here.", owner=lambdagent.Owner(user=user), engine="cek")
            said.append(collect(stream)[-1].result.text)
    assert said == ["1", "2", "1", "2", "2", "2"]


def test_an_agent_that_nobody_else_holds_lives_as_long_as_its_stream(collect: Collect):
    assert collect(looking().stream("go"))[-1].result.text == "done"


def test_branches_are_told_apart(collect: Collect):
    chunks = collect(parallel(Speaker(lambda c: c.agent), 3).stream("go"))
    spoken = {(each.branch, each.text) for each in chunks if isinstance(each, Token)}
    assert spoken == {((0, i), f"b{i}") for i in range(3)}


def test_nothing_runs_before_somebody_iterates():
    model = speaker(say("x"))
    agent = react(model)
    agent.stream("go")
    assert model.calls == []


def test_a_failure_is_raised_where_the_result_would_be(collect: Collect):
    agent = simple({"provider": "scripted", "script": {"replies": []}})
    with pytest.raises(EffectError, match="has no reply 1"):
        collect(agent.stream("go"))


def test_a_person_is_asked_on_the_thread_that_iterates():
    asked = []

    def confirm(_call: object) -> bool:
        asked.append(threading.current_thread())
        return True

    agent = react(speaker(call("look"), say("done")), {"look": Tool("look", str, confirm=True)})
    *_, done = agent.stream("go", confirm=confirm)
    assert done.result.text == "done"
    assert asked == [threading.current_thread()]


def test_nobody_to_ask_suspends_the_run(collect: Collect):
    agent = react(speaker(call("look"), say("done")), {"look": Tool("look", str, confirm=True)})
    with pytest.raises(SuspendedError):
        collect(agent.stream("go"))


def test_other_listeners_hear_it_too(collect: Collect):
    told: list[Any] = []
    collect(looking().stream("go", listeners=[told.append]))
    assert told[-1].outcome == "answered"


def test_a_kept_run_streams_what_is_left(tmp_path, collect: Collect):
    world = World(searching(1))
    with Run.begin(kept_react(world), "go", tmp_path, fsync=False) as run:
        whole = collect(run.stream())
        assert [type(each) for each in whole] == [Token, ToolStart, ToolEnd, Token, Done]
        assert [type(each) for each in collect(run.stream())] == [Done]


# --- ending before the end -----------------------------------------------------------------------


@attrs.frozen(eq=False)
class Endless:
    """Speaks until nobody listens."""

    instant: bool = False
    ended: threading.Event = attrs.field(factory=threading.Event)

    def chat(self, _call: ModelCall) -> Reply:
        raise AssertionError

    async def achat(self, call: ModelCall) -> Reply:
        try:
            while True:
                assert call.speech is not None
                call.speech.say("more ")
                await asyncio.sleep(0.001)
        finally:
            self.ended.set()

    def close(self) -> None:
        pass


def test_who_breaks_off_ends_the_run():
    model, told = Endless(), []
    for chunk in react(model).stream("go", listeners=[told.append]):
        assert isinstance(chunk, Token)
        break
    assert model.ended.is_set()
    assert told[-1].outcome == "interrupted"


def test_who_closes_the_generator_ends_the_run():
    model = Endless()
    stream = iter(react(model).stream("go"))
    next(stream)
    stream.close()
    assert model.ended.is_set()


def test_an_exception_of_who_iterates_ends_the_run():
    model = Endless()

    def interrupted() -> None:
        for _ in react(model).stream("go"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert model.ended.is_set()


async def test_who_breaks_off_ends_an_asynchronous_run():
    model = Endless()
    async with contextlib.aclosing(aiter(react(model).stream("go"))) as chunks:
        async for _ in chunks:
            break
    assert model.ended.is_set()


async def test_a_task_that_is_cancelled_ends_the_run():
    model = Endless()

    async def main() -> None:
        async for _ in react(model).stream("go"):
            pass

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(main(), 0.05)
    assert model.ended.is_set()


def test_a_connection_is_closed_when_nobody_iterates_any_more():
    server = LocalServer()
    server.drips = b'data: {"choices": [{"index": 0, "delta": {"content": "more "}}]}\n\n'
    model = {"provider": "custom", "name": "m", "baseUrl": server.url}
    with Session(simple(model)) as session:
        for chunk in session.stream("go"):
            assert chunk.text == "more "
            break
        assert server.hung_up.wait(PATIENCE_S)
    server.close()


# --- streams that are dropped --------------------------------------------------------------------


def dropped(agent: Term) -> None:
    """Begin a run whose iterator only the collector finds."""
    chunks = iter(agent.stream("go"))
    next(chunks)
    circle: list[Any] = [chunks]
    circle.append(circle)


def test_the_collector_may_end_a_stream_on_the_threads_of_its_run():
    """The run cannot end while its event loop waits for that."""
    begun, over = threading.Event(), threading.Event()

    class Collecting(Endless):
        async def achat(self, call: ModelCall) -> Reply:
            assert call.speech is not None
            call.speech.say("something")
            try:
                while not over.is_set():
                    if begun.is_set():
                        gc.collect()
                    await asyncio.sleep(0.001)
            finally:
                self.ended.set()
            return Reply("never")

    model = Collecting()
    gc.disable()
    try:
        dropped(react(model))
        begun.set()
        assert model.ended.wait(PATIENCE_S)
    finally:
        gc.enable()
        over.set()


DROPPED = """
import gc, lambdagent
gc.disable()
model = {"provider": "scripted", "script": {"replies": ["done"] * 2}}
agent = lambdagent.build_agent({"type": "simple", "systemPrompt": "p", "model": model})
kept = iter(agent.stream("x"))
circle = [iter(agent.stream("x"))]
circle.append(circle)
for chunks in (kept, circle[0]):
    next(chunks)
del circle, chunks
"""


def test_a_process_ends_whatever_streams_it_has_left():
    program = [sys.executable, "-c", DROPPED]
    done = subprocess.run(program, timeout=PATIENCE_S, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("error", [SystemExit(5), KeyboardInterrupt()])
def test_what_ends_programs_is_raised_where_somebody_iterates(error: BaseException):
    """Raised in a task, it would end the event loop, and nobody would be told."""

    def say(_: ModelCall) -> str:
        raise error

    with pytest.raises(type(error)):
        list(react(Speaker(say)).stream("go"))


def test_streams_that_run_at_once_are_each_complete():
    agents = [react(speaker(call("look", n), say(str(n))), {"look": str}) for n in range(3)]
    streams = [iter(agent.stream("go")) for agent in agents]
    told = [[type(chunk) for chunk in row] for row in zip(*streams, strict=True)]
    assert told == [[kind] * 3 for kind in (Token, ToolStart, ToolEnd, Token, Done)]
