"""Answers in pieces → the whole answer, whatever a server's pieces look like."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects.llm.anthropic_messages import AnthropicMessages
from lambdagent.effects.llm.openai_chat import OpenAIChat
from lambdagent.effects.messages import Courier, Endpoint
from lambdagent.effects.protocol import Reply
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.speech import Speech
from lambdagent.effects.streams import BrokenOffError, listen

CHAT = OpenAIChat(Endpoint(provider="custom", base_url="http://nobody.test/v1"))
MESSAGES = AnthropicMessages(Endpoint(provider="custom", base_url="http://nobody.test", key="k"))
DONE = "[DONE]"


class LostError(Exception):
    """As of the transport."""


class Response:
    """A response of the transport that breaks at its end, if `lost` says so."""

    def __init__(self, events: Iterable[Any], lost: Exception | None = None) -> None:
        self.headers = {"content-type": "text/event-stream"}
        self.events = events
        self.lost = lost

    async def aiter_bytes(self):
        for each in self.events:
            said = each if isinstance(each, str) else json.dumps(each)
            yield f"data: {said}\n\n".encode()
        if self.lost is not None:
            raise self.lost


async def told(courier: Courier, response: Response) -> Reply:
    """Return the reply; what listeners are told is its text."""
    heard: list[str] = []
    speech = Speech(lambda text, _: heard.append(text), Redaction({}))
    body = await listen(response, courier.dictation(), speech)
    reply = courier.reply(json.loads(body))
    assert "".join(heard) == reply.text
    return reply


def chunk(delta: object, reason: str | None = None, **more: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


def calls(*pieces: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(pieces)})


STOP = chunk({}, "tool_calls")
FULL = st.tuples(st.integers(0, 99), st.text(max_size=9))


@given(st.lists(FULL, min_size=1, max_size=4), st.data())
async def test_tool_calls_are_put_together(made: list[tuple[int, str]], data: st.DataObject):
    """With an index each, all with the same, or with none; with ids once or in each piece."""
    index = data.draw(st.sampled_from(["own", "same", "none", "null"]))
    repeats_id = data.draw(st.booleans())
    together = data.draw(st.booleans())
    rows: list[list[dict[str, Any]]] = []
    for number, (value, text) in enumerate(made):
        arguments = json.dumps({"n": value, "t": text})
        cut = data.draw(st.integers(0, len(arguments)))
        place = {
            "own": {"index": number},
            "same": {"index": 0},
            "none": {},
            "null": {"index": None},
        }
        key = {"id": f"c{number}"}
        first = {**place[index], **key, "function": {"name": "f", "arguments": arguments[:cut]}}
        more = {**place[index], "function": {"arguments": arguments[cut:]}}
        rows.append([first, {**more, **(key if repeats_id else {})}])
    if index == "own" and data.draw(st.booleans()):  # out of order, and in turns
        rows = [[row[0] for row in rows[::-1]], [row[1] for row in rows]]
    events = [calls(*row) for row in rows] if together else [calls(p) for row in rows for p in row]
    reply = await told(CHAT, Response([*events, STOP, DONE]))
    assert [(c.id, c.name, dict(c.arguments)) for c in reply.tool_calls] == [  # type: ignore[call-overload]
        (f"c{number}", "f", {"n": value, "t": text}) for number, (value, text) in enumerate(made)
    ]


async def test_a_call_keeps_its_id_where_each_piece_brings_another():
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}},
        {"index": 0, "id": "b", "function": {"name": None, "arguments": "}"}},
    ]
    reply = await told(CHAT, Response([calls(pieces[0]), calls(pieces[1]), STOP]))
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [("f", {})]


async def test_a_name_in_each_piece_is_one_call():
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": each}} for each in "{}"
    ]
    reply = await told(CHAT, Response([*map(calls, pieces), STOP]))
    assert [(c.id, c.arguments) for c in reply.tool_calls] == [("a", {})]


async def test_calls_without_ids_and_places_begin_with_their_names():
    pieces = [{"function": {"name": n, "arguments": a}} for n in "fg" for a in ("{}",)]
    reply = await told(CHAT, Response([calls(*pieces), STOP]))
    assert [c.name for c in reply.tool_calls] == ["f", "g"]


async def test_the_first_of_several_choices_is_the_answer():
    other = {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "length"}]}
    events = [other, chunk({"content": "a"}), other, chunk({}, "stop"), other, DONE]
    assert await told(CHAT, Response(events)) == Reply("a", "stop")


async def test_a_stream_that_says_that_it_is_done_is_whole():
    assert await told(CHAT, Response([chunk({"content": "a"}), DONE])) == Reply("a")


START = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
TEXT = {"type": "text", "text": "a"}
BEGIN = {"type": "content_block_start", "index": 0, "content_block": TEXT}
DELTA = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
ENDED = {"type": "message_stop"}
WHOLE = {
    "chat": (CHAT, [chunk({"content": "a"}), chunk({}, "stop")], DONE),
    "messages": (MESSAGES, [START, BEGIN, DELTA], ENDED),
}


@pytest.mark.parametrize("api", WHOLE)
async def test_a_connection_that_breaks_when_all_was_said_takes_nothing_away(api: str):
    courier, events, _ = WHOLE[api]
    assert (await told(courier, Response(events, LostError("reset")))).text == "a"
    with pytest.raises(BrokenOffError, match="reset"):
        await told(courier, Response(events[:-1], LostError("reset")))


@pytest.mark.parametrize("api", WHOLE)
async def test_nothing_is_waited_for_behind_the_end(api: str):
    courier, events, end = WHOLE[api]
    behind = [{"error": "late"}, "no JSON"]
    assert (await told(courier, Response([*events, end, *behind], LostError()))).text == "a"


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        ({"error": {"message": "m", "type": "overloaded_error"}}, 529, "m"),
        ({"error": {"message": "m", "code": 429}}, 429, "m"),
        ({"error": {"type": "server_error"}}, 500, "server_error"),
        ({"error": {"message": "m", "code": "of their own"}}, None, "m"),
        ({"error": "m"}, None, "m"),
        ({"type": "error", "error": {"type": "authentication_error", "message": "m"}}, 401, "m"),
        ({"error": {"code": 7}}, None, "7"),
    ],
)
async def test_an_error_in_a_stream_has_the_status_that_it_would_have_had(
    error: dict[str, Any], status: int | None, said: str
):
    for courier in (CHAT, MESSAGES):
        with pytest.raises(BrokenOffError) as caught:
            await told(courier, Response([error]))
        assert (caught.value.status_code, str(caught.value)) == (status, said)


USAGES = [
    ({}, None),
    ({"total_tokens": 9}, None),
    ({"prompt_tokens": 9, "input_tokens": 9}, None),
    (
        {"prompt_tokens": 3.0, "completion_tokens": 1, "input_tokens": 3, "output_tokens": 1.0},
        (3, 1),
    ),
]


@pytest.mark.parametrize(("usage", "expected"), USAGES)
def test_tokens_that_are_not_told_are_not_known(usage: dict, expected: tuple | None):
    """They are no 0, which would let a run go beyond its budget."""
    message = {"message": {"content": "a"}, "finish_reason": "stop"}
    block = {"type": "text", "text": "a"}
    for reply in (
        CHAT.reply({"choices": [message], "usage": usage}),
        MESSAGES.reply({"content": [block], "stop_reason": "end_turn", "usage": usage}),
    ):
        found = reply.usage and (reply.usage.input, reply.usage.output)
        assert found == expected
