"""Listeners of whole runs: what they are told, and that nothing they do ends a run."""

import asyncio
import contextlib
import re
import threading
from typing import Any

import attrs
import pytest

import lambdagent
from lambdagent import (
    EffectError,
    Lam,
    Listener,
    Loop,
    Model,
    RunError,
    Session,
    SuspendedError,
    build_agent,
)
from lambdagent.api.kept import Run
from lambdagent.effects import listeners
from lambdagent.effects.protocol import ModelCall, Reply, ToolCall, Usage
from lambdagent.effects.run_events import (
    GuardRetried,
    LlmCalled,
    LoopExited,
    MemoryWritten,
    RouteTaken,
    RunEvent,
    RunFinished,
    RunStarted,
    Token,
    ToolCompleted,
    ToolDispatched,
    TurnStarted,
)
from lambdagent.errors import finding
from lambdagent.ir.data import Record
from tests.api.kept_world import KilledError, World, searching
from tests.api.kept_world import react as kept_react
from tests.effects.agents import MODEL, Face, Speaker, call, face, parallel, react, say, speaker

__all__ = ["face"]


def names(told: list[Any]) -> list[str]:
    return [type(each).__name__ for each in told]


def one(told: list[Any], kind: type[Any]) -> Any:
    (found,) = [each for each in told if isinstance(each, kind)]
    return found


def test_a_react_run_is_told_turn_by_turn(face: Face):
    told: list[Any] = []
    agent = react(speaker(call("look", {"q": "x"}), say("done")), {"look": lambda q: f"saw {q}"})
    result = face.ask(agent, "go", listeners=[told.append])
    turn = ["TurnStarted", "Token", "LlmCalled"]
    tool = ["ToolDispatched", "ToolCompleted"]
    assert names(told) == ["RunStarted", *turn, *tool, *turn, "LoopExited", "RunFinished"]
    assert {each.run for each in told} == {told[0].run}
    assert (told[0].input, told[0].resumed) == ("go", False)
    assert [(e.turn_number, e.message_count) for e in told if type(e) is TurnStarted] == [
        (1, 3),
        (2, 5),
    ]
    dispatched, completed = one(told, ToolDispatched), one(told, ToolCompleted)
    assert (dispatched.turn_number, dispatched.tool_name) == (1, "look")
    assert dispatched.arguments_json == '{"q": "x"}'
    assert (completed.success, completed.result_summary) == (True, "saw x")
    assert completed.tool_call_id == dispatched.tool_call_id == "@1"
    exited = one(told, LoopExited)
    assert (exited.total_turns, exited.total_llm_calls) == (2, 2)
    assert (exited.exit_reason, exited.agent) == ("stop", "worker")
    finished = one(told, RunFinished)
    assert (finished.outcome, finished.text) == ("answered", result.text)
    assert finished.elapsed_ms >= exited.total_latency_ms > 0


@attrs.frozen(eq=False)
class Native:
    """A provider that calls tools in its own form, and counts tokens."""

    replies: list[Reply]
    instant: bool = True

    def chat(self, _call: object) -> Reply:
        return self.replies.pop(0)

    async def achat(self, call: object) -> Reply:
        return self.chat(call)

    def close(self) -> None:
        pass


def test_calls_in_the_providers_form_keep_their_names_and_tokens_are_summed(face: Face):
    asked = ToolCall("call_7", "look", Record(q="x"))
    replies = [
        Reply("", "tool_calls", (asked,), Usage(10, 2)),
        Reply("the end", "stop", (), Usage(20, 3)),
    ]
    told: list[Any] = []
    face.ask(react(Native(replies), {"look": str.upper}), "go", listeners=[told.append])
    assert one(told, ToolDispatched).tool_call_id == "call_7"
    assert one(told, ToolCompleted).tool_call_id == "call_7"
    first, last = (each for each in told if isinstance(each, LlmCalled))
    assert (first.model, first.finish_reason) == ("m", "tool_calls")
    assert (last.prompt_tokens, last.completion_tokens, last.text) == (20, 3, "the end")
    assert one(told, LoopExited).total_llm_tokens == 35
    assert one(told, RunFinished).total_llm_tokens == 35


