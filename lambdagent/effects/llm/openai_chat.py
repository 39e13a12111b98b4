"""Model calls over OpenAI's Chat Completions API, which many providers and servers speak.

In go messages and settings, out comes a `Reply`. Works with the SDK ``openai`` 3.

Source: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from operator import itemgetter
from typing import Any
from urllib.parse import urlsplit

from lambdagent.effects.messages import Courier, Endpoint, is_default_temperature
from lambdagent.effects.protocol import Message, Reply, ToolCall, ToolSpec, Usage, as_data
from lambdagent.effects.rate_limits import RateLimit
from lambdagent.effects.replies import OutOfFormError, count, has_counts, reply_of, text_of
from lambdagent.effects.streams import BrokenOffError, Dictation
from lambdagent.effects.wire_names import sent_arguments
from lambdagent.ir.data import Data, thaw
from lambdagent.ir.loose_json import STRICT
from lambdagent.ir.model import Model
from lambdagent.messages import phrase

_OFFICIAL_HOST = "api.openai.com"
_SAID = {"content", "refusal", "tool_calls"}
# Not OpenAI's; see `wants_reasoning` for whose it is.
_REASONING = "reasoning_content"
_NO_KEY = "none"  # the SDK insists on one
_PATH = "/chat/completions"
# What `with_streaming_response` of the SDK sends: the answer is returned before it is read.
_UNREAD = {"X-Stainless-Raw-Response": "stream"}


# Note [The two names of the token limit]
# OpenAI replaced `max_tokens` by `max_completion_tokens`, which its newer models demand; most
# compatible servers know the former only, and ignore the latter. So OpenAI's own host gets the new
# name, everyone else the old one, and a server that refuses one by name gets the other.


class OpenAIChat(Courier):
    """Any server that speaks Chat Completions. See Note [The two names of the token limit]."""

    def __init__(self, endpoint: Endpoint, rate: RateLimit | None = None) -> None:
        """Build the SDK's client; nothing is sent yet."""
        super().__init__(endpoint, rate)
        import openai

        self.failures = (openai.APIError,)
        official = urlsplit(endpoint.base_url).hostname == _OFFICIAL_HOST
        names = ("max_tokens", "max_completion_tokens")
        self._limit, self._other_limit = reversed(names) if official else names
        self._line()

    def path(self, base: str) -> str:
        """Return the path of completions."""
        return base + _PATH

    def connect(self) -> Any:
        """Return a client that takes nothing from the environment by itself."""
        import openai

        from lambdagent.effects.connections import http_client

        client = openai.AsyncOpenAI(
            api_key=self.endpoint.key or _NO_KEY,
            base_url=self.endpoint.address,
            default_query=self.endpoint.query,
            max_retries=0,  # see `effects.attempts`
            http_client=http_client(openai.DefaultAsyncHttpxClient, self.endpoint),
        )
        client.organization = client.project = None
        client._custom_headers = dict(self.endpoint.headers)  # noqa: SLF001 - no other way
        return client

    def request(
        self,
        model: Model,
        messages: tuple[Message, ...],
        tools: tuple[ToolSpec, ...],
        refused: frozenset[str],
    ) -> dict[str, Any]:
        """Return the body of the request."""
        limit = self._other_limit if self._limit in refused else self._limit
        settings = {
            "temperature": None if "temperature" in refused else model.temperature,
            "top_p": model.top_p,
            limit: model.max_tokens,
            "stop": list(model.stop_sequences) or None,
            "tools": [_tool(tool) for tool in tools] or None,
        }
        return {
            "model": model.name,
            "messages": [_message(message) for message in messages],
            **{name: value for name, value in settings.items() if value is not None},
        }

    @asynccontextmanager
    async def send(
        self, client: Any, request: dict[str, Any], timeout_s: float
    ) -> AsyncIterator[Any]:
        """Send `request` as it is, yield the completion, and close it.

        `create` of the SDK would look in each message for names to translate, of which there are
        none: that took 33 ms of CPU for 200 messages, all else 0.5 ms.
        """
        body = dict(request)
        headers = {**body.pop("extra_headers", {}), **_UNREAD}
        options = {"timeout": timeout_s, "headers": headers}
        answer = await client.post(_PATH, cast_to=object, body=body, options=options)
        try:
            yield answer
        finally:
            await answer.close()

    def streaming(self, refused: frozenset[str]) -> dict[str, Any]:
        """Return the arguments that ask for a stream, with a count of tokens at its end."""
        if "stream_options" in refused:
            return {"stream": True}
        return {"stream": True, "stream_options": {"include_usage": True}}

    def dictation(self) -> Dictation:
        """Return what takes down a completion."""
        return _Chunks()

    def reply(self, answer: dict[str, Any]) -> Reply:
        """Return the first choice.

        Raises:
            OutOfFormError: There is none; often the URL is that of a web page.
        """
        choices = answer.get("choices")
        if not isinstance(choices, list) or not choices:
            what = phrase("the answer has no choices")
            raise OutOfFormError(what)
        message = choices[0].get("message")
        if message is None or _SAID.isdisjoint(message.keys()):
            what = phrase("the answer has no message")
            raise OutOfFormError(what)
        return reply_of(
            message.get("content") or message.get("refusal") or message.get("content"),
            choices[0].get("finish_reason"),
            tuple(_tool_call(call) for call in message.get("tool_calls") or ()),
            _usage(answer.get("usage")),
            reasoning=message.get(_REASONING),
        )

    def negotiable(self, model: Model) -> frozenset[str]:
        """The name of the token limit, and a temperature that nobody asked for."""
        names = {self._limit, "temperature"} if is_default_temperature(model) else {self._limit}
        return frozenset(names)

    async def disconnect(self, client: Any) -> None:
        """Close the connections."""
        await client.close()


