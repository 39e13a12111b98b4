import asyncio
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Endpoint, text_of
from lambdagent.effects.protocol import Cancellation, Message, Reply, ToolCall, Usage
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.surface import Model
from tests.effects.calls import HELLO, model_call
from tests.effects.local_server import Answer, LocalServer
from tests.mock_server import MockLLM

KEY = "sk-demo-secret"
MODEL = Model(
    provider="custom",
    name="demo-1",
    temperature=0.7,
    top_p=0.9,
    max_tokens=100,
    stop_sequences=("END", "STOP"),
)
PLAIN = Model(provider="custom", name="demo-1", max_tokens=None)


def completion(message: object, **more: object) -> dict:
    return {"choices": [{"message": message, "finish_reason": "stop"}], **more}


def says(text: object) -> dict:
    return completion({"role": "assistant", "content": text})


FINE = says("fine")


@pytest.fixture
def chat(local_server: LocalServer) -> Iterator[OpenAIChat]:
    provider = OpenAIChat(
        Endpoint(
            provider="custom",
            base_url=local_server.url,
            key=KEY,
            variable="CUSTOM_API_KEY",
            max_retries=0,
        )
    )
    yield provider
    provider.close()


@pytest.fixture
def mocked(mock_llm: MockLLM) -> Iterator[OpenAIChat]:
    provider = OpenAIChat(Endpoint(provider="custom", base_url=mock_llm.openai, max_retries=0))
    yield provider
    provider.close()


def failure(provider: OpenAIChat, **options) -> EffectError:
    with pytest.raises(EffectError) as caught:
        provider.chat(model_call(MODEL, **options))
    assert KEY not in str(caught.value)
    return caught.value


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
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"query": "amber"}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "raw", "arguments": "{oops"},
                },
            ],
        },
        {"role": "tool", "content": "found", "tool_call_id": "c1"},
    ]


def test_openai_itself_gets_the_new_name_of_the_token_limit():
    provider = OpenAIChat(
        Endpoint(provider="openai", base_url="https://api.openai.com/v1", key=KEY)
    )
    body = provider.request(MODEL, HELLO, frozenset())
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 100
    assert KEY not in repr(provider.endpoint)


def refusal(message: str, param: str | None = None) -> Answer:
    return Answer({"error": {"message": message, "param": param}}, status=400)


