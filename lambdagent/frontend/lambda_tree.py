"""Trees with names: what a λ text is before its names become indices, or before it is an agent.

Leaves are core terms without variables, and the lexemes of names, sites and ``^i``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs
from lark import Token

from lambdagent.errors import LambdaSyntaxError, finding
from lambdagent.ir.core import Lit, Prim, Term
from lambdagent.ir.data import Data, Record
from lambdagent.messages import phrase
from lambdagent.source import Span, place_of

# Python refuses to read longer decimals; in hexadecimal they are read.
_MAX_DIGITS = 4000
# What to write instead, by the lexeme that the digits stand in.
_SHORTER = {
    "INDEX": phrase("count the binders around it: `^0` is the variable of the innermost one"),
    "FIXPOINT": phrase("write the bound in brackets and in hexadecimal, as in `Y[0xff]`"),
}


class Lexeme(Token):
    """A word of `text`, at `start_pos`; its place is worked out when it is asked for."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, kind: str, word: str, start: int, text: str) -> Lexeme:
        """Return the lexeme `word` of a kind, which begins at the offset `start` of `text`."""
        made = str.__new__(cls, word)
        made.type, made.start_pos, made.text = kind, start, text
        return made

    @property
    def line(self) -> int:  # type: ignore[override]
        """Its line, from 1."""
        return place_of(self.text, self.start_pos or 0)[0]

    def name_between(self, start: int, stop: int) -> Lexeme:
        """Return the name that stands in these characters of the lexeme, among blanks."""
        written = str(self)[start:stop]
        start += len(written) - len(written.lstrip())
        return Lexeme("NAME", written.strip(), (self.start_pos or 0) + start, self.text)


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
class Choice:
    """``CASE subject [("label", f), …]``, applied to what follows the list."""

    applied: Tree


@attrs.frozen(eq=False, repr=False)
class Equation:
    """``(left = right)``, two names; `token` is all of it."""

    token: Token
    left: Token
    right: Token


@attrs.frozen(eq=False, repr=False)
class Predicate:
    """``{names | text}``; `token` is all of it, `start` says where in it the text is."""

    token: Token
    text: str
    start: int

    def span_at(self, column: int) -> Span:
        """Return the place of a column of the text, counted from 1."""
        first = span_of(self.token)
        if self.token[self.start :].startswith('"') or "\n" in self.token:
            return first
        column += first.column + self.start - 1
        return Span(first.line, column, first.line, column + 1)


@attrs.frozen(eq=False, repr=False)
class Asked:
    """``LLM_{model, "prompt", name}``."""

    token: Token
    model: str | None
    prompt: str
    name: Token | None


@attrs.frozen(eq=False, repr=False)
class Setting:
    """``name=value``; the value of a bare word is the word itself."""

    name: Token
    value: Data


@attrs.frozen(eq=False, repr=False)
class Store:
    """``Γ ∪ strategy{name=value, …}``."""

    token: Token
    settings: list[Setting]


@attrs.frozen(eq=False, repr=False)
class Form:
    """``Guard(f, …)`` and its like."""

    token: Token
    operands: list[Tree | Setting | Store]


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
    "Abstraction | Let | Branches | Applied | Piped | Marked | Inline | Choice | Equation "
    "| Predicate | Asked | Form | Token | Lit | Prim | Term"
)


def parts(tree: Tree) -> list[Tree]:
    """Return the trees right inside `tree`, in the order of the text."""
    inside = _PARTS.get(type(tree))
    return [] if inside is None else inside(tree)


_PARTS: Mapping[type, Callable[[Any], list[Tree]]] = {
    Abstraction: lambda tree: [tree.body],
    Marked: lambda tree: [tree.item],
    Choice: lambda tree: [tree.applied],
    Let: lambda tree: [tree.value, tree.body],
    Equation: lambda tree: [tree.left, tree.right],
    Branches: lambda tree: [tree.test, tree.first, tree.second],
    Applied: lambda tree: tree.items,
    Piped: lambda tree: tree.stages,
    Form: lambda tree: [each for each in tree.operands if not isinstance(each, Setting | Store)],
}


def trees(file: File) -> Iterator[Tree]:
    """Yield each tree of `file`, outer before inner."""
    stack: list[Tree] = [each.value for each in file.definitions]
    stack += [] if file.term is None else [file.term]
    while stack:
        tree = stack.pop()
        yield tree
        stack += parts(tree)


def first_token(tree: Any) -> Token | None:
    """Return the first lexeme that is left of `tree`, if any is."""
    stack = [tree]
    while stack:
        item = stack.pop()
        token = token_of(item)
        if token is not None:
            return token
        stack += reversed(parts(item))
    return None


def token_of(tree: Any) -> Token | None:
    """Return the first lexeme that `tree` holds itself."""
    match tree:
        case Token():
            return tree
        case Asked(token) | Predicate(token) | Form(token) | Equation(token):
            return token
        case Store(token) | Setting(token):
            return token
        case Abstraction([token, *_]) | Let(token) | Marked(token) | Inline(token):
            return token
    return None


def span_of(token: Token) -> Span:
    """Return where `token` stands."""
    if isinstance(token, Lexeme):
        start = token.start_pos or 0
        first, last = place_of(token.text, start), place_of(token.text, start + len(token))
        return Span(*first, *last)
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
    return unescaped(token, text[1:-1].replace('"', '\\"'))


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


def unescaped(token: Token, text: str) -> str:
    """Return what `text`, the inside of a text in quotes, a part of `token`, says."""
    try:
        value: str = json.loads(f'"{text}"', strict=False)
    except ValueError:
        raise refuse("P012", token, got=str(token)) from None
    return value


def whole(token: Token, text: str) -> int:
    """Return the decimal number `text`, a part of `token`."""
    if len(text) > _MAX_DIGITS:
        hint = _SHORTER.get(token.type, phrase("write it in hexadecimal, as in `0xff`"))
        raise refuse("P013", token, limit=_MAX_DIGITS, hint=hint)
    return int(text)
