"""Calls that wait for a person: who is asked, when, what becomes of it; all faces do the same."""

import threading
from typing import Any

import attrs
import pytest

from lambdagent import (
    Confirmation,
    EffectError,
    Par,
    Session,
    SuspendedError,
    Term,
    Tool,
    build_agent,
)
from lambdagent.effects.waiting import Clock
from tests.effects.agents import MODEL, PATIENCE_S, Face, call, face, say, speaker

__all__ = ["face"]


@attrs.define(eq=False)
class Person:
    """Decides as told, and remembers what about."""

    decision: Any = True
    asked: list[Confirmation] = attrs.field(factory=list)

    def __call__(self, asked: Confirmation) -> Any:
        self.asked.append(asked)
        return self.decision


@attrs.define(eq=False)
class Post:
    """A tool that counts."""

    sent: list[Any] = attrs.field(factory=list)

    def send(self, text: str) -> str:
        self.sent.append(text)
        return f"sent {text}"


def sender(post: Post, provider: object, *, confirm: tuple[str, ...] = ("send",)) -> Term:
    """A ReAct agent that sends and looks; sending is confirmed."""
    config = {
        "type": "react",
        "name": "worker",
        "systemPrompt": "Work.",
        "model": MODEL,
        "confirm": list(confirm),
        "mcp": {"localTools": ["terminate"]},
    }
    tools = {"send": post.send, "look": lambda what: f"seen {what}"}
    return build_agent(config, tools=tools, providers={"openai": provider})


def test_an_approved_call_is_made(face: Face):
    post, person = Post(), Person()
    agent = sender(post, speaker(call("send", "hello"), say("done")))
    result = face.ask(agent, "go", confirm=person)
    assert (result.value, post.sent) == ("done", ["hello"])
    assert person.asked == [Confirmation((1,), "send", "hello")]
    shown = [(each.kind, each.term, each.output) for each in result.trace]
    assert ("confirm", "Confirm:send", "approved") in shown
    assert result.trace[-3].input == "Observation from send: sent hello"


@pytest.mark.parametrize(
    ("decision", "told", "shown"),
    [
        ("not on Sundays", "[DENIED: send] not on Sundays", "denied: not on Sundays"),
        ("yes", "[DENIED: send] yes", "denied: yes"),
        (False, "[DENIED: send]", "denied"),
        ("", "[DENIED: send]", "denied"),
    ],
)
def test_a_denied_call_is_not_made_and_the_model_is_told(face: Face, decision, told, shown):
    post, person = Post(), Person(decision)
    agent = sender(post, speaker(call("send", "hello"), say("done")))
    result = face.ask(agent, "go", confirm=person)
    assert (result.value, post.sent) == ("done", [])
    assert [each.output for each in result.trace if each.kind == "confirm"] == [shown]
    assert any(each.input == f"Observation from send: {told}" for each in result.trace)


def test_a_call_that_nobody_decides_about_suspends_the_run(face: Face):
    for options in ({}, {"confirm": Person(None)}):
        post = Post()
        agent = sender(post, speaker(call("look", "x"), call("send", "hello")))
        with pytest.raises(SuspendedError) as caught:
            face.ask(agent, "go", **options)
        assert caught.value.exit_code == 75
        assert caught.value.diagnostic.code == "R009"
        assert "the call of `send` with: hello" in str(caught.value)
        assert "--checkpoint-dir" in str(caught.value)
        assert caught.value.confirmations == (Confirmation((3,), "send", "hello"),)
        assert [each.term for each in caught.value.trace if each.kind == "tool"] == ["Tool:look"]
        assert post.sent == []


def test_a_turn_whose_tool_is_not_confirmed_asks_nobody(face: Face):
    post, person = Post(), Person()
    agent = sender(
        post, speaker(call("look", "a"), call("send", "b"), call("look", "c"), say("d"))
    )
    result = face.ask(agent, "go", confirm=person)
    assert [each.argument for each in person.asked] == ["b"]
    assert [each.output for each in result.trace if each.kind == "tool"] == [
        *("seen a", "sent b", "seen c")
    ]


def test_structured_arguments_are_told_as_the_tool_gets_them(face: Face):
    person = Person(decision=False)
    agent = sender(Post(), speaker(call("send", {"text": "hi"}), say("done")))
    face.ask(agent, "go", confirm=person)
    assert person.asked[0].argument == {"text": "hi"}
    assert person.asked[0].shown == '{"text": "hi"}'


