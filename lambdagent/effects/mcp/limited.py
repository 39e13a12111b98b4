"""Answers of MCP servers over HTTP, read only as long as they may be one.

Imported where a server is connected, since the transport takes a while to load.
"""

from __future__ import annotations

import httpx2

from lambdagent.effects.connections import Limited


class TooLongError(httpx2.StreamError):
    """An answer has no end; of this kind of error the SDK fails the one request."""


def limit(response: httpx2.Response) -> None:
    """Limit the body of `response`; of a stream of events, the SDK limits each event."""
    # We asked for none that is packed: it would be unpacked without a limit.
    response.headers.pop("content-encoding", None)
    if not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        response.stream = Limited(response.stream, _too_long)


def _too_long() -> TooLongError:
    return TooLongError("the answer is too long")
