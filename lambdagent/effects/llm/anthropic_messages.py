"""Model calls over Anthropic's Messages API.

In go messages and settings, out comes a `Reply`. Works with the SDK ``anthropic`` 2.

Source: https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from lambdagent.effects.messages import Courier, Endpoint, Sent, is_default_temperature
from lambdagent.effects.protocol import Message, Reply, ToolCall, ToolSpec, Usage, as_data
from lambdagent.effects.rate_limits import RateLimit
from lambdagent.effects.replies import OutOfFormError, count, has_counts, reply_of
from lambdagent.effects.streams import BrokenOffError, Dictation
from lambdagent.effects.wire_names import sent_arguments
from lambdagent.ir.data import thaw
from lambdagent.ir.loose_json import STRICT
from lambdagent.ir.model import Model
from lambdagent.messages import phrase

_DEFAULT_MAX_TOKENS = 4096  # the API demands a limit

# Note [Sampling on Anthropic]
# Since version 2026-10-21 the API answers 400 to `temperature` and `top_p`, and the SDK has no
# such parameters. Version 2023-06-01 takes them for older models and answers 400 for newer ones. A
# request with sampling settings asks for the old version; if the model refuses a temperature that
# nobody asked for (our default), the request goes out again without it, in the new version.
_SAMPLING_VERSION = {"anthropic-version": "2023-06-01"}


class AnthropicMessages(Courier):
    """Any server that speaks the Messages API. See Note [Sampling on Anthropic]."""

    def __init__(self, endpoint: Endpoint, rate: RateLimit | None = None) -> None:
        """Build the SDK's client; nothing is sent yet."""
        super().__init__(endpoint, rate)
        import anthropic

        self.failures = (anthropic.APIError,)
        self._line()

    def path(self, base: str) -> str:
        """Return the path of messages; a base URL may end in the API's version, or not."""
        return f"{base.removesuffix('/v1')}/v1/messages"

    def connect(self) -> Any:
        """Return a client that takes nothing from the environment by itself."""
        import anthropic

        from lambdagent.effects.connections import http_client

        client = anthropic.AsyncAnthropic(
            api_key=self.endpoint.key,
            base_url=self.endpoint.address.rstrip("/").removesuffix("/v1"),
            default_query=self.endpoint.query,
            max_retries=0,  # see `effects.attempts`
            http_client=http_client(anthropic.DefaultAsyncHttpxClient, self.endpoint),
        )
        client._custom_headers = dict(self.endpoint.headers)  # noqa: SLF001 - no other way
        return client

    def request(
        self,
        model: Model,
        messages: tuple[Message, ...],
        tools: tuple[ToolSpec, ...],
        refused: frozenset[str],
    ) -> dict[str, Any]:
        """Return the arguments of the SDK's call."""
        system = "\n\n".join(m.text for m in messages if m.role == "system" and m.text)
        temperature = None if "temperature" in refused else model.temperature
        sampling = _given({"temperature": temperature, "top_p": model.top_p})
        return {
            "model": model.name,
            "max_tokens": model.max_tokens or _DEFAULT_MAX_TOKENS,
            "messages": _turns(messages),
            **_given(
                {
                    "system": system or None,
                    "stop_sequences": list(model.stop_sequences) or None,
                    "tools": [_tool(tool) for tool in tools] or None,
                    "extra_body": sampling or None,
                    "extra_headers": _SAMPLING_VERSION if sampling else None,
                }
            ),
        }

    def send(self, client: Any, request: dict[str, Any], timeout_s: float) -> Sent:
        """Return what yields the message."""
        create = client.messages.with_streaming_response.create
        sent: Sent = create(**request, timeout=timeout_s)
        return sent

    def dictation(self) -> Dictation:
        """Return what takes down a message."""
        return _Events()

    def reply(self, answer: dict[str, Any]) -> Reply:
        """Return the text and the tool calls of the message.

        Raises:
            OutOfFormError: It is no message; often the URL is that of a web page.
        """
        if "content" not in answer:
            what = phrase("the answer is no message")
            raise OutOfFormError(what)
        content = answer["content"]
        blocks = content if isinstance(content, list) else []
        return reply_of(
            content,
            answer.get("stop_reason"),
            tuple(_tool_call(block) for block in blocks if block["type"] == "tool_use"),
            _usage(answer.get("usage")),
        )

    def negotiable(self, model: Model) -> frozenset[str]:
        """A temperature that nobody asked for."""
        return frozenset({"temperature"} if is_default_temperature(model) else ())

    async def disconnect(self, client: Any) -> None:
        """Close the connections."""
        await client.close()


