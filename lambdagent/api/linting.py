"""Files → what lint finds in them, and the same files mended. Nothing is executed."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from lambdagent.api.compiling import CORE_SUFFIXES, read_source
from lambdagent.effects.collector import relaxed
from lambdagent.errors import CompileError, ConfigError, LambdagentError, UsageError, finding
from lambdagent.frontend.build import NO_OVERRIDES, build_term, more_findings
from lambdagent.frontend.check import read_config
from lambdagent.frontend.lint import engine, rules, table
from lambdagent.frontend.lint.fixes import apply_edits
from lambdagent.frontend.lint.rules import Level
from lambdagent.frontend.lint.secrets import hide, without_secrets
from lambdagent.frontend.nodes import MapNode
from lambdagent.frontend.report import in_file_order, nearest
from lambdagent.frontend.schema import AGENT
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.ir.bounds import bounds
from lambdagent.ir.summary import summary
from lambdagent.ir.surface import Term
from lambdagent.machine.expression import check
from lambdagent.messages import phrase
from lambdagent.source import Source

Finding: TypeAlias = rules.Finding
LEVELS: Final = rules.LEVELS
RULES: Final = table.RULES

# What a directory is searched for; programs in JSON are linted where they are named.
_SUFFIXES: Final = (".yml", ".yaml", ".lam")
# A fix may make another one possible; each round mends at least one finding.
_MOST_ROUNDS: Final = 20
# Of more findings than these, none is mended alone where all fixes together are not sound.
_MOST_ALONE: Final = 20


@attrs.frozen
class Selection:
    """Which rules run.

    Attributes:
        level: The lowest level that is told.
        only: Codes of the only rules that run; empty for all.
        ignored: Codes of rules that do not run.
    """

    level: Level = "info"
    only: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    @cached_property
    def active(self) -> frozenset[str]:
        """The codes of the rules that run."""
        return frozenset(
            rule.code
            for rule in table.RULES
            if rule.code not in self.ignored
            and (not self.only or rule.code in self.only)
            and LEVELS.index(rule.level) <= LEVELS.index(self.level)
        )

    def shows(self, each: Finding) -> bool:
        """Whether a finding is told."""
        code = each.diagnostic.code
        known = code in table.BY_CODE
        if self.only and known and code not in self.only:
            return False
        return LEVELS.index(each.level) <= LEVELS.index(self.level)


EVERYTHING: Final = Selection()


@attrs.frozen(eq=False)
class Report:
    """What was found in one file.

    Attributes:
        source: The file, without the credentials that are written in it.
        findings: In file order.
        structure: How the agent is put together, in one line; empty if it does not compile.
        name: What people call the agent.
        readable: Whether the file could be read to its end.
    """

    source: Source
    findings: tuple[Finding, ...]
    structure: str = ""
    name: str = ""
    readable: bool = True

    def count(self, level: Level) -> int:
        """Return how many findings are of `level`."""
        return sum(each.level == level for each in self.findings)


def selection(level: Level, only: Collection[str], ignored: Collection[str]) -> Selection:
    """Return the rules that a command line asks for.

    Raises:
        UsageError: There is no such rule, or nobody may ignore it.
    """
    for code in (*only, *ignored):
        if code not in table.BY_CODE:
            meant = nearest(code, table.BY_CODE)
            hint = (
                phrase("write `{meant}`", meant=meant)
                if meant
                else phrase("`lambdagent lint --rules` lists them")
            )
            raise UsageError(finding("U026", rule=code, hint=hint))
    for code in ignored:
        if table.BY_CODE[code].refused:
            raise UsageError(finding("U027", rule=code))
    return Selection(level, frozenset(only), frozenset(ignored))


def lint_config(path: str | Path) -> list[Finding]:
    """Return what lint finds in an agent file: errors of the compiler, and what the rules say.

    Raises:
        NoSuchFileError: There is no such file.
        ConfigError: It cannot be read.
    """
    return list(lint_source(read_source(path)).findings)


@relaxed()
def lint_source(source: Source, selected: Selection = EVERYTHING) -> Report:
    """Return what is found in the text of a file of any kind."""
    if source.name.endswith(CORE_SUFFIXES):
        return _lint_core(source, selected)
    tree = parse_yaml(source)
    config, diagnostics = read_config(tree, source, os.environ)
    found: list[Finding] = []
    term = None
    if config is None:
        found += engine.lint_text(source, selected.active)
    else:
        found += engine.lint_config(config, _holds, selected.active)
        if diagnostics:
            diagnostics = [*diagnostics, *more_findings(config)]
        else:
            try:
                term = build_term(config, NO_OVERRIDES, asked=[])
            except CompileError as error:
                diagnostics = list(error.diagnostics)
    found += engine.from_compiler(diagnostics, source)
    found = engine.heed_comments(found, source, tree.root, selected.active)
    name = str(config.data.get("name") or config.data.get("agentId") or "") if config else ""
    return _report(source, found, selected, term, name, readable=tree.root is not None)


def _lint_core(source: Source, selected: Selection) -> Report:
    # The parser is loaded for such files alone.
    parse = import_module("lambdagent.api.programs").parse_program
    found = engine.lint_text(source, selected.active)
    term, readable, name = None, True, Path(source.name).stem
    try:
        term, program = parse(source, name, NO_OVERRIDES)
    except CompileError as error:
        found += engine.from_compiler(error.diagnostics, source)
        readable = False
    else:
        found += engine.lint_bounds(bounds(program), selected.active)
        if term is not None:
            found += engine.lint_term(term, source, _holds, selected.active)
    found = engine.heed_comments(found, source, None, selected.active)
    return _report(source, found, selected, term, name, readable=readable)


def public(source: Source) -> Source:
    """Return `source` as it may be shown: without the credentials that are written in it."""
    return without_secrets(source)


def _report(
    source: Source,
    found: Iterable[Finding],
    selected: Selection,
    term: Term | None,
    name: str,
    *,
    readable: bool,
) -> Report:
    shown = _sorted(each for each in found if selected.shows(each))
    redacted = public(source)
    if redacted is not source:
        shown = [_hidden(each) for each in shown]
    wanted = term is not None and selected.level == "info"
    structure = summary(term) if term is not None and wanted else ""
    return Report(redacted, tuple(shown), structure, name, readable)


def _sorted(found: Iterable[Finding]) -> list[Finding]:
    by_diagnostic = {id(each.diagnostic): each for each in found}
    ordered = in_file_order(each.diagnostic for each in by_diagnostic.values())
    return [by_diagnostic[id(each)] for each in ordered]


def _hidden(each: Finding) -> Finding:
    """Return a finding that quotes no credentials of the file."""
    told = each.diagnostic
    what, why, fix = (hide(text) for text in (told.what, told.why, told.fix))
    actual = hide(told.actual) if isinstance(told.actual, str) else told.actual
    told = told._replace(what=what, why=why, fix=fix, actual=actual)
    return each._replace(diagnostic=told)


def _holds(rows: object, names: object) -> bool:
    return check(rows, names)[0]  # type: ignore[arg-type]


# --- files ---------------------------------------------------------------------------------------


def sources_of(paths: Iterable[str]) -> Iterator[Source | Report]:
    """Yield the texts of files, and of the agent files below directories.

    What cannot be read is a report, so one bad file never ends the others. YAML below a directory
    that has no field of an agent is no agent file, and passed over.
    """
    for path in paths:
        if not Path(path).is_dir():
            yield _read(path)
            continue
        closed: list[OSError] = []
        for file in _agent_files(path, closed):
            source = _read(file)
            if isinstance(source, Report) or _may_be_agent(source):
                yield source
        for error in closed:
            told = finding("S011", reason=error.strerror or str(error))
            yield unread(str(error.filename), ConfigError(told))


def _read(path: str) -> Source | Report:
    try:
        return read_source(path)
    except CompileError as error:
        return unread(path, error)


def unread(name: str, error: LambdagentError) -> Report:
    """Return the report about a file that could not be read, or not be written."""
    found = tuple(Finding(each) for each in error.diagnostics)
    return Report(Source(name, ""), found, readable=False)


def _agent_files(directory: str, closed: list[OSError]) -> Iterator[str]:
    """Yield the files below `directory` that may be agents, in order; nothing that is hidden.

    Why a directory cannot be read is added to `closed`.
    """
    for folder, folders, files in os.walk(directory, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(_SUFFIXES) and not name.startswith("."):
                path = Path(folder, name)
                if not _is_endless(path):
                    yield str(path)


def _is_endless(path: Path) -> bool:
    """Whether `path` is there and is no file: reading a pipe or a device might never end."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False  # what is wrong is told when it is read


