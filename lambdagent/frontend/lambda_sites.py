"""Rows of the ``where`` table → sites, and with them a λ text → program.

A row has the attributes of a site (`kind decoder onError idempotent timeout`), and either
``static``, which is then exactly the configuration of the site, or the keys of the configuration
themselves; what those leave out is filled in from `FIELDS`, as for people who write by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, cast

from lambdagent.errors import Diagnostic, LambdaSyntaxError, finding
from lambdagent.frontend.expression import ExpressionError, parse_expression
from lambdagent.frontend.lambda_faults import end_of
from lambdagent.frontend.lambda_names import LambdaFile
from lambdagent.frontend.report import nearest
from lambdagent.ir.abi import is_type
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.fields import is_object_schema, is_schema
from lambdagent.ir.labels import EARLY_STOP_NAMES
from lambdagent.ir.model import TOOL_CALLING, Model, model_row
from lambdagent.ir.program import Program
from lambdagent.ir.services import provider_of
from lambdagent.ir.sites import KINDS, Site
from lambdagent.ir.spelling import JOIN, site_reference
from lambdagent.ir.strategies import SUMMARY, is_strategy, parse_strategy
from lambdagent.ir.surface import SCOPES, STRATEGIES
from lambdagent.ir.walk import site_names
from lambdagent.messages import phrase
from lambdagent.source import Span

REQUIRED: Final[Any] = object()  # a default: there is none
OPTIONAL: Final[Any] = object()  # a default: the key stays away


class Kind(NamedTuple):
    """What a value must be: in words, and as a test."""

    expected: str
    fits: Callable[[Any], bool]


class Field(NamedTuple):
    """A key of a configuration; `default` is its value where a person leaves it out."""

    kind: Kind
    default: Any = REQUIRED


_LARGEST = sys.float_info.max


def _is_number(value: Any) -> bool:
    """Whether `value` is a number from 0 that a float can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value <= _LARGEST


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def _are_tools(value: Any) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(item, Record)
        and {"name", "description"} <= {*item} <= {"name", "description", "parameters"}
        and _are_texts((item["name"], item["description"]))
        and ("parameters" not in item or is_object_schema(item["parameters"]))
        for item in value
    )


TEXT = Kind(phrase("a text"), lambda value: isinstance(value, str))
COMMAND = Kind(phrase("a command or null"), lambda value: value is None or isinstance(value, str))
TRUTH = Kind(phrase("true or false"), lambda value: isinstance(value, bool))
WHOLE = Kind(
    phrase("a whole number from 0"), lambda value: _is_number(value) and isinstance(value, int)
)
COUNT = Kind(phrase("a whole number, or null"), lambda value: value is None or WHOLE.fits(value))
NUMBER = Kind(phrase("a number from 0"), _is_number)
WAIT = Kind(phrase("a number of seconds"), lambda v: _is_number(v) and v > 0)
SECONDS = Kind(phrase("a number of seconds, or null"), lambda v: v is None or WAIT.fits(v))
TEXTS = Kind(phrase("a list of texts"), _are_texts)
LABELS = Kind(
    phrase("a list of different texts, at least one"),
    lambda value: _are_texts(value) and 0 < len(value) == len(set(value)),
)
OBJECT = Kind(phrase("an object"), lambda value: isinstance(value, Record))
ARGUMENTS = Kind(phrase("the JSON Schema of an object"), is_object_schema)
SCHEMA = Kind(phrase("a JSON Schema of which all can be checked"), is_schema)
ROWS = Kind(phrase("what its `text` is read as"), lambda _: True)
TOOLS = Kind(phrase("a list of {name, description, parameters}"), _are_tools)
TYPE = Kind(phrase("a type of pure λ"), is_type)
STRATEGY = Kind(phrase("a strategy of conversations"), is_strategy)
SUMMARISING = Kind(
    phrase("a text like summary(10)"),
    lambda value: is_strategy(value) and parse_strategy(value).name == SUMMARY,
)
MODEL = Kind(phrase("a model"), lambda value: value is None or isinstance(value, str | Record))


def _is_store(value: Any) -> bool:
    """Whether `value` says where a memory keeps its entries."""
    if not isinstance(value, Record) or {*value} != {"strategy", "scope", "place", "settings"}:
        return False
    return (
        value["strategy"] in STRATEGIES
        and value["scope"] in SCOPES
        and COMMAND.fits(value["place"])
        and isinstance(value["settings"], Record)
    )


