import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects.llm import make_provider
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Endpoint
from lambdagent.effects.protocol import Message, Reply, ToolCall, ToolSpec, Usage
from lambdagent.effects.replies import OutOfFormError
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from tests.effects.calls import HELLO, model_call
from tests.effects.llm.completions import FINE, KEY, MODEL, PLAIN, completion, failure, says
from tests.effects.local_server import Answer, LocalServer
from tests.mock_server import MockLLM


@pytest.fixture
def mocked(mock_llm: MockLLM) -> Iterator[OpenAIChat]:
    provider = OpenAIChat(Endpoint(provider="custom", base_url=mock_llm.openai, max_retries=0))
    yield provider
    provider.close()


# --- a server by others --------------------------------------------------------------------------


def test_a_real_server_answers_and_counts(mocked: OpenAIChat, mock_llm: MockLLM):
    mock_llm.reply("Good day.")
    reply = mocked.chat(model_call(PLAIN))
    assert (reply.text, reply.finish_reason) == ("Good day.", "stop")
    assert reply.usage is not None
    assert reply.usage.input > 0
    assert reply.usage.output > 0
    assert mock_llm.requests()[0]["body"]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]


async def test_the_asynchronous_face_does_the_same(mocked: OpenAIChat, mock_llm: MockLLM):
    mock_llm.reply("one", "two")
    assert (await mocked.achat(model_call(PLAIN))).text == "one"
    assert (await asyncio.to_thread(mocked.chat, model_call(PLAIN))).text == "two"


def test_a_real_server_calls_a_tool(mocked: OpenAIChat, mock_llm: MockLLM):
    mock_llm.call_tool("search", {"query": "amber"})
    reply = mocked.chat(model_call(PLAIN))
    assert (reply.text, reply.finish_reason) == ("", "tool_calls")
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [("search", Record(query="amber"))]


def test_http_500_is_an_error_with_what_where_and_how(mocked: OpenAIChat, mock_llm: MockLLM):
    mock_llm.fail(500)
    with pytest.raises(EffectError) as caught:
        mocked.chat(model_call(PLAIN))
    found = caught.value.diagnostic
    assert found.code == "E002"
    assert "`custom` failed: HTTP 500" in found.what
    assert (found.why, found.fix) == ("site `llm:writer`", "try again later")
    assert caught.value.__cause__ is not None


@pytest.mark.slow
def test_a_failure_that_passes_is_tried_again(mock_llm: MockLLM):
    mock_llm.fail(500, times=1)
    mock_llm.reply("at last")
    provider = OpenAIChat(Endpoint(provider="custom", base_url=mock_llm.openai))
    assert provider.chat(model_call(PLAIN)).text == "at last"
    assert [each["status"] for each in mock_llm.requests()] == [500, 200]
    provider.close()


def test_the_time_limit_ends_the_wait(mocked: OpenAIChat, mock_llm: MockLLM):
    mock_llm.delay(600)
    with pytest.raises(EffectError, match=r"no answer within 0\.1 s") as caught:
        mocked.chat(model_call(PLAIN, timeout_s=0.1))
    assert caught.value.diagnostic.code == "E003"
    assert caught.value.diagnostic.fix == "raise `model.timeout`"


# --- requests, field by field --------------------------------------------------------------------


def test_every_setting_reaches_the_request(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(FINE)
    assert chat.chat(model_call(MODEL)) == Reply("fine", "stop")
    (asked,) = local_server.asked
    assert asked.path == "/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "demo-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
        ],
        "temperature": 0.7,
        "top_p": 0.9,
        "max_tokens": 100,
        "stop": ["END", "STOP"],
    }


def test_settings_that_nobody_made_are_left_to_the_provider(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(FINE)
    chat.chat(model_call(Model(provider="custom", name="m", temperature=None, max_tokens=None)))
    assert set(local_server.asked[0].body) == {"model", "messages"}


def test_tool_calls_and_their_answers_go_out(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(FINE)
    calls = (ToolCall("c1", "search", Record(query="amber")), ToolCall("c2", "raw", "{oops"))
    messages = (*HELLO, Message("assistant", "", calls), Message("tool", "found", (), "c1"))
    chat.chat(model_call(MODEL, messages))
    assert local_server.asked[0].body["messages"][2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"query": "amber"}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "raw", "arguments": '{"input": "{oops"}'},
                },
            ],
        },
        {"role": "tool", "content": "found", "tool_call_id": "c1"},
    ]


def test_openai_itself_gets_the_new_name_of_the_token_limit():
    provider = OpenAIChat(
        Endpoint(provider="openai", base_url="https://api.openai.com/v1", key=KEY)
    )
    body = provider.request(MODEL, HELLO, (), frozenset())
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 100
    assert KEY not in repr(provider.endpoint)


