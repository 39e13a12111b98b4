"""Native tool calls through the real SDKs against a server by others: requests, field by field."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command, Done
from tests.mock_server import MockLLM

KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
REQUESTS = Path(__file__).parents[1] / "golden" / "requests"
AGENT = """\
type: react
name: shopper
systemPrompt: You buy things.
model: {{provider: {provider}, name: m, baseUrl: "{url}", temperature: 0.5{more}}}
react: {{maxSteps: 4}}
tools:
  - name: price
    description: The price of a thing.
    parameters: {{item: string, count?: {{type: integer, description: How many.}}}}
    command: "cat; echo ' costs 2'"
  - {{name: 库存, command: "echo 3 of {{}}"}}
mcp: {{localTools: [terminate], policy: {{maxConcurrent: 2}}}}
"""


@pytest.fixture(params=KEYS)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a provider, whose key is set."""
    name: str = request.param
    monkeypatch.setenv(KEYS[name], "sk-made-up")
    return name


def calls(*made: tuple[str, Any]) -> dict[str, Any]:
    return {"type": "reply", "tool_calls": [{"name": n, "arguments": a} for n, a in made]}


def ask(command: Command, mock_llm: MockLLM, provider: str, *options: str, more: str = "") -> Done:
    url = mock_llm.openai if provider == "openai" else mock_llm.anthropic
    command.write("agent.yml", AGENT.format(provider=provider, url=url, more=more))
    return command("run", "agent.yml", "Tea?", *options)


def bodies(mock_llm: MockLLM) -> list[Any]:
    """Return the bodies of all requests, the server's ids of calls numbered."""
    text = json.dumps([request["body"] for request in mock_llm.requests()], ensure_ascii=False)
    for number, key in enumerate(dict.fromkeys(re.findall(r"\b(?:call|toolu)_\w+", text)), 1):
        text = text.replace(key, f"id{number}")
    return json.loads(text)  # type: ignore[no-any-return]


SAID = (
    calls(("price", {"item": "tea"}), ("price", {"item": 5}), ("nowhere", {})),
    calls(("tool", {"input": "tea"})),
    calls(("terminate", {"answer": "Tea costs 2."})),
)


def test_calls_and_results_go_back_and_forth(
    command: Command, mock_llm: MockLLM, provider: str, golden
):
    mock_llm.script(*SAID)
    done = ask(command, mock_llm, provider, "--trace")
    assert (done.code, done.out) == (0, "Tea costs 2.\n"), done.err
    text = json.dumps(bodies(mock_llm), ensure_ascii=False, indent=2)
    golden(REQUESTS / f"tools-{provider}.json.txt", text)


def test_a_reply_that_streams_is_the_same(command: Command, mock_llm: MockLLM, provider: str):
    mock_llm.script(*SAID)
    assert ask(command, mock_llm, provider).code == 0
    whole = bodies(mock_llm)
    mock_llm.reset()
    mock_llm.script(*SAID)
    done = ask(command, mock_llm, provider, "--stream")
    assert done.code == 0
    assert done.out.endswith("Tea costs 2.\n")
    streamed = bodies(mock_llm)
    for body in streamed:
        assert body.pop("stream")
        body.pop("stream_options", None)
    assert streamed == whole


def test_without_a_conversation_the_rounds_are_sent_again(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.script(*SAID)
    assert ask(command, mock_llm, provider).code == 0
    remembered = bodies(mock_llm)
    mock_llm.reset()
    mock_llm.script(*SAID)
    assert ask(command, mock_llm, provider, more=", conversation: false").code == 0
    assert bodies(mock_llm) == remembered


def test_by_text_no_tools_are_in_the_request(command: Command, mock_llm: MockLLM, provider: str):
    mock_llm.reply('{"tool": "price", "args": {"item": "tea"}}', "Tea costs 2.")
    done = ask(command, mock_llm, provider, more=", toolCalling: text")
    assert (done.code, done.out) == (0, "Tea costs 2.\n")
    first, second = bodies(mock_llm)
    assert "tools" not in first
    assert "item (string)" in json.dumps(first)
    assert "Observation from price:" in json.dumps(second["messages"][-1])


def test_a_model_that_writes_its_call_as_text_is_understood(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.reply('{"tool": "price", "args": {"item": "tea"}}', "Tea costs 2.")
    done = ask(command, mock_llm, provider)
    assert (done.code, done.out) == (0, "Tea costs 2.\n")
    last = bodies(mock_llm)[1]["messages"][-1]
    assert last["role"] == "user"
    assert "Observation from price:" in json.dumps(last)


def test_the_requests_are_what_the_types_of_the_sdks_say(
    command: Command, mock_llm: MockLLM, provider: str
):
    from pydantic import TypeAdapter

    if provider == "openai":
        from openai.types.chat import ChatCompletionMessageParam as Message
        from openai.types.chat import ChatCompletionToolParam as Tool
    else:
        from anthropic.types import MessageParam as Message
        from anthropic.types import ToolParam as Tool
    mock_llm.script(*SAID)
    assert ask(command, mock_llm, provider).code == 0
    for body in bodies(mock_llm):
        assert len(TypeAdapter(list[Tool]).validate_python(body["tools"], strict=True)) == 3
        for tool in body["tools"]:
            assert set(tool) <= set(Tool.__annotations__)
        TypeAdapter(list[Message]).validate_python(body["messages"])