@pytest.mark.parametrize(
    ("settings", "reason", "turns"),
    [
        ({"maxSteps": 2}, "max_turns", 2),
        ({"maxSteps": 5, "earlyStop": "turn == 2"}, "exit_condition", 2),
        ({"maxSteps": 5, "earlyStop": "turn == 9"}, "stop", 4),
    ],
)
def test_a_loop_tells_why_it_ends(face: Face, settings: dict[str, Any], reason: str, turns: int):
    told: list[Any] = []
    model = speaker(call("look"), call("look"), call("look"), say("done"))
    face.ask(react(model, {"look": lambda _: "x"}, **settings), "go", listeners=[told.append])
    exited = one(told, LoopExited)
    assert (exited.exit_reason, exited.total_turns) == (reason, turns)


def scripted(name: str, *replies: str, **more: Any) -> Lam:
    model = Model(provider="scripted", script=Record(replies=replies))
    return Lam(name, "prompt", model, **more)


@pytest.mark.parametrize(
    ("condition", "on_exhausted", "reason", "rounds"),
    [
        ("x == 'c'", "last", "exit_condition", 3),
        ("step == 1", "error", "exit_condition", 2),
        ("False", "last", "max_turns", 4),
        ("False", "error", "max_turns", 4),
        ("1 / 0 > 1", "last", "max_turns", 4),
        (scripted("judge", "no", "yes", output_parser="boolean"), "last", "exit_condition", 2),
        (scripted("judge", "no", output_parser="boolean"), "last", "error", 1),
    ],
)
def test_every_loop_tells_why_it_ends(
    face: Face, condition: Any, on_exhausted: str, reason: str, rounds: int
):
    agent = Loop(scripted("w", *"abcd"), condition, 4, on_exhausted=on_exhausted)
    told: list[Any] = []
    with contextlib.suppress(RunError):
        face.ask(agent, "go", listeners=[told.append])
    exited = one(told, LoopExited)
    assert (exited.exit_reason, exited.total_turns) == (reason, rounds)
    assert exited.total_llm_calls == sum(isinstance(each, LlmCalled) for each in told)


def test_a_tool_that_fails_and_a_run_that_fails_are_told(face: Face):
    def broken(_: object) -> str:
        raise ValueError("no")

    def say(call: ModelCall) -> str:
        if len(model.calls) == 2:
            raise EffectError(finding("E004", site=call.site, number=2, message="used up"))
        return '{"tool": "broken", "args": "x"}'

    told: list[Any] = []
    model = Speaker(say)
    with pytest.raises(RunError):
        face.ask(react(model, {"broken": broken}), "go", listeners=[told.append])
    assert not one(told, ToolCompleted).success
    assert one(told, LoopExited).exit_reason == "error"
    failed = [each for each in told if isinstance(each, LlmCalled)][-1]
    assert not failed.success
    finished = one(told, RunFinished)
    assert finished.outcome == "failed"
    assert finished.text == failed.text == "the script of `llm:worker` has no reply 2: used up"


def test_routes_guards_and_memories_are_told(face: Face):
    config = {
        "type": "router",
        "name": "front",
        "systemPrompt": "Choose.",
        "model": MODEL,
        "memory": {"strategy": "local"},
        "router": {
            "classifier": {"prompt": "a or b", "categories": ["a", "b"]},
            "routes": {"a": {"name": "first", "systemPrompt": "A."}},
        },
        "guard": {"validator": "'good' in x", "retry": 1, "fallback": "last"},
    }
    told: list[Any] = []
    model = speaker("a", "bad", "a", "worse")
    face.ask(build_agent(config, providers={"openai": model}), "go", listeners=[told.append])
    assert [each.route for each in told if isinstance(each, RouteTaken)] == ["a", "a"]
    assert [each.retries_left for each in told if isinstance(each, GuardRetried)] == [1, 0]
    assert one(told, MemoryWritten).run == told[0].run


def test_each_branch_is_told_in_its_own_order(face: Face):
    told: list[Any] = []
    face.ask(parallel(Speaker(lambda c: c.agent), 3), "go", listeners=[told.append])
    branches = {each.branch for each in told}
    assert branches == {(), (0, 0), (0, 1), (0, 2)}
    for branch in branches - {()}:
        mine = [each for each in told if each.branch == branch]
        assert names(mine) == ["TurnStarted", "Token", "LlmCalled"]


