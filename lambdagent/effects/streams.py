"""Answers as they come over the wire: a response of the transport → the body of the whole answer.

A body that ends before its answer does is a failed attempt, as a connection is that breaks before
an answer: see `effects.attempts`. One that breaks when all was said is an answer.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from lambdagent.effects.event_stream import Event, EventStream
from lambdagent.effects.replies import OutOfFormError
from lambdagent.effects.speech import Speech
from lambdagent.messages import phrase

# What a server answers with that cannot stream, or is no model at all.
_WHOLE = re.compile(r"json\b|html", re.IGNORECASE)
_DONE: Final = "[DONE]"
# A connection can be used again only if its answer was read to the end.
_LAST_BYTES_S: Final = 0.1

# What statuses are for errors that come in a stream, by what services call them.
_STATUSES: Final = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class BrokenOffError(Exception):
    """An answer ended before all was said; the message says how.

    Attributes:
        body: What the server said of it, if it did.
        status_code: What status it would have had, if that can be told.
    """

    def __init__(self, message: str, body: Mapping[str, Any] | None = None) -> None:
        """Say how it ended."""
        super().__init__(message)
        self.body = body
        self.status_code = None if body is None else _status_in(body)


class Dictation(Protocol):
    """Takes down one answer.

    Attributes:
        has_ended: Whether nothing more will come.
    """

    has_ended: bool

    @property
    def has_all(self) -> bool:
        """Whether all was said, though counts may be missing yet."""
        ...

    def hear(self, event: dict[str, Any]) -> str:
        """Take down what an event of the API says; return the text that it adds."""
        ...

    def end(self) -> None:
        """Hear that nothing more will come."""
        ...

    def body(self) -> dict[str, Any]:
        """Return the whole answer as the API gives it without streaming.

        Raises:
            BrokenOffError: Its end is missing.
        """
        ...


async def whole(response: Any) -> bytes:
    """Return the body of a response that comes at once.

    Raises:
        BrokenOffError: It broke off.
        TimeoutError: The transport waited too long for the next bytes.
    """
    try:
        return bytes(await response.aread())
    except OutOfFormError:
        raise
    except Exception as error:
        raise _lost(error) from error


async def listen(response: Any, dictation: Dictation, speech: Speech) -> bytes:
    """Return the body of an answer, and tell `speech` its text while it comes.

    Args:
        response: Of the transport, of which nothing is read yet.
        dictation: Takes down the answer.
        speech: Told the text.

    Raises:
        BrokenOffError: It broke off.
        TimeoutError: The transport waited too long for the next bytes.
    """
    if _WHOLE.search(response.headers.get("content-type", "")):
        return await whole(response)
    pieces = response.aiter_bytes()
    stream = EventStream()
    try:
        while not dictation.has_ended:
            piece = await _next(pieces, dictation)
            for event in stream.end() if piece is None else stream.feed(piece):
                _take_down(event, dictation, speech)
            if piece is None:
                break
        written = json.dumps(dictation.body()).encode()
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        what = phrase("a part of it is not in the form of its API")
        raise BrokenOffError(what) from error
    await _rest(pieces)
    return written


async def _next(pieces: AsyncIterator[bytes], dictation: Dictation) -> bytes | None:
    """Return the next bytes; None where no more come."""
    try:
        return await anext(pieces, None)
    except OutOfFormError:
        raise
    except Exception as error:  # the transport's own errors, which are no ValueErrors
        if dictation.has_all:
            return None
        raise _lost(error) from error


async def _rest(pieces: AsyncIterator[bytes]) -> None:
    """Read what comes behind an answer, if it comes at once."""
    with suppress(Exception):
        async with asyncio.timeout(_LAST_BYTES_S):
            async for _ in pieces:
                pass


def _take_down(event: Event, dictation: Dictation, speech: Speech) -> None:
    if event.data.startswith(_DONE):
        dictation.end()
    if dictation.has_ended:
        return
    said = json.loads(event.data)
    error = said if event.name == "error" else said.get("error")
    if error:
        raise _told(error if isinstance(error, Mapping) else {"message": error})
    speech.say(dictation.hear(said))


def _told(error: Mapping[str, Any]) -> BrokenOffError:
    """Return what an event says that is an error."""
    inner = error.get("error")
    error = inner if isinstance(inner, Mapping) else error
    said = error.get("message") or error.get("type") or error.get("code")
    return BrokenOffError(str(said or "?"), error)


def _status_in(body: Mapping[str, Any]) -> int | None:
    for name in ("status", "code", "type"):
        told = body.get(name)
        status = _STATUSES.get(told) if isinstance(told, str) else told
        if isinstance(told, str) and told.isascii() and told.isdecimal():
            status = int(told[:4])
        if isinstance(status, int) and 400 <= status < 600:
            return status
    return None


def _lost(error: Exception) -> Exception:
    """Return what a failure of the transport means."""
    name = type(error).__name__
    return TimeoutError(name) if "Timeout" in name else BrokenOffError(str(error) or name)
