import asyncio
from collections.abc import Iterator

import pytest

from lambdagent.effects.llm import make_provider
from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.messages import Endpoint
from lambdagent.effects.protocol import Message, Provider, Reply, ToolCall, Usage
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from tests.effects.calls import HELLO, model_call
from tests.effects.local_server import Answer, LocalServer
from tests.mock_server import MockLLM

KEY = "sk-ant-demo-secret"
MODEL = Model(
    provider="anthropic",
    name="claude-demo",
    temperature=0.7,
    top_p=0.9,
    max_tokens=100,
    stop_sequences=("END",),
)
DEFAULTS = Model(provider="anthropic", name="claude-demo")


def message(*blocks: dict, **more: object) -> dict:
    return {
        "type": "message",
        "role": "assistant",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 1},
        **more,
    }


def says(text: str) -> dict:
    return {"type": "text", "text": text}


FINE = message(says("fine"))


@pytest.fixture
def chat(local_server: LocalServer) -> Iterator[AnthropicMessages]:
    provider = AnthropicMessages(
        Endpoint(
            provider="anthropic",
            base_url=f"{local_server.url}/v1/",
            key=KEY,
            variable="ANTHROPIC_API_KEY",
            max_retries=0,
        )
    )
    yield provider
    provider.close()


@pytest.fixture
def mocked(mock_llm: MockLLM) -> Iterator[AnthropicMessages]:
    endpoint = Endpoint(provider="anthropic", base_url=mock_llm.anthropic, key=KEY, max_retries=0)
    provider = AnthropicMessages(endpoint)
    yield provider
    provider.close()


def sent(chat: AnthropicMessages, server: LocalServer, *messages: Message) -> dict:
    server.answer(FINE)
    chat.chat(model_call(MODEL, messages))
    body: dict = server.asked[-1].body
    return body


# --- a server by others --------------------------------------------------------------------------


def test_a_real_server_answers_and_counts(mocked: AnthropicMessages, mock_llm: MockLLM):
    mock_llm.reply("Good day.")
    reply = mocked.chat(model_call(DEFAULTS))
    assert (reply.text, reply.finish_reason) == ("Good day.", "end_turn")
    assert reply.usage is not None
    assert reply.usage.input > 0
    assert reply.usage.output > 0
    body = mock_llm.requests()[0]["body"]
    assert (body["system"], body["temperature"]) == ("Be brief.", 0.3)
    assert body["messages"] == [{"role": "user", "content": "Hello"}]


async def test_the_asynchronous_face_does_the_same(mocked: AnthropicMessages, mock_llm: MockLLM):
    mock_llm.reply("one", "two")
    assert (await mocked.achat(model_call(DEFAULTS))).text == "one"
    assert (await asyncio.to_thread(mocked.chat, model_call(DEFAULTS))).text == "two"


def test_a_real_server_calls_a_tool(mocked: AnthropicMessages, mock_llm: MockLLM):
    mock_llm.call_tool("search", {"query": "amber"})
    reply = mocked.chat(model_call(DEFAULTS))
    assert (reply.text, reply.finish_reason) == ("", "tool_use")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [("search", Record(query="amber"))]


@pytest.mark.parametrize("status", [500, 529])
def test_a_failure_is_an_error_with_what_where_and_how(
    mocked: AnthropicMessages, mock_llm: MockLLM, status: int
):
    mock_llm.fail(status)
    with pytest.raises(EffectError) as caught:
        mocked.chat(model_call(DEFAULTS))
    found = caught.value.diagnostic
    assert found.code == "E002"
    assert f"`anthropic` failed: HTTP {status}" in found.what
    assert (found.why, found.fix) == ("site `llm:writer`", "try again later")
    assert KEY not in str(caught.value)


def test_the_time_limit_ends_the_wait(mocked: AnthropicMessages, mock_llm: MockLLM):
    mock_llm.delay(600)
    with pytest.raises(EffectError, match=r"no answer within 0\.1 s") as caught:
        mocked.chat(model_call(DEFAULTS, timeout_s=0.1))
    assert caught.value.diagnostic.code == "E003"