# --- listeners that misbehave --------------------------------------------------------------------


def test_a_listener_that_raises_is_told_once_and_hears_on(face: Face):
    told: list[Any] = []

    def bad(event: RunEvent) -> None:
        told.append(event)
        raise ValueError("oh")

    with pytest.warns(RuntimeWarning, match="failed: ValueError: oh") as warned:
        assert face.ask(react(speaker(say("done"))), "go", listeners=[bad]).text == "done"
    assert len(warned) == 1
    assert names(told)[-1] == "RunFinished"


def test_one_that_hangs_does_not_make_others_late(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listeners, "_FAREWELL_S", 0.05)
    released = threading.Event()
    told: list[Any] = []

    def hang(_: RunEvent) -> None:
        released.wait(20)

    with pytest.warns(RuntimeWarning, match="`.*hang` does not keep up") as warned:
        lambdagent.run(react(speaker(say("done"))), "go", listeners=[hang, told.append])
    released.set()
    assert len(warned) == 1
    assert names(told)[-1] == "RunFinished"


def test_a_listener_may_raise_what_cannot_be_shown(face: Face):
    class UnspeakableError(Exception):
        def __str__(self) -> str:
            raise ValueError

    def bad(_: RunEvent) -> None:
        raise UnspeakableError

    with pytest.warns(RuntimeWarning, match="`.*bad` failed: .*UnspeakableError: <exception str"):
        face.ask(react(speaker(say("done"))), "go", listeners=[bad])


def test_a_fault_is_told_even_where_warnings_are_errors(capsys: pytest.CaptureFixture[str]):
    lambdagent.run(react(speaker(say("done"))), "go", listeners=[lambda _: 1 / 0])
    assert "failed: ZeroDivisionError: division by zero\n" in capsys.readouterr().err


def test_a_listener_that_hangs_holds_nothing_up(face: Face, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listeners, "_FAREWELL_S", 0.05)
    monkeypatch.setattr(listeners, "_MOST_WAITING", 3)
    released = threading.Event()
    agent = react(speaker(say("done")))
    with pytest.warns(RuntimeWarning) as warned:
        assert face.ask(agent, "go", listeners=[lambda _: released.wait(20)]).text == "done"
    released.set()
    late, missed = sorted(str(each.message).rpartition("`")[2] for each in warned)
    assert re.fullmatch(r" does not keep up: the run is over, and \d events wait for it", late)
    assert missed == " misses events: 3 others wait for it already"


def test_a_coroutine_that_hangs_is_cancelled_with_its_loop(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listeners, "_FAREWELL_S", 0.05)
    ended = threading.Event()

    async def hang(_: RunEvent) -> None:
        try:
            await asyncio.sleep(20)
        finally:
            ended.set()

    async def main() -> str:
        result = await lambdagent.arun(react(speaker(say("done"))), "go", listeners=[hang])
        return result.text

    with pytest.warns(RuntimeWarning, match="does not keep up"):
        assert asyncio.run(main()) == "done"
    assert ended.wait(20)


def test_asynchronous_listeners_are_awaited_in_order(face: Face):
    told: list[RunEvent] = []

    async def slow(event: RunEvent) -> None:
        await asyncio.sleep(0)
        told.append(event)

    face.ask(react(speaker(say("done"))), "go", listeners=[slow])
    assert names(told)[0] == "RunStarted"
    assert names(told)[-1] == "RunFinished"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()])
@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_listener_cannot_end_what_it_listens_to(
    face: Face, error: BaseException, asynchronous: bool
):
    def bad(_: RunEvent) -> None:
        raise error

    async def worse(_: RunEvent) -> None:
        raise error

    told: list[Any] = []
    listeners = [worse if asynchronous else bad, told.append]
    with pytest.warns(RuntimeWarning, match=f"failed: .*{type(error).__name__}"):
        assert face.ask(react(speaker(say("done"))), "go", listeners=listeners).text == "done"
    assert names(told)[-1] == "RunFinished"


