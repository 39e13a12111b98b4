"""Answers that come in pieces: a stream of an SDK → the body that the whole answer would have.

A stream that ends before its answer does is a failed attempt, as a connection is that breaks
before an answer: see `effects.attempts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from lambdagent.effects.speech import Speech

# The response of the transport, and the SDK's stream of its events.
Opened: TypeAlias = "tuple[Any, Any]"

# What a server answers with that cannot stream, or is no model at all.
_WHOLE = re.compile(r"json\b|html", re.IGNORECASE)


class BrokenOffError(Exception):
    """A stream ended before its answer did; the message says how."""


class Dictation(Protocol):
    """Takes down one answer."""

    def hear(self, event: dict[str, Any]) -> str:
        """Take down what an event of the API says; return the text that it adds."""
        ...

    def body(self) -> dict[str, Any]:
        """Return the whole answer as the API gives it without streaming.

        Raises:
            BrokenOffError: Its end is missing.
        """
        ...


async def listen(
    ask: Callable[[], Awaitable[Opened]],
    dictation: Callable[[], Dictation],
    speech: Speech,
) -> bytes:
    """Return the body of an answer, and tell `speech` its text while it comes.

    Args:
        ask: Sends the request.
        dictation: Makes what takes down the answer.
        speech: Told the text.

    Raises:
        BrokenOffError: It broke off.
    """
    response, stream = await ask()
    async with stream:
        if _WHOLE.search(response.headers.get("content-type", "")):
            return bytes(await response.aread())
        return await _taken_down(stream, dictation(), speech)


async def _taken_down(stream: Any, dictation: Dictation, speech: Speech) -> bytes:
    try:
        async for event in stream:
            speech.say(dictation.hear(event.to_dict(warnings=False)))
    except Exception as error:
        # The SDK's own errors, those of the transport below it, and what is no JSON.
        raise BrokenOffError(str(error) or type(error).__name__) from error
    return json.dumps(dictation.body()).encode()
