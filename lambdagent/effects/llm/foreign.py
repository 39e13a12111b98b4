"""Provider objects of the user's own: ``chat(messages) -> str``.

In go messages as ``[{"role": …, "content": …}]``, out comes a text, or a mapping with what
`Reply.to_data` writes. `chat` may be asynchronous; whatever it raises is a failure of the model.

Source: specification 5.5 and 11.1.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, cast

from lambdagent.effects.protocol import ModelCall, Provider, Reply
from lambdagent.effects.tools import in_thread
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import freeze
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
            answer = self._provider.chat(_messages(call))
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
            return Reply.from_data(freeze(await self._provider.chat(_messages(call))))
        except Exception as error:
            raise self._failed(call, error) from error

    def close(self) -> None:
        """Do nothing: the object belongs to whoever made it."""

    def _failed(self, call: ModelCall, error: Exception) -> EffectError:
        message = f"{type(error).__name__}: {error}"
        return EffectError(
            finding("E002", provider=self._name, message=message, site=call.site, hint=_HINT)
        )


async def _awaited(answer: Any) -> Any:
    return await answer


def _messages(call: ModelCall) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in call.messages]


def adapted(name: str, provider: object) -> Provider:
    """Return `provider` as the driver wants it: as it is, or behind a `ForeignProvider`.

    Raises:
        EffectError: It has no method `chat` (E005).
    """
    if callable(getattr(provider, "achat", None)):
        return cast("Provider", provider)
    if not callable(getattr(provider, "chat", None)):
        message = phrase("a {name} has no method `chat`", name=type(provider).__name__)
        raise EffectError(finding("E005", provider=name, message=message, hint=_HINT))
    return ForeignProvider(name, provider)
