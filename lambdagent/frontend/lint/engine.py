"""Applies the rules, and heeds the comments that ignore some of what they find."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from lambdagent.errors import Diagnostic, finding
from lambdagent.frontend.check import Config, read_config
from lambdagent.frontend.lint.fixes import edits_of
from lambdagent.frontend.lint.rules import Check, Edit, File, Finding, Found, Holds, Rule
from lambdagent.frontend.lint.secrets import written_secret
from lambdagent.frontend.lint.spots import Path, Spots, spots_of
from lambdagent.frontend.lint.table import BY_CODE, RULES
from lambdagent.frontend.lint.terms import configurations
from lambdagent.frontend.nodes import MAX_FINDINGS, Node, Scalar, children, path_text
from lambdagent.frontend.python_tree import tree_of
from lambdagent.ir.bounds import Bounds
from lambdagent.ir.surface import Term
from lambdagent.source import Source, span_at

_COMMENT = re.compile(
    r"(?:#|--)[ \t]*lint:[ \t]*ignore[ \t]+(L\d{3}(?:[ \t,]+L\d{3})*)[ \t]*(\r?\n|$)?"
)
_CODE = re.compile(r"L\d{3}")
# Findings of the compiler that are none of the file: they depend on where it is run.
_ELSEWHERE: Final = {"S106"}
# The rule that needs no more than the text.
_OF_TEXT: Final = "L026"


def lint_config(config: Config, holds: Holds, active: frozenset[str]) -> list[Finding]:
    """Return what the rules `active` find in `config`, in no order.

    Args:
        config: It may hold `BAD` values; nothing is said of these.
        holds: Evaluates expressions.
        active: Codes of rules.
    """
    spots = spots_of(config)
    file = File(config.source, spots, holds)
    by_kind = _by_kind(active)
    found: list[Finding] = []
    for spot in spots.found:
        written = getattr(spot.node, "entries", ())
        for rule, check in by_kind.get(spot.kind, ()):
            if rule.block and rule.block not in written:
                continue
            for each in check(spot, file):
                found.append(_finding(rule, each, config, spot.path))  # noqa: PERF401 - 3 loops
        if len(found) >= MAX_FINDINGS:
            found.append(Finding(finding("S016", limit=MAX_FINDINGS)))
            return found
    for rule, check in by_kind.get("file", ()):
        found += (_finding(rule, each, config) for each in check(file))
    return found


def lint_term(term: Term, source: Source, holds: Holds, active: frozenset[str]) -> list[Finding]:
    """Return what the rules `active` find in the agent of a λ text; its places are not known."""
    found: list[Finding] = []
    for configuration in configurations(term):
        config, _ = read_config(tree_of(configuration), source, {})
        if config is not None:
            found += lint_config(config, holds, active - {_OF_TEXT})
    return found


def lint_bounds(bounds: Bounds, active: frozenset[str]) -> list[Finding]:
    """Return what the rules `active` find in a core program."""
    return [
        _finding(rule, each)
        for rule, check in _by_kind(active).get("program", ())
        for each in check(bounds)
    ]


def lint_text(source: Source, active: frozenset[str]) -> list[Finding]:
    """Return what the rules `active` find in a text whose fields are not known."""
    if _OF_TEXT not in active:
        return []
    file = File(source, Spots(), lambda _rows, _names: False)
    return [_finding(BY_CODE[_OF_TEXT], each) for each in written_secret(file)]


def from_compiler(diagnostics: Iterable[Diagnostic], source: Source) -> list[Finding]:
    """Return what the compiler says, with what mends it."""
    return [
        Finding(each, "warn" if each.code in _ELSEWHERE else "error", edits_of(each, source))
        for each in diagnostics
    ]


@lru_cache(maxsize=16)
def _by_kind(active: frozenset[str]) -> dict[str, list[tuple[Rule, Check]]]:
    found: dict[str, list[tuple[Rule, Check]]] = {}
    for rule in RULES:
        if rule.check is not None and rule.code in active:
            for kind in rule.kinds:
                found.setdefault(kind, []).append((rule, rule.check))
    return found


def _finding(rule: Rule, found: Found, config: Config | None = None, at: Path = ()) -> Finding:
    path = (*at, *found.keys)
    where = found.where
    if where is None and config is not None:
        where = config.span(path)
    field = path_text(path) or None
    told = finding(rule.code, where, **{"field": field, **found.words})
    return Finding(told, rule.level, found.edits)


# --- comments ------------------------------------------------------------------------------------


def heed_comments(
    findings: list[Finding], source: Source, root: Node | None, active: frozenset[str]
) -> list[Finding]:
    """Return `findings` without those that a comment beside or above them ignores.

    A comment that ignores nothing is a finding itself.
    """
    if "lint:" not in source.text:
        return findings
    kept = findings
    for comment in _COMMENT.finditer(source.text):
        if root is not None and _is_in_text(root, comment.start()):
            continue
        codes = _CODE.findall(comment[1])
        lines = _lines(source.text, comment)
        unused = [code for code in codes if not _ignored(kept, code, lines)]
        kept = [each for each in kept if not _is_ignored(each, codes, lines)]
        if "L032" in active:
            edits = (_removal(comment, source.text),) if unused == codes else ()
            told = [code for code in unused if code in active or code not in BY_CODE]
            kept += [_unused(code, comment, source.text, edits) for code in told]
    return kept


def _ignored(findings: Iterable[Finding], code: str, lines: set[int]) -> bool:
    return any(_is_ignored(each, [code], lines) for each in findings)


def _is_ignored(each: Finding, codes: list[str], lines: set[int]) -> bool:
    code, where = each.diagnostic.code, each.diagnostic.where
    if code not in codes or where is None or where.line not in lines:
        return False
    rule = BY_CODE.get(code)
    return rule is not None and not rule.refused


def _lines(text: str, comment: re.Match[str]) -> set[int]:
    """Return the lines that a comment is about: its own, and the next if nothing else is on it."""
    number = text.count("\n", 0, comment.start()) + 1
    return {number} if _before(text, comment).strip() else {number, number + 1}


def _before(text: str, comment: re.Match[str]) -> str:
    """Return what stands before a comment on its line."""
    return text[text.rfind("\n", 0, comment.start()) + 1 : comment.start()]


def _is_in_text(root: Node, index: int) -> bool:
    """Whether the character at `index` belongs to a value, so that it begins no comment."""
    stack = [root]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        begun = node.start is not None and node.start.index <= index
        if isinstance(node, Scalar) and begun and node.end is not None and index < node.end.index:
            return True
        stack += children(node)
    return False


def _unused(code: str, comment: re.Match[str], text: str, edits: tuple[Edit, ...]) -> Finding:
    rule = BY_CODE.get(code)
    reason = "no rule has this code" if rule is None else "there is no such finding here"
    if rule is not None and rule.refused:
        reason = "what the compiler refuses cannot be ignored"
    where = span_at(text, text.index(code, comment.start(1)), len(code))
    told = finding("L032", where, rule=code, reason=reason)
    return Finding(told, BY_CODE["L032"].level, edits)


def _removal(comment: re.Match[str], text: str) -> Edit:
    """Return the edit that removes a comment, and its line if it is alone there."""
    before = _before(text, comment)
    if before.strip():
        start = comment.start() - (len(before) - len(before.rstrip()))
        return Edit(start, comment.end(1), "")
    return Edit(comment.start() - len(before), comment.end(), "")