def test_coroutines_of_an_asynchronous_run_are_on_its_loop():
    loops = set()

    class Seen(Listener):
        async def on_run_finished(self, event: RunFinished) -> None:
            loops.add(asyncio.get_running_loop())

    async def main() -> None:
        await lambdagent.arun(react(speaker(say("x"))), "go", listeners=[Seen()])
        assert loops == {asyncio.get_running_loop()}

    asyncio.run(main())


def test_a_listener_overrides_what_it_cares_for(face: Face):
    told: list[str] = []

    class Some(Listener):
        def on_tool_completed(self, event: ToolCompleted) -> None:
            told.append(event.tool_name)

        async def on_loop_exited(self, event: LoopExited) -> None:
            told.append(event.exit_reason)

    model = speaker(call("look"), say("done"))
    heard: list[Any] = []
    face.ask(react(model, {"look": str}), "go", listeners=[Some()])
    assert told == ["look", "stop"]
    assert not model.calls[0].speech, "nobody wants tokens"
    face.ask(react(speaker(say("done"))), "go", listeners=[Some(), heard.append])
    assert one(heard, Token).text == say("done")


def test_every_event_has_its_method():
    class All(Listener):
        pass

    for kind, method in listeners._METHODS.items():
        fields = {each.name: None for each in attrs.fields(kind)}
        event = kind(**fields)  # type: ignore[arg-type]
        assert getattr(All(), method)(event) is None
        assert All()(event) is None


# --- secrets -------------------------------------------------------------------------------------


def test_secrets_are_in_no_event(face: Face):
    secret = "hunter2hunter2"
    told: list[Any] = []

    class Leaky(Speaker):
        def chat(self, call: Any) -> Reply:
            reply = super().chat(call)
            for piece in reply.text:
                call.speech.say(piece)
            return reply

    model = Leaky(speaker(call("look", secret), say(f"it is {secret}!")).say)
    agent = react(model, {"look": lambda _: f"{secret} found"})
    with Session(agent, environment={"MY_TOKEN": secret}) as session:
        face.run(session, f"tell {secret}", listeners=[told.append])
    assert secret not in "".join(map(repr, told))
    spoken = "".join(each.text for each in told if isinstance(each, Token))
    assert "it is [MY_TOKEN]!" in spoken
    assert secret not in spoken
    assert one(told, ToolDispatched).arguments_json == '"[MY_TOKEN]"'


# --- runs that are kept --------------------------------------------------------------------------


def test_a_kept_run_that_goes_on_tells_what_is_new(tmp_path, face: Face):
    told: list[Any] = []
    world = World(searching(3), die_at=5)

    def resume(run: Run) -> Any:
        if face.name == "sync":
            return run.resume(listeners=[told.append], doubt=lambda _: None)
        return asyncio.run(run.aresume(listeners=[told.append], doubt=lambda _: None))

    with (
        Run.begin(kept_react(world), "go", tmp_path, fsync=False) as run,
        pytest.raises(KilledError),
    ):
        resume(run)
    first, told = told, []
    assert names(first)[-1] == "RunFinished"
    assert first[-1].outcome == "interrupted"
    assert one(first, LoopExited).exit_reason == "interrupted"
    world.die_at = None
    with Run.load(run.path, tools={"search": world.search}, **world.bound) as again:
        resume(again)
    started = one(told, RunStarted)
    assert (started.resumed, started.run) == (True, first[0].run)
    assert started.run == run.path.name
    assert [each.turn_number for each in told if isinstance(each, ToolDispatched)] == [3]
    assert [each.turn_number for each in told if isinstance(each, TurnStarted)] == [4]
    exited = one(told, LoopExited)
    assert (exited.total_turns, exited.total_llm_calls, exited.exit_reason) == (4, 4, "stop")
    told.clear()
    with Run.load(run.path, tools={"search": world.search}, **world.bound) as again:
        resume(again)
    assert names(told) == ["RunStarted", "RunFinished"]
    assert told[-1].text == "done after 3"


def test_a_run_that_waits_for_a_person_says_so():
    told: list[Any] = []
    look = lambdagent.Tool("look", str, confirm=True)
    agent = react(speaker(call("look"), say("done")), {"look": look})
    with Session(agent) as session, pytest.raises(SuspendedError):
        session.run("go", listeners=[told.append])
    assert names(told)[-1] == "RunFinished"
    assert told[-1].outcome == "suspended"
    assert "ToolDispatched" not in names(told)
