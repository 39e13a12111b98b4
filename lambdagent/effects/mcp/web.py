"""What is sent to servers over HTTP, and how much of their answers is read.

Imported where a server is connected, since the transport takes a while to load.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import httpx2

from lambdagent.effects.connections import Limited
from lambdagent.ir.remote import Server

TOO_LONG: Final = "the answer is too long"


class TooLongError(httpx2.StreamError):
    """An answer has no end; of this kind of error the SDK fails the one request."""


def headers_of(server: Server, usual: Mapping[str, str]) -> httpx2.Headers:
    """Return the headers of a request to `server`: its own win over the `usual` ones.

    Packed answers are not asked for, as they would be unpacked without a limit.
    """
    found = httpx2.Headers({"Accept-Encoding": "identity", **usual})
    found.update([(_encoded(name), _encoded(value)) for name, value in server.headers])
    return found


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def limit(response: httpx2.Response) -> None:
    """Limit the body of `response`; of a stream of events, the SDK limits each event."""
    # What is packed though nobody asked for it stays so.
    response.headers.pop("content-encoding", None)
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        response.stream = Limited(response.stream, _too_long)


def _too_long() -> TooLongError:
    return TooLongError(TOO_LONG)
