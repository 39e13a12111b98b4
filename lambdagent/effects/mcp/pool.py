"""The connections of this process, and the event loop on which they live.

There is one connection to a server, whatever runs, branches and threads use it. It is opened by
the first call and ended when the last run that may use it is over. The loop has a thread of its
own, which is there while there are connections.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.loop_thread import LoopThread
from lambdagent.effects.mcp.post import PostConnection
from lambdagent.effects.mcp.session import McpConnection
from lambdagent.effects.protocol import ToolInvocation
from lambdagent.ir.data import Data, Record
from lambdagent.ir.remote import POST, Server

T = TypeVar("T")


class Connection(Protocol):
    """A server that can be called."""

    async def answer(self, tool: str, invocation: ToolInvocation, schema: Record) -> Data:
        """Return what `tool` answers."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


class _Pool:
    """The connections of one process, each with how many use it.

    Attributes:
        holds: How many want connections to stay that nobody uses.
    """

    def __init__(self) -> None:
        self.loop = LoopThread("lambdagent-mcp")
        self.connections: dict[Server, Connection] = {}
        self.users: dict[Server, int] = {}
        self.holds = 0


_lock: Final = ForkSafeLock()
# The child of a fork has neither the thread nor a right to the pipes and sockets.
_pools: Final[dict[int, _Pool]] = {}


def _pool() -> _Pool:
    return _pools.setdefault(os.getpid(), _Pool())


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Have `work` done on the event loop of the connections."""
    return _pool().loop.submit(work)


def connection_to(server: Server, environment: Mapping[str, str]) -> Connection:
    """Return the connection to `server`; whoever uses it says so with `take`."""
    with _lock:
        pool = _pool()
        found = pool.connections.get(server)
        if found is None:
            is_post = server.transport == POST
            found = PostConnection(server) if is_post else McpConnection(server, environment)
            pool.connections[server] = found
        return found


def take(server: Server) -> None:
    """Have the connection to `server` stay until as many have given it back as took it."""
    with _lock:
        users = _pool().users
        users[server] = users.get(server, 0) + 1


def give_back(server: Server) -> None:
    """End the connection to `server` if nobody else uses it."""
    with _lock:
        users = _pool().users
        users[server] = users.get(server, 1) - 1
    _end_unused()


@contextmanager
def kept_open() -> Iterator[None]:
    """Have connections stay between those who use them, until the end of this."""
    with _lock:
        _pool().holds += 1
    try:
        yield
    finally:
        with _lock:
            _pool().holds -= 1
        _end_unused()


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _end_unused() -> None:
    """End the connections that nobody uses, and the thread if none is left."""
    if sys.is_finalizing():  # threads do not run any more; nobody waits for them
        return
    with _lock:
        pool = _pool()
        if pool.holds:
            return
        unused = [server for server, count in pool.users.items() if count <= 0]
        ended = [pool.connections.pop(each) for each in unused if each in pool.connections]
        for each in unused:
            del pool.users[each]
    endings = [pool.loop.submit(connection.close()) for connection in ended]
    if _in_event_loop():  # which must not wait; the thread stays for the next connection
        return
    for ending in endings:
        ending.result()
    with _lock:  # nothing on the loop takes it
        if not (pool.users or pool.holds):
            pool.loop.close()
