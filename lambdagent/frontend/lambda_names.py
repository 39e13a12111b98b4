"""Tree with names → core term: names become indices, sugar becomes core.

    f >> g ≡ λx. g (f x)   if t then a else b ≡ cond t (λ_. a) (λ_. b)   let x = t in u ≡ (λx. u) t

Definitions are unfolded where they are used; all uses share one term. One pass with a stack of
its own; all faults of a text are found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
from lark import Token

from lambdagent.errors import Diagnostic, LambdaSyntaxError, finding
from lambdagent.frontend.lambda_tree import (
    Abstraction,
    Applied,
    Branches,
    Definition,
    Equation,
    File,
    Inline,
    Let,
    Lexeme,
    Marked,
    Piped,
    Row,
    Tree,
    label_of,
    name_of,
    site_of,
    span_of,
    whole,
)
from lambdagent.frontend.report import nearest
from lambdagent.ir import surface
from lambdagent.ir.core import App, Label, Lam, Prim, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.sites import KINDS
from lambdagent.ir.spelling import KEYWORDS, variable_name
from lambdagent.messages import phrase
from lambdagent.source import Source, Span

_MAX_FINDINGS = 20
_IF = Prim("if")
_NAMELESS = "_"  # binds nothing that could be used
# Words of other languages, and forms without their parenthesis, and what to write for them.
FOREIGN = {
    "fun": "λx. …",
    "fn": "λx. …",
    "function": "λx. …",
    "def": "λx. …",
    "letrec": "Y[20] (λself x. …) (λx. x)",
    "rec": "Y[20] (λself x. …) (λx. x)",
    "fix": "Y[20] (λself x. …) (λx. x)",
    "True": "true",
    "False": "false",
    "None": "null",
    "match": "case t of {label ⇒ λx. …}",
    "Guard": "Guard(f, {x | …}, retry=0, fallback=error)",
    "Memory": "Memory(f, Γ ∪ local{size=20, ttl=0})",
    "PAR": "PAR(f, g)",
    "PAIR": "PAIR(f, g)",
    "Truth": "Truth(f)",
    "Tool": 'λx. Tool("name", x)',
}


@attrs.frozen(eq=False)
class LambdaFile:
    """What a λ text says.

    Attributes:
        term: The term after the definitions; None where there is none.
        definitions: Terms by name, in order. Their uses in other terms are these very objects.
        rows: The ``where`` table, and a row for each inline site.
        mentions: The names of all sites that are used, and where first.
        free: Where the first ``^i`` stands that no binder binds.
        agent: The agent that the text is, if it is one; all else is then empty.
    """

    source: Source
    term: Term | None = attrs.field(repr=False)
    definitions: Mapping[str, Term] = attrs.field(repr=False)
    rows: Mapping[str, Row] = attrs.field(repr=False)
    mentions: Mapping[str, Span] = attrs.field(repr=False)
    free: Span | None
    agent: surface.Term | None = attrs.field(default=None, repr=False)


def resolve(file: File, source: Source, known: Mapping[str, Term] | None = None) -> LambdaFile:
    """Return the terms of `file`.

    Args:
        file: A parsed text.
        source: The text.
        known: Definitions from elsewhere; those of the text win over them.

    Raises:
        LambdaSyntaxError: A name is not defined, is defined twice, or is a word of the language.
    """
    names = _Names(file, dict(known or {}))
    for definition in file.definitions:
        names.define(definition)
    term = None if file.term is None else names.term(file.term)
    if names.findings:
        found = sorted(names.findings, key=lambda each: each.where or Span(0, 0, 0, 0))
        raise LambdaSyntaxError(found, source)
    made = names.definitions
    return LambdaFile(source, term, made, names.rows, names.mentions, names.free)


class _Names:
    """The scope while one file is resolved, and what is found out about it."""

    def __init__(self, file: File, known: dict[str, Term]) -> None:
        self.known = known
        self.definitions: dict[str, Term] = {}
        self.places: dict[str, Token] = {}
        for each in file.definitions:
            self.places.setdefault(name_of(each.name), each.name)
        self.findings: list[Diagnostic] = []
        self.rows: dict[str, Row] = {}
        self.mentions: dict[str, Span] = {}
        self.free: Span | None = None
        self.current = ""
        self.levels: dict[
            str, list[int]
        ] = {}  # by name: the binders that bind it, outermost first
        self.depth = 0
        self.todo: list[Any] = []
        self.done: list[Any] = []
        self.told: set[str] = set()
        for row in file.rows:
            if row.site in self.rows:
                self.report("P025", row.where, name=row.site)
            self.rows[row.site] = row

    def report(self, code: str, where: Span, **values: Any) -> None:
        if len(self.findings) < _MAX_FINDINGS:
            self.findings.append(finding(code, where, **values))

    def define(self, definition: Definition) -> None:
        token = definition.name
        name = name_of(token)
        self.bindable(token)
        if name in self.definitions:
            first = self.places[name].line
            self.report("P020", span_of(token), name=name, first=first)
        self.current = name
        self.definitions[name] = self.term(definition.value)
        self.current = ""

    # --- the pass: `todo` holds trees and steps, `done` the terms of what is done ---

    def term(self, tree: Tree) -> Term:
        self.todo.append(tree)
        while self.todo:
            item = self.todo.pop()
            form = _TREES.get(type(item))
            if form is None:
                self.done.append(item)  # a core term
            else:
                form(self, item)
        term: Term = self.done.pop()
        return term

    def step(self, step: tuple[Callable[..., None], Any]) -> None:
        step[0](self, step[1])

    def applied(self, tree: Applied) -> None:
        items = tree.items
        self.todo.append((_Names.join, len(items)))
        self.todo.extend(reversed(items))

    def join(self, count: int) -> None:
        done = self.done
        parts = done[-count:]
        del done[-count:]
        term = parts[0]
        for argument in parts[1:]:
            term = App(term, argument)
        done.append(term)

    def abstraction(self, tree: Abstraction) -> None:
        names = [self.bindable(token) for token in tree.params]
        self.bind(names)
        self.todo += [(_Names.close, names), tree.body]

    def bind(self, names: list[str]) -> None:
        for name in names:
            if name != _NAMELESS:
                self.levels.setdefault(name, []).append(self.depth)
            self.depth += 1

    def close(self, names: list[str]) -> None:
        body = self.done.pop()
        for name in reversed(names):
            body = Lam(body, name)
            if name != _NAMELESS:
                self.levels[name].pop()
        self.depth -= len(names)
        self.done.append(body)

    def let(self, tree: Let) -> None:
        self.todo += [(_Names.let_body, tree), tree.value]

    def let_body(self, tree: Let) -> None:
        name = self.bindable(tree.param)
        self.bind([name])
        self.todo += [(_Names.let_end, None), (_Names.close, [name]), tree.body]

    def let_end(self, _: None) -> None:
        function = self.done.pop()
        self.done.append(App(function, self.done.pop()))

    def branches(self, tree: Branches) -> None:
        thunks = [(_Names.thunk, tree.second), (_Names.thunk, tree.first)]
        self.todo += [(_Names.join, 4), *thunks, tree.test, _IF]

    def thunk(self, body: Tree) -> None:
        self.bind([_NAMELESS])
        self.todo += [(_Names.close, [_NAMELESS]), body]

    def piped(self, tree: Piped) -> None:
        self.depth += 1
        self.todo += [(_Names.compose, len(tree.stages)), *reversed(tree.stages)]

    def compose(self, count: int) -> None:
        self.depth -= 1
        body: Term = Var(0, "x")
        for stage in self.done[-count:]:
            body = App(stage, body)
        del self.done[-count:]
        self.done.append(Lam(body, "x"))

    def marked(self, tree: Marked) -> None:
        self.todo += [(_Names.mark, tree.label), tree.item]

    def mark(self, token: Token) -> None:
        term = self.done.pop()
        if type(term) is not App or term.label is not None:
            self.report("P024", span_of(token), label=str(token))
        else:
            term = App(term.fun, term.arg, Label(*label_of(token)))
        self.done.append(term)

    def equation(self, tree: Equation) -> None:
        self.report("P044", span_of(tree.token), text=str(tree.token))
        self.done.append(_IF)  # stands for it until all is read

    def inline(self, tree: Inline) -> None:
        kind = str(tree.kind)
        name = self.unused(kind, tree.record)
        where = span_of(tree.kind)
        self.rows[name] = Row(name, tree.record, where)
        self.mentions.setdefault(name, where)
        self.done.append(Prim("site", (name,)))

    def unused(self, kind: str, record: Record) -> str:
        """Return a name for an inline site: what its record calls it, or a number."""
        wanted = record.get("agent", record.get("name"))
        stem = f"{kind}:{wanted}" if isinstance(wanted, str) and wanted else f"{kind}:inline"
        name, number = stem, 1
        while name in self.rows or name in self.mentions:
            number += 1
            name = f"{stem}#{number}"
        return name

    # --- leaves ---

    def leaf(self, token: Token) -> None:
        if token.type == "SITE":
            name = site_of(token)
            self.mentions.setdefault(name, span_of(token))
            self.done.append(Prim("site", (name,)))
        elif token.type == "INDEX":
            index = whole(token, token[1:])
            if self.free is None and not 0 <= index < self.depth:
                self.free = span_of(token)
            self.done.append(Var(index))
        else:
            self.done.append(self.variable(token))

    def constant(self, prim: Prim) -> None:
        if prim.name == "site":
            self.mentions.setdefault(str(prim.params[0]), Span(1, 1, 1, 1))
        self.done.append(prim)

    def variable(self, token: Token) -> Term:
        name = name_of(token)
        levels = self.levels.get(name)
        if levels:
            return Var(self.depth - 1 - levels[-1], name)
        if self.definitions and name in self.definitions and name != self.current:
            return self.definitions[name]
        if name in self.known and name not in self.places:
            return self.known[name]
        self.undefined(token, name)
        return Var(0, name)

    # --- faults ---

    def bindable(self, token: Token) -> str:
        """Return the name that `token` gives to a variable."""
        if str(token) in KEYWORDS:
            self.report("P018", span_of(token), name=str(token))
        return name_of(token)

    def undefined(self, token: Token, name: str) -> None:
        if name in self.told:
            return
        self.told.add(name)
        where = span_of(token)
        if name == self.current:
            self.report("P021", where, name=name)
        elif name in self.places and name not in self.definitions:
            self.report("P022", where, name=name, line=self.places[name].line)
        elif str(token) in KEYWORDS:
            self.report("P019", where, name=name, fix=_word_hint(name))
        elif len(self.findings) < _MAX_FINDINGS:
            self.report("P023", where, name=name, hint=self.hint(name))

    def hint(self, name: str) -> str:
        if name == _NAMELESS:
            return phrase("`_` is for what is not used: give the variable a name")
        if name in FOREIGN:
            return phrase("write `{meant}`", meant=FOREIGN[name])
        bound = [each for each, levels in self.levels.items() if levels]
        # A name of one letter is near to every other one.
        meant = len(name) > 1 and nearest(name, [*bound, *self.definitions, *self.known])
        if meant:
            return phrase("write {meant}", meant=_code(variable_name(meant)))
        word = variable_name(name)
        bind, define = _code(f"λ{word}. …"), _code(f"{word} = …;")
        return phrase(
            "bind it, as in {bind}, or define it, as in {define}", bind=bind, define=define
        )


def _code(text: str) -> str:
    """Return `text` as people quote code that may have back-quotes in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _word_hint(name: str) -> str:
    if name == "Y":
        return phrase("there is no unbounded recursion: write `Y[20]`")
    if name in {"guard", "par", "church"}:
        return phrase("write it with its index, as in `{name}[3]`", name=name)
    if name == "fail":
        return phrase('write `fail{error: "ToolError", message: "…"}`')
    if name in KINDS:
        return phrase(
            "a site is `{name}.NAME`, or `{name}{{…}}`; a variable of this name is in back-quotes",
            name=name,
        )
    return phrase("a variable of this name is written in back-quotes: `` `{name}` ``", name=name)


_TREES: Mapping[type, Callable[[_Names, Any], None]] = {
    tuple: _Names.step,
    Lexeme: _Names.leaf,
    Applied: _Names.applied,
    Abstraction: _Names.abstraction,
    Let: _Names.let,
    Branches: _Names.branches,
    Piped: _Names.piped,
    Marked: _Names.marked,
    Inline: _Names.inline,
    Equation: _Names.equation,
    Prim: _Names.constant,
}
