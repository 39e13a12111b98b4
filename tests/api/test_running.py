"""Runs and sessions: what is asked when, what is remembered, what comes back."""

import asyncio
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import lambdagent
from lambdagent import (
    BudgetError,
    Compose,
    EffectError,
    Guard,
    GuardError,
    If,
    Lam,
    Loop,
    Model,
    Pair,
    Par,
    Result,
    Route,
    RouteError,
    Session,
    Term,
    Tool,
    arun,
    build_agent,
    run,
)
from lambdagent.api import failures, running
from lambdagent.effects.protocol import ModelCall, Usage
from lambdagent.errors import LambdagentError, StuckError
from lambdagent.ir.data import Record
from tests.effects.agents import (
    MODEL,
    Face,
    Speaker,
    call,
    face,
    react,
    say,
    speaker,
)

__all__ = ["face"]


def texts(call: ModelCall) -> list[tuple[str, str]]:
    """Return the messages of a call as pairs of role and text."""
    return [(message.role, message.text) for message in call.messages]


def spoken(call: ModelCall) -> list[tuple[str, str]]:
    """Return those messages that are no instructions."""
    return [(role, text) for role, text in texts(call) if role != "system"]


def simple(provider: object, **more: Any) -> Term:
    config = {"type": "simple", "name": "echo", "systemPrompt": "Echo.", "model": MODEL, **more}
    return build_agent(config, providers={"openai": provider})


def lam(name: str, reply: str, *more: str) -> Lam:
    """Return a model call that answers from a script."""
    return Lam(name, "p", Model(provider="scripted", script=Record(replies=(reply, *more))))


# --- how often the model is asked, and what ------------------------------------------------------


def test_one_tool_call_and_an_answer_are_two_model_calls(face: Face):
    model = speaker(call("add", "1+1"), say("2"))
    result = face.ask(react(model, {"add": lambda text: "2"}), "1+1?")
    assert result.value == "2"
    assert len(model.calls) == 2
    assert [record.kind for record in result.trace].count("llm") == 2
    assert result.trace is result.trace  # gone through once
    asked = [("user", "1+1?"), ("assistant", call("add", "1+1"))]
    assert spoken(model.calls[0]) == asked[:1]
    assert spoken(model.calls[1]) == [*asked, ("user", "Observation from add: 2")]


def test_an_answer_without_a_tool_call_is_one_model_call(face: Face):
    model = speaker("It is 2.")
    assert face.ask(react(model), "1+1?").value == "It is 2."
    assert len(model.calls) == 1


def test_the_second_question_is_sent_and_the_conversation_goes_along():
    model = speaker("one", "two")
    agent = simple(model)
    assert (agent("first?"), agent("second?")) == ("one", "two")
    first = [("system", "Echo."), ("user", "first?")]
    assert texts(model.calls[0]) == first
    assert texts(model.calls[1]) == [*first, ("assistant", "one"), ("user", "second?")]


def test_a_second_question_to_a_react_agent_is_sent_with_the_first_run_before_it():
    model = speaker(call("add", "1+1"), say("2"), say("3"))
    agent = react(model, {"add": lambda _: "2"})
    assert (agent("1+1?"), agent("And 1+2?")) == ("2", "3")
    assert model.asked == ["1+1?", "Observation from add: 2", "And 1+2?"]
    assert spoken(model.calls[2]) == [
        ("user", "1+1?"),
        ("assistant", call("add", "1+1")),
        ("user", "Observation from add: 2"),
        ("assistant", say("2")),
        ("user", "And 1+2?"),
    ]


def test_without_conversation_each_question_stands_alone():
    model = speaker("one", "two")
    agent = simple(model, model={**MODEL, "conversation": False})
    assert (agent("first?"), agent("second?")) == ("one", "two")
    assert texts(model.calls[1]) == [("system", "Echo."), ("user", "second?")]


def test_two_agents_of_one_file_share_no_conversation():
    model = speaker("one", "two")
    one, two = simple(model), simple(model)
    one("first?")
    two("second?")
    assert texts(model.calls[1]) == [("system", "Echo."), ("user", "second?")]


