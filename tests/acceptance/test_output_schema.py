"""Answers of a form, through the real SDKs: requests, field by field, and servers that refuse."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aimock_server import AImock
from tests.cli.command import Command, Done
from tests.effects.local_server import Answer, LocalServer
from tests.mock_server import MockLLM

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "custom": "CUSTOM_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "openai": "OPENAI_API_KEY",
}
NATIVE = {"anthropic": "output_config", "openai": "response_format", "deepseek": "response_format"}
REQUESTS = Path(__file__).parents[1] / "golden" / "requests"
AGENT = """\
type: simple
name: reader
systemPrompt: Read it.
model: {{provider: {provider}, name: m, baseUrl: "{url}", temperature: 0.5, maxTokens: 99}}
outputSchema:
  type: object
  properties: {{name: {{type: string}}, tags: {{type: array, items: {{enum: [a, b]}}}}}}
  required: [name, tags]
"""
FITS = '{"name": "Ann", "tags": ["a"]}'


@pytest.fixture(params=KEYS)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a provider, whose key is set."""
    name: str = request.param
    monkeypatch.setenv(KEYS[name], "sk-made-up")
    return name


@pytest.fixture
def server() -> Iterator[LocalServer]:
    made = LocalServer()
    yield made
    made.close()


def ask(command: Command, provider: str, url: str, *options: str) -> Done:
    command.write("agent.yml", AGENT.format(provider=provider, url=url))
    return command("run", "agent.yml", "A letter.", *options)


def reached(mock_llm: MockLLM, provider: str) -> str:
    return mock_llm.anthropic if provider == "anthropic" else mock_llm.openai


@pytest.mark.parametrize("options", [(), ("--stream",)])
def test_a_form_is_asked_for_and_an_answer_repaired(
    command: Command, mock_llm: MockLLM, provider: str, options: tuple[str, ...], golden
):
    mock_llm.reply('{"name": "Ann"}', FITS)
    done = ask(command, provider, reached(mock_llm, provider), *options)
    assert done.code == 0, done.err
    assert done.out.endswith(f"{FITS}\n")
    bodies = [request["body"] for request in mock_llm.requests()]
    for body in bodies:
        body.pop("stream", None)
        body.pop("stream_options", None)
    text = json.dumps(bodies, ensure_ascii=False, indent=2)
    golden(REQUESTS / f"schema-{provider}.json.txt", text)


def test_another_server_is_asked_the_same(
    command: Command, mock_llm: MockLLM, aimock: AImock, provider: str
):
    said = ('{"name": "Ann"}', FITS)
    mock_llm.reply(*said)
    aimock.answer(*said)
    for url in (reached(mock_llm, provider), aimock.url(provider)):
        done = ask(command, provider, url)
        assert (done.code, done.out) == (0, f"{FITS}\n"), done.err
    for server in (mock_llm, aimock):
        _, repaired = (request["body"]["messages"] for request in server.requests())
        assert [message["role"] for message in repaired[-2:]] == ["assistant", "user"]


def test_the_requests_are_what_the_types_of_the_sdks_say(
    command: Command, mock_llm: MockLLM, provider: str
):
    from pydantic import TypeAdapter

    if provider == "anthropic":
        from anthropic.types import OutputConfigParam as Form
    elif provider == "openai":
        from openai.types.shared_params import ResponseFormatJSONSchema as Form
    else:
        from openai.types.shared_params import ResponseFormatJSONObject as Form
    mock_llm.reply(FITS)
    assert ask(command, provider, reached(mock_llm, provider)).code == 0
    body = mock_llm.requests()[0]["body"]
    if provider == "custom":
        assert body.keys().isdisjoint(NATIVE.values())
    else:
        TypeAdapter(Form).validate_python(body[NATIVE[provider]], strict=True)


REACT = """\
type: react
name: shopper
systemPrompt: You buy things.
model: {{provider: {provider}, name: m, baseUrl: "{url}", temperature: 0.5, maxTokens: 99{more}}}
tools: [{{name: price, parameters: {{item: string}}, command: "echo 2 {{}}"}}]
mcp: {{localTools: [terminate]}}
outputSchema:
  type: object
  properties:
    name: {{$ref: "#/$defs/name"}}
    action: {{enum: [buy, wait]}}
    args: {{type: integer}}
  required: [name, action, args]
  $defs: {{name: {{type: string}}}}
"""
BOUGHT = '{"name": "tea", "action": "buy", "args": 2}'


def shop(command: Command, mock_llm: MockLLM, provider: str, more: str = "") -> Done:
    url = reached(mock_llm, provider)
    command.write("agent.yml", REACT.format(provider=provider, url=url, more=more))
    return command("run", "agent.yml", "Tea?")


def calling(name: str, arguments: object) -> dict[str, object]:
    return {"type": "reply", "tool_calls": [{"name": name, "arguments": arguments}]}


@pytest.mark.parametrize("provider", ["anthropic", "openai", "deepseek"], indirect=True)
def test_a_loop_asks_for_the_form_beside_its_tools(
    command: Command, mock_llm: MockLLM, provider: str, golden
):
    mock_llm.script(calling("price", {"item": "tea"}), {"type": "reply", "text": BOUGHT})
    done = shop(command, mock_llm, provider)
    assert (done.code, done.out) == (0, f"{BOUGHT}\n"), done.err
    first, _ = (request["body"] for request in mock_llm.requests())
    golden(
        REQUESTS / f"tools-schema-{provider}.json.txt",
        json.dumps(first, ensure_ascii=False, indent=2),
    )


@pytest.mark.parametrize(
    "arguments", [{"answer": json.loads(BOUGHT)}, {"answer": BOUGHT}, json.loads(BOUGHT)]
)
@pytest.mark.parametrize("more", ["", ", toolCalling: text"])
def test_a_loop_ends_with_an_answer_in_the_arguments_of_terminate(
    command: Command, mock_llm: MockLLM, provider: str, arguments: object, more: str
):
    mock_llm.script(calling("terminate", arguments))
    done = shop(command, mock_llm, provider, more)
    assert (done.code, done.out) == (0, f"{BOUGHT}\n"), done.err
    mock_llm.reset()
    mock_llm.reply(json.dumps({"tool": "terminate", "args": arguments}))
    done = shop(command, mock_llm, provider, more)
    assert (done.code, done.out) == (0, f"{BOUGHT}\n"), done.err


def answer(provider: str) -> Answer:
    if provider == "anthropic":
        return Answer({"content": [{"type": "text", "text": FITS}], "stop_reason": "end_turn"})
    message = {"role": "assistant", "content": FITS}
    return Answer({"choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.mark.parametrize("provider", NATIVE, indirect=True)
def test_a_server_that_does_not_know_it_is_told_in_the_prompt(
    command: Command, server: LocalServer, provider: str
):
    name = NATIVE[provider]
    refused = Answer({"error": {"message": f"Unknown parameter: '{name}'."}}, status=400)
    server.answer(refused, answer(provider))
    done = ask(command, provider, f"{server.url}/v1")
    assert (done.code, done.out) == (0, f"{FITS}\n"), done.err
    first, second = (asked.body for asked in server.asked)
    assert name in first
    assert name not in second
    assert json.dumps(second).count("fits this JSON Schema") == 1
    assert "Read it." in json.dumps(second)


def test_an_answer_that_cannot_be_repaired_is_an_error(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.reply("no", '{"name": 1, "tags": []}')
    done = ask(command, provider, reached(mock_llm, provider))
    assert done.code == 1
    assert "error[R017]" in done.err
    assert "`name` must be a string, not 1" in done.err
