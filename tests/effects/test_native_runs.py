"""Whole runs with native tool calls: how many at once, what is told, what a provider is told."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest

from lambdagent import Lam, Listener, Model, Session, Term, Tool, build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.api.kept import Run
from lambdagent.effects.protocol import ModelCall, Reply, ToolCall
from lambdagent.effects.run_events import ToolDispatched
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.surface import ReActStep
from tests.effects.agents import PATIENCE_S, Face, face

__all__ = ["face"]


def native(
    replies: list[Any], functions: dict[str, Any] | None = None, at_once: int = 1, **more: Any
) -> Term:
    config = {
        "type": "react",
        "name": "worker",
        "systemPrompt": "Work.",
        "model": {
            "provider": "scripted",
            "toolCalling": "native",
            "script": {"replies": replies},
        },
        "mcp": {"localTools": ["terminate"], "policy": {"maxConcurrent": at_once}},
        **more,
    }
    return build_agent(config, tools=functions)


def asks(*calls: tuple[str, Any]) -> dict[str, Any]:
    made = [{"id": f"c{n}", "name": name, "arguments": a} for n, (name, a) in enumerate(calls)]
    return {"tool_calls": made}


class Gate:
    """A tool that counts how often it is called at once, and waits until so many are."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.inside, self.most = wanted, 0, 0
        self.change = threading.Condition()

    def __call__(self, n: int) -> str:
        with self.change:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.change.notify_all()
            self.change.wait_for(lambda: self.most >= self.wanted, PATIENCE_S)
            self.inside -= 1
        return f"did {n}"


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_up_to_so_many_calls_are_made_at_once_and_answered_in_order(face: Face, at_once: int):
    gate = Gate(at_once)
    agent = native(
        [asks(*(("gate", {"n": n}) for n in range(5))), "done"], {"gate": gate}, at_once
    )
    result = face.ask(agent, "go")
    assert gate.most == at_once
    think = [each for each in result.trace if each.kind == "llm"][-1]
    assert think.input == "\n\n".join(f"Observation from gate: did {n}" for n in range(5))
    assert result.value == "done"


def test_asynchronous_tools_are_awaited_together_up_to_the_bound():
    inside, most = 0, 0

    async def gate(n: int) -> str:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        return f"did {n}"

    calls = asks(*(("gate", {"n": n}) for n in range(6)))
    assert Face("async").ask(native([calls, "done"], {"gate": gate}, 3), "go").value == "done"
    assert 1 < most <= 3


def test_a_call_that_fails_does_not_keep_the_others_from_their_answers(face: Face):
    def flaky(n: int) -> str:
        if n == 1:
            raise OSError("down")
        return f"did {n}"

    agent = native([asks(*(("flaky", {"n": n}) for n in range(3))), "done"], {"flaky": flaky}, 2)
    think = [each for each in face.ask(agent, "go").trace if each.kind == "llm"][-1]
    assert think.input.split("\n\n") == [
        "Observation from flaky: did 0",
        "Observation from flaky: [TOOL_ERROR: flaky] OSError: down",
        "Observation from flaky: did 2",
    ]


def test_listeners_are_told_the_id_of_each_call():
    told: list[Any] = []

    class Ear(Listener):
        def on_tool_dispatched(self, event: ToolDispatched) -> None:
            told.append((event.tool_call_id, event.tool_name, event.arguments_json))

    def look(n: int) -> int:
        return n

    calls = asks(("look", {"n": 0}), ("nowhere", {}), ("look", {"n": 1}))
    with Session(native([calls, "done"], {"look": look})) as session:
        session.run("go", listeners=[Ear()])
    assert told == [("c0", "look", '{"n": 0}'), ("c2", "look", '{"n": 1}')]


class Killed(BaseException):
    """Stands for the end of a process."""


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_run_that_is_killed_between_its_calls_goes_on_with_the_others(
    tmp_path: Path, at_once: int
):
    called: list[int] = []
    broken = True

    def look(n: int) -> str:
        called.append(n)
        if n == 2 and broken:
            raise Killed
        return f"saw {n}"

    replies = [
        asks(*(("look", {"n": n}) for n in range(4))),
        asks(("terminate", {"answer": "ok"})),
    ]
    tools = [{"name": "look", "idempotent": True}]
    agent = native(replies, {"look": look}, at_once, tools=tools)
    with pytest.raises(Killed), Run.begin(compile_term(agent), "go", tmp_path) as run:
        run.resume()
    broken, before = False, [*called]
    with Run.load(run.path, tools={"look": look}) as again:
        result = again.resume()
    assert result.value == "ok"
    think = [each for each in result.trace if each.kind == "llm"][-1]
    assert think.input == "\n\n".join(f"Observation from look: saw {n}" for n in range(4))
    if at_once == 1:
        assert before == [0, 1, 2]
        assert called[len(before) :] == [2, 3]


