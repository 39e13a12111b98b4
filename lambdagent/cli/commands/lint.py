"""``lambdagent lint FILE…``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import indent
from typing import Final

from lambdagent.api import linting
from lambdagent.api.linting import Report, Selection
from lambdagent.cli import findings
from lambdagent.cli.files import place, rewrite, standard_input
from lambdagent.cli.output import Output
from lambdagent.errors import FIX, WHY, UsageError, finding
from lambdagent.messages import phrase, say, told
from lambdagent.source import Source

_WRONG, _ERRORS, _MISSING = 2, 3, 4
_STANDARD_INPUT = "standard input"
_RULE, _LINE = "=" * 60, "─" * 56
_MARKS: Final = {"error": "✗ [ERROR]", "warn": "⚠ [WARN] ", "info": "ℹ [INFO] "}


def add_arguments(parser: ArgumentParser) -> None:
    """Take files, and which rules run."""
    parser.add_argument(
        "files",
        metavar="FILE…",
        nargs="*",
        type=place,
        help=phrase(
            "agent files, λ texts (.lam), tables (.json); all agents below a directory; "
            "- reads an agent file from standard input"
        ),
    )
    parser.add_argument(
        "--level",
        choices=linting.LEVELS,
        default="info",
        help=phrase("the lowest level that is told; info by default"),
    )
    parser.add_argument(
        "--rules",
        metavar="CODES",
        nargs="?",
        const="",
        help=phrase("run only these, such as L001,L004; without CODES, list all rules"),
    )
    parser.add_argument(
        "--ignore",
        metavar="CODES",
        action="append",
        default=[],
        help=phrase("do not run these; in a file, `# lint: ignore L014` on a line or above it"),
    )
    parser.add_argument(
        "--format",
        choices=findings.FORMATS,
        default="text",
        help=phrase(
            "text for people, json for tools, sarif and github for services that build and test"
        ),
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help=phrase("mend in the files what is certain; comments and layout stay"),
    )
    parser.add_argument(
        "--diff",
        action="store_true",
        help=phrase("show what `--fix` would change, and change nothing"),
    )


def run(arguments: Namespace, out: Output) -> int:
    """Print what is found. Nothing is executed."""
    if arguments.rules == "":
        if arguments.files:
            raise UsageError(finding("U018", option="--rules", what=phrase("codes beside a file")))
        out.answer("\n".join(f"{r.code}  {r.level:<5}  {told(r.title)}" for r in linting.RULES))
        return 0
    _check(arguments)
    only, ignored = _codes([arguments.rules or ""]), _codes(arguments.ignore)
    selected = linting.selection(arguments.level, only, ignored)
    reports = [*_reports(arguments, selected, out)]
    if not arguments.diff:
        text = text_of(reports) if arguments.format == "text" else _for_tools(reports, arguments)
        if text:
            out.answer(text)
    return _code(reports)


def _check(arguments: Namespace) -> None:
    if not arguments.files:
        raise UsageError(finding("U028"))
    if arguments.diff and arguments.format != "text":
        raise UsageError(finding("U001", option="--diff", other=f"--format {arguments.format}"))
    if arguments.fix and not arguments.diff and "-" in arguments.files:
        raise UsageError(finding("U018", option="--fix", what=phrase("a file to write")))


def _codes(options: Iterable[str]) -> list[str]:
    return [code.strip() for each in options for code in each.split(",") if code.strip()]


def _reports(arguments: Namespace, selected: Selection, out: Output) -> Iterator[Report]:
    for name in arguments.files:
        if name == "-":
            sources: Iterable[Source | Report] = [Source(_STANDARD_INPUT, standard_input())]
        else:
            sources = linting.sources_of([name])
        for source in sources:
            if isinstance(source, Report):
                yield source
            elif arguments.diff:
                _show(source, linting.fixed(source, selected), out)
                yield linting.lint_source(source, selected)
            elif arguments.fix:
                yield _fix(source, selected, out)
            else:
                yield linting.lint_source(source, selected)


def _show(before: Source, after: Source, out: Output) -> None:
    """Print how a file would change; credentials are not shown."""
    old, new = (linting.public(each).text.splitlines(keepends=True) for each in (before, after))
    unified_diff = import_module("difflib").unified_diff
    lines = unified_diff(old, new, before.name, f"{before.name} (fixed)")
    whole = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    if whole:
        out.answer(whole.rstrip("\n"))


def _fix(source: Source, selected: Selection, out: Output) -> Report:
    mended = linting.fixed(source, selected)
    if mended.text != source.text:
        try:
            rewrite(Path(source.name), source.text, mended.text)
        except UsageError as error:
            return linting.unread(source.name, error)
        out.note(say("fixed {name}", name=source.name))
    return linting.lint_source(mended, selected)


def _code(reports: Sequence[Report]) -> int:
    """Return the exit code: the first that applies of no such file, unreadable, errors, fine."""
    codes = {each.diagnostic.code for report in reports for each in report.findings}
    if "S012" in codes:
        return _MISSING
    if not all(report.readable for report in reports):
        return _WRONG
    return _ERRORS if any(report.count("error") for report in reports) else 0


# --- text ----------------------------------------------------------------------------------------


def _for_tools(reports: Sequence[Report], arguments: Namespace) -> str:
    found = [
        findings.Finding(each.diagnostic, report.source.name, each.level)
        for report in reports
        for each in report.findings
    ]
    sources = {report.source.name: report.source for report in reports}
    return findings.render_findings(found, sources, arguments.format)


def text_of(reports: Sequence[Report]) -> str:
    """Return the findings as specification 8.2 lays them out."""
    blocks = ["\n".join(_block(report)) for report in reports]
    if len(reports) != 1:
        counts = _counts(reports)
        blocks.append(say("{count} files: {counts}", count=len(reports), counts=counts))
    return "\n\n".join(blocks)


def _block(report: Report) -> Iterator[str]:
    yield f"lambdagent lint: {report.source.name}"
    yield _RULE
    for each in report.findings:
        found = each.diagnostic
        where = say(", line {line}", line=found.where.line) if found.where else ""
        field = f"{found.field}: " if found.field else ""
        yield f"  {_MARKS[each.level]} {field}{found.what} ({found.code}{where})"
        if found.where:
            yield indent(report.source.excerpt(found.where), "    ")
        if found.why:
            yield f"    {'Lambda' if found.code.startswith('L') else told(WHY)}: {found.why}"
        if found.fix:
            yield f"    {told(FIX)}: {found.fix}"
    if report.structure:
        summary = say("summary: λ structure of the agent")
        if report.name:
            summary = say("summary: λ structure of agent '{name}'", name=report.name)
        yield f"  {_MARKS['info']} {summary}:"
        yield f"    {report.structure}"
    yield _LINE
    yield f"  {_counts([report])}"


def _counts(reports: Sequence[Report]) -> str:
    errors, warnings, infos = (
        sum(report.count(level) for report in reports) for level in linting.LEVELS
    )
    infos += sum(bool(report.structure) for report in reports)
    return f"{errors} error(s), {warnings} warning(s), {infos} info(s)"
