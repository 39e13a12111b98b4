"""Findings for people, for tools and for the services that build and test: text and formats.

In: findings, and the sources they are about. Out: text. Commands that tell findings ask here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote

from lambdagent import __version__
from lambdagent.cli.output import json_text
from lambdagent.errors import (
    ERROR,
    NOTE,
    WARNING,
    Diagnostic,
    LambdagentError,
    reasons,
    render,
    shown,
)
from lambdagent.messages import text_of
from lambdagent.source import Source, visible

Level = Literal["error", "warn", "info"]

FORMATS: Final = ("text", "json", "sarif", "github")
# For programs: written where the answer would be.
MACHINE_FORMATS: Final = frozenset(FORMATS) - {"text"}

_WORDS: Final = {"error": ERROR, "warn": WARNING, "info": NOTE}
_SARIF_LEVELS: Final = {"error": "error", "warn": "warning", "info": "note"}
_GITHUB_LEVELS: Final = {"error": "error", "warn": "warning", "info": "notice"}
_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


class Finding(NamedTuple):
    """What was found, in which file, and how bad it is.

    Attributes:
        file: Name of the file, a key of the sources if its text is known; empty for none.
    """

    diagnostic: Diagnostic
    file: str = ""
    level: Level = "error"


def findings_of(error: LambdagentError) -> tuple[list[Finding], dict[str, Source]]:
    """Return what `error` carries, as `render_findings` takes it."""
    source = error.source
    file = source.name if source else ""
    findings = [Finding(each, file) for each in error.diagnostics]
    return findings, {file: source} if source else {}


def render_findings(findings: Sequence[Finding], sources: Mapping[str, Source], form: str) -> str:
    """Return `findings` in their order, in one of `FORMATS`.

    None are an empty text, and in JSON and SARIF a document without any.

    Args:
        findings: What was found, in any number of files.
        sources: The texts of the files, for excerpts; a file may be missing.
        form: ``text`` for people, ``json`` for tools, ``sarif`` for code scanning (SARIF 2.1.0),
            ``github`` for the workflow commands that annotate a change.
    """
    match form:
        case "json":
            return json_text(_json(findings))
        case "sarif":
            return json_text(_sarif(findings))
        case "github":
            return "\n".join(map(_github, findings))
    return "\n".join(
        render(each.diagnostic, _source(each, sources), word=_WORDS[each.level])
        for each in findings
    )


def _source(each: Finding, sources: Mapping[str, Source]) -> Source | None:
    """Return where the excerpt is from; of a file whose text is not known, no line is shown."""
    found = sources.get(each.file)
    if found is None and each.file:
        return Source(each.file, "")
    return found


# --- json ----------------------------------------------------------------------------------------


def _json(findings: Sequence[Finding]) -> dict[str, Any]:
    counts = dict.fromkeys(_WORDS, 0)
    for each in findings:
        counts[each.level] += 1
    return {"findings": [_row(each) for each in findings], "counts": counts}


def _row(each: Finding) -> dict[str, Any]:
    """Return one finding; what is not known of it is null."""
    found = each.diagnostic
    line, column, end_line, end_column = found.where or (None,) * 4
    return {
        "file": each.file or None,
        "line": line,
        "column": column,
        "endLine": end_line,
        "endColumn": end_column,
        "level": each.level,
        "code": found.code,
        "what": found.what,
        "why": found.why or None,
        "fix": found.fix or None,
        "field": found.field,
        "expected": found.expected,
        "actual": None if found.actual is None else shown(found.actual),
    }


# --- SARIF 2.1.0 ---------------------------------------------------------------------------------


def _sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    codes = {code: i for i, code in enumerate(dict.fromkeys(f.diagnostic.code for f in findings))}
    driver = {"name": "lambdagent", "version": __version__, "rules": [*map(_sarif_rule, codes)]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(each, codes) for each in findings],
    }
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_rule(code: str) -> dict[str, Any]:
    text = text_of(code)
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": text.what}}
    if text.why:
        rule["fullDescription"] = {"text": text.why}
    if text.fix:
        rule["help"] = {"text": text.fix}
    return rule


def _sarif_result(each: Finding, codes: Mapping[str, int]) -> dict[str, Any]:
    found = each.diagnostic
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": codes[found.code],
        "level": _SARIF_LEVELS[each.level],
        "message": {"text": _message(found)},
    }
    if each.file:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(each.file)}}
        if found.where is not None:
            names = ("startLine", "startColumn", "endLine", "endColumn")
            place["region"] = dict(zip(names, found.where, strict=True))
        result["locations"] = [{"physicalLocation": place}]
    return result


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(file, errors="surrogateescape")


# --- GitHub --------------------------------------------------------------------------------------


def _github(each: Finding) -> str:
    """Return the workflow command that shows the finding beside its line."""
    found = each.diagnostic
    properties: dict[str, object] = {"file": each.file} if each.file else {}
    if found.where is not None:
        line, column, end_line, end_column = found.where
        properties |= {"line": line, "endLine": end_line}
        if line == end_line:  # columns are not taken of several lines; the last one is part of it
            properties |= {"col": column, "endColumn": max(column, end_column - 1)}
    properties["title"] = found.code
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_GITHUB_LEVELS[each.level]} {told}::{_data(_message(found))}"


def _message(found: Diagnostic) -> str:
    """Return all words of a finding; no excerpt, since they are shown beside the line."""
    return visible("\n".join([found.what, *reasons(found)]))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\n", "%0A")


def _property(value: object) -> str:
    return _data(visible(str(value))).replace(":", "%3A").replace(",", "%2C")