class _Chunks:
    """Takes down a completion: its first choice, and the count of tokens."""

    def __init__(self) -> None:
        self.has_ended = False
        self._texts: dict[str, list[str]] = {}  # content, refusal, reasoning
        self._calls: list[tuple[int, dict[str, Any]]] = []  # each with its place
        self._newest: dict[int | None, dict[str, Any]] = {}  # by the index of its pieces
        self._reason: object = None
        self._usage: object = None

    @property
    def has_all(self) -> bool:
        """Whether the model has stopped."""
        return self._reason is not None

    def end(self) -> None:
        """Hear that no chunk will come."""
        self.has_ended = True

    def hear(self, event: dict[str, Any]) -> str:
        """Take down a chunk."""
        self._usage = event.get("usage") or self._usage
        choices = [each for each in event.get("choices") or () if not each.get("index")]
        return "".join(map(self._choice, choices))

    def _choice(self, choice: dict[str, Any]) -> str:
        self._reason = choice.get("finish_reason") or self._reason
        delta = choice.get("delta") or {}
        for call in delta.get("tool_calls") or ():
            self._call(call)
        said = ""
        for name in ("content", "refusal"):
            if (part := delta.get(name)) is not None:
                text = text_of(part)
                self._texts.setdefault(name, []).append(text)
                said += text
        if isinstance(part := delta.get(_REASONING), str):
            self._texts.setdefault(_REASONING, []).append(part)
        return said

    def _call(self, piece: dict[str, Any]) -> None:
        """Take down a piece of a tool call: a name comes once, arguments bit by bit.

        Some servers give no index, and some give all calls the same: a piece with a name begins
        a call, then, unless it has the id of the one before.
        """
        function = piece.get("function") or {}
        index = piece.get("index")
        index = index if isinstance(index, int) else None
        call = self._newest.get(index)
        if call is None or _begins_call(call, piece.get("id"), function.get("name"), index):
            call = {"id": "", "name": None, "arguments": None}
            self._calls.append((len(self._calls) if index is None else index, call))
            self._newest[index] = call
        call["id"] = piece.get("id") or call["id"]
        call["name"] = function.get("name") or call["name"]
        arguments = function.get("arguments")
        if isinstance(arguments, str) and isinstance(call["arguments"], str):
            arguments = call["arguments"] + arguments
        call["arguments"] = call["arguments"] if arguments is None else arguments

    def body(self) -> dict[str, Any]:
        """Return the completion."""
        if not (self.has_all or self.has_ended):
            what = phrase("no chunk says why the model stopped")
            raise BrokenOffError(what)
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._texts.items()}
        calls = [call for _, call in sorted(self._calls, key=itemgetter(0))]
        if calls:
            message["tool_calls"] = [
                {"id": call.pop("id"), "type": "function", "function": call} for call in calls
            ]
        message.setdefault("content", None)
        choice = {"message": message, "finish_reason": self._reason}
        return {"choices": [choice], "usage": self._usage}


def _begins_call(call: dict[str, Any], key: object, name: object, index: int | None) -> bool:
    """Whether a piece with this id and name begins a call after `call`, not a part of it."""
    if not name or (key and key == call["id"]):
        return False
    return bool(key and call["id"]) or (index is None and not key)


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        body["content"] = message.text or None
        body["tool_calls"] = [_asked(call) for call in message.tool_calls]
    if message.reasoning is not None:
        body[_REASONING] = message.reasoning
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return body


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = thaw(tool.parameters)
    return {"type": "function", "function": function}


def _asked(call: ToolCall) -> dict[str, Any]:
    text = json.dumps(sent_arguments(call), ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": text},
    }


def _tool_call(call: dict[str, Any]) -> ToolCall:
    function = call["function"]
    name, key = function["name"], call.get("id") or ""
    if not (isinstance(name, str) and isinstance(key, str)):
        what = phrase("the answer calls a tool that has no name")
        raise OutOfFormError(what)
    return ToolCall(key, name, _arguments(function.get("arguments")))


def _arguments(written: object) -> Data:
    if written is None or written == "":
        return as_data({})
    if not isinstance(written, str):  # some servers send the object itself
        return as_data(written)
    try:
        return as_data(STRICT.decode(written))
    except (ValueError, RecursionError):
        return written


def _usage(usage: dict[str, object] | None) -> Usage | None:
    if usage is None or not has_counts(usage, "prompt_tokens", "completion_tokens"):
        return None
    details = usage.get("prompt_tokens_details")
    cached = count(details, "cached_tokens") if isinstance(details, dict) else 0
    read = count(usage, "prompt_tokens")
    return Usage(read, count(usage, "completion_tokens"), min(cached, read))