def test_a_run_of_its_own_begins_a_new_conversation(face: Face):
    model = speaker("one", "two")
    agent = simple(model)
    face.ask(agent, "first?")
    face.ask(agent, "second?")
    assert texts(model.calls[1]) == [("system", "Echo."), ("user", "second?")]


@pytest.mark.parametrize("conversation", [True, False])
def test_max_steps_reached_gives_the_last_thought_and_no_internal_text(
    face: Face, conversation: bool
):
    thoughts = [f"Thought {i}.\n{call('look', str(i))}" for i in range(3)]
    model = speaker(*thoughts)
    config = {
        "type": "react",
        "systemPrompt": "Work.",
        "model": {**MODEL, "conversation": conversation},
        "react": {"maxSteps": 3},
        "mcp": {"localTools": ["terminate"]},
    }
    tools = {"look": lambda _: "nothing"}
    agent = build_agent(config, providers={"openai": model}, tools=tools)
    answer = face.ask(agent, "x").value
    assert answer == thoughts[-1]
    for internal in ("[Previous Context]", "[Step", "Observation"):
        assert internal not in answer
    assert len(model.calls) == 3


def test_an_unknown_tool_is_told_to_the_model_with_the_known_ones(face: Face):
    model = speaker(call("lock"), say("end"))
    assert face.ask(react(model, {"look": lambda _: ""}), "x").value == "end"
    assert "lock" in model.asked[1]
    assert "look" in model.asked[1]


# --- memory --------------------------------------------------------------------------------------


def test_memory_goes_from_one_question_to_the_next():
    model = speaker("one", "two")
    now = [1_000.0]
    memory = {"memory": {"enabled": True}, "model": {**MODEL, "conversation": False}}
    with Session(simple(model, **memory), clock=lambda: now[0]) as session:
        session.run("first?")
        now[0] += 120
        session.run("second?")
    assert model.asked == [
        "first?",
        "[Memory Context]\n- first?: one (2min ago)\n\n[Current Input]\nsecond?",
    ]


def test_calls_of_one_agent_object_share_its_memory():
    model = speaker("one", "two")
    agent = simple(model, memory={"enabled": True})
    agent("first?")
    agent("second?")
    assert "- first?: one" in model.asked[1]


def test_memory_keeps_the_newest_entries_and_drops_old_ones():
    model = Speaker(lambda _: "ok")
    now = [0.0]
    agent = simple(model, memory={"enabled": True, "size": 2, "ttl": 60})
    with Session(agent, clock=lambda: now[0]) as session:
        for question in ("a", "b", "c", "d"):
            session.run(question)
        assert "- a:" not in model.asked[3]
        assert "- b:" in model.asked[3]
        assert "- c:" in model.asked[3]
        now[0] = 61.0
        session.run("e")
    assert model.asked[4] == "e"


class Store:
    """A memory store as specification 7.1 has it."""

    def __init__(self) -> None:
        self.entries: dict[str, Any] = {"city": "Rome"}
        self.ttl: int | None = None

    def get(self, key: str) -> Any | None:
        return self.entries.get(key)

    def put(self, key: str, value: Any, ttl: int = 0) -> None:
        self.entries[key] = value
        self.ttl = ttl

    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        return list(self.entries.items())[-n:]

    def clear(self) -> None:
        self.entries.clear()


def with_store(provider: object, store: object, **memory: Any) -> Term:
    config = {"type": "simple", "systemPrompt": "p", "model": MODEL, "memory": memory}
    return build_agent(config, providers={"openai": provider}, memory_store=store)


def test_a_memory_store_of_ones_own_is_read_and_written(face: Face):
    model, store = speaker("hot"), Store()
    agent = with_store(model, store, enabled=True, size=5, ttl=60)
    assert face.ask(agent, "weather?").value == "hot"
    assert model.asked == ["[Memory Context]\n- city: Rome\n\n[Current Input]\nweather?"]
    assert store.entries == {"city": "Rome", "weather?": "hot"}
    assert store.ttl == 60


def test_a_broken_memory_store_fails_the_run_and_is_named(face: Face):
    class Broken(Store):
        def list_recent(self, n: int) -> list[tuple[str, Any]]:
            what = "no connection"
            raise OSError(what)

    agent = with_store(speaker("never"), Broken(), enabled=True)
    with pytest.raises(EffectError, match=r"E009.*memory store `\w+` failed: OSError: no conn"):
        face.ask(agent, "x")