STORE = Kind(phrase("an object {strategy, scope, place, settings}"), _is_store)


def cell(prefix: str) -> Kind:
    """Return the kind of names of cells of the store."""
    return Kind(
        phrase('a text that begins with "{prefix}:"', prefix=prefix),
        lambda value: isinstance(value, str) and value.startswith(f"{prefix}:"),
    )


# A default that is a function is called with the name of the site, without its kind.
_conversation = {
    "cell": Field(cell("conv"), "conv:{}".format),
    "max_tokens": Field(WHOLE, 80_000),
    "recent_turns": Field(WHOLE, 20),
}
_read = {**_conversation, "strategy": Field(STRATEGY, OPTIONAL)}
_summarised = {**_conversation, "strategy": Field(SUMMARISING, "summary(10)")}
_memory = {
    "cell": Field(cell("mem"), "mem:{}".format),
    "size": Field(WHOLE, 20),
    "ttl": Field(NUMBER, 0.0),
    "initial": Field(OBJECT, Record()),
    "summarized": Field(TRUTH, OPTIONAL),
}
_stored = {
    "name": Field(TEXT, str),
    "size": Field(WHOLE, 20),
    "ttl": Field(NUMBER, 0.0),
    "initial": Field(OBJECT, OPTIONAL),
    "store": Field(STORE, OPTIONAL),
    "summarized": Field(TRUTH, OPTIONAL),
}

FIELDS: Mapping[str, Mapping[str, Field]] = {
    "llm": {
        "agent": Field(TEXT, str),
        "prompt": Field(TEXT, ""),
        "conversation": Field(TRUTH, default=False),
        "model": Field(MODEL, None),
        "schema": Field(SCHEMA, OPTIONAL),
        "tools": Field(TOOLS, OPTIONAL),
        "native": Field(TRUTH, OPTIONAL),
        "several": Field(TRUTH, OPTIONAL),
        "labels": Field(LABELS, OPTIONAL),
        "repair": Field(TRUTH, OPTIONAL),
    },
    "tool": {
        "name": Field(TEXT, str),
        "command": Field(COMMAND, None),
        "description": Field(TEXT, ""),
        "input": Field(TEXT, OPTIONAL),
        "retries": Field(WHOLE, OPTIONAL),
        "server": Field(TEXT, OPTIONAL),
        "parameters": Field(ARGUMENTS, OPTIONAL),
    },
    "now": {},
    "conv.read": _read,
    "conv.append": _read,
    "conv.over": _summarised,
    "conv.old": _summarised,
    "conv.fold": _summarised,
    "mem.read": _memory,
    "mem.append": _memory,
    "recall": _stored,
    "remember": _stored,
    "confirm": {"tool": Field(TEXT, str)},
    "predicate": {
        "names": Field(LABELS, ("x",)),
        "expression": Field(ROWS, OPTIONAL),
        "text": Field(TEXT),
    },
    "stop": {
        "expression": Field(ROWS, OPTIONAL),
        "text": Field(TEXT),
        "several": Field(TRUTH, OPTIONAL),
    },
    "action": {
        "tools": Field(TEXTS, ()),
        "parameters": Field(OBJECT, OPTIONAL),
        "schema": Field(SCHEMA, OPTIONAL),
        "several": Field(TRUTH, OPTIONAL),
    },
    "label": {"labels": Field(LABELS)},
    "fits": {"schema": Field(SCHEMA)},
    "next": {
        "conversation": Field(TRUTH, default=False),
        "observation": Field(TRUTH, default=True),
        "several": Field(TRUTH, OPTIONAL),
    },
    "thought": {},
    "concat": {"count": Field(COUNT, None)},
    "truth": {},
    "border": {},
    "fail": {"error": Field(TEXT, str), "message": Field(TEXT, "")},
}
# Kinds whose sites need no row, since all of it is usual.
_USUAL = {"tool", "confirm", "now", "thought", "concat", "truth", "fail"} | {
    *("conv.read", "conv.append", "conv.over", "conv.old", "conv.fold", "mem.read", "mem.append")
}
# Attributes where no exact configuration is given.
_ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "llm": {"decoder": "text"},
    "tool": {"onError": "text", "idempotent": False, "timeout": 30.0},
    "remember": {"idempotent": False},
}

