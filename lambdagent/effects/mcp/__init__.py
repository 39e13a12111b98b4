"""Tools of servers: MCP over HTTP or as a process, or one POST for each call.

The SDK takes a second to load, so it is loaded by the first connection.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

import attrs

from lambdagent.effects.loop_thread import aresult_of, result_of
from lambdagent.effects.mcp import pool
from lambdagent.effects.mcp.session import McpConnection, ServerError
from lambdagent.effects.protocol import ToolFailure, ToolInvocation
from lambdagent.errors import Diagnostic, EffectError, finding
from lambdagent.ir.data import Data, Record
from lambdagent.ir.remote import HTTP, OPEN_ENDED, POST, STDIO, RemoteTool, Server
from lambdagent.ir.surface import Tool
from lambdagent.messages import phrase

_SPEAKING: Final = {
    STDIO: ("mcp.client", "lambdagent.effects.mcp.stdio"),
    HTTP: ("mcp.client", "mcp.client.streamable_http"),
    POST: ("lambdagent.effects.connections",),
}


class ServerTool:
    """A tool of a server; calls of all threads and event loops share one connection."""

    def __init__(self, name: str, remote: RemoteTool, schema: Record = OPEN_ENDED) -> None:
        """Call `remote` as the tool `name`, which takes what `schema` says.

        Raises:
            EffectError: The SDK that speaks the protocol is not installed.
        """
        check_installed([remote.server])
        self.name = name
        self._remote = remote
        self._schema = schema

    def call(self, invocation: ToolInvocation) -> Data:
        """Return what the server answered; see `ToolHandler`."""
        return result_of(self._submit(invocation), invocation.cancel, self._cancelled)

    async def acall(self, invocation: ToolInvocation) -> Data:
        """Return what the server answered; see `ToolHandler`."""
        return await aresult_of(self._submit(invocation), invocation.cancel, self._cancelled)

    def _submit(self, invocation: ToolInvocation) -> Future[Data]:
        load(self._remote.server.transport)  # which takes a second, and no time of the call
        connection = pool.connection_to(self._remote.server, os.environ)
        work = connection.answer(self._remote.name, invocation, self._schema)
        return pool.submit(work)

    def _cancelled(self) -> ToolFailure:
        return ToolFailure(f"[TOOL_ERROR: {self.name}] it was cancelled")


class Servers:
    """The servers that a session may call: each is connected by the first call."""

    def __init__(self) -> None:
        """Use none yet."""
        self._taken: set[Server] = set()

    def tool(self, name: str, remote: RemoteTool, schema: Record | None) -> ServerTool:
        """Return what calls `remote` as the tool `name`.

        Raises:
            EffectError: The SDK that speaks the protocol is not installed.
        """
        made = ServerTool(name, remote, OPEN_ENDED if schema is None else schema)
        if remote.server not in self._taken:
            self._taken.add(remote.server)
            pool.take(remote.server)
        return made

    def close(self) -> None:
        """End the connections that nobody else uses."""
        while self._taken:
            pool.give_back(self._taken.pop())


@cache
def load(transport: str) -> None:
    """Load what speaks to servers of a kind."""
    for name in _SPEAKING[transport]:
        import_module(name)


def check_installed(servers: Sequence[Server]) -> None:
    """Do nothing where what speaks to `servers` is installed.

    Raises:
        EffectError: It is not.
    """
    speaking = [server for server in servers if server.transport != POST]
    if speaking and find_spec("mcp") is None:
        what = phrase("the package `mcp` is not installed")
        hint = phrase("pip install 'lambdagent[mcp]'")
        raise EffectError(server_problem(speaking[0], what, hint))


@attrs.frozen
class Asked:
    """What came of asking a server for its tools.

    Attributes:
        problem: Why it cannot be used, None if it can.
    """

    server: Server
    tools: tuple[Tool, ...]
    elapsed_s: float
    problem: Diagnostic | None


def discover(
    servers: Sequence[Server], environment: Mapping[str, str]
) -> dict[str, tuple[Tool, ...]]:
    """Return the tools of `servers` by their names, all asked at once.

    Raises:
        EffectError: Some cannot be used; each of these is told.
    """
    found = ask(servers, environment)
    problems = [each.problem for each in found.values() if each.problem is not None]
    if problems:
        raise EffectError(problems)
    return {name: each.tools for name, each in found.items()}


def ask(servers: Sequence[Server], environment: Mapping[str, str]) -> dict[str, Asked]:
    """Return what comes of asking `servers` for their tools, all at once, by their names.

    Raises:
        EffectError: The SDK that speaks the protocol is not installed.
    """
    check_installed(servers)
    for server in servers:
        load(server.transport)
        pool.take(server)
    asked: list[tuple[Server, Future[tuple[tuple[Tool, ...], float]]]] = []
    try:
        for server in servers:
            connection = pool.connection_to(server, environment)
            assert isinstance(connection, McpConnection)
            asked.append((server, pool.submit(_timed(connection))))
        return {server.name: _asked(server, future) for server, future in asked}
    finally:
        for _, future in asked:
            future.cancel()
        for server in servers:
            pool.give_back(server)


async def _timed(connection: McpConnection) -> tuple[tuple[Tool, ...], float]:
    began_s = time.monotonic()
    return await connection.tools(), time.monotonic() - began_s


def _asked(server: Server, future: Future[tuple[tuple[Tool, ...], float]]) -> Asked:
    try:
        return Asked(server, *future.result(), None)
    except ServerError as error:
        problem = server_problem(server, error.message, error.hint)
    except TimeoutError:
        limit = f"{server.timeout_s:g}"
        what = phrase("it does not answer within {limit} s", limit=limit)
        problem = server_problem(server, what, phrase("raise `timeout` of the server"))
    return Asked(server, (), 0.0, problem)


def server_problem(server: Server, message: str, hint: str) -> Diagnostic:
    """Return what is told of a server that cannot be used."""
    return finding("E024", name=server.name, message=message, hint=hint)
