"""A server that takes one POST for each call: ``{"tool": …, "input": …}`` → ``{"output": …}``.

Source: specification 6.1.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, Final

from lambdagent.effects.protocol import ToolFailure, ToolInvocation, as_data
from lambdagent.effects.transport_log import LOGGER, claim
from lambdagent.ir.data import Data, Record
from lambdagent.ir.remote import Server

# What may pass when the same call is made again; every other refusal stays one.
_PASSING: Final = {408, 425, 429}
_BROKEN: Final = 500
_FINE: Final = range(200, 300)


class PostConnection:
    """The client of one server, which all calls share."""

    def __init__(self, server: Server) -> None:
        """Be about `server`; nothing is sent yet."""
        self._server = server
        self._client: Any = None

    async def answer(self, tool: str, invocation: ToolInvocation, _schema: Record) -> Data:
        """Return the output of `tool`, which gets one text.

        Raises:
            ToolFailure: The server gives no answer in time, cannot be reached, or refuses.
        """
        claim()
        place, began_s = f"{self._server.name}/{tool}", time.monotonic()
        LOGGER.info("mcp %s: POST", place)
        try:
            async with asyncio.timeout(invocation.timeout_s):
                status, text = await self._posted(tool, invocation.text)
        except TimeoutError as error:
            LOGGER.warning("mcp %s: no answer within %g s", place, invocation.timeout_s)
            raise ToolFailure(f"[MCP_TIMEOUT: {place}]") from error
        LOGGER.info("mcp %s: HTTP %d in %.2f s", place, status, time.monotonic() - began_s)
        if status not in _FINE:
            passes = status in _PASSING or status >= _BROKEN
            raise ToolFailure(f"[MCP_ERROR: {status}]", may_pass=passes)
        return _output(text)

    async def close(self) -> None:
        """Close the client."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _posted(self, tool: str, given: str) -> tuple[int, str]:
        """Return the status and the text of the answer."""
        import httpx2

        from lambdagent.effects.mcp.web import headers_of

        body = json.dumps({"tool": tool, "input": given}, ensure_ascii=False)
        headers = headers_of(self._server, {"Content-Type": "application/json"})
        content = body.encode("utf-8", "replace")
        try:
            if self._client is None:
                # Whoever calls has a limit for all of it.
                self._client = httpx2.AsyncClient(timeout=None)
            async with self._client.stream(
                "POST", self._server.url, content=content, headers=headers
            ) as answer:
                return answer.status_code, await _text(answer)
        except (httpx2.HTTPError, httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            # The later ones are what the environment says of proxies and certificates.
            LOGGER.warning("mcp %s: %s", self._server.name, type(error).__name__)
            raise ToolFailure("[MCP_ERROR: no connection]") from error


async def _text(answer: Any) -> str:
    """Return the text of an answer.

    Raises:
        ToolFailure: It has no end.
    """
    from lambdagent.effects.connections import MOST_BYTES

    read = bytearray()
    async for piece in answer.aiter_bytes():
        read += piece
        if len(read) > MOST_BYTES:
            raise ToolFailure("[MCP_ERROR: the answer is too long]", may_pass=False)
    try:
        return read.decode(answer.charset_encoding or "utf-8", "replace")
    except LookupError:  # nobody knows what it calls its encoding
        return read.decode("utf-8", "replace")


def _output(text: str) -> Data:
    """Return the output in an answer; what is no JSON with one is all of it.

    >>> _output('{"output": "42"}'), _output("it rains")
    ('42', 'it rains')
    """
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return as_data(read["output"]) if isinstance(read, dict) and "output" in read else text
