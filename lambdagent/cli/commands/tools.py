"""``lambdagent tools FILE``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from lambdagent.api.toolbox import ListedTool, Survey, call_tool, survey_tools, tools_of
from lambdagent.cli.output import Output, json_text
from lambdagent.effects.mcp.pool import kept_open
from lambdagent.effects.tool_docs import tool_lines
from lambdagent.ir.data import Record, thaw
from lambdagent.ir.data_text import data_text
from lambdagent.ir.exchange import Failure
from lambdagent.ir.labels import TERMINATE
from lambdagent.ir.remote import STDIO
from lambdagent.messages import phrase, say, told

_FAILED = 1
_KINDS = {"mcp": "MCP", "shell": "Shell", "python": "Python", "local": "Local"}


def add_arguments(parser: ArgumentParser) -> None:
    """Take the file, and what is done with its tools."""
    add = parser.add_argument
    add("file", metavar="FILE", help=phrase("agent file: YAML, λ text (.lam) or tables (.json)"))
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--test",
        nargs=2,
        metavar=("TOOL", "TEXT"),
        help=phrase("call a tool once: TEXT is its only argument, or JSON of all of them"),
    )
    what.add_argument(
        "--discover", metavar="SERVER", help=phrase("print all tools that an MCP server has")
    )
    add("--format", choices=("text", "json"), default="text", help=phrase("form of the answer"))


def run(arguments: Namespace, out: Output) -> int:
    """Print the tools of the file, and whether their servers can be reached."""
    with kept_open():
        survey = survey_tools(arguments.file)
        as_json = arguments.format == "json"
        if arguments.test is not None:
            return _test(survey, arguments.test, out, as_json=as_json)
    if arguments.discover is not None:
        tools = tools_of(survey, arguments.discover)
        rows = [
            Record(name=each.name, description=each.description, parameters=each.parameters)
            for each in tools
        ]
        lines = (line for row in rows for line in tool_lines(row))
        out.answer(json_text(thaw(tuple(rows))) if as_json else "\n".join(lines))
        return 0
    if as_json:
        found = {
            "name": survey.name,
            "tools": [tool.to_json() for tool in survey.tools],
            "servers": [server.to_json() for server in survey.servers],
        }
        out.answer(json_text(found))
    else:
        out.answer("\n".join(_lines(survey)))
    return _FAILED if any(server.reason is not None for server in survey.servers) else 0


def _test(survey: Survey, asked: list[str], out: Output, *, as_json: bool) -> int:
    answer = call_tool(survey, *asked)
    failed = isinstance(answer, Failure)
    said = answer.message if isinstance(answer, Failure) else answer
    if as_json:
        out.answer(json_text({"tool": asked[0], "failed": failed, "answer": thaw(said)}))
    else:
        out.answer(said if isinstance(said, str) else data_text(said))
    return _FAILED if failed else 0


def _lines(survey: Survey) -> Iterator[str]:
    yield say("Tools of {name}:", name=survey.name)
    if not survey.tools:
        yield f"  {say('none')}"
    rows = [(f"[{_KINDS[each.kind]}]", each.name, each.server or "") for each in survey.tools]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    for row, tool in zip(rows, survey.tools, strict=True):
        cells = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"  {cells}  {_about(tool)}".rstrip()
    if survey.servers:
        yield f"\n{say('Servers:')}"
    for each in survey.servers:
        took = f"{each.elapsed_s * 1000:.0f}ms"
        place = say("a process") if each.transport == STDIO else each.place
        if each.reason is not None:
            stands = f"✗ {told(each.reason)}"
        elif each.count is None:
            stands = f"✓ {say('reachable ({took})', took=took)}"
        elif each.count == 1:
            stands = f"✓ {say('one tool ({took})', took=took)}"
        else:
            stands = f"✓ {say('{count} tools ({took})', count=each.count, took=took)}"
        yield f"  {each.name}  {place}  {stands}"


def _about(tool: ListedTool) -> str:
    if tool.name == TERMINATE:
        return f"λx.x  {say('base case')}"
    return tool.description.strip().partition("\n")[0]
