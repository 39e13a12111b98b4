"""The shared cases of streams, answers and HTTP, through the real SDK."""

import asyncio
import base64
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from lambdagent.effects import attempts
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Endpoint
from lambdagent.effects.protocol import Reply
from lambdagent.effects.rate_limits import RateLimit
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.speech import Speech
from lambdagent.errors import EffectError
from lambdagent.ir.data import thaw
from lambdagent.ir.limits import Limits
from tests.cases import load_cases
from tests.effects.calls import model_call
from tests.effects.llm.completions import MODEL
from tests.effects.local_server import Answer, LocalServer


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between attempts; no time passes."""
    slept: list[float] = []

    async def sleep(wait_s: float) -> None:
        slept.append(wait_s)

    clock = SimpleNamespace(sleep=sleep, get_running_loop=asyncio.get_running_loop)
    monkeypatch.setattr(attempts, "asyncio", clock)
    return slept


@pytest.fixture
def provider(local_server: LocalServer) -> Iterator[OpenAIChat]:
    made = OpenAIChat(Endpoint(provider="custom", base_url=local_server.url, key="sk-demo-secret"))
    yield made
    made.close()


def check(reply: Reply, expected: dict[str, Any]) -> None:
    calls = [{"tool": each.name, "args": thaw(each.arguments)} for each in reply.tool_calls]
    usage = reply.usage and {"input": reply.usage.input, "output": reply.usage.output}
    found = {
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "tool_calls": calls,
        "usage": usage,
    }
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("case", load_cases("sse"), ids=lambda case: case["id"])
def test_a_stream_is_read(case: dict[str, Any], provider: OpenAIChat, local_server: LocalServer):
    assert case["format"] == "openai"
    pieces = [each.encode() for each in case.get("chunks", ())]
    pieces += [base64.b64decode(each) for each in case.get("chunks_b64", ())]
    local_server.answer(Answer(tuple(pieces), content_type="text/event-stream"))
    heard: list[str] = []
    call = model_call(MODEL)
    call.speech = Speech(lambda text, _: heard.append(text), Redaction({}))
    reply = provider.chat(call)
    check(reply, case["expect"])
    assert "".join(heard) == reply.text
    assert len(local_server.asked) == 1


@pytest.mark.parametrize("case", load_cases("llm"), ids=lambda case: case["id"])
def test_an_answer_is_read(case: dict[str, Any], provider: OpenAIChat, local_server: LocalServer):
    assert case["provider"] == "openai"
    local_server.answer(case["response"])
    check(provider.chat(model_call(MODEL)), case["expect"])


@pytest.mark.parametrize("case", load_cases("http"), ids=lambda case: case["id"])
def test_failures_are_tried_again_or_not(
    case: dict[str, Any], local_server: LocalServer, waits: list[float]
):
    for each in case["responses"]:
        headers = dict(each["headers"])
        kind = headers.pop("content-type", "application/json")
        local_server.answer(Answer(each["body"].encode(), each["status"], kind, headers=headers))
    key = case.get("env", {}).get("OPENAI_API_KEY", "k")
    provider = OpenAIChat(
        Endpoint(provider="custom", base_url=local_server.url, key=key, max_retries=case["retry"]),
        RateLimit(Limits(), clock=lambda: sum(waits)),
    )
    expected = case["expect"]
    try:
        told = provider.chat(model_call(MODEL)).text
        assert told == expected["text"]
    except EffectError as error:
        assert expected["error"]
        told = json.dumps([str(error), str(error.__cause__), repr(error)])
    provider.close()
    assert len(local_server.asked) == expected["attempts"]
    assert expected.get("min_wait", 0) <= sum(waits) <= expected.get("max_wait", 0)
    assert not any(text in told for text in expected.get("message_lacks", ()))
