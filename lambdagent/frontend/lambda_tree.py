"""λ text → tree with names: what the parser builds, before names become indices.

The methods of `TREE_BUILDER` are called by the parser bottom-up, one for each rule of
`lambda.lark`; so nothing here recurses. Leaves are core terms without variables, and the lexemes
of names, sites and ``^i``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias

import attrs
from lark import Token

from lambdagent.errors import LambdaSyntaxError, finding
from lambdagent.ir.core import UNIT, App, Lam, Lit, MalformedPrimError, Prim, Term, Var, arity
from lambdagent.ir.data import Data, Record
from lambdagent.source import Span

# Longer numerals would fill the memory; the same value is `church[…]` applied to another one.
MAX_CHURCH = 100_000
# Python refuses to read longer decimals; in hexadecimal they are read.
_MAX_DIGITS = 4000

_WORDS: dict[str, Data] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
}
_CONSTANTS = {"cond": "if"}
_PAIR, _CONS, _NIL, _UNIT = Prim("pair"), Prim("cons"), Prim("nil"), Lit(UNIT)
JOIN = "concat:join"
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


@attrs.frozen(eq=False, repr=False)
class Abstraction:
    """``λparams. body``."""

    params: list[Token]
    body: Tree


@attrs.frozen(eq=False, repr=False)
class Let:
    """``let param = value in body``."""

    param: Token
    value: Tree
    body: Tree


@attrs.frozen(eq=False, repr=False)
class Branches:
    """``if test then first else second``."""

    test: Tree
    first: Tree
    second: Tree


@attrs.frozen(eq=False, repr=False)
class Applied:
    """The first item applied to the others; at least one item."""

    items: list[Tree]


@attrs.frozen(eq=False, repr=False)
class Piped:
    """``f >> g >> …``, at least two stages."""

    stages: list[Tree]


@attrs.frozen(eq=False, repr=False)
class Marked:
    """``@kind.name item``."""

    label: Token
    item: Tree


@attrs.frozen(eq=False, repr=False)
class Inline:
    """``kind{…}``."""

    kind: Token
    record: Record


@attrs.frozen(eq=False, repr=False)
class Row:
    """``kind.name = {…}`` of the ``where`` table."""

    site: str
    record: Record
    where: Span


@attrs.frozen(eq=False, repr=False)
class Definition:
    """``name = value;``."""

    name: Token
    value: Tree


@attrs.frozen(eq=False, repr=False)
class File:
    """All of a text."""

    definitions: list[Definition]
    term: Tree | None
    rows: list[Row]


Tree: TypeAlias = (
    "Abstraction | Let | Branches | Applied | Piped | Marked | Inline | Token | Lit | Prim | Term"
)


def span_of(token: Token) -> Span:
    """Return where `token` stands."""
    line, column = token.line or 1, token.column or 1
    return Span(line, column, token.end_line or line, token.end_column or column + 1)


def refuse(code: str, token: Token, **values: Any) -> LambdaSyntaxError:
    """Return the error `code` about `token`; whoever knows the source adds it."""
    return LambdaSyntaxError(finding(code, span_of(token), **values))


def name_of(token: Token, text: str | None = None) -> str:
    """Return the name that a lexeme, or the part `text` of it, spells."""
    text = str(token) if text is None else text
    if text[:1] != "`":
        return text
    return _unescaped(token, text[1:-1].replace('"', '\\"'))


def site_of(token: Token) -> str:
    """Return the name of the site that the lexeme ``kind.rest`` spells."""
    kind, rest = _split(token)
    return f"{kind}:{name_of(token, rest)}"


def label_of(token: Token) -> tuple[str, str]:
    """Return kind and name of the label ``@kind.name``; ``@name`` is of the kind ``mark``."""
    kind, name = _split(token)
    kind = kind[1:]
    return (name_of(token, kind), name_of(token, name)) if name else ("mark", name_of(token, kind))


def _split(token: Token) -> tuple[str, str]:
    """Return a lexeme before and after the last dot outside of back-quotes."""
    text = str(token)
    end = text.rindex("`", 0, -1) if text[-1] == "`" else len(text)
    dot = text.rfind(".", 0, end)
    # ``@`a.b` `` has its only dot within the quotes.
    if dot < 0 or (text[1:2] == "`" and text.find("`", 2) > dot):
        return text, ""
    return text[:dot], text[dot + 1 :]


def _unescaped(token: Token, text: str) -> str:
    try:
        value: str = json.loads(f'"{text}"', strict=False)
    except ValueError:
        raise refuse("P012", token, got=str(token)) from None
    return value


def whole(token: Token, text: str) -> int:
    """Return the decimal number `text`, a part of `token`."""
    if len(text) > _MAX_DIGITS:
        raise refuse("P013", token, limit=_MAX_DIGITS)
    return int(text)


class _Builder:
    """One method for each rule of the grammar that does more than pass its only part on."""

    # --- file ---

    def file(self, parts: list[Any]) -> File:
        found = File([], None, [])
        for part in parts:
            if isinstance(part, Definition):
                found.definitions.append(part)
            elif isinstance(part, list):
                found.rows.extend(part)
            else:
                found = attrs.evolve(found, term=part)
        return found

    def definition(self, parts: list[Any]) -> Definition:
        return Definition(*parts)

    def where(self, parts: list[Any]) -> list[Row]:
        return parts

    def row(self, parts: list[Any]) -> Row:
        first, *text, record = parts
        name = _unescaped(text[0], text[0][1:-1]) if text else site_of(first)
        return Row(name, record, span_of(first))

    # --- forms ---

    def pipe(self, parts: list[Any]) -> Piped:
        return Piped(parts)

    def cell(self, parts: list[Any]) -> Applied:
        return Applied([_CONS, *parts])

    def join(self, parts: list[Any]) -> Applied:
        return Applied([Prim("site", (JOIN,)), Applied([_PAIR, *parts])])

    def apply(self, parts: list[Any]) -> Applied:
        return Applied(parts)

    def abstraction(self, parts: list[Any]) -> Abstraction:
        return Abstraction(parts[:-1], parts[-1])

    def let(self, parts: list[Any]) -> Let:
        return Let(*parts)

    def branches(self, parts: list[Any]) -> Branches:
        return Branches(*parts)

    def param(self, parts: list[Any]) -> Token:
        token: Token = parts[0]
        return token

    def mark(self, parts: list[Any]) -> Marked:
        return Marked(*parts)

    def inline(self, parts: list[Any]) -> Inline:
        return Inline(*parts)

    def tuple_(self, parts: list[Any]) -> Tree:
        return _nested(_PAIR, parts[:-1], parts[-1])

    def list_(self, parts: list[Any]) -> Tree:
        return _nested(_CONS, parts, _NIL)

    def unit(self, _parts: list[Any]) -> Lit:
        return _UNIT

    def arm(self, parts: list[Any]) -> tuple[Token, Tree]:
        return (parts[0], parts[1])

    def case(self, parts: list[Any]) -> Applied:
        subject, *arms = parts
        labels: dict[str, None] = {}
        for token, _ in arms:
            quoted = token.type == "STRING"
            label = _unescaped(token, token[1:-1]) if quoted else name_of(token)
            if label in labels:
                raise refuse("P014", token, label=label)
            labels[label] = None
        return Applied([Prim("case", (tuple(labels),)), subject, *(body for _, body in arms)])

    # --- constants ---

    def constant(self, parts: list[Any]) -> Prim:
        name = str(parts[0])
        return Prim(_CONSTANTS.get(name, name))

    def fixpoint(self, parts: list[Any]) -> Prim:
        token = parts[0]
        return Prim("fix", (whole(token, token[1:].lstrip("_").translate(_SUBSCRIPTS)),))

    def indexed(self, parts: list[Any]) -> Tree:
        token, *values = parts
        name, params = str(token), tuple(values)
        match name, params:
            case "church", (int(n),) if 0 <= n <= MAX_CHURCH and not isinstance(n, bool):
                return church(n)
            case "church", _:
                raise refuse("P016", token, limit=MAX_CHURCH)
            case "Y", _:
                name = "fix"
            case "case", _:
                params = (params,)
            case ("tag", (*labels, index)):
                params = (tuple(labels), index)
        made = Prim(name, params)
        try:
            arity(made)
        except MalformedPrimError:
            form = _FORMS[str(token)]
            raise refuse("P015", token, name=str(token), form=form) from None
        return made

    # --- data ---

    def literal(self, parts: list[Any]) -> Lit:
        return Lit(parts[0])

    def opaque(self, parts: list[Any]) -> Lit:
        return Lit(parts[1])

    def scalar(self, parts: list[Any]) -> Data:
        token = parts[0]
        text = str(token)
        if token.type == "STRING":
            return _unescaped(token, text[1:-1])
        if token.type == "WORD":
            return _WORDS[text]
        if text[:2] == "0x" or text[:3] == "-0x":
            return int(text, 16)
        if text.lstrip("-").isdigit():
            return whole(token, text)
        return float(text)

    def array(self, parts: list[Any]) -> Data:
        return tuple(parts)

    def pair(self, parts: list[Any]) -> tuple[Token, str, Data]:
        token, value = parts
        quoted = token.type == "STRING"
        return token, _unescaped(token, token[1:-1]) if quoted else name_of(token), value

    def record(self, parts: list[Any]) -> Record:
        items: dict[str, Data] = {}
        for token, key, value in parts:
            if key in items:
                raise refuse("P017", token, key=key)
            items[key] = value
        return Record(items)


TREE_BUILDER = _Builder()

_FORMS = {
    "Y": "Y[20], its number of rounds from 0",
    "guard": "guard[2], its number of retries from 0",
    "par": "par[3], its number of branches from 1",
    "pmap": "pmap, without an index",
    "case": 'case["a", "b"], each label once',
    "tag": 'tag["a", "b", 0], each label once, and which of them it puts on, counted from 0',
    "site": 'site["name"]',
}


def _nested(head: Prim, items: Iterable[Tree], last: Tree) -> Tree:
    for item in reversed([*items]):
        last = Applied([head, item, last])
    return last


@lru_cache(maxsize=16)
def church(number: int) -> Term:
    """Return ``λf x. f (… (f x))``, the numeral `number`."""
    body: Term = Var(0, "x")
    for _ in range(number):
        body = App(Var(1, "f"), body)
    return Lam(Lam(body, "x"), "f")
