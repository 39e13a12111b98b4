"""``lambdagent compile FILE``."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from lambdagent.api import compiling
from lambdagent.cli.findings import Finding, render_findings
from lambdagent.cli.output import Output, json_text
from lambdagent.effects.collector import relaxed
from lambdagent.errors import UsageError, finding
from lambdagent.messages import phrase

_FAILED, _ERRORS = 1, 3


def add_arguments(parser: ArgumentParser) -> None:
    """Take the file, the format, and what is looked at besides."""
    add = parser.add_argument
    add("file", metavar="FILE", help=phrase("agent file: YAML, λ text (.lam) or tables (.json)"))
    add(
        "--format",
        choices=("text", "json", "python", "sarif", "github"),
        default="text",
        help=phrase(
            "text for people, json for tools, python for code that rebuilds the term; sarif and "
            "github print what is wrong with the file, for services that build and test"
        ),
    )
    add(
        "--bounds",
        action="store_true",
        help=phrase("print how often models and tools can be called instead; json has that too"),
    )
    add(
        "--dry-run",
        action="store_true",
        help=phrase("connect to every server that a run would ask, without asking anything"),
    )
    add(
        "--discover",
        action="store_true",
        help=phrase("ask the MCP servers of the file which tools they have"),
    )
    add("--validate", action="store_true", help=phrase("lint the file, too"))


@relaxed()
def run(arguments: Namespace, out: Output) -> int:
    """Print what the agent compiles to. No effect of it is performed."""
    if arguments.bounds and arguments.format not in {"text", "json"}:
        raise UsageError(finding("U001", option="--bounds", other=f"--format {arguments.format}"))
    asks = arguments.discover or arguments.dry_run
    compiled = compiling.compile_file(arguments.file, discover=asks)
    endpoints: list[Any] | None = None
    if arguments.dry_run:
        # What connects is loaded for that alone.
        reaching = import_module("lambdagent.api.reaching")
        endpoints = reaching.reach_endpoints(compiled.program, os.environ)
    _print(compiled, arguments, endpoints, out)
    if endpoints is not None and arguments.format != "json":
        is_answer = arguments.format == "text"
        reaching = import_module("lambdagent.api.reaching")
        text = reaching.endpoints_text(endpoints, compiled.program)
        (out.answer if is_answer else out.note)(f"\n{text}" if is_answer else text)
    if not asks:
        out.remarks(compiled.remarks)
    shows_urls = arguments.format in {"json", "python"} or compiled.term is None
    if shows_urls and not arguments.bounds:
        out.hidden(compiled.hidden)
    errors = _validate(arguments, out)
    if any(each.reason is not None for each in endpoints or ()):
        return _FAILED
    return _ERRORS if errors else 0


def _print(
    compiled: compiling.Compiled,
    arguments: Namespace,
    endpoints: Sequence[Any] | None,
    out: Output,
) -> None:
    """Print the structure, or the bounds, in the form that is wanted."""
    match arguments.format:
        case "json":
            found = compiled.bounds.to_json() if arguments.bounds else compiled.to_json()
            if endpoints is not None:
                found = {**found, "endpoints": [each.to_json() for each in endpoints]}
            out.answer(json_text(found))
        case "python":
            out.answer(compiled.to_python().rstrip("\n"))
        case "text":
            told = compiled.bounds.describe() if arguments.bounds else compiled.describe()
            out.answer(told.rstrip("\n"))


def _validate(arguments: Namespace, out: Output) -> int:
    """Tell what lint finds in a file that compiles, if that is wanted; return how many errors."""
    form = arguments.format
    if not arguments.validate:
        if form == "sarif":
            out.answer(render_findings([], {}, form))
        return 0
    # The rules are loaded for that alone.
    linting = import_module("lambdagent.api.linting")
    report = linting.lint_source(compiling.read_source(arguments.file))
    name = report.source.name
    found = [Finding(each.diagnostic, name, each.level) for each in report.findings]
    is_answer = form in {"sarif", "github"}
    text = render_findings(found, {name: report.source}, form if is_answer else "text")
    if text:
        (out.answer if is_answer else out.note)(text)
    errors: int = report.count("error")
    return errors