# --- requests, field by field --------------------------------------------------------------------


def test_every_setting_reaches_the_request(chat: AnthropicMessages, local_server: LocalServer):
    assert sent(chat, local_server, *HELLO) == {
        "model": "claude-demo",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 100,
        "temperature": 0.7,
        "top_p": 0.9,
        "stop_sequences": ["END"],
    }
    (asked,) = local_server.asked
    assert asked.path == "/v1/messages"
    assert KEY in asked.headers["authorization"]
    assert asked.headers["anthropic-version"] == "2023-06-01"


def test_without_sampling_the_request_is_of_the_current_version(
    chat: AnthropicMessages, local_server: LocalServer
):
    local_server.answer(FINE)
    model = Model(provider="anthropic", name="m", temperature=None, max_tokens=None)
    chat.chat(model_call(model, (Message("user", "Hello"),)))
    (asked,) = local_server.asked
    assert asked.headers["anthropic-version"] > "2026"
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 4096,
    }


def test_system_messages_are_one_text_and_turns_of_one_role_are_joined(
    chat: AnthropicMessages, local_server: LocalServer
):
    body = sent(
        chat,
        local_server,
        Message("system", "A"),
        Message("user", "one"),
        Message("system", "B"),
        Message("assistant", ""),
        Message("user", "two"),
        Message("assistant", "three"),
        Message("user", "four"),
    )
    assert body["system"] == "A\n\nB"
    assert body["messages"] == [
        {"role": "user", "content": "one\n\ntwo"},
        {"role": "assistant", "content": "three"},
        {"role": "user", "content": "four"},
    ]


def test_tool_calls_and_their_answers_are_blocks(
    chat: AnthropicMessages, local_server: LocalServer
):
    calls = (ToolCall("c1", "search", Record(query="amber")), ToolCall("c2", "raw", "{oops"))
    body = sent(
        chat,
        local_server,
        Message("user", "Find it"),
        Message("assistant", "Let me see.", calls),
        Message("tool", "found", (), "c1"),
        Message("tool", "no", (), "c2"),
        Message("user", "And?"),
    )
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                says("Let me see."),
                {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "amber"}},
                {"type": "tool_use", "id": "c2", "name": "raw", "input": {"input": "{oops"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "found"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no"},
                says("And?"),
            ],
        },
    ]


def refusal(text: str) -> Answer:
    error = {"type": "invalid_request_error", "message": text}
    return Answer({"type": "error", "error": error}, status=400)


def test_a_model_that_refuses_our_default_temperature_is_asked_without_it(
    chat: AnthropicMessages, local_server: LocalServer
):
    local_server.answer(refusal("`temperature` is deprecated for this model."), FINE, FINE)
    for _ in range(2):
        assert chat.chat(model_call(DEFAULTS)).text == "fine"
    first, *later = local_server.asked
    assert first.body["temperature"] == 0.3
    assert len(later) == 2
    for asked in later:
        assert "temperature" not in asked.body
        assert asked.headers["anthropic-version"] > "2026"


def test_a_temperature_that_somebody_asked_for_is_not_dropped(
    chat: AnthropicMessages, local_server: LocalServer
):
    local_server.answer(refusal("`temperature` is deprecated for this model."))
    with pytest.raises(EffectError, match="`temperature` is deprecated"):
        chat.chat(model_call(MODEL))
    assert len(local_server.asked) == 1


# --- answers -------------------------------------------------------------------------------------


def test_usage_counts_what_the_cache_read_and_wrote(
    chat: AnthropicMessages, local_server: LocalServer
):
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 100,
    }
    local_server.answer(message(says("a"), usage=usage), message(says("a"), usage=None))
    assert chat.chat(model_call(MODEL)).usage == Usage(111, 2, cached=100)
    assert chat.chat(model_call(MODEL)).usage is None


