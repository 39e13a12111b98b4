"""Tools on servers: what the site of such a tool is bound to.

Where a server is, and what it is told to let us in, is no part of a program: it is in no text, no
hash and no file of a run. A program names the server; this stands behind the name in one process.
"""

from __future__ import annotations

from typing import Final

import attrs

from lambdagent.ir import registry
from lambdagent.ir.data import Record
from lambdagent.ir.url import secrets_of_url

# Speak the Model Context Protocol over HTTP, or as a process of ours; or take one POST for a call.
HTTP: Final = "http"
STDIO: Final = "stdio"
POST: Final = "post"

# The arguments of a tool of which nothing more is known.
OPEN_ENDED: Final = Record(type="object")
# Of what is hidden: shorter ones, such as `Bearer`, are words that stand anywhere.
_SHORTEST: Final = 8


@attrs.frozen(kw_only=True)
class Server:
    """A server, and how it is reached.

    Attributes:
        transport: `HTTP`, `STDIO` or `POST`.
        url: Where it is, unless it is a process.
        headers: Sent with each request.
        command: The program that is started for a process, with its `args` and its `env`.
        directory: Where that program runs; the working directory by default.
        timeout_s: Longest wait until it is connected and has said which tools it has.
    """

    name: str
    transport: str
    url: str = attrs.field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    command: str = attrs.field(default="", repr=False)
    args: tuple[str, ...] = attrs.field(default=(), repr=False)
    env: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    directory: str | None = attrs.field(default=None, repr=False)
    timeout_s: float = 30.0

    @property
    def hidden(self) -> tuple[str, ...]:
        """What no text may show, longest first.

        That is values of headers and of variables, and what `shown_url` leaves out of addresses.
        """
        told = [value for _, value in (*self.headers, *self.env)]
        told += [word for value in told for word in value.split()]
        for address in (self.url, *self.args):
            told += secrets_of_url(address)
        return tuple(sorted({each for each in told if len(each) >= _SHORTEST}, key=len))[::-1]


@attrs.frozen
class RemoteTool:
    """A tool by its name on a server."""

    server: Server
    name: str


_known: Final[dict[RemoteTool, RemoteTool]] = {}


def remote_tool(server: Server, name: str) -> str:
    """Return the key in the registry of the tool `name` of `server`."""
    tool = RemoteTool(server, name)
    return registry.register(_known.setdefault(tool, tool))