# --- results and errors --------------------------------------------------------------------------


def test_a_result_tells_answer_trace_counters_and_tokens(face: Face):
    reply = {"text": "hi", "usage": {"input": 5, "output": 2}}
    model = Model(
        provider="scripted", script=Record(replies=(Record(reply, usage=Record(reply["usage"])),))
    )
    result = face.ask(Lam("a", "p", model), "x")
    assert (result.value, result.text) == ("hi", "hi")
    assert result.engine in {"recursive", "cek"}
    assert (result.tokens, result.cost_usd) == (7, None)
    assert [record.output for record in result.trace] == ["hi"]
    assert result.counters["beta"] >= 1
    assert result.counters["epsilon"] == 1
    assert result.transitions == 0 or result.transitions > sum(result.counters.values())
    assert result.elapsed_s >= 0


def test_what_a_run_cost_is_told_where_it_is_known_of_each_call(face: Face):
    def costs(*usd: float | None) -> float | None:
        replies = [Record(text="hi", usage=Usage(5, 2, usd=each).to_data()) for each in usd]
        model = Model(provider="scripted", script=Record(replies=tuple(replies)))
        agents = (Lam(f"a{i}", "p", model) for i in range(len(usd)))
        return face.ask(Compose(*agents), "x").cost_usd

    assert costs(0.25, 0.5) == 0.75
    assert costs(0.25, None) is None


def test_run_and_arun_agree():
    agent = lam("a", "one") >> lam("b", "two")
    one, two = run(agent, "x", engine="cek"), asyncio.run(arun(agent, "x"))
    assert isinstance(one, Result)
    assert (one.value, one.transitions, one.counters) == (two.value, two.transitions, two.counters)
    fast = run(agent, "x")
    assert (fast.value, fast.transitions, fast.counters) == (one.value, 0, one.counters)


def test_a_parallel_answer_is_a_tuple_and_a_list_in_json(face: Face):
    result = face.ask(lam("a", "1") | lam("b", "2"), "x")
    assert result.value == ("1", "2")
    assert result.text == '["1", "2"]'
    assert json.loads(json.dumps(running.to_json(result)))["result"] == ["1", "2"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("text", "text"), (7, 7), ([1, 2.5, None], [1, 2.5, None]), ({"a": [True]}, {"a": [True]})],
)
def test_any_json_value_goes_through(face: Face, value: object, expected: object):
    assert face.ask(Compose(), value).value == expected


def test_a_value_that_is_no_json_is_refused():
    with pytest.raises(TypeError):
        run(Compose(), object())


def test_composition_gives_the_answer_on():
    agent = lam("a", "one") >> Tool("shout", str.upper) >> Tool("twice", lambda text: text * 2)
    assert agent("x") == "ONEONE"


def test_watch_sees_each_record_as_it_ends(face: Face):
    seen: list[tuple[int, str]] = []
    agent = react(speaker(call("look"), say("end")), {"look": lambda _: "nothing"})
    result = face.ask(agent, "x", watch=lambda record: seen.append((record.step, record.term)))
    assert seen == [(record.step, record.term) for record in result.trace]
    assert len(seen) == 6


def fails(agent: Term, kind: type[LambdagentError], face: Face) -> LambdagentError:
    with pytest.raises(kind) as caught:
        face.ask(agent, "x")
    return caught.value


def test_a_guard_without_fallback_fails_with_the_last_answer(face: Face):
    agent = Guard(lam("a", "no", "nope"), "x == 'yes'", retry=1)
    error = fails(agent, GuardError, face)
    assert (error.exit_code, error.diagnostic.code) == (1, "R002")
    assert "nope" in error.diagnostic.what
    assert isinstance(error, lambdagent.RunError)
    assert [record.output for record in error.trace] == ["no", "nope"]


def test_a_route_without_default_fails_with_what_was_said(face: Face):
    agent = Route(lam("c", "neither"), {"a": lam("a", "1"), "b": lam("b", "2")})
    error = fails(agent, RouteError, face)
    assert "neither" in error.diagnostic.what
    assert "router.default" in error.diagnostic.fix