def test_a_model_that_refuses_our_defaults_is_asked_without_them(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(
        refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refusal("Unsupported value: 'temperature' does not support 0.3 with this model."),
        FINE,
        FINE,
    )
    model = Model(provider="custom", name="o9", max_tokens=50)
    for _ in range(2):
        assert chat.chat(model_call(model)).text == "fine"
    bodies = [asked.body for asked in local_server.asked]
    assert len(bodies) == 4
    for body in bodies[2:]:
        assert set(body) == {"model", "messages", "max_completion_tokens"}


def test_a_temperature_that_somebody_asked_for_is_not_dropped(
    chat: OpenAIChat, local_server: LocalServer
):
    local_server.answer(refusal("Unsupported value: 'temperature'."))
    error = failure(chat)
    assert "HTTP 400: Unsupported value: 'temperature'." in error.diagnostic.what
    assert error.diagnostic.fix == "check the settings under `model:`"
    assert len(local_server.asked) == 1


def test_settings_of_openai_in_the_environment_stay_away_from_others(
    local_server: LocalServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    provider = OpenAIChat(Endpoint(provider="deepseek", base_url=local_server.url, key=KEY))
    local_server.answer(FINE)
    provider.chat(model_call(MODEL))
    provider.close()
    headers = local_server.asked[0].headers
    assert not {"openai-organization", "openai-project"} & set(headers)


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
    [("", Record()), ("{oops", "{oops"), ("[1]", (1,)), (None, Record())],
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


def test_a_refusal_is_the_answer(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(completion({"role": "assistant", "content": None, "refusal": "No."}))
    assert chat.chat(model_call(MODEL)).text == "No."


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choices": []},
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


# --- failures ------------------------------------------------------------------------------------


def test_a_wrong_key_is_not_tried_again_and_not_shown(local_server: LocalServer):
    provider = OpenAIChat(
        Endpoint(
            provider="openai",
            base_url=local_server.url,
            key=KEY,
            variable="OPENAI_API_KEY",
            max_retries=3,
        )
    )
    local_server.answer(Answer({"error": {"message": f"invalid api key {KEY}"}}, status=401))
    error = failure(provider)
    assert len(local_server.asked) == 1
    assert error.diagnostic.what == "`openai` failed: HTTP 401"
    assert error.diagnostic.fix == "check the key in `OPENAI_API_KEY`"
    provider.close()


@pytest.mark.parametrize(
    ("status", "body", "said", "fix"),
    [
        (404, {"error": {"message": "no model"}}, "HTTP 404: no model", "model.name"),
        (429, {"message": "slow down"}, "HTTP 429: slow down", "wait"),
        (418, {"error": "teapot"}, "HTTP 418: teapot", "settings"),
        (400, {"error": {"message": f"bad {KEY}"}}, "HTTP 400: bad …", "settings"),
        (503, b"<html>down</html>", "HTTP 503", "later"),
        (529, b"", "HTTP 529", "later"),
    ],
)
def test_a_status_is_told_with_the_servers_sentence(
    chat: OpenAIChat, local_server: LocalServer, status: int, body: object, said: str, fix: str
):
    local_server.answer(Answer(body, status=status))
    found = failure(chat).diagnostic
    assert found.what == f"`custom` failed: {said}"
    assert fix in found.fix


def test_a_server_that_is_not_there_is_an_error(local_server: LocalServer):
    url = local_server.url
    provider = OpenAIChat(Endpoint(provider="custom", base_url=url, max_retries=0))
    local_server.close()
    assert f"no connection to {url}" in failure(provider).diagnostic.what
    provider.close()


def test_an_answer_that_breaks_off_is_an_error(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(Answer(FINE, missing_bytes=100))
    assert "no connection" in failure(chat).diagnostic.what


# --- waiting -------------------------------------------------------------------------------------


def test_the_time_limit_is_for_the_whole_answer(chat: OpenAIChat, local_server: LocalServer):
    error = failure(chat, timeout_s=0.1)  # it drips: no single read takes long
    assert error.diagnostic.code == "E003"
    assert local_server.was_hung_up_on()


async def test_the_limit_holds_on_an_event_loop_too(chat: OpenAIChat, local_server: LocalServer):
    with pytest.raises(EffectError) as caught:
        await chat.achat(model_call(MODEL, timeout_s=0.1))
    assert caught.value.diagnostic.code == "E003"
    assert await asyncio.to_thread(local_server.was_hung_up_on)


def test_cancelling_closes_the_connection(chat: OpenAIChat, local_server: LocalServer):
    cancel = Cancellation()

    def cancel_when_it_drips() -> None:
        local_server.dripping.wait()
        cancel.cancel()

    threading.Thread(target=cancel_when_it_drips).start()
    assert "cancelled" in failure(chat, cancel=cancel).diagnostic.what
    assert local_server.was_hung_up_on()


async def test_both_ways_of_cancelling_work_on_an_event_loop(
    chat: OpenAIChat, local_server: LocalServer
):
    cancel = Cancellation()
    waiting = asyncio.create_task(chat.achat(model_call(MODEL, cancel=cancel)))
    await asyncio.to_thread(local_server.dripping.wait)
    cancel.cancel()
    with pytest.raises(EffectError, match="cancelled"):
        await waiting
    assert await asyncio.to_thread(local_server.was_hung_up_on)

    local_server.dripping.clear()
    local_server.hung_up.clear()
    waiting = asyncio.create_task(chat.achat(model_call(MODEL)))
    await asyncio.to_thread(local_server.dripping.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(local_server.was_hung_up_on)


def test_closing_ends_calls_under_way(chat: OpenAIChat, local_server: LocalServer):
    errors: list[EffectError] = []
    waiting = threading.Thread(target=lambda: errors.append(failure(chat)))
    waiting.start()
    local_server.dripping.wait()
    chat.close()
    waiting.join(20)
    assert len(errors) == 1
    assert local_server.was_hung_up_on()


def test_threads_and_loops_share_one_provider(chat: OpenAIChat, local_server: LocalServer):
    local_server.answer(*[FINE] * 24)
    texts: list[str] = []

    async def three() -> list[Reply]:
        return await asyncio.gather(*(chat.achat(model_call(MODEL)) for _ in range(3)))

    def branch() -> None:
        texts.extend(chat.chat(model_call(MODEL)).text for _ in range(3))
        texts.extend(reply.text for reply in asyncio.run(three()))

    branches = [threading.Thread(target=branch) for _ in range(4)]
    for each in branches:
        each.start()
    for each in branches:
        each.join(20)
    assert texts == ["fine"] * 24


@settings(max_examples=20)
@given(
    st.recursive(st.none() | st.text(max_size=3), lambda i: st.lists(i, max_size=3), max_leaves=6)
)
def test_text_of_any_content_is_the_text_of_its_parts(content):
    def flat(part) -> str:
        return "".join(map(flat, part)) if isinstance(part, list) else part or ""

    assert text_of(content) == flat(content)
    assert text_of([{"type": "text", "text": content}, {"type": "image"}, 3]) == (
        content if isinstance(content, str) else ""
    )
