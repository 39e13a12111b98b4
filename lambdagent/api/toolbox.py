"""The tools of an agent file, who runs each of them, and whether their servers can be reached."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from lambdagent.api.compiling import compile_file
from lambdagent.effects.handlers import Handlers, Request
from lambdagent.effects.mcp import Asked, ask
from lambdagent.effects.reach import reach
from lambdagent.errors import Diagnostic, EffectError, UsageError, finding
from lambdagent.frontend.report import nearest
from lambdagent.ir import registry
from lambdagent.ir.data import Data, Record, freeze, thaw
from lambdagent.ir.exchange import Failure
from lambdagent.ir.labels import TERMINATE
from lambdagent.ir.program import Program
from lambdagent.ir.remote import POST, RemoteTool, Server
from lambdagent.ir.sites import Site
from lambdagent.ir.surface import Tool, subterms
from lambdagent.ir.url import shown_url
from lambdagent.machine.called import Call, Invalid, arguments_of, fitted
from lambdagent.messages import Phrase, phrase, told

_LIMIT_S = 10.0


@attrs.frozen
class ListedTool:
    """A tool of a file.

    Attributes:
        kind: ``mcp``, ``shell``, ``python``, or ``local`` for ``terminate``.
        server: Whose it is, None if nobody outside runs it.
    """

    name: str
    kind: str
    server: str | None
    description: str
    parameters: Record | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        row = attrs.asdict(self, recurse=False)
        return {**row, "parameters": thaw(self.parameters)}


@attrs.frozen
class ListedServer:
    """A server of a file, and whether it can be used.

    Attributes:
        place: Its address, as far as it may be shown; nothing of a process.
        reason: Why it cannot be used, None if it can.
        count: How many tools it has, None if nobody can know.
    """

    name: str
    transport: str
    place: str
    elapsed_s: float
    reason: str | None
    count: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**attrs.asdict(self), "reason": told(self.reason)}


@attrs.frozen
class Survey:
    """The tools of a file and their servers.

    Attributes:
        said: All tools that servers have, by server; the agent may be able to call only some.
        problems: Why some servers cannot be used.
    """

    name: str
    program: Program = attrs.field(repr=False)
    tools: tuple[ListedTool, ...]
    servers: tuple[ListedServer, ...]
    said: Mapping[str, tuple[Tool, ...]] = attrs.field(repr=False)
    problems: tuple[Diagnostic, ...]


def survey_tools(path: str | Path) -> Survey:
    """Return the tools of the file at `path`; servers that cannot be used are no fault.

    Raises:
        NoSuchFileError: There is no such file.
        CompileError: It does not compile.
        EffectError: The SDK that speaks MCP is not installed.
    """
    asked: dict[str, Asked] = {}

    def discover(servers: Sequence[Server], environment: Mapping[str, str]) -> Any:
        asked.update(ask(servers, environment))
        return {name: each.tools for name, each in asked.items() if each.problem is None}

    compiled = compile_file(path, discover=discover)
    program = compiled.program
    tools: dict[str, ListedTool] = {}
    if compiled.term is None:
        for site in program.sites.values():
            if site.kind == "tool":
                tools[str(site.static["name"])] = _of_site(site)
    else:
        for term in subterms(compiled.term):
            if type(term) is Tool:
                tools[term.name] = _of_tool(term)
    servers = _servers(program, asked)
    said = {name: each.tools for name, each in asked.items()}
    problems = tuple(each.problem for each in asked.values() if each.problem is not None)
    return Survey(compiled.name, program, tuple(tools.values()), servers, said, problems)


def _of_tool(tool: Tool) -> ListedTool:
    kind = _kind(tool.name, tool.command, tool.server)
    return ListedTool(tool.name, kind, tool.server, tool.description, tool.parameters)


def _of_site(site: Site) -> ListedTool:
    static = site.static
    name, server = str(static["name"]), static.get("server")
    kind = _kind(name, static["command"], server)
    return ListedTool(name, kind, server, str(static["description"]), static.get("parameters"))


def _kind(name: str, command: Data, server: Data) -> str:
    if name == TERMINATE:
        return "local"
    if server is not None:
        return "mcp"
    return "python" if command is None else "shell"


def _servers(program: Program, asked: Mapping[str, Asked]) -> tuple[ListedServer, ...]:
    """Return the servers that `program` may call, and those that were asked."""
    bound = [registry.lookup(each.binding) for each in program.sites.values() if each.binding]
    plain = {
        each.server.name: each.server
        for each in bound
        if isinstance(each, RemoteTool) and each.server.transport == POST
    }
    urls = [server.url for server in plain.values()]
    reached = zip(plain.values(), reach(urls, _LIMIT_S), strict=True)
    found = [
        ListedServer(
            each.server.name,
            each.server.transport,
            _place(each.server),
            each.elapsed_s,
            _reason(each),
            len(each.tools),
        )
        for each in asked.values()
    ]
    found += [
        ListedServer(server.name, POST, _place(server), each.elapsed_s, each.reason, None)
        for server, each in reached
    ]
    return tuple(found)


def _place(server: Server) -> str:
    return shown_url(server.url)


def _reason(asked: Asked) -> str | None:
    return None if asked.problem is None else asked.problem.values["message"]


def call_tool(survey: Survey, name: str, text: str) -> Data | Failure:
    """Return what the tool `name` answers to `text`: JSON of its arguments, or the only one.

    It is called once, without being confirmed by anybody.

    Raises:
        UsageError: There is no such tool, or the text does not fit what it takes.
        EffectError: It cannot be called.
    """
    sites = [each for each in survey.program.sites.values() if each.kind == "tool"]
    site = next((each for each in sites if each.static["name"] == name), None)
    listed = {tool.name: tool for tool in survey.tools}
    if site is None:
        if survey.problems:  # it may be a tool of one of these servers
            raise EffectError(survey.problems)
        known = [str(each.static["name"]) for each in sites]
        raise UsageError(_unknown(phrase("tool"), name, known))
    parameters = listed[name].parameters
    schemas = arguments_of(Record() if parameters is None else Record({name: parameters}))
    found = fitted(Call(name, _arguments(text)), schemas, [*listed])
    if isinstance(found, Invalid):
        reason = found.message.partition("; the tools")[0]
        raise UsageError(finding("U040", tool=name, reason=reason))
    handlers = Handlers({site.name: site}, os.environ)
    try:
        return handlers.of(site).answer(Request((0,), site, found.args))
    finally:
        handlers.close()


def _arguments(text: str) -> Data:
    """Return `text` as an object if it is the JSON of one."""
    with suppress(ValueError, RecursionError):
        read = json.loads(text)
        if isinstance(read, dict):
            return freeze(read)
    return text


def tools_of(survey: Survey, server: str) -> tuple[Tool, ...]:
    """Return all tools that `server` has.

    Raises:
        UsageError: There is no such server that can be asked.
        EffectError: It cannot be used.
    """
    if server not in survey.said:
        raise UsageError(_unknown(phrase("MCP server"), server, [*survey.said]))
    problem = next((e for e in survey.problems if e.values["name"] == server), None)
    if problem is not None:
        raise EffectError(problem)
    return survey.said[server]


def _unknown(thing: Phrase, name: str, known: Sequence[str]) -> Diagnostic:
    meant = nearest(name, known)
    hint = phrase("write `{meant}`", meant=meant) if meant else phrase("name one of them")
    told_ = ", ".join(f"`{each}`" for each in known) or phrase("none")
    return finding("U039", thing=thing, name=name, known=told_, hint=hint)