def _may_be_agent(source: Source) -> bool:
    if source.name.endswith(CORE_SUFFIXES):
        return True
    root = parse_yaml(source).root
    if root is None:
        return True  # whoever wrote it wants to know
    known = AGENT.fields
    keys = root.entries if isinstance(root, MapNode) else ()
    return any(key in known for key in keys) or any(nearest(key, known) for key in keys)


# --- fixes ---------------------------------------------------------------------------------------


def fixed(source: Source, selected: Selection = EVERYTHING) -> Source:
    """Return the text with all that is certain mended; comments and layout stay as they are.

    Idempotent. A fix that would keep the file from being read is not made.
    """
    report = lint_source(source, selected)
    for _ in range(_MOST_ROUNDS):
        mended = _mended(source, report.findings)
        if mended.text == source.text:
            break
        after = lint_source(mended, selected)
        if not _is_sound(report, after):
            return _one_by_one(source, report, selected)
        source, report = mended, after
    return source


def _mended(source: Source, found: Iterable[Finding]) -> Source:
    edits = [edit for each in found for edit in each.edits]
    return source._replace(text=apply_edits(source.text, edits))


def _one_by_one(source: Source, report: Report, selected: Selection) -> Source:
    """Return the text with each fix made that is sound on its own, until there is none."""
    for _ in range(_MOST_ROUNDS):
        fixes = [each for each in report.findings if each.edits]
        for each in fixes[:_MOST_ALONE]:
            mended = _mended(source, [each])
            after = lint_source(mended, selected)
            if _is_sound(report, after):
                source, report = mended, after
                break
        else:
            break
    return source


def _is_sound(before: Report, after: Report) -> bool:
    """Whether the text reads as well as before."""
    worse = _misreadings(after.findings) > _misreadings(before.findings)
    return not worse and after.readable >= before.readable


def _misreadings(found: Iterable[Finding]) -> int:
    return sum(each.diagnostic.code.startswith("S0") for each in found)
