"""The requests of every provider, whole: as documented, and with all that the agent file says."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from lambdagent import Session, build_agent
from lambdagent.errors import LambdagentError
from lambdagent.frontend import schema
from lambdagent.ir.services import SERVICES
from tests.aimock_server import AImock
from tests.cli.command import Command
from tests.effects.local_server import Answer, LocalServer

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "requests"
CHATTING = sorted(name for name, each in SERVICES.items() if each.speaks in {"messages", "chat"})
# What a service reads; the others tell of the SDK and the machine.
HEADERS = ("authorization", "x-api-key", "anthropic-version", "content-type", "accept")
LONG = "All that was said before. " * 40
SAMPLE: dict[str, Any] = {
    "name": "model-of-the-test",
    "temperature": 0.5,
    "maxTokens": 12,
    "topP": 0.75,
    "stopSequences": ["END", "STOP"],
    "conversation": "full",
    "maxHistoryTokens": 1000,
    "contextWindow": 4000,
    "timeout": 9,
    "toolCalling": "auto",
}
# Another value of each field, between which and the first one there must be a difference.
OTHERS: dict[str, Any] = {
    "name": "another-model",
    "temperature": 0.25,
    "maxTokens": 13,
    "topP": 0.25,
    "stopSequences": ["OVER"],
    "conversation": False,
    "contextWindow": 100,
    "timeout": 8,
    "script": {"replies": ["never said"]},
}
TOOLS = [
    {
        "name": "lookup",
        "description": "Look a word up.",
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
        },
    }
]


def agent(model: dict[str, Any], kind: str = "simple") -> dict[str, Any]:
    base = {"type": kind, "name": "clerk", "systemPrompt": "Be brief.", "model": model}
    if kind == "react":
        return {**base, "tools": TOOLS, "mcp": {"localTools": ["lookup", "terminate"]}}
    return base


def fine(provider: str, text: str) -> dict[str, Any]:
    if provider == "anthropic":
        content = [{"type": "text", "text": text}]
        return {"type": "message", "content": content, "stop_reason": "end_turn"}
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


def lookup(word: str) -> str:
    """Look a word up."""
    return word


def documented(provider: str) -> frozenset[str]:
    """Return what the SDK knows of the body, and of that version of the API which takes both."""
    if provider == "anthropic":
        from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as Body

        return Body.__required_keys__ | Body.__optional_keys__ | {"temperature", "top_p"}
    from openai.types.chat.completion_create_params import (
        CompletionCreateParamsNonStreaming as Chat,
    )

    return Chat.__required_keys__ | Chat.__optional_keys__


@attrs.frozen
class Seen:
    """What two runs of a session asked, and what they said that went wrong."""

    requests: list[dict[str, Any]]
    code: str | None


@pytest.fixture
def see(local_server: LocalServer) -> Callable[..., Seen]:
    """Runs an agent twice in one session and returns what the server saw."""

    def seen(
        provider: str, settings: dict[str, Any], kind: str = "simple", path: str = "/v1"
    ) -> Seen:
        local_server.asked.clear()
        local_server.answers.clear()
        said = "ok" if kind == "simple" else '{"tool": "terminate", "args": "ok"}'
        local_server.answer(fine(provider, said), fine(provider, said), Answer({}, 400))
        model = {"provider": provider, "baseUrl": local_server.url + path, **settings}
        keys = {
            each.key_variable: f"key-of-{n}" for n, each in SERVICES.items() if each.key_variable
        }
        code = None
        try:
            tools = {"lookup": lookup} if kind == "react" else {}
            with Session(
                build_agent(agent(model, kind), tools=tools), environment=keys
            ) as session:
                session.run(LONG)
                session.run("And now?")
        except LambdagentError as error:
            code = error.diagnostic.code
        return Seen([request_of(each) for each in local_server.asked], code)

    return seen


def request_of(asked: Any) -> dict[str, Any]:
    headers = {name: asked.headers[name] for name in HEADERS if name in asked.headers}
    waits_s = asked.headers["x-stainless-read-timeout"]
    return {"path": asked.path, "headers": headers, "waits_s": waits_s, "body": asked.body}


@pytest.mark.parametrize("kind", ["simple", "react"])
@pytest.mark.parametrize("provider", CHATTING)
def test_the_whole_request_is_as_documented(
    see: Callable[..., Seen], golden: Callable[[Path, str], None], provider: str, kind: str
):
    request = see(provider, SAMPLE, kind).requests[0]
    assert set(request["body"]) <= documented(provider)
    text = json.dumps(request, indent=2, ensure_ascii=False).replace(LONG, "…")
    golden(GOLDEN / f"{provider}-{kind}.txt", re.sub(r"key-of-\w+", "KEY", text) + "\n")


@pytest.mark.parametrize("field", sorted(set(schema.MODEL.fields) - {"provider", "baseUrl"}))
@pytest.mark.parametrize("provider", CHATTING)
def test_each_setting_changes_what_is_asked_or_is_refused(
    see: Callable[..., Seen], provider: str, field: str
):
    sample, other = dict(SAMPLE), OTHERS.get(field)
    kind = "simple"
    if field == "maxHistoryTokens":
        sample, other = {**SAMPLE, "conversation": True}, 20
    if field == "toolCalling":
        kind = "react"
        is_native = SERVICES[provider].has_tools
        other = "text" if is_native else "native"
    before = see(provider, sample, kind)
    after = see(provider, {**sample, field: other}, kind)
    assert see(provider, sample, kind) == before
    assert after != before
    assert (before.code, len(before.requests)) == (None, 2)


@pytest.mark.parametrize("provider", CHATTING)
def test_the_provider_and_its_url_say_who_is_asked_and_with_which_key(
    see: Callable[..., Seen], provider: str
):
    seen = see(provider, SAMPLE, path="/elsewhere/v1")
    assert all(each["path"].startswith("/elsewhere/v1/") for each in seen.requests)
    key = f"key-of-{provider}"
    assert (key in str(seen.requests)) == (SERVICES[provider].key_variable is not None)


def test_what_the_file_leaves_out_is_not_asked_for_but_two_defaults(see: Callable[..., Seen]):
    for provider, more in (("openai", set()), ("anthropic", {"system"})):
        first = see(provider, {"name": "m"}).requests[0]["body"]
        assert set(first) == {"model", "messages", "temperature", "max_tokens"} | more
        assert (first["temperature"], first["max_tokens"]) == (0.3, 4096)


@pytest.mark.parametrize("provider", [name for name in CHATTING if SERVICES[name].needs_key])
def test_without_its_key_a_run_ends_before_anything_is_asked(
    command: Command, local_server: LocalServer, provider: str
):
    model = {"provider": provider, "baseUrl": f"{local_server.url}/v1", **SAMPLE}
    command.write("a.yml", json.dumps(agent(model)))
    done = command("run", "a.yml", "hello")
    assert (done.code, done.out, local_server.asked) == (1, "", [])
    assert f"the environment variable `{SERVICES[provider].key_variable}` is not set" in done.err


def test_native_calls_of_tools_go_to_and_fro_at_a_server_by_others(aimock: AImock):
    for provider in ("openai", "anthropic"):
        aimock.reset()
        words = [
            {"name": "lookup", "arguments": {"word": word}} for word in ("amber", "bernstein")
        ]
        end = {"name": "terminate", "arguments": {"answer": "the same"}}
        aimock.answer({"toolCalls": words}, {"toolCalls": [end]})
        model = {"provider": provider, "name": "m", "baseUrl": aimock.url(provider)}
        term = build_agent(agent(model, "react"), tools={"lookup": lookup})
        keys = {str(SERVICES[provider].key_variable): "k"}
        with Session(term, environment=keys) as session:
            assert session.run("Are they the same?").final == "the same"
        first, second = (each["body"] for each in aimock.requests())
        assert [each["function"]["name"] for each in first["tools"]] == ["lookup", "terminate"]
        answers = [each for each in second["messages"] if each["role"] == "tool"]
        assert [each["content"] for each in answers] == ["amber", "bernstein"]
