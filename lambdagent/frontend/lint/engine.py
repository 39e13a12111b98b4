"""Applies the rules, and heeds the comments that ignore some of what they find."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from lambdagent.errors import Diagnostic, finding
from lambdagent.frontend.check import Config, read_config
from lambdagent.frontend.lint.fixes import edits_of
from lambdagent.frontend.lint.rules import Check, Edit, File, Finding, Found, Holds, Rule
from lambdagent.frontend.lint.secrets import written_secret
from lambdagent.frontend.lint.spots import Path, Spots, spots_of
from lambdagent.frontend.lint.table import BY_CODE, RULES
from lambdagent.frontend.lint.terms import configurations
from lambdagent.frontend.nodes import (
    BYTE_ORDER_MARK,
    MAX_FINDINGS,
    Node,
    Scalar,
    children,
    path_text,
)
from lambdagent.frontend.python_tree import tree_of
from lambdagent.ir.bounds import Bounds
from lambdagent.ir.surface import Term
from lambdagent.messages import phrase
from lambdagent.source import Source, span_at

_COMMENT = re.compile(
    r"(?:#|--)[ \t]*lint:[ \t]*ignore[ \t]+(L\d{3}(?:[ \t,]+L\d{3})*)[ \t]*(\r?\n|$)?"
)
_COMMENT_LINES = re.compile(r"([ \t]*(#|--)[^\n]*\n){0,9}")
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
            break
    for rule, check in by_kind.get("file", ()):
        several = islice(check(file), MAX_FINDINGS)
        found += (_finding(rule, each, config) for each in several)
    if len(found) >= MAX_FINDINGS:
        found[MAX_FINDINGS:] = [Finding(finding("S016", limit=MAX_FINDINGS))]
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
    places: dict[tuple[int, str], list[int]] = {}
    for i, each in enumerate(findings):
        rule, where = BY_CODE.get(each.diagnostic.code), each.diagnostic.where
        if rule is not None and where is not None and not rule.refused:
            places.setdefault((where.line, rule.code), []).append(i)
    ignored: set[int] = set()
    added: list[Finding] = []
    for comment, number in _comments(source.text, root):
        codes = _CODE.findall(comment[1])
        alone = not _before(source.text, comment).strip()
        lines = (number, number + _lines_down(source.text, comment)) if alone else (number,)
        found = {code: [i for n in lines for i in places.get((n, code), ())] for code in codes}
        ignored.update(i for each in found.values() for i in each)
        unused = [code for code in codes if not found[code]]
        whole = comment[2] is not None  # no words of somebody's follow
        edits = (_removal(comment, source.text),) if whole and unused == codes else ()
        told = [code for code in unused if code in active or code not in BY_CODE]
        added += [_unused(code, comment, source.text, edits) for code in told]
    kept = [each for i, each in enumerate(findings) if i not in ignored]
    return kept + added[:MAX_FINDINGS] if "L032" in active else kept


def _comments(text: str, root: Node | None) -> Iterator[tuple[re.Match[str], int]]:
    """Yield the comments for lint with the numbers of their lines."""
    values = [] if root is None else sorted(_places(root))
    shift = int(text.startswith(BYTE_ORDER_MARK))
    number, done = 1, 0
    for comment in _COMMENT.finditer(text):
        start = comment.start()
        number += text.count("\n", done, start)
        done = start
        before = bisect_right(values, (start - shift, len(text)))
        if not before or values[before - 1][1] <= start - shift:
            yield comment, number


def _places(root: Node) -> Iterator[tuple[int, int]]:
    """Yield where the texts below `root` stand: a `#` in them begins no comment."""
    stack = [root]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Scalar) and node.start is not None and node.end is not None:
            yield node.start.index, node.end.index
        stack += children(node)


def _lines_down(text: str, comment: re.Match[str]) -> int:
    """Return how many lines below a comment the next one is that is more than a comment."""
    between = _COMMENT_LINES.match(text, text.find("\n", comment.start()) + 1)
    return 1 + (between[0].count("\n") if between else 0)


def _before(text: str, comment: re.Match[str]) -> str:
    """Return what stands before a comment on its line."""
    return text[text.rfind("\n", 0, comment.start()) + 1 : comment.start()]


def _unused(code: str, comment: re.Match[str], text: str, edits: tuple[Edit, ...]) -> Finding:
    rule = BY_CODE.get(code)
    reason = (
        phrase("no rule has this code")
        if rule is None
        else phrase("there is no such finding here")
    )
    if rule is not None and rule.refused:
        reason = phrase("what the compiler refuses cannot be ignored")
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
