"""What a model thought goes back with what it said, to those who want it."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from lambdagent import Session, Term, build_agent, run
from lambdagent.api.compiling import compile_term
from lambdagent.api.kept import Run
from lambdagent.effects.llm.openai_chat import OpenAIChat, _Chunks
from lambdagent.effects.protocol import Reply
from lambdagent.machine.engines import EngineName
from tests.effects.calls import model_call
from tests.effects.llm.completions import FINE, KEY, MODEL, completion
from tests.effects.local_server import LocalServer

THOUGHTS = {"reasoning_content": "I have to look."}
CALLS = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    ],
}


def looker(
    url: str,
    provider: str = "custom",
    name: str = "m",
    look: Callable[[], str] = lambda: "seen",
    **more: object,
) -> Term:
    model = {"provider": provider, "name": name, "baseUrl": url, "toolCalling": "native", **more}
    config = {"type": "react", "name": "a", "systemPrompt": "p", "model": model}
    return build_agent(config, tools={"look": look})


@pytest.mark.parametrize("engine", ["cek", "recursive"])
@pytest.mark.parametrize("conversation", [True, False])
def test_thoughts_go_back_with_what_they_led_to(
    local_server: LocalServer,
    monkeypatch: pytest.MonkeyPatch,
    conversation: bool,
    engine: EngineName,
):
    """DeepSeek and Moonshot refuse the calls of a thinking model without them."""
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    for _ in range(2):
        local_server.answer(
            completion({**CALLS, **THOUGHTS}), completion({"content": "fine", **THOUGHTS})
        )
    agent = looker(local_server.url, "deepseek", conversation=conversation)
    with Session(agent, engine=engine) as session:
        assert [session.run("x").value, session.run("y").value] == ["fine", "fine"]
    _, second, _, last = (asked.body["messages"] for asked in local_server.asked)
    said = [each for each in second if each["role"] == "assistant"]
    assert [each["reasoning_content"] for each in said] == ["I have to look."]
    said = [each for each in last if each["role"] == "assistant"]
    assert len(said) == (3 if conversation else 1)
    assert all(THOUGHTS.items() <= each.items() for each in said)


def test_a_run_that_is_gone_on_with_sends_thoughts_too(local_server: LocalServer, tmp_path: Path):
    local_server.answer(completion({**CALLS, **THOUGHTS}), FINE)
    killed = [KeyboardInterrupt()]

    def look() -> str:
        if killed:
            raise killed.pop()
        return "seen"

    agent = looker(local_server.url, name="deepseek-v4-pro", look=look)
    with Run.begin(agent, "x", tmp_path, fsync=False) as run, pytest.raises(KeyboardInterrupt):
        run.resume()
    with Run.load(run.path, program=compile_term(agent), fsync=False) as run:
        result = run.resume(doubt=lambda _: None)
    assert result.value == "fine"
    _, asked = local_server.asked
    assert any(THOUGHTS.items() <= each.items() for each in asked.body["messages"])
    assert all("have to look" not in str(each) for each in result.trace)


@pytest.mark.parametrize(
    ("name", "thoughts", "kept"),
    [
        ("deepseek-v4-pro", "a", True),
        ("moonshotai/kimi-k2.6", "", True),
        ("deepseek-v4-pro", 7, False),
        ("of-others", "a", False),
    ],
)
def test_a_server_of_others_gets_thoughts_by_the_maker_of_the_model(
    local_server: LocalServer, name: str, thoughts: object, kept: bool
):
    local_server.answer(completion({**CALLS, "reasoning_content": thoughts}), FINE)
    result = run(looker(local_server.url, name=name), "x")
    assert result.value == "fine"
    (said,) = (
        each for each in local_server.asked[1].body["messages"] if each["role"] == "assistant"
    )
    assert ("reasoning_content" in said) == kept


def test_thoughts_are_not_kept_where_there_are_no_tools(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(completion({"content": "fine", **THOUGHTS}))
    model = attrs.evolve(MODEL, name="deepseek-v4-pro")
    assert chat.chat(model_call(model)) == Reply("fine", "stop")


def test_thoughts_come_in_pieces_and_are_not_told():
    chunks = _Chunks()
    for delta in (
        {"reasoning_content": "I have "},
        {"reasoning_content": "to look.", "content": None},
        {"tool_calls": CALLS["tool_calls"]},
    ):
        assert chunks.hear({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]}) == ""
    (choice,) = chunks.body()["choices"]
    assert THOUGHTS.items() <= choice["message"].items()
