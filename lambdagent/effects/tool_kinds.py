"""The site of a tool → who runs it: a command, a server, or a Python function."""

from __future__ import annotations

from pathlib import Path

from lambdagent.effects.mcp import Servers
from lambdagent.effects.protocol import ToolHandler
from lambdagent.effects.tools.python import python_tool
from lambdagent.effects.tools.shell import ShellTool
from lambdagent.errors import EffectError, finding
from lambdagent.ir import registry
from lambdagent.ir.remote import RemoteTool
from lambdagent.ir.sites import Site


def limit_s(site: Site) -> float:
    """Return how long a call of `site` may take."""
    return float("inf") if site.timeout_s is None else site.timeout_s


def tool_of(site: Site, base_dir: Path | None, servers: Servers) -> ToolHandler:
    """Return who runs the tool of `site`.

    Args:
        site: The site.
        base_dir: Where commands run.
        servers: Those that may be called.

    Raises:
        EffectError: It has no implementation, a command is refused, or nothing says where the
            server of the tool is.
    """
    name, command = str(site.static["name"]), site.static["command"]
    if isinstance(command, str):
        only = site.static.get("input")
        return ShellTool(name, command, limit_s(site), base_dir, parameter=only)
    if site.binding is None:
        server = site.static.get("server")
        missing = finding("S202", name=name)
        raise EffectError(missing if server is None else finding("E023", name=name, server=server))
    found = registry.lookup(site.binding)
    if isinstance(found, RemoteTool):
        return servers.tool(name, found, site.static.get("parameters"))
    return python_tool(name, site.binding)
