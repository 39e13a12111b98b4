"""A server that speaks the Model Context Protocol: connected at the first call, shared by all.

All of this runs on the event loop of `pool`. A task holds the session open, since the SDK wants it
to be left where it was entered. Calls race with that task: when the connection ends, they do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Final, TypeVar

import attrs

import lambdagent
from lambdagent.effects.mcp.results import answer_of, arguments_of, declared_tool
from lambdagent.effects.protocol import ToolFailure, ToolInvocation
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.transport_log import LOGGER, claim, hush
from lambdagent.effects.wire_names import whole_data
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.remote import STDIO, Server
from lambdagent.ir.surface import Tool
from lambdagent.ir.url import shown_url
from lambdagent.messages import phrase

T = TypeVar("T")

hush(
    *("mcp.client.client", "mcp.client.session", "mcp.client.streamable_http", "client"),
    "mcp.shared.jsonrpc_dispatcher",
)

# The handshake that all servers know comes first: some hang up when anything else does.
_MODES: Final = ("legacy", "auto")
_REFUSED: Final = (401, 403)
_FORGOTTEN: Final = (400, 404)  # what servers say that do not know our session any more
_MOST_TOOLS: Final = 10_000
_MOST_PAGES: Final = 1_000
_ENDS_S: Final = 0.5  # how long a call that nobody waits for may take to say so
_LEAVES_S: Final = 3.0  # and a connection: more than a process has to end


@attrs.define
class _Heard:
    """How the newest request of one call was refused, if it was."""

    status: int | None = None


# The SDK sends a request in the context of whoever makes it, so calls at once do not mix.
_heard: Final[ContextVar[_Heard | None]] = ContextVar("_heard", default=None)


async def _look_at(response: Any) -> None:
    """Note how a request was refused, if it was, and limit the body of the answer."""
    from lambdagent.effects.mcp.web import limit

    heard = _heard.get()
    if heard is not None and response.request.method == "POST":  # listening may be refused
        heard.status = response.status_code if response.status_code >= 400 else None
    limit(response)


class ServerError(Exception):
    """A server that cannot be used: what is wrong, and what to do about it."""

    def __init__(self, message: str, hint: str, brief: str | None = None) -> None:
        """Take words without anything secret; `brief` is what programs are told instead."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.brief = message if brief is None else brief


class McpConnection:
    """The connection of this process to one server, made again after it was lost."""

    def __init__(self, server: Server, environment: Mapping[str, str]) -> None:
        """Be about `server`; a process gets `environment` without its secrets."""
        self._server = server
        self._environment = environment
        self._session: _Session | None = None
        self._leaving: set[_Session] = set()

    async def tools(self) -> tuple[Tool, ...]:
        """Return the tools of the server, as it describes them.

        Raises:
            ServerError: It cannot be reached, or says something else.
            TimeoutError: It does not answer in time.
        """
        claim()
        session = await self._opened()
        return await self._limited(session, session.tools())

    async def _limited(self, session: _Session, work: Awaitable[T]) -> T:
        async with asyncio.timeout(self._server.timeout_s):
            return await session.race(work)

    async def answer(self, tool: str, invocation: ToolInvocation, schema: Record) -> Data:
        """Return what `tool` answers.

        Args:
            tool: Its name on the server.
            invocation: The call.
            schema: What it takes.

        Raises:
            ToolFailure: It failed, or the server did.
        """
        claim()
        arguments, began_s = whole_data(arguments_of(invocation, schema)), time.monotonic()
        place = f"{self._server.name}/{tool}"
        LOGGER.info("mcp %s: called", place)
        try:
            async with asyncio.timeout(invocation.timeout_s):
                session = await self._opened()
                result = await session.race(session.call(tool, arguments))
        except TimeoutError as error:
            LOGGER.warning("mcp %s: no answer within %g s", place, invocation.timeout_s)
            raise ToolFailure(f"[MCP_TIMEOUT: {place}]") from error
        except ServerError as error:
            LOGGER.warning("mcp %s: %s", place, error.message)
            raise ToolFailure(f"[MCP_ERROR: {error.brief}]") from error
        LOGGER.info("mcp %s: answered in %.2f s", place, time.monotonic() - began_s)
        if isinstance(result, _Refusal):
            raise ToolFailure(f"[TOOL_ERROR: {tool}] {result.text}", may_pass=result.may_pass)
        answer = answer_of(result)
        if result.is_error:
            told = answer if isinstance(answer, str) else data_text(answer)
            raise ToolFailure(f"[TOOL_ERROR: {tool}] {told}")
        return answer

    async def close(self) -> None:
        """End the connection, and the server if it is a process."""
        self._leave()
        await asyncio.gather(*(session.end() for session in [*self._leaving]))

    def _leave(self) -> None:
        """Begin to end the session that there is."""
        session, self._session = self._session, None
        if session is not None:
            session.leave()
            self._leaving.add(session)
            session.task.add_done_callback(lambda _: self._leaving.discard(session))

    async def _opened(self) -> _Session:
        """Return a session that is open.

        Raises:
            ServerError: There is none, and none can be opened.
        """
        session = self._session
        if session is None or session.lost:
            self._leave()
            session = self._session = _Session(self._server, self._environment)
        await session.opened()
        return session


