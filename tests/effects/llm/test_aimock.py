"""Both families of providers against aimock, a second server by others, through the real SDKs."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from lambdagent.effects.llm import make_provider
from lambdagent.effects.messages import Courier
from lambdagent.effects.protocol import Cancellation, Message, Reply
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.services import SERVICES
from tests.aimock_server import AImock
from tests.effects.calls import HELLO, model_call
from tests.effects.llm.test_streaming import Heard

KEY = "sk-made-up-for-this-test"
CHATTING = [name for name, each in SERVICES.items() if each.speaks in {"messages", "chat"}]
FAMILIES = ("openai", "anthropic")
TEXT = "Good day,  to   you.\n\n你好，世界 🌍!"


def provider_at(aimock: AImock, name: str) -> Courier:
    keys = {SERVICES[name].key_variable or "": KEY}
    made = make_provider(Model(provider=name, base_url=aimock.url(name)), keys)
    assert isinstance(made, Courier)
    return made


@pytest.fixture(params=FAMILIES)
def asked(request: pytest.FixtureRequest, aimock: AImock) -> Iterator[Courier]:
    """A provider of each family."""
    provider = provider_at(aimock, request.param)
    yield provider
    provider.close()


@pytest.fixture(params=[False, True], ids=["plain", "streamed"])
def chat(request: pytest.FixtureRequest, asked: Courier) -> Callable[..., Reply]:
    """Asks that provider, at once or while it streams; what is told must be the reply."""

    def at_once(**options) -> Reply:
        return asked.chat(model_call(Model(provider="custom", name="m"), **options))

    def streamed(**options) -> Reply:
        heard = Heard()
        reply = asked.chat(heard.call(**options))
        assert heard.text == reply.text
        return reply

    return streamed if request.param else at_once


@pytest.mark.parametrize("name", CHATTING)
def test_each_provider_asks_and_is_answered(aimock: AImock, name: str):
    provider = provider_at(aimock, name)
    aimock.answer(TEXT)
    reply = provider.chat(model_call(Model(provider=name, name="a-model")))
    provider.close()
    assert (reply.text, reply.tool_calls) == (TEXT, ())
    (request,) = aimock.requests()
    assert request["path"] == f"/v1/{'messages' if name == 'anthropic' else 'chat/completions'}"
    assert request["body"]["model"] == "a-model"
    assert request["body"]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]


def test_a_text_comes_with_its_reason_and_its_tokens(
    aimock: AImock, asked: Courier, chat: Callable[..., Reply]
):
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "input_tokens": 7, "output_tokens": 3}
    aimock.answer({"content": TEXT, "usage": usage}, {"content": "cut", "finishReason": "length"})
    reply = chat()
    assert (reply.text, reply.usage and (reply.usage.input, reply.usage.output)) == (TEXT, (7, 3))
    is_chat = asked.endpoint.provider == "openai"
    assert reply.finish_reason == ("stop" if is_chat else "end_turn")
    assert chat().finish_reason == ("length" if is_chat else "max_tokens")


def test_tools_are_called_and_their_answers_go_back(
    aimock: AImock, asked: Courier, chat: Callable[..., Reply]
):
    calls = [
        {"name": "search", "arguments": {"query": "bernstein", "most": 3}},
        {"name": "clock", "arguments": {}},
    ]
    aimock.answer({"content": "Let me see.", "toolCalls": calls}, "Amber.")
    first = chat()
    assert first.text == "Let me see."
    assert [(call.name, call.arguments) for call in first.tool_calls] == [
        ("search", Record(query="bernstein", most=3)),
        ("clock", Record()),
    ]
    assert first.finish_reason == (
        "tool_calls" if asked.endpoint.provider == "openai" else "tool_use"
    )
    said = Message("assistant", first.text, tool_calls=first.tool_calls)
    answers = [Message("tool", "ok", tool_call_id=call.id) for call in first.tool_calls]
    assert chat(messages=(*HELLO, said, *answers)).text == "Amber."
    sent = aimock.requests()[1]["body"]["messages"]
    assert [each["role"] for each in sent] == ["system", "user", "assistant", "tool", "tool"]
    assert [each["tool_call_id"] for each in sent[3:]] == [call.id for call in first.tool_calls]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_would_fail_again_is_not_tried_again(
    aimock: AImock, chat: Callable[..., Reply], status: int
):
    aimock.answer("too late")
    aimock.fail(status, f"no, {KEY} will not do")
    with pytest.raises(EffectError) as caught:
        chat()
    assert f"HTTP {status}" in caught.value.diagnostic.what
    assert KEY not in str(caught.value)
    assert len(aimock.requests()) == 1


def test_a_fault_of_the_server_is_tried_again(aimock: AImock, chat: Callable[..., Reply]):
    aimock.answer("at last")
    aimock.fail(503)
    assert chat().text == "at last"
    assert [each["response"]["status"] for each in aimock.requests()] == [503, 200]


@pytest.mark.slow
def test_who_asks_too_often_waits_as_long_as_is_said(aimock: AImock, chat: Callable[..., Reply]):
    aimock.answer("at last")
    aimock.fail(429)
    began_s = time.monotonic()
    assert chat().text == "at last"
    assert time.monotonic() - began_s >= 1.0
    assert [each["response"]["status"] for each in aimock.requests()] == [429, 200]


def test_a_malformed_answer_is_an_error(aimock: AImock, asked: Courier):
    aimock.answer("never seen")
    aimock.chaos(malformedRate=1)
    with pytest.raises(EffectError) as caught:
        asked.chat(model_call(Model(provider="custom", name="m")))
    assert "the answer is not in the form of its API" in caught.value.diagnostic.what


@pytest.mark.slow
def test_a_server_that_hangs_up_is_asked_again_and_then_told(
    aimock: AImock, chat: Callable[..., Reply]
):
    aimock.answer("never seen")
    aimock.chaos(disconnectRate=1)
    with pytest.raises(EffectError) as caught:
        chat()
    assert "no connection to http://127.0.0.1" in caught.value.diagnostic.what
    assert len(aimock.requests()) == 3


def test_a_stream_that_breaks_off_is_asked_for_again(aimock: AImock, asked: Courier):
    aimock.answer(TEXT, "whole", truncateAfterChunks=2, chunkSize=4)
    heard = Heard()
    reply = asked.chat(heard.call())
    assert (reply.text, heard.text) == ("whole", "whole")
    assert len(aimock.requests()) == 2


def test_a_cancelled_call_ends_at_once(aimock: AImock, asked: Courier):
    aimock.answer("never seen")
    aimock.chaos(latencyMs=30_000)
    cancel = Cancellation()
    threading.Timer(0.1, cancel.cancel).start()
    began_s = time.monotonic()
    with pytest.raises(EffectError) as caught:
        asked.chat(model_call(Model(provider="custom", name="m"), cancel=cancel))
    assert "cancelled" in caught.value.diagnostic.what
    assert time.monotonic() - began_s < 10


def test_a_server_that_is_too_slow_is_told(aimock: AImock, chat: Callable[..., Reply]):
    aimock.answer("never seen")
    aimock.chaos(latencyMs=30_000)
    with pytest.raises(EffectError) as caught:
        chat(timeout_s=0.2)
    assert caught.value.diagnostic.code == "E003"