def test_a_loop_that_may_not_be_exhausted_fails(face: Face):
    step = react(speaker(*[call("look")] * 2), {"look": lambda _: ""}).body  # type: ignore[attr-defined]
    agent = Loop(step, "False", 2, on_exhausted="error")
    error = fails(agent, BudgetError, face)
    assert error.diagnostic.code == "R004"


def test_a_script_that_is_used_up_is_told_with_its_agent(face: Face):
    agent = (
        lam("a", "only")
        >> If("False", Compose(), lam("b", "also"))
        >> Loop(lam("c", "x"), "False", 2)
    )
    error = fails(agent, EffectError, face)
    assert error.diagnostic.code == "E004"
    assert "llm:c" in error.diagnostic.what


@pytest.mark.parametrize(
    ("agent", "code", "said"),
    [
        (Lam("a", "p"), "E010", "the agent `a` has no model"),
        (Tool("a"), "S202", "there is no tool `a`"),
        (Tool("a", command="rm -rf /"), "E006", "`a` is refused"),
        (Lam("a", "p", "gpt-x"), "E001", "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_answered_is_told_before_the_run(agent: Term, code: str, said: str):
    with pytest.raises(EffectError, match=said) as caught:
        Session(agent, environment={})
    assert caught.value.diagnostic.code == code


def test_all_that_cannot_be_answered_is_told_at_once_and_once_each():
    agent = Par(Tool("a"), Tool("b"), Lam("c", "p", "gpt-x"), Lam("d", "p", "gpt-x"))
    with pytest.raises(EffectError) as caught:
        Session(agent, environment={})
    assert [each.code for each in caught.value.diagnostics] == ["S202", "S202", "E001"]


def test_a_foreign_exception_in_an_error_record_of_the_machine_is_a_run_error():
    record = Record(kind="Odd", message="it is odd", site="tool:a", key=(), data=None)
    error = failures.error_of(record)
    assert isinstance(error, EffectError)
    assert error.diagnostic.what == "it is odd"
    assert "tool:a" in error.diagnostic.why


def test_a_stuck_machine_is_a_fault_of_ours():
    record = Record(kind="Stuck", message="(1 2)", site="", key=(), data=None)
    error = failures.error_of(record)
    assert isinstance(error, StuckError)
    assert error.exit_code == 70


def test_calls_of_one_object_share_one_session_and_others_do_not():
    one, two = Compose(), Compose()
    assert one == two
    assert running.session_of(one) is running.session_of(one)
    assert running.session_of(one) is not running.session_of(two)


def test_a_session_ends_with_its_agent():
    agent: Compose | None = Compose()
    closed = threading.Event()
    running.session_of(agent).close = closed.set  # type: ignore[method-assign]
    assert not closed.is_set()
    agent = None
    assert closed.wait(10)


def test_a_session_closes_its_connections():
    closed: list[bool] = []
    with Session(Compose()) as session:
        session.handlers.close = lambda: closed.append(True) or []  # type: ignore[func-returns-value, method-assign]
    assert closed == [True]


def test_pairs_come_back_as_tuples():
    assert run(Pair(Tool("a", str.upper), Tool("b", len)), "xy").value == ("XY", 2)


def test_relative_recordings_start_at_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from lambdagent import from_config
    from lambdagent.effects.llm.scripted import write_recording
    from lambdagent.effects.protocol import Reply

    folder = tmp_path / "agents"
    folder.mkdir()
    write_recording(folder / "r.jsonl", [("echo", Reply("recorded"))])
    model = "model: {provider: scripted, script: {recording: r.jsonl}}"
    (folder / "a.yml").write_text(f"type: simple\nname: echo\nsystemPrompt: p\n{model}\n")
    monkeypatch.chdir(tmp_path)
    assert from_config("agents/a.yml")("x") == "recorded"


def test_public_names_exist_and_others_do_not():
    for name in lambdagent.__all__:
        assert getattr(lambdagent, name) is not None
    assert set(lambdagent.__all__) < set(dir(lambdagent))
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        lambdagent.frobnicate  # noqa: B018


def test_memory_initial_must_be_data(tmp_path: Path):
    config: Mapping[str, object] = {"type": "simple", "systemPrompt": "p", "model": MODEL}
    with pytest.raises(TypeError):
        build_agent(config, providers={"openai": speaker()}, memory_store={"k": object()})
