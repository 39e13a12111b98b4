"""Rows of the ``where`` table of an agent text → models, model calls and tools.

What stands in the term refers to a row by name: ``LLM_{gpt, "Be kind.", writer}`` to ``model.gpt``
and ``llm.writer``, ``Tool("search", x)`` to ``tool.search``. A row may be left out, and so may its
keys: all of them are then as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lambdagent.errors import Diagnostic, finding
from lambdagent.frontend.lambda_sites import (
    ARGUMENTS,
    COMMAND,
    SCHEMA,
    STRATEGY,
    TEXT,
    TRUTH,
    WAIT,
    WHOLE,
    Checker,
    Kind,
)
from lambdagent.frontend.lambda_tree import Asked, Row, name_of, span_of
from lambdagent.frontend.report import nearest
from lambdagent.ir import surface
from lambdagent.ir.agent_rows import CUT, row_reference, step_name
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.services import provider_of
from lambdagent.messages import phrase
from lambdagent.source import Span

PROMPT = Kind(
    phrase("a text, or a list of its lines"),
    lambda value: TEXT.fits(value) or (isinstance(value, tuple) and all(map(TEXT.fits, value))),
)
FIELDS: Mapping[str, Mapping[str, Kind]] = {
    "llm": {
        "agent": TEXT,
        "prompt": PROMPT,
        "max_history_tokens": WHOLE,
        "recent_turns": WHOLE,
        "strategy": STRATEGY,
        "output_schema": SCHEMA,
        "step": TEXT,
        "step_description": TEXT,
        "max_concurrent": WHOLE,
    },
    "tool": {
        "name": TEXT,
        "description": TEXT,
        "command": COMMAND,
        "idempotent": TRUTH,
        "confirm": TRUTH,
        "timeout": WAIT,
        "parameters": ARGUMENTS,
        "retries": WHOLE,
        "server": TEXT,
    },
}
_TOLD = ("output_schema",)
_HISTORY = ("max_history_tokens", "recent_turns", "strategy")
_TOOL = {"timeout": "timeout_s"}
_STEP = {
    "step": "name",
    "step_description": "description",
    "max_concurrent": "max_concurrent",
}
NAMELESS = "agent"


class Rows:
    """The rows of one text, which of them are used, and what is wrong with them."""

    def __init__(self, rows: list[Row]) -> None:
        self.findings: list[Diagnostic] = []
        self.rows: dict[str, Row] = {}
        self.used: dict[str, None] = {}
        self.models: dict[str, Model | None] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        for row in rows:
            if row.site in self.rows:
                self.findings.append(finding("P025", row.where, name=row.site))
            self.rows[row.site] = row

    def lam(self, asked: Asked, parser: str, *, hears: bool) -> surface.Lam:
        """Return the model call of ``LLM_{…}``; `hears` says that it remembers."""
        where = span_of(asked.token)
        key = NAMELESS if asked.name is None else name_of(asked.name)
        row = self.row("llm", key)
        model = None if asked.model is None else self.model(asked.model, where)
        name = str(row.get("agent", key))
        prompt = self.prompt(asked, key, row.get("prompt"))
        told = {field: row[field] for field in _TOLD if field in row}
        if "output_schema" in told and parser not in surface.SCHEMA_PARSERS:
            where = span_of(asked.token)
            name = row_reference("llm", key)
            expected = phrase("an answer that is read as json")
            self.report(
                "P027", where, name=name, field="output_schema", expected=expected, actual=parser
            )
            del told["output_schema"]
        if not hears:
            return surface.Lam(name, prompt, model, parser, **told)
        told |= {field: row[field] for field in _HISTORY if field in row}
        return surface.ConversationLam(name, prompt, model, parser, **told)

    def step(self, asked: Asked, think: surface.Lam) -> dict[str, Any]:
        """Return what is said of the step around the model call `think`, its name among it."""
        row = self.row("llm", NAMELESS if asked.name is None else name_of(asked.name))
        told = {field: row[key] for key, field in _STEP.items() if key in row}
        return {"name": step_name(think), **told}

    def tool(self, key: str) -> surface.Tool:
        """Return the tool of ``Tool("key", x)``."""
        row = dict(self.row("tool", key))
        name = str(row.pop("name", key))
        return surface.Tool(name, None, **{_TOOL.get(field, field): row[field] for field in row})

    def prompt(self, asked: Asked, key: str, whole: Any) -> str:
        """Return the prompt, of which `whole` is what the row says, if it does."""
        shown = asked.prompt
        if whole is None:
            if shown.endswith(CUT):
                site = row_reference("llm", key)
                self.report("P041", span_of(asked.token), name=key, site=site)
            return shown
        text = whole if isinstance(whole, str) else "\n".join(whole)
        begins = shown.endswith(CUT) and text.startswith(shown[: -len(CUT)])
        if shown != text and not begins:
            self.report("P042", span_of(asked.token), name=key)
        return text

    def model(self, key: str, where: Span) -> Model | None:
        """Return the model of this name: that of its row, or one with nothing but a name."""
        if key in self.models:
            return self.models[key]
        site = f"model:{key}"
        self.used[site] = None
        row = self.rows.get(site)
        if row is None and provider_of(key) is None:
            self.report("P026", where, name=site, site=row_reference("model", key))
            self.models[key] = None
            return None
        checker = Checker(site, where if row is None else row.where)
        made = checker.usual_model(Record(name=key) if row is None else row.record)
        self.findings += checker.findings
        self.models[key] = made
        return made

    def row(self, kind: str, key: str) -> dict[str, Any]:
        """Return what the row of this name says, as far as it is right."""
        site = f"{kind}:{key}"
        self.used[site] = None
        if site not in self.settings:
            row = self.rows.get(site)
            self.settings[site] = {} if row is None else self.checked(kind, row)
        return self.settings[site]

    def checked(self, kind: str, row: Row) -> dict[str, Any]:
        """Return the keys of `row` that are right; the others are reported."""
        checker = Checker(row.site, row.where)
        fields = FIELDS[kind]
        right: dict[str, Any] = {}
        for key, value in row.record.items():
            if key not in fields:
                checker.unknown(key, fields)
            elif checker.fits(key, value, fields[key]):
                right[key] = value
        self.findings += checker.findings
        return right

    def unused(self) -> list[Diagnostic]:
        """Return a finding for each row that nothing refers to."""
        found: list[Diagnostic] = []
        for site, row in self.rows.items():
            if site not in self.used:
                meant = nearest(site, self.used)
                hint = (
                    phrase("rename it to `{name}`", name=row_reference(*meant.split(":", 1)))
                    if meant
                    else ""
                )
                found.append(
                    finding("P043", row.where, name=site, hint=hint or phrase("remove it"))
                )
        return found

    def report(self, code: str, where: Span, **values: Any) -> None:
        """Add a finding."""
        self.findings.append(finding(code, where, **values))