class _Refusal:
    """An error that the server answered with instead of a result."""

    def __init__(self, text: str, *, may_pass: bool) -> None:
        self.text = text
        self.may_pass = may_pass


class _Session:
    """One connection, from its beginning to its end.

    Attributes:
        task: Holds it.
    """

    def __init__(self, server: Server, environment: Mapping[str, str]) -> None:
        self._lost = False
        self._server = server
        self._environment = environment
        self._redaction = Redaction(environment)
        self._calls = 0
        self._is_left = False
        self._error: Exception | None = None
        self._transport: Any = None
        self._leaves = asyncio.Event()
        self._client: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._hold())

    @property
    def lost(self) -> bool:
        """Whether it is of no more use."""
        return self._lost or self._is_over

    async def opened(self) -> None:
        """Wait until the session is open.

        Raises:
            ServerError: It cannot be.
        """
        await asyncio.wait([self._client])
        error = self._client.exception()
        if error is not None:
            raise error

    async def tools(self) -> tuple[Tool, ...]:
        """Return the tools of all pages."""
        found: dict[str, Tool] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.result().list_tools(cursor=cursor)
            for listed in page.tools:
                if listed.name in found:
                    raise ServerError(phrase("it lists `{tool}` twice", tool=listed.name), _FAR)
                found[listed.name] = declared_tool(self._server.name, listed)
            if len(found) > _MOST_TOOLS:
                break
            if page.next_cursor is None or page.next_cursor == cursor:
                return tuple(found.values())
            cursor = page.next_cursor
        raise ServerError(phrase("its list of tools has no end"), _FAR)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Return the result of a call, not held against what the tool says of its results."""
        from mcp import types
        from mcp.shared.exceptions import MCPError

        wanted = types.CallToolRequestParams(name=tool, arguments=arguments)
        request = types.CallToolRequest(params=wanted)
        try:
            session = self._client.result().session
            return await session.send_request(request, types.CallToolResult)
        except MCPError as error:
            heard = _heard.get()
            is_refused = heard is not None and heard.status is not None
            if _is_closed(error) or self._is_over or is_refused or error.code == types.PARSE_ERROR:
                raise
            final = error.code in {types.INVALID_PARAMS, types.METHOD_NOT_FOUND}
            return _Refusal(self._masked(error.message), may_pass=not final)

    async def race(self, work: Awaitable[T]) -> T:
        """Return what `work` comes to, unless the connection ends before.

        Raises:
            ServerError: The connection is lost, or the server said what it may not.
        """
        heard = _Heard()
        _heard.set(heard)
        task = asyncio.ensure_future(work)
        self._calls += 1
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # it is seen
        try:
            await asyncio.wait([task, self.task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=_ENDS_S)
            self._calls -= 1
            if self._is_left and not self._calls:
                self._leaves.set()
        error = None if task.cancelled() or not task.done() else task.exception()
        if task.done() and not task.cancelled() and error is None:
            return task.result()
        if error is None or self._is_over:
            self._lost = True
            raise self._failure(self._error, None)
        if isinstance(error, ServerError):
            raise error
        self._lost = self._lost or _is_closed(error) or heard.status in _FORGOTTEN
        raise self._failure(error, heard.status) from error

    def leave(self) -> None:
        """Begin to end the connection, as soon as the calls are over that are under way."""
        self._lost = self._is_left = True
        if not self._calls:
            self._leaves.set()
        if not self._client.done():
            self.task.cancel()

    async def end(self) -> None:
        """End the connection, whoever waits for it, and the server if it is a process."""
        self._leaves.set()
        await asyncio.wait([self.task], timeout=_LEAVES_S)
        if not self.task.done():  # the server does not answer our farewell
            self.task.cancel()
            await asyncio.wait([self.task], timeout=_LEAVES_S)

    @property
    def _is_over(self) -> bool:
        return self.task.done() or bool(self._transport is not None and self._transport.ended)

    # --- the task that holds it ------------------------------------------------------------------

    async def _hold(self) -> None:
        """Open the session, and hold it open until it is closed or lost."""
        claim()
        heard = _Heard()
        _heard.set(heard)
        try:
            async with asyncio.timeout(self._server.timeout_s) as limit:
                for mode in _MODES:
                    try:
                        await self._live(mode, limit)
                    except Exception as caught:
                        if mode == _MODES[-1] or not self._knows_another(caught, heard):
                            raise
                    else:
                        return
        except Exception as caught:  # noqa: BLE001 - told to whoever calls
            self._error = caught
        finally:
            self._lost = True
            if not self._client.done():
                self._client.set_exception(self._failure(self._error, heard.status))
                self._client.exception()  # seen, whether or not anybody waits

    async def _live(self, mode: str, limit: asyncio.Timeout) -> None:
        from mcp import Client
        from mcp.types import Implementation

        us = Implementation(name="lambdagent", version=lambdagent.__version__)
        if self._server.transport == STDIO:
            from lambdagent.effects.mcp.stdio import StdioTransport

            self._transport = StdioTransport(self._server, self._environment, self._masked)
            async with Client(self._transport, mode=mode, client_info=us) as client:
                await self._stay(client, limit)
            return
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        from lambdagent.effects.connections import MOST_BYTES
        from lambdagent.effects.mcp.web import headers_of

        async with httpx2.AsyncClient(
            headers=headers_of(self._server, {}),
            timeout=None,
            event_hooks={"response": [_look_at]},
        ) as http:
            transport = streamable_http_client(
                self._server.url, http_client=http, max_sse_event_size=MOST_BYTES
            )
            async with Client(transport, mode=mode, client_info=us) as client:
                await self._stay(client, limit)

    async def _stay(self, client: Any, limit: asyncio.Timeout) -> None:
        limit.reschedule(None)
        self._client.set_result(client)
        await self._leaves.wait()

    def _knows_another(self, error: BaseException, heard: _Heard) -> bool:
        """Whether a server that refused our handshake may know another one."""
        from mcp.shared.exceptions import MCPError

        if self._client.done() or heard.status in _REFUSED or _is_closed(error):
            return False
        return any(isinstance(each, MCPError) for each in _leaves(error))

    # --- what went wrong -------------------------------------------------------------------------

    def _masked(self, text: str) -> str:
        for secret in self._server.hidden:
            text = text.replace(secret, "…")
        return self._redaction.text(text)

    def _is_too_long(self, said: BaseException | None) -> bool:
        """Whether an answer was not read to its end; `said` is what the SDK says of it."""
        if self._server.transport == STDIO:
            return bool(self._transport is not None and self._transport.overflowed)
        from lambdagent.effects.mcp.web import TOO_LONG

        return said is not None and _is_out_of_form(said) and str(said).endswith(TOO_LONG)

    def _failure(self, error: BaseException | None, status: int | None) -> ServerError:
        """Return what is to be said of `error`, which ended the connection or a call.

        `status` is that of the last request, if it was refused.
        """
        server, told = self._server, [] if error is None else list(_leaves(error))
        if any(isinstance(each, TimeoutError) for each in told):
            what = phrase("it does not answer within {limit} s", limit=f"{server.timeout_s:g}")
            return ServerError(what, phrase("raise `timeout` of the server"))
        if status is not None:
            hint = phrase("check `url` and `headers` of the server")
            return ServerError(f"HTTP {status}", hint, str(status))
        said = next((each for each in told if type(each).__name__ == "MCPError"), None)
        if self._is_too_long(said):
            return ServerError(phrase("the answer is too long"), _FAR)
        if said is not None and not _is_closed(said) and not _is_out_of_form(said):
            reason = self._masked(str(said))
            return ServerError(phrase("it answers: {reason}", reason=reason), _FAR)
        if any(type(each).__name__ == "ValidationError" or _is_out_of_form(each) for each in told):
            return ServerError(phrase("what it says is not in the form of the protocol"), _FAR)
        for each in told:
            LOGGER.debug("mcp %s: %s", server.name, type(each).__name__)
        if server.transport == STDIO:
            return _ended(next((each for each in told if isinstance(each, OSError)), None))
        what = phrase("no connection to {url}", url=shown_url(server.url))
        hint = phrase("check `url` of the server, and whether it runs")
        return ServerError(what, hint, "no connection")


def _ended(error: OSError | None) -> ServerError:
    """Return what is to be said of a process that ended, or that could not begin by `error`."""
    hint = phrase(
        "check `command`, `args` and `env` of the server; LAMBDAGENT_LOG=debug shows what"
        " it writes"
    )
    if error is None:
        return ServerError(phrase("it ended"), hint)
    reason = error.strerror or type(error).__name__
    return ServerError(phrase("it cannot be started: {reason}", reason=reason), hint)


_CLOSED: Final = "Connection closed"
_FAR: Final = phrase("check that this is an MCP server, and its own log")


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors that a group of them holds."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def _is_out_of_form(error: BaseException) -> bool:
    """Whether an error of the SDK says that an answer could not be read."""
    from mcp.types import PARSE_ERROR

    return getattr(error, "code", None) == PARSE_ERROR


def _is_closed(error: BaseException) -> bool:
    """Whether an error of the SDK says that the connection is no more.

    Servers use the same code for faults of their own.
    """
    from mcp.types import CONNECTION_CLOSED

    return any(
        getattr(each, "code", None) == CONNECTION_CLOSED and str(each) == _CLOSED
        for each in _leaves(error)
    )
