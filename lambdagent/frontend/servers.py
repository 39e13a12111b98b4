"""`mcpServers`, and the servers of `app.mcp.custom.nodes` → the tools that agents get from them.

An agent may call all tools of the servers of its own and of the agents around it, unless its
`mcp.onlineTool` names some of them. Of a server that speaks MCP only the server itself can tell
which tools it has: that was asked before (`Overrides.declared`), or only what is named is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import attrs

from lambdagent.errors import Diagnostic, finding
from lambdagent.frontend.models import Overrides, Path
from lambdagent.frontend.report import certain, nearest
from lambdagent.ir import surface
from lambdagent.ir.data import Record
from lambdagent.ir.labels import TERMINATE
from lambdagent.ir.remote import OPEN_ENDED, POST, Server, remote_tool
from lambdagent.messages import phrase

_EMPTY: Final[Record] = Record()
_USUAL_TIMEOUT_S: Final = 30.0


@attrs.define(eq=False)
class _Entry:
    """A server of the file: where it stands, how long it may take if the file says that.

    Attributes:
        tools: The only ones that may be called; none for all.
        used: An agent may call it.
    """

    server: Server
    path: Path
    timeout_s: float | None
    tools: tuple[str, ...] = ()
    used: bool = False


class Servers:
    """The servers of one file, and which of them the current agent has.

    Attributes:
        asked: Takes the servers that have to be asked first; None where nobody can be asked.
        whole: All servers of the file could be read.
        unknown: Some agent has tools that nobody has named yet.
    """

    def __init__(self, overrides: Overrides, report: Callable[..., None]) -> None:
        """Know none; `report` is called with code, path and words of each finding."""
        self.asked: list[Server] | None = None
        self.whole = True
        self.unknown = False
        self._overrides = overrides
        self._report = report
        self._every: dict[str, _Entry] = {}
        self._around: dict[str, _Entry] = {}

    @contextmanager
    def of(self, data: Any, path: Path) -> Iterator[None]:
        """Have the servers of the agent `data` for a while, beside those around it."""
        around = self._around
        own = {entry.server.name: entry for entry in self._entries(data, path)}
        self._around = {**around, **own}
        try:
            yield
        finally:
            self._around = around

    def _entries(self, data: Any, path: Path) -> Iterator[_Entry]:
        for number, each in enumerate(data.get("mcpServers", ())):
            at: Path = (*path, "mcpServers", number)
            yield self._entered(each["name"], (*at, "name"), at, each, each["transport"])
        custom = data.get("app", _EMPTY).get("mcp", _EMPTY).get("custom", _EMPTY)
        for name, node in custom.get("nodes", _EMPTY).items():
            at = (*path, "app", "mcp", "custom", "nodes", name)
            yield self._entered(name, at, at, node, POST)

    def _entered(self, name: str, named: Path, path: Path, data: Any, transport: str) -> _Entry:
        chosen = self._overrides
        timeout_s = data.get("timeout")
        server = Server(
            name=name,
            transport=transport,
            url=_joined(data.get("url", ""), data.get("endpoint", "")),
            headers=_pairs(data.get("headers", _EMPTY)),
            command=data.get("command", ""),
            args=tuple(data.get("args", ())),
            env=_pairs(data.get("env", _EMPTY)),
            directory=chosen.base_dir,
            timeout_s=timeout_s or chosen.mcp_timeout_s or _USUAL_TIMEOUT_S,
        )
        entry = _Entry(server, path, timeout_s, tuple(data.get("tools", ())))
        known = self._every.setdefault(name, entry)
        if (known.server, known.tools) != (server, entry.tools):
            self._report("S201", named, name=name, things="servers")
        return known

    def tools(
        self,
        data: Any,
        path: Path,
        timeout_s: float,
        retries: int | None,
        taken: Collection[str],
    ) -> list[surface.Tool]:
        """Return the tools that the agent `data` has from servers.

        Args:
            data: The agent.
            path: Where it stands.
            timeout_s: Longest wait for a call where nobody else says one.
            retries: How often a failed call is made again, if the file says that.
            taken: The names of its other tools.
        """
        found: list[surface.Tool] = []
        names = dict.fromkeys(taken, "")
        for entry, tools in self._chosen(data, path):
            entry.used = True
            for tool in tools:
                if tool.name in names:
                    self._report_taken(entry, tool.name, names[tool.name])
                    continue
                names[tool.name] = entry.server.name
                found.append(self._bound(tool, entry, timeout_s, retries))
        return found

    def _bound(
        self, tool: surface.Tool, entry: _Entry, timeout_s: float, retries: int | None
    ) -> surface.Tool:
        chosen = self._overrides
        limit_s = chosen.tool_timeout_s or entry.timeout_s or chosen.mcp_timeout_s or timeout_s
        again = chosen.mcp_retries if retries is None else retries
        key = remote_tool(entry.server, tool.name)
        return attrs.evolve(tool, implementation=key, timeout_s=limit_s, retries=again or 0)

    def _report_taken(self, entry: _Entry, tool: str, other: str) -> None:
        """Report that a tool has the name of another one, of the server `other` if that is one."""
        whose = (
            phrase("a tool of the server `{name}`", name=other)
            if other
            else phrase("the tool that ends the loop")
            if tool == TERMINATE
            else phrase("a tool of the file or of the caller")
        )
        words = {"tool": tool, "server": entry.server.name, "other": whose}
        self._report("S208", entry.path, **words)

    def _chosen(self, data: Any, path: Path) -> Iterator[tuple[_Entry, tuple[surface.Tool, ...]]]:
        """Yield the servers that an agent may call, each with its tools."""
        online = data.get("mcp", _EMPTY).get("onlineTool", _EMPTY)
        for name, entry in self._around.items():
            if name in online:
                at: Path = (*path, "mcp", "onlineTool", name)
                yield entry, self._of(entry, tuple(dict.fromkeys(online[name])), at)
            elif entry.server.transport != POST:
                yield entry, self._of(entry, entry.tools, (*entry.path, "tools"))
        for name in online:
            if name in self._around:
                continue
            self.unknown = True
            if self.whole:
                self._report_unknown(name, (*path, "mcp", "onlineTool", name))

    def _report_unknown(self, name: str, path: Path) -> None:
        meant = nearest(name, self._around)
        hint = phrase("write `{meant}`", meant=meant) if meant else _DESCRIBE
        known = ", ".join(f"`{each}`" for each in self._around) or phrase("none")
        instead = certain(name, meant, self._around)
        self._report("S207", path, name=name, known=known, hint=hint, instead=instead)

    def _of(self, entry: _Entry, names: tuple[str, ...], path: Path) -> tuple[surface.Tool, ...]:
        """Return the tools `names` of a server, all of them if none is named, as at `path`."""
        server = entry.server
        if server.transport == POST:
            return tuple(_tool(server, name, None) for name in names)
        declared = self._overrides.declared.get(server.name)
        if declared is None:
            return self._undeclared(entry, names)
        known = {tool.name: tool for tool in declared}
        if path[-1] != "tools" and entry.tools:
            known = {name: each for name, each in known.items() if name in entry.tools}
        for number, name in enumerate(names):
            if name not in known:
                self._report_missing(server.name, name, known, (*path, number))
        return tuple(known[name] for name in names or known if name in known)

    def _undeclared(self, entry: _Entry, names: tuple[str, ...]) -> tuple[surface.Tool, ...]:
        """Return what is known of the tools of a server that has not said which it has."""
        if self.asked is not None:
            self.unknown = True
            if entry.server not in self.asked:
                self.asked.append(entry.server)
        elif not names:
            self.unknown = True
            self._report("S206", entry.path, name=entry.server.name)
        return tuple(_tool(entry.server, name, OPEN_ENDED) for name in names)

    def _report_missing(
        self, server: str, name: str, known: Mapping[str, object], path: Path
    ) -> None:
        meant = nearest(name, known)
        hint = phrase("write `{meant}`", meant=meant) if meant else phrase("leave it out")
        told = ", ".join(f"`{each}`" for each in known) or phrase("none")
        words = {"server": server, "name": name, "known": told, "hint": hint}
        self._report("S205", path, **words, instead=certain(name, meant, [*known]))

    def unused(self) -> Iterator[Diagnostic]:
        """Yield a finding for each server whose tools no agent can call."""
        for name, entry in self._every.items():
            if not entry.used and entry.server.transport != POST:
                what = phrase("the MCP server `{name}`", name=name)
                why = phrase("only agents of type `react` call tools")
                hint = phrase("remove it, or have an agent of type `react` call its tools")
                yield finding("S203", None, what=what, why=why, hint=hint)


_DESCRIBE: Final = phrase("describe it in `mcpServers`, or in `app.mcp.custom.nodes`")


def _tool(server: Server, name: str, parameters: Record | None) -> surface.Tool:
    return surface.Tool(name, None, parameters=parameters, server=server.name)


def _pairs(written: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in written.items())


def _joined(url: str, endpoint: str) -> str:
    """Return the address of `endpoint` below `url`.

    >>> _joined("https://a.example/x", "mcp"), _joined("https://a.example/", "/mcp")
    ('https://a.example/x/mcp', 'https://a.example/mcp')
    """
    return f"{url.rstrip('/')}/{endpoint.lstrip('/')}" if endpoint else url