# --- providers of one's own ----------------------------------------------------------------------

OPENAI = {"provider": "openai", "name": "m", "toolCalling": "native"}


@attrs.define
class Own:
    """A provider that only knows ``chat``."""

    asked: list[Any] = attrs.field(factory=list)

    def chat(self, messages: Any, tools: Any) -> Any:
        self.asked.append((messages, tools))
        if len(self.asked) == 1:
            calls = [{"id": "c1", "name": "look", "arguments": {"input": "a"}}]
            return {"text": "", "tool_calls": calls}
        return "done"


def test_an_object_of_ones_own_is_told_of_tools_and_results(face: Face):
    own = Own()
    config = {"type": "react", "systemPrompt": "Work.", "model": OPENAI}
    agent = build_agent(config, providers={"openai": own}, tools={"look": lambda x: f"saw {x}"})
    assert face.ask(agent, "go").value == "done"
    (first, tools), (second, _) = own.asked
    assert [tool["name"] for tool in tools] == ["look"]
    assert tools[0]["parameters"]["properties"] == {"input": {"type": "string"}}
    assert second[len(first) :] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "look", "arguments": {"input": "a"}}],
        },
        {"role": "tool", "content": "saw a", "tool_call_id": "c1", "name": "look"},
    ]


def test_an_object_that_takes_no_tools_is_refused_before_the_run():
    class Deaf:
        def chat(self, messages: Any) -> str:
            return "a"

    config = {"type": "react", "systemPrompt": "Work.", "model": OPENAI}
    agent = build_agent(config, providers={"openai": Deaf()}, tools={"look": lambda x: x})
    with pytest.raises(EffectError) as caught:
        Session(agent).run("go")
    assert "`chat` of Deaf takes no `tools`" in str(caught.value)


def test_a_whole_provider_gets_the_tools_with_the_call():
    asked: list[ModelCall] = []

    class Whole:
        instant = True

        def chat(self, call: ModelCall) -> Reply:
            asked.append(call)
            return Reply("", None, (ToolCall("c", "terminate", Record(answer="ok")),))

        async def achat(self, call: ModelCall) -> Reply:
            return self.chat(call)

        def close(self) -> None:
            pass

    config = {
        "type": "react",
        "systemPrompt": "Work.",
        "model": OPENAI,
        "mcp": {"localTools": ["terminate"]},
    }
    agent = build_agent(config, providers={"openai": Whole()})
    assert Session(agent).run("go").value == "ok"
    assert [tool.name for tool in asked[0].tools] == ["terminate"]


@pytest.mark.parametrize("conversation", [True, "sliding_window(3)", "token_budget(900)"])
def test_calls_and_their_results_are_never_torn_apart(conversation: Any):
    seen: list[tuple[Any, ...]] = []

    class Searcher:
        instant = True

        def chat(self, call: ModelCall) -> Reply:
            seen.append(call.messages)
            if len(seen) % 7 == 0:
                return Reply("found it")
            number = len(seen)
            made = [ToolCall("same", "look", Record(n=number)) for _ in range(number % 3 + 1)]
            return Reply("", "tool_calls", tuple(made))

        async def achat(self, call: ModelCall) -> Reply:
            return self.chat(call)

        def close(self) -> None:
            pass

    def look(n: int) -> str:
        return f"{n}: " + "so it goes " * 20

    model = {**OPENAI, "contextWindow": 1500, "maxTokens": 200, "conversation": conversation}
    config = {"type": "react", "systemPrompt": "Work.", "model": model, "react": {"maxSteps": 9}}
    agent = build_agent(config, providers={"openai": Searcher()}, tools={"look": look})
    with Session(agent) as session:
        for _ in range(3):
            assert session.run("go").value == "found it"
    assert len(seen) == 21
    assert len(seen[-1]) < 20
    for messages in seen:
        asked = [call.id for message in messages for call in message.tool_calls]
        assert [m.tool_call_id for m in messages if m.role == "tool"] == asked
        assert len(set(asked)) == len(asked)
        texts = [message.text for message in messages]
        assert not any(text.startswith(("Observation from", "[NOT_RUN]")) for text in texts)


def test_a_program_by_hand_cannot_give_tools_to_who_has_its_own():
    think = Lam("w", "p", Model(provider="claude-code", tool_calling="native"))
    step = ReActStep("r", think=think, tools=[Tool("look", command="true")])
    with pytest.raises(EffectError) as caught:
        Session(step).run("go")
    assert "it calls tools of its own" in str(caught.value)
