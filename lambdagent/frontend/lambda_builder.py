"""The parser's events → tree with names.

The methods of `TREE_BUILDER` are called by the parser bottom-up, one for each rule of
`lambda.lark`; so nothing here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import attrs
from lark import Token

from lambdagent.frontend.lambda_tree import (
    Abstraction,
    Applied,
    Asked,
    Branches,
    Choice,
    Definition,
    Equation,
    File,
    Form,
    Inline,
    Let,
    Marked,
    Piped,
    Predicate,
    Row,
    Setting,
    Store,
    Tree,
    name_of,
    refuse,
    site_of,
    span_of,
    unescaped,
    whole,
)
from lambdagent.ir.abi import LARGEST_NUMERAL
from lambdagent.ir.core import UNIT, App, Lam, Lit, MalformedPrimError, Prim, Term, Var, arity
from lambdagent.ir.data import Data, Record
from lambdagent.ir.spelling import JOIN
from lambdagent.messages import phrase

_WORDS: dict[str, Data] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
}
_CONSTANTS = {"cond": "if"}
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_PAIR, _CONS, _NIL, _UNIT = Prim("pair"), Prim("cons"), Prim("nil"), Lit(UNIT)
_TEXT = re.compile(r'"(?:[^"\\\n]++|\\.)*+"')


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
        name = unescaped(text[0], text[0][1:-1]) if text else site_of(first)
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
            label = unescaped(token, token[1:-1]) if quoted else name_of(token)
            if label in labels:
                raise refuse("P014", token, label=label)
            labels[label] = None
        return Applied([Prim("case", (tuple(labels),)), subject, *(body for _, body in arms)])

    # --- agents ---

    def choice(self, parts: list[Any]) -> Choice:
        return Choice(*parts)

    def equation(self, parts: list[Any]) -> Equation:
        token = parts[0]
        sign = token.index("=")
        return Equation(
            token, token.name_between(1, sign), token.name_between(sign + 1, len(token) - 1)
        )

    def predicate(self, parts: list[Any]) -> Predicate:
        token = parts[0]
        text = token[1:-1].partition("|")[2].strip()
        start = len(token) - 1 - len(token[:-1].partition("|")[2].lstrip())
        whole_text = _TEXT.fullmatch(text)
        return Predicate(token, unescaped(token, text[1:-1]) if whole_text else text, start)

    def asked(self, parts: list[Any]) -> Asked:
        token, prompt, *name = parts
        model = token[len("LLM_{") :].rstrip(" \t\r\n,").lstrip()
        return Asked(
            token,
            name_of(token, model) if model else None,
            unescaped(prompt, prompt[1:-1]),
            name[0] if name else None,
        )

    def setting(self, parts: list[Any]) -> Setting:
        name, value = parts
        return Setting(name, name_of(value) if isinstance(value, Token) else value)

    def store(self, parts: list[Any]) -> Store:
        return Store(parts[0], parts[1:])

    def form(self, parts: list[Any]) -> Form:
        return Form(parts[0], parts[1:])

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
            case "church", (int(n),) if 0 <= n <= LARGEST_NUMERAL and not isinstance(n, bool):
                return church(n)
            case "church", _:
                raise refuse("P016", token, limit=LARGEST_NUMERAL)
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
            return unescaped(token, text[1:-1])
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
        return token, unescaped(token, token[1:-1]) if quoted else name_of(token), value

    def record(self, parts: list[Any]) -> Record:
        items: dict[str, Data] = {}
        for token, key, value in parts:
            if key in items:
                raise refuse("P017", token, key=key)
            items[key] = value
        return Record(items)


TREE_BUILDER = _Builder()

_FORMS = {
    "Y": phrase("Y[20], its number of rounds from 0"),
    "guard": phrase("guard[2], its number of retries from 0"),
    "par": phrase("par[3], its number of branches from 1"),
    "pmap": phrase("pmap[32], the most items, or pmap[32, 4], of which 4 ask at once"),
    "case": phrase('case["a", "b"], each label once'),
    "tag": phrase(
        'tag["a", "b", 0], each label once, and which of them it puts on, counted from 0'
    ),
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