class _Events:
    """Takes down a message."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}  # as JSON, in bits
        self.has_ended = False

    @property
    def has_all(self) -> bool:
        """Whether the model has stopped."""
        return self.has_ended or self._message.get("stop_reason") is not None

    def end(self) -> None:
        """Hear that no event will come: the API itself does not say so."""

    def hear(self, event: dict[str, Any]) -> str:
        """Take down an event."""
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                block = self._blocks[event["index"]] = dict(event["content_block"])
                return _text_in(block)
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "message_delta":
                self._message |= event["delta"]
                known = self._message.get("usage") or {}
                self._message["usage"] = {**known, **_given(event.get("usage") or {})}
            case "message_stop":
                self.has_ended = True
        return ""

    def _delta(self, index: int, delta: dict[str, Any]) -> str:
        block = self._blocks[index]
        match delta.get("type"):
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
                return _text_in(delta)
            case "input_json_delta":
                self._inputs.setdefault(index, []).append(delta["partial_json"])
        return ""

    def body(self) -> dict[str, Any]:
        """Return the message."""
        if not self.has_all:
            what = phrase("no event says that the message ends")
            raise BrokenOffError(what)
        for index, bits in self._inputs.items():
            self._blocks[index]["input"] = _input_of("".join(bits))
        return {**self._message, "content": [self._blocks[n] for n in sorted(self._blocks)]}


def _text_in(part: dict[str, Any]) -> str:
    """Return the text of a block or a piece of one; what is no text, such as a thought, is ""."""
    return str(part.get("text", "")) if part.get("type") in {"text", "text_delta"} else ""


def _input_of(written: str) -> object:
    try:
        return STRICT.decode(written or "{}")
    except (ValueError, RecursionError):
        return written


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _turns(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Return the turns: those of one role in a row joined, an assistant's empty ones left out."""
    spoken = [
        message
        for message in messages
        if message.role != "system" and (message.role != "assistant" or _says_something(message))
    ]
    turns = []
    for role, run in groupby(spoken, lambda m: "assistant" if m.role == "assistant" else "user"):
        group = list(run)
        if any(message.tool_calls or message.tool_call_id for message in group):
            content: Any = [block for message in group for block in _blocks(message)]
        else:
            content = "\n\n".join(message.text for message in group)
        turns.append({"role": role, "content": content})
    return turns


def _says_something(message: Message) -> bool:
    return bool(message.text or message.tool_calls)


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.tool_call_id is not None:
        return [
            {
                "type": "tool_result",
                "tool_use_id": message.tool_call_id,
                "content": message.text,
            }
        ]
    text = [{"type": "text", "text": message.text}] if message.text else []
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": sent_arguments(call)}
        for call in message.tool_calls
    ]


def _tool(tool: ToolSpec) -> dict[str, Any]:
    written: dict[str, Any] = {"name": tool.name}
    if tool.description:
        written["description"] = tool.description
    written["input_schema"] = thaw(tool.parameters)
    return written


def _tool_call(block: dict[str, Any]) -> ToolCall:
    key, name = block["id"], block["name"]
    if not (isinstance(key, str) and isinstance(name, str)):
        what = phrase("the answer calls a tool that has no name")
        raise OutOfFormError(what)
    return ToolCall(key, name, as_data(block.get("input")))


def _usage(usage: dict[str, object] | None) -> Usage | None:
    """Return the count; tokens read from and written to the prompt cache are input too."""
    if usage is None or not has_counts(usage, "input_tokens", "output_tokens"):
        return None
    cache = ("cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        count(usage, "input_tokens", *cache),
        count(usage, "output_tokens"),
        count(usage, "cache_read_input_tokens"),
    )