@pytest.mark.parametrize("of_the_process", [False, True])
@pytest.mark.parametrize("provider", ["deepseek", "openai"])
def test_settings_of_openai_in_the_environment_stay_away_from_others(
    local_server: LocalServer,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    of_the_process: bool,
):
    """And those of the process from runs that have an environment of their own."""
    environment = {
        f"{provider.upper()}_API_KEY": KEY,
        "OPENAI_ORG_ID": "org-1",
        "OPENAI_PROJECT_ID": "proj-1",
        "OPENAI_CUSTOM_HEADERS": "X-Secret: hush\nAuthorization: Bearer hush",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, f"not-{value}" if of_the_process else value)
    model = attrs.evolve(MODEL, provider=provider, base_url=local_server.url)
    chat = make_provider(model, environment)
    local_server.answer(FINE)
    chat.chat(model_call(MODEL))
    chat.close()
    assert "not-" not in str(local_server.asked[0].headers)
    headers = local_server.asked[0].headers
    own = {"openai-organization", "openai-project", "x-secret"} & set(headers)
    assert len(own) == (3 if provider == "openai" else 0)
    assert provider == "openai" or "hush" not in str(headers)


# --- answers -------------------------------------------------------------------------------------


def test_null_content_with_a_tool_call_and_no_usage(chat: OpenAIChat, local_server: LocalServer):
    function = {"name": "search", "arguments": '{"query": "amber"}'}
    call = {"id": "c1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    local_server.answer(
        {"choices": [{"message": message, "finish_reason": "tool_calls"}]},
    )
    expected = ToolCall("c1", "search", Record(query="amber"))
    assert chat.chat(model_call(MODEL)) == Reply("", "tool_calls", (expected,))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", Record()),
        ("{oops", "{oops"),
        ("[1]", (1,)),
        (None, Record()),
        ('{"a": "b\nc"}', Record(a="b\nc")),
        ('{"a": 1e999}', '{"a": 1e999}'),
        ('{"a": NaN}', '{"a": NaN}'),
        ("{}{}", "{}{}"),
    ],
)
def test_arguments_of_a_tool_call_are_data_or_raw_text(
    chat: OpenAIChat, local_server: LocalServer, arguments: object, expected: object
):
    call = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    local_server.answer(completion(message))
    assert chat.chat(model_call(MODEL)).tool_calls[0].arguments == expected


def test_content_as_a_list_of_parts(chat: OpenAIChat, local_server: LocalServer):
    parts = [{"type": "text", "text": "Part one. "}, {"type": "text", "text": "Part two."}]
    local_server.answer(completion({"role": "assistant", "content": parts}, usage=None))
    assert chat.chat(model_call(MODEL)) == Reply("Part one. Part two.", "stop")


def test_usage_comes_back(chat: OpenAIChat, local_server: LocalServer):
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    local_server.answer({**says("a"), "usage": usage})
    assert chat.chat(model_call(MODEL)).usage == Usage(9, 1)


@pytest.mark.parametrize(("told", "cached"), [({}, 0), ({"cached_tokens": 4}, 4), (None, 0)])
def test_tokens_from_the_cache_are_told(
    chat: OpenAIChat, local_server: LocalServer, told: object, cached: int
):
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": told}
    local_server.answer({**says("a"), "usage": usage})
    assert chat.chat(model_call(MODEL)).usage == Usage(9, 1, cached)


@pytest.mark.parametrize(
    ("url", "name", "usd"),
    [
        ("https://api.openai.com/v1", "gpt-4o", 9 * 2.5e-6 + 10e-6),
        ("https://proxy.test/v1", "gpt-4o", None),
        ("https://api.openai.com/v1", "gpt-unheard-of", None),
    ],
)
def test_a_call_is_priced_where_its_price_is_known(
    monkeypatch: pytest.MonkeyPatch, url: str, name: str, usd: float | None
):
    async def read() -> bytes:
        usage = {"prompt_tokens": 9, "completion_tokens": 1}
        return json.dumps({**says("a"), "usage": usage}).encode()

    @asynccontextmanager
    async def send(*_: object) -> AsyncIterator[object]:
        yield SimpleNamespace(http_response=SimpleNamespace(aread=read))

    monkeypatch.setattr(OpenAIChat, "send", send)
    provider = OpenAIChat(Endpoint(provider="openai", base_url=url, key="k"))
    usage = provider.chat(model_call(attrs.evolve(MODEL, name=name))).usage
    provider.close()
    assert usage is not None
    assert usage.usd == pytest.approx(usd)


