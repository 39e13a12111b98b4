"""All five types through the real SDKs against servers by others: only `model:` changes."""

import re

import pytest

from tests.acceptance import agents
from tests.aimock_server import AImock
from tests.cli.command import Command, Done
from tests.mock_server import MockLLM

KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
SECRET = "sk-made-up-for-this-test"


@pytest.fixture(params=KEYS)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a provider, whose key is set."""
    name: str = request.param
    monkeypatch.setenv(KEYS[name], SECRET)
    return name


def ask(
    command: Command,
    server: MockLLM | AImock,
    provider: str,
    kind: str,
    *options: str,
    **settings: float,
) -> Done:
    url = server.openai if provider == "openai" else server.anthropic
    text, value, _, _ = agents.TYPES[kind]
    model = {"provider": provider, "name": "model-of-the-test", "baseUrl": url, **settings}
    command.write("agent.yml", agents.with_model(text, model))
    tools = ("--tool", "add=cat; echo =2") if kind == "react" else ()
    return command("run", "agent.yml", value, *tools, *options)


@pytest.mark.parametrize("kind", agents.TYPES)
def test_each_type_answers_through_the_sdk(
    command: Command, mock_llm: MockLLM, provider: str, kind: str
):
    replies = agents.replies_in_order(kind)
    mock_llm.reply(*replies)
    done = ask(command, mock_llm, provider, kind)
    assert (done.code, done.out) == (0, f"{agents.TYPES[kind][3]}\n")
    assert len(mock_llm.requests()) == len(replies)
    assert re.search(r"Total: \d+ β-reductions?, [\d.]+s, ~\d+ tokens\n", done.err)


@pytest.mark.parametrize("kind", agents.TYPES)
def test_each_type_answers_at_another_server(
    command: Command, aimock: AImock, provider: str, kind: str
):
    replies = agents.replies_in_order(kind)
    aimock.answer(*replies)
    done = ask(command, aimock, provider, kind)
    assert (done.code, done.out) == (0, f"{agents.TYPES[kind][3]}\n")
    assert len(aimock.requests()) == len(replies)


@pytest.mark.parametrize("kind", agents.TYPES)
def test_each_type_answers_the_same_while_it_streams(
    command: Command, mock_llm: MockLLM, provider: str, kind: str
):
    mock_llm.reply(*agents.replies_in_order(kind))
    done = ask(command, mock_llm, provider, kind, "--stream")
    assert done.code == 0
    assert done.out.endswith(f"{agents.TYPES[kind][3]}\n")
    assert all(request["body"]["stream"] for request in mock_llm.requests())
    assert re.search(r"Total: \d+ β-reductions?, [\d.]+s, ~\d+ tokens\n", done.err)


def test_a_react_run_with_one_tool_call_asks_the_server_twice(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.reply(agents.CALL, agents.END)
    assert ask(command, mock_llm, provider, "react").code == 0
    first, second = (request["body"] for request in mock_llm.requests())
    assert "1+1等于几" in str(first["messages"])
    assert "Observation from add: 1+1=2" in str(second["messages"][-1])
    assert len(second["messages"]) == len(first["messages"]) + 2


def test_a_failing_server_ends_the_run_with_what_where_and_fix(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.fail(500)
    done = ask(command, mock_llm, provider, "simple")
    assert (done.code, done.out) == (1, "")
    assert f"error[E002]: `{provider}` failed: HTTP 500" in done.err
    assert "why: site `llm:greeter`" in done.err
    assert "fix: try again later" in done.err
    assert SECRET not in done.err


def test_a_wrong_key_is_told_without_showing_it(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.fail(401)
    done = ask(command, mock_llm, provider, "simple", "--traceback")
    assert (done.code, done.out) == (1, "")
    assert f"fix: check the key in `{KEYS[provider]}`" in done.err
    assert SECRET not in done.err


def test_a_server_that_takes_too_long_ends_the_run(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.delay(30)
    done = ask(command, mock_llm, provider, "simple", timeout=0.2)
    assert (done.code, done.out) == (1, "")
    assert "error[E003]: `llm:greeter` gave no answer within 0.2 s" in done.err
    assert "fix: raise `model.timeout`" in done.err


def test_the_run_may_end_before_the_server_answers(
    command: Command, mock_llm: MockLLM, provider: str
):
    mock_llm.delay(30)
    done = ask(command, mock_llm, provider, "simple", "--timeout", "0.2")
    assert (done.code, done.out) == (1, "")
    assert "the run took longer than 0.2 s" in done.err
    assert "fix: raise `--timeout`" in done.err


def test_the_settings_reach_the_request(command: Command, mock_llm: MockLLM, provider: str):
    mock_llm.reply("Hi")
    settings = {"temperature": 0.5, "topP": 0.75, "maxTokens": 12, "stopSequences": ["END"]}
    assert ask(command, mock_llm, provider, "simple", **settings).code == 0  # type: ignore[arg-type]
    (request,) = mock_llm.requests()
    body = request["body"]
    assert (body["model"], body["max_tokens"]) == ("model-of-the-test", 12)
    assert (body["temperature"], body["top_p"]) == (0.5, 0.75)
    assert body["stop" if provider == "openai" else "stop_sequences"] == ["END"]


def test_options_win_over_the_file(command: Command, mock_llm: MockLLM, provider: str):
    mock_llm.reply("Hi")
    options = ("--model", "another-model", "--temperature", "0.9")
    assert ask(command, mock_llm, provider, "simple", *options).code == 0
    (request,) = mock_llm.requests()
    assert (request["body"]["model"], request["body"]["temperature"]) == ("another-model", 0.9)
