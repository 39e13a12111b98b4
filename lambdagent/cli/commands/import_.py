"""``lambdagent import FRAMEWORK PATH``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from lambdagent.api.importing import FRAMEWORKS, import_agents
from lambdagent.cli.files import place, write_new
from lambdagent.cli.output import Output
from lambdagent.errors import Diagnostic
from lambdagent.messages import phrase
from lambdagent.source import Source

WITH_LOSSES = 3


def add_arguments(parser: ArgumentParser) -> None:
    """Take the framework, the file, and where to write."""
    add = parser.add_argument
    add(
        "framework",
        choices=tuple(FRAMEWORKS),
        metavar="FRAMEWORK",
        help=phrase("one of {words}", words=", ".join(FRAMEWORKS)),
    )
    add("path", type=place, metavar="PATH", help=phrase("its file; for crewai also its directory"))
    add("--output", type=place, metavar="FILE", help=phrase("where to write it instead of stdout"))
    add("--force", action="store_true", help=phrase("replace a file that is there"))


def run(arguments: Namespace, out: Output) -> int:
    """Write the agent file that another framework's file makes; tell what it lacks."""
    imported = import_agents(arguments.framework, arguments.path)
    if arguments.output is None:
        out.answer(imported.text.rstrip("\n"))
    else:
        write_new(Path(arguments.output), imported.text, force=arguments.force)
        out.answer(arguments.output)
    for source, loss in imported.losses:
        out.note(_line(source, loss))
    return WITH_LOSSES if imported.losses else 0


def _line(source: Source, loss: Diagnostic) -> str:
    where = "" if loss.where is None else f":{loss.where.line}:{loss.where.column}"
    fix = f"; {loss.fix}" if loss.fix else ""
    return f"{source.name}{where}: [{loss.code}] {loss.what}{fix}"