def test_a_refusal_is_the_answer(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(completion({"role": "assistant", "content": None, "refusal": "No."}))
    assert chat.chat(model_call(MODEL)).text == "No."


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choices": []},
        {"choices": [None]},
        {"choices": "abc"},
        {"choices": {"0": 1}},
        {"choices": ["abc"]},
        {"choices": [{}]},
        {"choices": [{"message": "hello"}]},
        {"choices": [{"message": {}, "finish_reason": "stop"}]},
        {**says("a"), "usage": "many"},
        {**says("a"), "usage": [1]},
        {**says("a"), "usage": {"prompt_tokens": "9", "completion_tokens": 1}},
        {**says("a"), "usage": {"prompt_tokens": -9, "completion_tokens": 1}},
        says(42),
        says(0),
        says({"text": "a"}),
        says([None]),
        says([42]),
        says([{"type": "text"}]),
        says([{"type": ["text"], "text": "a"}]),
        says([["a"]]),
        {"choices": [{"message": {"content": "a"}, "finish_reason": {"stop": 1}}]},
        completion({"content": None, "tool_calls": [{"id": "c", "type": "custom", "custom": {}}]}),
        completion({"content": None, "tool_calls": "abc"}),
        completion({"content": None, "tool_calls": [{"function": {"name": 3}}]}),
        Answer(b"[" * 100_000),
        Answer(b'{"choices": ' + b"[" * 100_000),
        Answer(b"9" * 5_000),
        Answer(b"\xff\xfe{"),
        {"choices": None, "error": "later"},
        completion(None),
        Answer(b"<html>", content_type="text/html"),
        Answer(b'{"choices": ['),
        Answer(b"null"),
        Answer(b"[1]"),
    ],
)
def test_an_answer_out_of_form_is_an_error(
    chat: OpenAIChat, local_server: LocalServer, answer: object
):
    local_server.answer(answer)
    error = failure(chat)
    assert error.diagnostic.code == "E002"
    assert "baseUrl" in error.diagnostic.fix


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "content",
                    "type",
                    "text",
                    "tool_calls",
                    "function",
                    "usage",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def unsent() -> OpenAIChat:
    return OpenAIChat(Endpoint(provider="custom", base_url="http://127.0.0.1:9"))


@given(JSON_VALUES)
def test_any_answer_is_a_reply_or_an_error(unsent: OpenAIChat, answer: object):
    for whole in (answer, {"choices": answer}, completion(answer), says(answer)):
        with suppress(OutOfFormError):
            assert isinstance(unsent._understood(json.dumps(whole).encode()), Reply)


@pytest.mark.parametrize("content", [None, "", []])
@pytest.mark.parametrize(
    ("reason", "fix"),
    [("length", "maxTokens"), ("content_filter", "prompt"), ("insufficient_resource", "")],
)
def test_an_answer_that_never_came_about_is_an_error(
    chat: OpenAIChat, local_server: LocalServer, content: object, reason: str, fix: str
):
    message = {"role": "assistant", "content": content}
    local_server.answer({"choices": [{"message": message, "finish_reason": reason}]})
    found = failure(chat).diagnostic
    assert (found.code, reason in found.what, fix in found.fix) == ("E002", True, True)


def test_a_text_that_was_cut_off_and_an_empty_one_are_answers(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(
        {"choices": [{"message": {"content": "half"}, "finish_reason": "length"}]},
        says(""),
        says(None),
        {"choices": [{"message": {"content": ""}}]},
    )
    replies = [chat.chat(model_call(MODEL)) for _ in range(4)]
    assert replies == [Reply("half", "length"), Reply("", "stop"), Reply("", "stop"), Reply("")]


def test_an_error_with_http_200_is_an_error_with_its_reason(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer({"error": {"message": f"out of credit for {KEY}"}})
    assert "out of credit for …" in failure(chat).diagnostic.what


def test_a_text_that_is_no_unicode_is_an_error(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(FINE)
    with suppress(EffectError):  # whether the SDK sends it or not
        assert chat.chat(model_call(MODEL, (Message("user", "\ud800"),))).text == "fine"


def test_a_model_without_tool_calls_is_told_how_to_go_on(
    chat: OpenAIChat, local_server: LocalServer
):
    message = {"error": {"message": "registry/m does not support tools"}}
    local_server.answer(Answer(message, status=400))
    call = model_call(MODEL)
    call.tools = (ToolSpec("look", "Look.", Record(type="object")),)
    with pytest.raises(EffectError) as caught:
        chat.chat(call)
    assert "model.toolCalling: text" in str(caught.value)
    offered = {"name": "look", "description": "Look.", "parameters": {"type": "object"}}
    assert local_server.asked[0].body["tools"] == [{"type": "function", "function": offered}]
