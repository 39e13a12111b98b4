"""What the tests of servers share: servers as data, and calls of their tools."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from lambdagent.effects.mcp import Servers, ServerTool, pool
from lambdagent.effects.protocol import ToolFailure, ToolInvocation
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.remote import OPEN_ENDED, STDIO, RemoteTool, Server

PLAIN = str(Path(__file__).with_name("plain.py"))


def plain(*words: str, **more: Any) -> Server:
    """Return the server of `plain.py`."""
    usual = {"command": sys.executable, "args": (PLAIN, *words), "timeout_s": 20.0}
    return Server(name="plain", transport=STDIO, **{**usual, **more})


def invocation(given: Any, timeout_s: float = 20.0, **more: Any) -> ToolInvocation:
    """Return a call with `given`."""
    argument = freeze(given)
    text = argument if isinstance(argument, str) else str(given)
    return ToolInvocation(name="t", argument=argument, text=text, timeout_s=timeout_s, **more)


class Calls:
    """The tools of one server, called as a run does."""

    def __init__(self, servers: Servers, server: Server) -> None:
        self._servers = servers
        self._server = server

    def tool(self, name: str, schema: Record = OPEN_ENDED) -> ServerTool:
        return self._servers.tool(name, RemoteTool(self._server, name), schema)

    def __call__(self, name: str, given: Any = "", timeout_s: float = 20.0, **more: Any) -> Data:
        return self.tool(name, **more).call(invocation(given, timeout_s))

    def failure(self, name: str, given: Any = "", timeout_s: float = 20.0, **more: Any) -> str:
        """Return what the program sees of a call that fails."""
        with pytest.raises(ToolFailure) as caught:
            self(name, given, timeout_s, **more)
        return caught.value.text


@contextmanager
def calls(server: Server) -> Iterator[Calls]:
    """Call `server`, and leave nothing of it behind."""
    with closing(Servers()) as servers:
        yield Calls(servers, server)
    assert not any(server in each.connections for each in pool._pools.values())


def logged(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    """Return what the log was told at `level`, without what the SDK says."""
    own = [each for each in caplog.records if each.name == "lambdagent"]
    return [each.getMessage() for each in own if each.levelno == level]
