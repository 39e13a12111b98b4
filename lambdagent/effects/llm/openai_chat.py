"""Model calls over OpenAI's Chat Completions API, which many providers and servers speak.

In go messages and settings, out comes a `Reply`. Works with the SDK ``openai`` 3.

Source: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from lambdagent.effects.messages import (
    Courier,
    Endpoint,
    OutOfFormError,
    is_default_temperature,
    text_of,
)
from lambdagent.effects.protocol import Message, Reply, ToolCall, Usage, as_data
from lambdagent.ir.data import Data, thaw
from lambdagent.ir.surface import Model

_OFFICIAL_HOST = "api.openai.com"
_NO_KEY = "none"  # the SDK insists on one
_OPENAI = "openai"


# Note [The two names of the token limit]
# OpenAI replaced `max_tokens` by `max_completion_tokens`, which its newer models demand; most
# compatible servers know the former only, and ignore the latter. So OpenAI's own host gets the new
# name, everyone else the old one, and a server that refuses one by name gets the other.


class OpenAIChat(Courier):
    """Any server that speaks Chat Completions. See Note [The two names of the token limit]."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Build the SDK's client; nothing is sent yet."""
        super().__init__(endpoint)
        import openai

        self.failures = (openai.APIError, json.JSONDecodeError)
        self._client = openai.AsyncOpenAI(
            api_key=endpoint.key or _NO_KEY,
            base_url=endpoint.base_url,
            max_retries=endpoint.max_retries,
        )
        if endpoint.provider != _OPENAI:  # the SDK read them from the environment
            self._client.organization = self._client.project = None
        official = urlsplit(endpoint.base_url).hostname == _OFFICIAL_HOST
        names = ("max_tokens", "max_completion_tokens")
        self._limit, self._other_limit = reversed(names) if official else names

    def request(
        self, model: Model, messages: tuple[Message, ...], refused: frozenset[str]
    ) -> dict[str, Any]:
        """Return the body of the request."""
        limit = self._other_limit if self._limit in refused else self._limit
        settings = {
            "temperature": None if "temperature" in refused else model.temperature,
            "top_p": model.top_p,
            limit: model.max_tokens,
            "stop": list(model.stop_sequences) or None,
        }
        return {
            "model": model.name,
            "messages": [_message(message) for message in messages],
            **{name: value for name, value in settings.items() if value is not None},
        }

    async def send(self, request: dict[str, Any], timeout_s: float) -> object:
        """Return the SDK's completion."""
        return await self._client.chat.completions.create(**request, timeout=timeout_s)

    def reply(self, answer: Any) -> Reply:
        """Return the first choice.

        Raises:
            OutOfFormError: There is none; often the URL is that of a web page.
        """
        choices = getattr(answer, "choices", None)
        if not choices:
            what = "the answer has no choices"
            raise OutOfFormError(what)
        message = choices[0].message
        if message is None:
            what = "the answer has no message"
            raise OutOfFormError(what)
        return Reply(
            text_of(message.content) or text_of(getattr(message, "refusal", None)),
            choices[0].finish_reason,
            tuple(_tool_call(call) for call in message.tool_calls or ()),
            _usage(answer.usage),
        )

    def negotiable(self, model: Model) -> frozenset[str]:
        """The name of the token limit, and a temperature that nobody asked for."""
        names = {self._limit, "temperature"} if is_default_temperature(model) else {self._limit}
        return frozenset(names)

    async def close_client(self) -> None:
        """Close the connections."""
        await self._client.close()


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        body["tool_calls"] = [_asked(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return body


def _asked(call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments
    text = arguments if isinstance(arguments, str) else json.dumps(thaw(arguments))
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": text},
    }


def _tool_call(call: Any) -> ToolCall:
    function = call.function
    return ToolCall(call.id or "", function.name, _arguments(function.arguments))


def _arguments(text: str | None) -> Data:
    if not text:
        return as_data({})
    try:
        return as_data(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return str(text)


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0)
