"""Replies that are told while they come: the same as those that come at once."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.llm.scripted import Scripted
from lambdagent.effects.messages import Courier, Endpoint
from lambdagent.effects.protocol import Reply
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.speech import Speech
from lambdagent.errors import EffectError
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from tests.effects.calls import model_call
from tests.effects.local_server import Answer, LocalServer
from tests.mock_server import MockLLM

PLAIN = Model(provider="custom", name="demo-1", max_tokens=None)


@attrs.frozen(eq=False)
class Heard:
    """What was told of one reply: texts with the numbers of their attempts."""

    told: list[tuple[str, int]] = attrs.field(factory=list)

    @property
    def text(self) -> str:
        """The text of the last attempt."""
        last = max((attempt for _, attempt in self.told), default=1)
        return "".join(text for text, attempt in self.told if attempt == last)

    def call(self, **options: Any) -> Any:
        call = model_call(PLAIN, **options)
        call.speech = Speech(
            lambda text, attempt: self.told.append((text, attempt)), Redaction({})
        )
        return call


@pytest.fixture
def mocked(kind: str, make: Callable[..., Courier], mock_llm: MockLLM) -> Courier:
    return make(getattr(mock_llm, kind))


# --- a server by others --------------------------------------------------------------------------


def test_what_is_told_is_the_reply_and_the_same_as_without(mocked: Courier, mock_llm: MockLLM):
    text = "Good day,  to   you.\n\n你好，世界 🌍!"
    mock_llm.reply(text, text)
    heard = Heard()
    reply = mocked.chat(heard.call())
    assert reply.text == heard.text == text
    assert len(heard.told) > 3
    assert reply == mocked.chat(model_call(PLAIN))
    assert reply.usage is not None
    streamed, whole = (each["body"].get("stream") for each in mock_llm.requests())
    assert (streamed, bool(whole)) == (True, False)


def test_tool_calls_come_in_pieces_too(mocked: Courier, mock_llm: MockLLM):
    for _ in range(2):
        mock_llm.call_tool("search", {"query": "amber and more of it", "most": 3})
    heard = Heard()
    reply = mocked.chat(heard.call())
    assert reply.tool_calls[0].arguments == Record(query="amber and more of it", most=3)
    whole = mocked.chat(model_call(PLAIN))
    plain = [attrs.evolve(each, tool_calls=()) for each in (reply, whole)]
    assert plain[0] == plain[1]
    calls = [[(c.name, c.arguments) for c in each.tool_calls] for each in (reply, whole)]
    assert calls[0] == calls[1]


async def test_the_asynchronous_face_tells_the_same(mocked: Courier, mock_llm: MockLLM):
    mock_llm.reply("one two three")
    heard = Heard()
    assert (await mocked.achat(heard.call())).text == heard.text == "one two three"


@pytest.mark.parametrize("fault", ["disconnect", "truncate", "malformed"])
def test_a_stream_that_breaks_off_is_a_failure(mocked: Courier, mock_llm: MockLLM, fault: str):
    mock_llm.script({"type": "stream_fault", "kind": fault, "after_chunks": 4})
    mock_llm.reply("one two three four five six")
    heard = Heard()
    with pytest.raises(EffectError) as caught:
        mocked.chat(heard.call())
    found = caught.value.diagnostic
    assert found.code == "E002"
    assert "`custom` failed: the answer broke off: " in found.what
    assert found.fix == "try again later"


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["disconnect", "truncate", "malformed"])
def test_a_stream_that_breaks_off_is_asked_for_again(
    kind: str, make: Callable[..., Courier], mock_llm: MockLLM, fault: str
):
    mock_llm.script({"type": "stream_fault", "kind": fault, "after_chunks": 4})
    mock_llm.reply("one two three", "four five six")
    heard = Heard()
    reply = make(getattr(mock_llm, kind), 1).chat(heard.call())
    assert reply.text == heard.text == "four five six"
    assert {attempt for _, attempt in heard.told} == {1, 2}
    assert len(mock_llm.requests()) == 2


def test_a_stream_that_stalls_runs_out_of_time(mocked: Courier, mock_llm: MockLLM):
    mock_llm.script({"type": "stream_fault", "kind": "stall", "after_chunks": 4})
    mock_llm.reply("one two three four five six")
    with pytest.raises(EffectError) as caught:
        mocked.chat(Heard().call(timeout_s=0.3))
    assert caught.value.diagnostic.code == "E003"


# --- servers of our own --------------------------------------------------------------------------


def lines(*events: Any) -> bytes:
    named = (
        f"event: {e['type']}\n" if isinstance(e, dict) and "type" in e else "" for e in events
    )
    data = (each if isinstance(each, str) else json.dumps(each) for each in events)
    return "".join(f"{n}data: {d}\n\n" for n, d in zip(named, data, strict=True)).encode()


def chunk(delta: object, reason: str | None = None, **more: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def streams(*events: Any, **more: Any) -> Answer:
    return Answer(lines(*events), content_type="text/event-stream; charset=utf-8", **more)


@pytest.fixture
def local(local_server: LocalServer) -> Iterator[OpenAIChat]:
    endpoint = Endpoint(provider="custom", base_url=local_server.url, key="k", max_retries=0)
    provider = OpenAIChat(endpoint)
    yield provider
    provider.close()


def test_a_server_that_cannot_stream_answers_as_ever(local: OpenAIChat, local_server: LocalServer):
    whole = {"choices": [{"message": {"content": "all at once"}, "finish_reason": "stop"}]}
    local_server.answer(whole)
    heard = Heard()
    reply = local.chat(heard.call())
    assert reply == Reply("all at once", "stop")
    assert local_server.asked[0].body["stream"] is True


def test_a_page_of_the_web_is_no_stream(local: OpenAIChat, local_server: LocalServer):
    local_server.answer(Answer(b"<html>Welcome</html>", content_type="text/html"))
    with pytest.raises(EffectError, match="not in the form of its API"):
        local.chat(Heard().call())


def test_a_stream_of_another_name_is_one(local: OpenAIChat, local_server: LocalServer):
    answer = streams(chunk({"content": "fine"}, "stop"))
    local_server.answer(attrs.evolve(answer, content_type="text/plain"))
    assert local.chat(Heard().call()).text == "fine"


@pytest.mark.parametrize("name", ["stream", "stream_options"])
def test_a_server_that_refuses_is_asked_without(
    local: OpenAIChat, local_server: LocalServer, name: str
):
    refusal = {"error": {"message": f"Unsupported parameter: '{name}'"}}
    local_server.answer(Answer(refusal, status=400))
    if name == "stream":
        whole = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}
        local_server.answer(whole)
    else:
        local_server.answer(streams(chunk({"content": "fine"}, "stop"), "[DONE]"))
    assert local.chat(Heard().call()).text == "fine"
    first, second = (each.body for each in local_server.asked)
    assert name in first
    assert name not in second


def test_chunks_may_be_odd(local: OpenAIChat, local_server: LocalServer):
    first = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": ""}}
    local_server.answer(
        streams(
            {"choices": [], "usage": None},
            chunk({"role": "assistant", "content": None}),
            chunk({"content": "Let "}),
            {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
            chunk({"content": [{"type": "text", "text": "me see"}]}),
            chunk({"reasoning_content": "a thought"}),
            chunk({"tool_calls": [first]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"q"'}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}),
            chunk({"tool_calls": [{"id": "c2", "index": 1, "function": {"name": "hear"}}]}),
            chunk({}, "tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
            "[DONE]",
        )
    )
    heard = Heard()
    reply = local.chat(heard.call())
    assert reply.text == heard.text == "Let me see"
    assert reply.finish_reason == "tool_calls"
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [
        ("c1", "look", Record(q=1)),
        ("c2", "hear", Record()),
    ]
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (7, 2)


def test_a_refusal_is_told(local: OpenAIChat, local_server: LocalServer):
    local_server.answer(streams(chunk({"refusal": "I will "}), chunk({"refusal": "not."}, "stop")))
    heard = Heard()
    assert local.chat(heard.call()).text == heard.text == "I will not."


@pytest.mark.parametrize(
    "events",
    [
        [chunk({"content": "so far"})],
        [chunk({"content": "so far"}), {"error": {"message": "overloaded"}}],
        [chunk({"content": "so far"}), "{broken"],
        [chunk({"content": "so far"}), [1]],
        [chunk({"content": "so far"}), {"choices": {"0": 1}}],
        [chunk({"tool_calls": "abc"}), chunk({}, "stop")],
        [chunk({"tool_calls": [{"index": 0, "function": "x"}]}), chunk({}, "stop")],
    ],
)
def test_what_is_no_whole_answer_is_a_failure(
    local: OpenAIChat, local_server: LocalServer, events: list[Any]
):
    local_server.answer(streams(*events))
    with pytest.raises(EffectError, match="the answer broke off"):
        local.chat(Heard().call())


def test_the_key_is_in_no_message(local: OpenAIChat, local_server: LocalServer):
    secret = "sk-made-up-and-long"
    provider = OpenAIChat(
        Endpoint(provider="custom", base_url=local_server.url, key=secret, max_retries=0)
    )
    local_server.answer(streams({"error": {"message": f"bad key {secret}"}}))
    with pytest.raises(EffectError, match="bad key …") as caught:
        provider.chat(Heard().call())
    assert secret not in str(caught.value)
    provider.close()


def test_a_message_of_several_blocks(local_server: LocalServer):
    provider = AnthropicMessages(
        Endpoint(provider="custom", base_url=local_server.url, key="k", max_retries=0)
    )
    usage = {"input_tokens": 5, "output_tokens": 1}
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    tool = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    start = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "demo"}
    delta = "content_block_delta"
    local_server.answer(
        streams(
            {"type": "message_start", "message": {**start, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": thinking},
            {"type": delta, "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "content_block_start",
                "index": 1,
                "content_block": {"type": "text", "text": "I "},
            },
            {"type": "ping"},
            {"type": delta, "index": 1, "delta": {"type": "text_delta", "text": "look"}},
            {"type": "content_block_start", "index": 2, "content_block": tool},
            {
                "type": delta,
                "index": 2,
                "delta": {"type": "input_json_delta", "partial_json": '{"q": '},
            },
            {
                "type": delta,
                "index": 2,
                "delta": {"type": "input_json_delta", "partial_json": "1}"},
            },
            {"type": "content_block_start", "index": 3, "content_block": {**tool, "id": "t2"}},
            {
                "type": delta,
                "index": 3,
                "delta": {"type": "input_json_delta", "partial_json": "{"},
            },
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use"},
                "usage": {"output_tokens": 9},
            },
            {"type": "message_stop"},
        )
    )
    heard = Heard()
    reply = provider.chat(heard.call())
    provider.close()
    assert reply.text == heard.text == "I look"
    assert reply.finish_reason == "tool_use"
    assert [(c.id, c.arguments) for c in reply.tool_calls] == [("t1", Record(q=1)), ("t2", "{")]
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (5, 9)


def test_who_stops_waiting_closes_the_connection(local_server: LocalServer):
    local_server.drips = lines(chunk({"content": "again "}))
    provider = OpenAIChat(Endpoint(provider="custom", base_url=local_server.url, key="k"))
    heard = Heard()
    call = heard.call()
    call.speech = Speech(lambda *_: call.cancel.cancel(), Redaction({}))
    with pytest.raises(EffectError, match="the call was cancelled"):
        provider.chat(call)
    assert local_server.was_hung_up_on()
    provider.close()


# --- scripts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one two  three\n", ["one", " two", "  three", "\n"]),
        ("你好 world。", ["你", "好", " world", "。"]),
        ("", []),
        ("  ", ["  "]),
    ],
)
def test_a_script_is_told_word_by_word(text: str, words: list[str]):
    heard = Heard()
    assert Scripted([text]).chat(heard.call()).text == text
    assert heard.told == [(word, 1) for word in words]