def test_all_that_can_go_on_does_before_anybody_is_asked(face: Face):
    seen: list[str] = []
    heard: list[tuple[list[str], str]] = []

    def person(asked: Confirmation) -> bool:
        heard.append((sorted(seen), asked.tool))
        return True

    def work(name: str) -> Tool:
        return Tool(name, lambda x: seen.append(name) or name)

    def risky(name: str) -> Tool:
        return Tool(name, lambda x: seen.append(name) or name, confirm=True)

    agent = Par(risky("a"), work("b") >> risky("c"), work("d") >> work("e"))
    result = face.ask(agent, "go", confirm=person)
    assert result.value == ("a", "c", "e")
    assert heard == [(["b", "d", "e"], "a"), (["b", "d", "e"], "c")]


def test_whoever_decides_nothing_is_not_asked_again_while_others_go_on(face: Face):
    person = Person()
    made: list[str] = []

    def decide(asked: Confirmation) -> bool | None:
        person(asked)
        return None if asked.tool == "a" else True

    tools = {
        name: Tool(name, lambda _, name=name: made.append(name) or name, confirm=True)
        for name in "abc"
    }
    agent = Par(tools["a"], tools["b"] >> tools["c"])
    with pytest.raises(SuspendedError) as caught:
        face.ask(agent, "go", confirm=decide)
    assert [each.tool for each in person.asked] == ["a", "b", "c"]
    assert made == ["b", "c"]
    assert [each.tool for each in caught.value.confirmations] == ["a"]


def test_what_is_no_decision_is_an_error_and_approves_nothing(face: Face):
    post = Post()
    for wrong in (1, object(), ["yes"]):
        agent = sender(post, speaker(call("send")))
        with pytest.raises(TypeError, match="`confirm` must return True, False, a reason or None"):
            face.ask(agent, "go", confirm=Person(wrong))
    assert post.sent == []


def test_an_error_of_whoever_decides_ends_the_run(face: Face):
    def person(_: Confirmation) -> bool:
        raise LookupError

    with pytest.raises(LookupError):
        face.ask(sender(Post(), speaker(call("send"))), "go", confirm=person)


def test_a_decision_may_be_awaited():
    async def person(asked: Confirmation) -> bool:
        return asked.tool == "send"

    post = Post()
    agent = sender(post, speaker(call("send", "hello"), say("done")))
    assert Face("async").ask(agent, "go", confirm=person).value == "done"
    assert post.sent == ["hello"]
    agent = sender(post, speaker(call("send", "hello"), say("done")))
    with pytest.raises(TypeError, match="coroutine"):
        Face("sync").ask(agent, "go", confirm=person)
    assert post.sent == ["hello"]


def test_a_person_is_asked_on_the_thread_that_drives_the_run():
    threads: list[threading.Thread] = []

    def person(_: Confirmation) -> bool:
        threads.append(threading.current_thread())
        return True

    agent = sender(Post(), speaker(call("send"), say("done")))
    Face("sync").ask(agent, "go", confirm=person, timeout_s=PATIENCE_S)
    assert threads == [threading.current_thread()]


def test_a_secret_in_a_reason_goes_nowhere(face: Face):
    agent = sender(Post(), speaker(call("send"), say("done")))
    with Session(agent, environment={"MY_API_KEY": "sk-12345678"}) as session:
        result = face.run(session, "go", confirm=Person("because of sk-12345678"))
    assert "sk-12345678" not in str(result.trace)
    assert any("because of [MY_API_KEY]" in each.output for each in result.trace)


def test_nothing_is_asked_twice_when_direct_style_hands_over():
    post = Post()
    provider = speaker(call("look"), call("send", "hello"), say("done"))
    with Session(sender(post, provider), engine="recursive") as session:
        result = session.run("go", confirm=Person())
    assert result.engine == "cek"
    assert result.engine_reason == "handed over to cek: a call waits for a person"
    assert (len(provider.calls), post.sent) == (3, ["hello"])


def test_every_engine_comes_to_the_same():
    seen = []
    for engine in ("recursive", "cek", "adaptive"):
        provider = speaker(call("send", "a"), call("look"), call("send", "b"), say("done"))
        with Session(sender(Post(), provider), engine=engine) as session:
            result = session.run("go", confirm=lambda asked: asked.argument == "b" or "not this")
        shown = [(each.term, each.input, each.output) for each in result.trace]
        seen.append((result.value, result.counters, result.store, shown))
    assert seen[0] == seen[1] == seen[2]


def test_terminate_is_never_confirmed(face: Face):
    assert face.ask(Tool("terminate", confirm=True), "x").value == "x"


def test_the_time_of_a_person_does_not_count():
    clock = Clock(1e-9)
    assert clock.is_over(clock.now())
    clock.allow(PATIENCE_S)
    assert not clock.is_over(clock.now())


def test_a_confirmed_tool_that_has_no_function_is_told_before_the_run():
    with pytest.raises(EffectError, match="S202"), Session(Tool("send", confirm=True)):
        pass