_ROW: Mapping[str, Kind] = {
    "kind": TEXT,
    "decoder": Kind(
        phrase("raw, reply, text, json, number or boolean"),
        lambda value: value in ("raw", "reply", "text", "json", "number", "boolean"),
    ),
    "onError": Kind(phrase("raise or text"), lambda value: value in ("raise", "text")),
    "idempotent": TRUTH,
    "timeout": SECONDS,
    "arg": TYPE,
    "result": TYPE,
    "static": OBJECT,
}
MODEL_FIELDS: Mapping[str, Kind] = {
    "provider": TEXT,
    "name": TEXT,
    "temperature": Kind(phrase("a number from 0, or null"), lambda v: v is None or _is_number(v)),
    "max_tokens": Kind(
        phrase("a whole number, or null"),
        lambda v: v is None or (_is_number(v) and isinstance(v, int)),
    ),
    "top_p": Kind(phrase("a number from 0, or null"), lambda v: v is None or _is_number(v)),
    "stop_sequences": TEXTS,
    "base_url": COMMAND._replace(expected=phrase("a text or null")),
    "timeout_s": WAIT,
    "script": Kind(phrase("an object or null"), lambda v: v is None or isinstance(v, Record)),
    "context_window": WHOLE,
    "tool_calling": Kind(phrase("auto, native or text"), lambda v: v in TOOL_CALLING),
}
# Left out where it is as usual, even where all else is written.
_MAY_LACK = {"context_window", "tool_calling"}


class WrongSiteError(Exception):
    """A row that describes no site; carries its findings."""

    def __init__(self, findings: list[Diagnostic]) -> None:
        """Carry `findings`."""
        super().__init__(str(findings))
        self.findings = findings


def lambda_program(file: LambdaFile, name: str = "agent") -> Program:
    """Return the program that a λ text is.

    Raises:
        LambdaSyntaxError: It has no term, the term is not closed, or a site is not described.
    """
    if file.term is None:
        raise LambdaSyntaxError(no_term(file, "λx. x"), file.source)
    findings: list[Diagnostic] = []
    if file.free is not None:
        findings.append(finding("P031", file.free))
    sites: dict[str, Site] = {}
    for row in file.rows.values():
        try:
            sites[row.site] = site_of_row(row.site, row.record, row.where)
        except WrongSiteError as error:
            findings += error.findings
    for site in sorted(site_names(file.term) - {*file.rows}):
        where = file.mentions.get(site)
        kind = site.partition(":")[0]
        if kind in _USUAL:
            usual = Record(count=2) if site == JOIN else Record()
            sites[site] = site_of_row(site, usual, where)
        else:
            findings.append(finding("P026", where, name=site, site=site_reference(site)))
    if findings:
        first = Span(0, 0, 0, 0)
        raise LambdaSyntaxError(sorted(findings, key=lambda f: f.where or first), file.source)
    return Program(file.term, sites, name, by_hand=True)


def no_term(file: LambdaFile, example: str) -> Diagnostic:
    """Return the finding that `file` has no term, with an `example` of one."""
    where = end_of(file.source.text)
    if file.definitions:
        return finding("P030", where)
    return finding(
        "P003",
        where,
        expected=phrase("a term"),
        hint=phrase("write one, as in `{example}`", example=example),
    )


def site_of_row(name: str, row: Record, where: Span | None = None) -> Site:
    """Return the site `name` as `row` describes it.

    Raises:
        WrongSiteError: The row does not fit its kind.
    """
    checker = Checker(name, where)
    kind = row.get("kind", name.partition(":")[0])
    if kind not in KINDS:
        words = kind if isinstance(kind, str) else data_text(kind)
        known = ", ".join(KINDS)
        raise WrongSiteError([finding("P034", where, name=name, kind=words, known=known)])
    attributes = {key: value for key, value in row.items() if key in _ROW}
    for key, value in attributes.items():
        checker.fits(key, value, _ROW[key])
    rest = {key: value for key, value in row.items() if key not in _ROW}
    exact = attributes.get("static")
    if exact is None:
        attributes = {**_ATTRIBUTES.get(kind, {}), **attributes}
        static = checker.static(kind, rest)
    else:
        for key in rest:
            checker.unknown(key, _ROW)
        static = checker.static(kind, dict(exact) if isinstance(exact, Record) else {}, exact=True)
    if checker.findings:
        raise WrongSiteError(checker.findings)
    timeout = attributes.get("timeout")
    return Site(
        name,
        kind,
        Record(static),
        decoder=str(attributes.get("decoder", "raw")),
        on_error=cast("Literal['raise', 'text']", attributes.get("onError", "raise")),
        idempotent=attributes.get("idempotent", True) is True,
        timeout_s=timeout if isinstance(timeout, int | float) else None,
        arg=attributes.get("arg"),
        result=attributes.get("result"),
    )