def test_text_blocks_are_joined_and_other_blocks_are_not_text(
    chat: AnthropicMessages, local_server: LocalServer
):
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    local_server.answer(message(thought, says("a"), says("b"), stop_reason="max_tokens"))
    assert chat.chat(model_call(MODEL)) == Reply("ab", "max_tokens", (), Usage(9, 1))


@pytest.mark.parametrize("content", [None, "", []])
def test_an_empty_answer_is_an_empty_text(
    chat: AnthropicMessages, local_server: LocalServer, content: object
):
    local_server.answer(message(content=content))
    assert chat.chat(model_call(MODEL)).text == ""


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"stop_reason": "end_turn"},
        message(content=5),
        message(content={"type": "text", "text": "a"}),
        message(content=[None]),
        message(content=["a"]),
        message(content=[{"type": "text", "text": 5}]),
        message(content=[{"type": "tool_use", "input": {}}]),
        message(content=[{"type": "tool_use", "id": 3, "name": "t", "input": {}}]),
        message(says("a"), usage="many"),
        message(says("a"), usage={"input_tokens": "9", "output_tokens": 1}),
        message(says("a"), stop_reason=3),
        Answer(b"<html>", content_type="text/html"),
        Answer(b'{"content": ['),
        Answer(b"null"),
        Answer(b"[" * 100_000),
    ],
)
def test_an_answer_out_of_form_is_an_error(
    chat: AnthropicMessages, local_server: LocalServer, answer: object
):
    local_server.answer(answer)
    with pytest.raises(EffectError) as caught:
        chat.chat(model_call(MODEL))
    assert caught.value.diagnostic.code == "E002"


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "pause_turn"])
def test_an_answer_that_never_came_about_is_an_error(
    chat: AnthropicMessages, local_server: LocalServer, reason: str
):
    local_server.answer(message(stop_reason=reason))
    with pytest.raises(EffectError, match=reason) as caught:
        chat.chat(model_call(MODEL))
    assert caught.value.diagnostic.code == "E002"
    assert caught.value.diagnostic.fix


def test_an_error_with_http_200_is_an_error_with_its_reason(
    chat: AnthropicMessages, local_server: LocalServer
):
    local_server.answer({"type": "error", "error": {"message": "overloaded"}})
    with pytest.raises(EffectError, match="overloaded"):
        chat.chat(model_call(MODEL))


@pytest.mark.parametrize("provider", ["anthropic", "other"])
def test_headers_for_anthropic_in_the_environment_stay_away_from_others(
    local_server: LocalServer, monkeypatch: pytest.MonkeyPatch, provider: str
):
    headers = {"ANTHROPIC_CUSTOM_HEADERS": "X-Secret: hush"}
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Secret: another")
    model = Model(provider="anthropic", base_url=local_server.url)
    chat: Provider = AnthropicMessages(
        Endpoint(provider=provider, base_url=local_server.url, key=KEY)
    )
    if provider == "anthropic":
        chat = make_provider(model, {"ANTHROPIC_API_KEY": KEY, **headers})
    local_server.answer(FINE)
    chat.chat(model_call(MODEL))
    chat.close()
    assert "another" not in str(local_server.asked[0].headers)
    assert ("x-secret" in local_server.asked[0].headers) == (provider == "anthropic")


def test_a_wrong_key_is_not_shown(chat: AnthropicMessages, local_server: LocalServer):
    error = {"type": "authentication_error", "message": f"invalid x-api-key {KEY}"}
    local_server.answer(Answer({"type": "error", "error": error}, status=401))
    with pytest.raises(EffectError) as caught:
        chat.chat(model_call(MODEL))
    assert caught.value.diagnostic.fix == "check the key in `ANTHROPIC_API_KEY`"
    assert KEY not in str(caught.value)


def test_the_time_limit_is_for_the_whole_answer(
    chat: AnthropicMessages, local_server: LocalServer
):
    with pytest.raises(EffectError) as caught:
        chat.chat(model_call(MODEL, timeout_s=0.1))
    assert caught.value.diagnostic.code == "E003"
    assert local_server.was_hung_up_on()
