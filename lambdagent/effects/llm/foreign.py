"""Provider objects of the user's own: ``chat(messages) -> str``.

In go messages as ``[{"role": …, "content": …}]``, out comes a text, or a mapping with what
`Reply.to_data` writes. `chat` may be asynchronous; whatever it raises is a failure of the model.
With `toolCalling: native` it gets ``tools=[{"name": …, "description": …, "parameters": …}]`` too;
a message then may have ``tool_calls`` (``id``, ``name``, ``arguments``) or a ``tool_call_id``.

Source: specification 5.5 and 11.1.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, cast

import attrs

from lambdagent.effects.protocol import Message, ModelCall, Provider, Reply
from lambdagent.effects.tools import in_thread
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Record, freeze, thaw
from lambdagent.ir.signature import signature_of
from lambdagent.messages import phrase

_HINT = phrase("check the object that was passed as `providers=`")


class ForeignProvider:
    """Asks an object that only knows ``chat(messages)``."""

    instant = False

    def __init__(self, name: str, provider: Any) -> None:
        """Ask `provider`, which stands in for the provider `name`."""
        self._name = name
        self._provider = provider

    def chat(self, call: ModelCall) -> Reply:
        """Return the model's reply; an asynchronous one gets an event loop of its own.

        Raises:
            EffectError: The object raised, or returned no reply.
        """
        try:
            answer = self._provider.chat(_messages(call), **_offered(call))
            if inspect.isawaitable(answer):
                answer = asyncio.run(_awaited(answer))
            return Reply.from_data(freeze(answer))
        except Exception as error:
            raise self._failed(call, error) from error

    async def achat(self, call: ModelCall) -> Reply:
        """Return the model's reply; a plain `chat` runs on a thread of its own."""
        if not inspect.iscoroutinefunction(self._provider.chat):
            return await in_thread(lambda: self.chat(call))
        try:
            return Reply.from_data(freeze(await self._asked(call)))
        except Exception as error:
            raise self._failed(call, error) from error

    async def _asked(self, call: ModelCall) -> Any:
        return await self._provider.chat(_messages(call), **_offered(call))

    def close(self) -> None:
        """Do nothing: the object belongs to whoever made it."""

    def _failed(self, call: ModelCall, error: Exception) -> EffectError:
        message = f"{type(error).__name__}: {error}"
        return EffectError(
            finding("E002", provider=self._name, message=message, site=call.site, hint=_HINT)
        )


async def _awaited(answer: Any) -> Any:
    return await answer


def _messages(call: ModelCall) -> list[dict[str, Any]]:
    return [_message(message) for message in call.messages]


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        written["tool_calls"] = [thaw(call.to_data()) for call in message.tool_calls]
    if message.tool_call_id is not None:
        written |= {"tool_call_id": message.tool_call_id, "name": message.name}
    return written


def _offered(call: ModelCall) -> dict[str, Any]:
    if not call.tools:
        return {}
    return {"tools": [thaw(Record(attrs.asdict(tool, recurse=False))) for tool in call.tools]}


def adapted(name: str, provider: object, *, natively: bool = False) -> Provider:
    """Return `provider` as the driver wants it: as it is, or behind a `ForeignProvider`.

    Args:
        name: The provider that it stands in for.
        provider: The object.
        natively: Whether it is to be told of tools.

    Raises:
        EffectError: It has no method `chat`, or none that could be told of tools (E005).
    """
    if callable(getattr(provider, "achat", None)):
        return cast("Provider", provider)
    if not callable(getattr(provider, "chat", None)):
        message = phrase("a {name} has no method `chat`", name=type(provider).__name__)
        raise EffectError(finding("E005", provider=name, message=message, hint=_HINT))
    if natively and not _takes_tools(provider.chat):  # type: ignore[attr-defined]
        message = phrase("`chat` of {name} takes no `tools`", name=type(provider).__name__)
        hint = phrase("remove `model.toolCalling: native`, or let `chat` take `tools`")
        raise EffectError(finding("E005", provider=name, message=message, hint=hint))
    return ForeignProvider(name, provider)


def _takes_tools(chat: Any) -> bool:
    signature = signature_of(chat)
    if signature is None:
        return True
    taken = signature.parameters.values()
    return any(each.name == "tools" or each.kind is each.VAR_KEYWORD for each in taken)