class Checker:
    """Checks the row of one site and collects what is wrong with it."""

    def __init__(self, name: str, where: Span | None) -> None:
        self.name = name
        self.where = where
        self.findings: list[Diagnostic] = []

    def report(self, code: str, **values: Any) -> None:
        """Add a finding."""
        self.findings.append(finding(code, self.where, name=self.name, **values))

    def fits(self, field: str, value: Data, kind: Kind) -> bool:
        """Whether `value` is of its kind; if not, report it."""
        if kind.fits(value):
            return True
        actual = data_text(value)
        self.report("P027", field=field, expected=kind.expected, actual=actual)
        return False

    def unknown(self, key: str, known: Mapping[str, object]) -> None:
        """Report a key that is none of the known ones."""
        meant = nearest(key, known)
        listed = ", ".join(known) or phrase("no keys")
        self.report(
            "P029",
            key=key,
            known=listed,
            hint=phrase("write `{meant}`", meant=meant) if meant else phrase("remove it"),
        )

    def static(self, kind: str, given: dict[str, Data], *, exact: bool = False) -> dict[str, Data]:
        """Return the configuration of a site of `kind`."""
        fields = FIELDS[kind]
        for key in given:
            if key not in fields:
                self.unknown(key, fields if exact else {**fields, **_ROW})
        made: dict[str, Data] = {}
        for key, field in fields.items():
            if key in given:
                made[key] = given[key]
                self.fits(key, given[key], field.kind)
            elif field.default is REQUIRED or (exact and field.default is not OPTIONAL):
                self.missing(key, field)
            elif field.default is not OPTIONAL:
                rest = self.name.partition(":")[2]
                made[key] = field.default(rest) if callable(field.default) else field.default
        if not self.findings:
            self.derive(kind, made, exact=exact)
        return made

    def missing(self, key: str, field: Field) -> None:
        """Report a key that must be there."""
        hint = phrase("add `{key}: …`", key=key)
        self.report("P028", field=key, expected=field.kind.expected, hint=hint)

    def derive(self, kind: str, made: dict[str, Data], *, exact: bool) -> None:
        """Fill in what follows from other keys."""
        if kind == "llm":
            made["model"] = self.model(made["model"], exact=exact)
        elif kind in {"predicate", "stop"}:
            names = cast("tuple[str, ...]", made.get("names", EARLY_STOP_NAMES))
            try:
                made["expression"] = parse_expression(str(made["text"]), names)
            except ExpressionError as error:
                self.report("P035", field="text", reason=error.args[0])

    def model(self, given: Data, *, exact: bool) -> Data:
        """Return the settings of a model; what is left out is as usual."""
        if given is None:
            return None
        settings = given if isinstance(given, Record) else Record(name=given)
        if not exact:
            made = self.usual_model(settings)
            return None if made is None else model_row(made)
        self.model_fields(settings)
        for key in MODEL_FIELDS:
            if key not in settings and key not in _MAY_LACK:
                self.missing(f"model.{key}", Field(MODEL_FIELDS[key]))
        return settings

    def model_fields(self, settings: Record) -> None:
        """Report what is wrong with single settings of a model."""
        for key, value in settings.items():
            if key in MODEL_FIELDS:
                self.fits(f"model.{key}", value, MODEL_FIELDS[key])
            else:
                self.unknown(f"model.{key}", MODEL_FIELDS)

    def usual_model(self, settings: Record) -> Model | None:
        """Return the model of `settings`, the others as usual; None if that cannot be."""
        self.model_fields(settings)
        provider = settings.get("provider") or provider_of(str(settings.get("name", "")))
        if provider is None:
            expected = phrase("the provider, since the name of the model does not tell it")
            hint = phrase('write `model: {provider: "…", name: "…"}`')
            self.report("P028", field="model.provider", expected=expected, hint=hint)
        if self.findings:
            return None
        words: dict[str, Any] = {**settings, "provider": provider}
        return Model(**words)
