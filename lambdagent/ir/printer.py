"""Core terms → text in the λ syntax (`grammar/`); reading the text gives an α-equal term.

    λx y. t   let x = t in u   if c then a else b   case t of {"l" ⇒ f, _ ⇒ g}
    ⟨a, b⟩   [a, b]   a :: b   Y[20] g e   guard[2] f P h   par[2] f g   @llm.think (f x)

See Note [How things are spelled] in `ir.spelling`, Note [How names stay fresh] in `ir.naming` and
Note [Where parentheses stand].
"""

# Note [Where parentheses stand]
#
# Each form has a strength: atoms 5, applications 3, ``⊕`` 2, ``::`` 1; each place asks for one.
# A binder (λ, let, if) reaches as far right as it can, so it stands bare only where nothing
# follows: at the end of brackets and of binders, as last argument, right of ``::`` and ``⊕``.

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var, takes
from lambdagent.ir.data_text import data_text
from lambdagent.ir.layout import Mark, laid_out
from lambdagent.ir.naming import Scope, ascii_numbered
from lambdagent.ir.sharing import check_size, definitions
from lambdagent.ir.spelling import JOIN, constant_text, literal_text, spelled, variable_name
from lambdagent.ir.usage import Usage

_TERM, _CONS, _CAT, _APPLY, _LAST, _ATOM = range(6)
_BINDER, _LET = -1, -2


def print_term(  # noqa: PLR0913 - keywords, each with a usual value
    term: Term,
    *,
    ascii: bool = False,  # noqa: A002 - the word for it
    limit: int | None = None,
    de_bruijn: bool = False,
    labels: bool = True,
    lines: bool = False,
    sugar: bool = True,
) -> str:
    """Return `term` as one line of text.

    ``parse(print_term(t))`` is α-equal to ``t``, unless `limit` or `labels` left something out.
    Linear in the text and in the distinct nodes. What is shared is written each time.

    Args:
        term: Any core term; variables without binder are printed as ``^i``.
        ascii: Use nothing but ASCII; hints of other characters become ``x``.
        limit: Most characters of the result; what is longer ends in ``…``.
        de_bruijn: Write ``^i`` for all variables.
        labels: Write the marks of macro events.
        lines: Break into lines, and write ``Y₂₀`` and ``a ⊕ b``, for people.
        sugar: Write ``let`` for an abstraction that is applied.

    Raises:
        TooLargeTextError: There is no `limit`, and the text would be too large.
    """
    if limit is None:
        check_size(term)
    printer = _Printer(_Style(ascii, de_bruijn, labels, lines, sugar), Usage(term))
    return printer.run(term, limit)


def print_shared(
    term: Term,
    *,
    ascii: bool = False,  # noqa: A002
    de_bruijn: bool = False,
    lines: bool = False,
    sugar: bool = True,
) -> str:
    """Return `term` as `print_term` does, after definitions of its shared parts if it is large.

    Reading it gives an α-equal term again. See Note [When a text has definitions] in `ir.sharing`.

    Raises:
        TooLargeTextError: The text would be too large even with definitions.
    """
    style, usage = _Style(ascii, de_bruijn, True, lines, sugar), Usage(term)  # noqa: FBT003
    shared = definitions(term, usage)
    texts: dict[int, str] = {}
    view = View(texts, heads=True)
    made = []
    for name, part in shared.items():
        made.append(_Printer(style, usage, view, shared).run(part, None, f"{name} = ", ";\n"))
        texts[id(part)] = name
    before = "\n" if made else ""
    return "".join(made) + _Printer(style, usage, view, shared).run(term, None, before)


@attrs.frozen(eq=False)
class View:
    """How a term is shown on its way; nodes are told by identity.

    Attributes:
        texts: What is written for some nodes instead of their text: names of known terms.
        marked: The node whose place in the text is wanted; None for none.
        lets: Write ``(λx. t) u`` as ``let x = u in t``.
        heads: Write the text of a node also where it would be the ``λx. t`` of a ``let``.
    """

    texts: Mapping[int, str] = {}
    marked: Term | None = None
    lets: bool = True
    heads: bool = False


_PLAIN = View()


def print_marked(term: Term, view: View, reserved: Collection[str] = ()) -> tuple[str, str, str]:
    """Return `term` as text, without labels: before the marked node, the node, what follows it.

    Args:
        term: Any core term, in which the marked node occurs once, and no text stands for it.
        view: What is marked, and what is written differently.
        reserved: Names that no variable may have, such as those among the texts of `view`.
    """
    style = _Style(ascii=False, de_bruijn=False, labels=False, lines=False, sugar=True)
    printer = _Printer(style, Usage(term), view, reserved)
    text = printer.run(term, None)
    start, stop = printer.edges or (len(text), len(text))
    return text[:start], text[start:stop], text[stop:]


@attrs.frozen
class _Style:
    ascii: bool
    de_bruijn: bool
    labels: bool
    lines: bool
    sugar: bool


@attrs.frozen(eq=False)
class _Hole:
    """A term to be printed at a place; `tail` says that nothing follows there."""

    term: Term
    level: int = _TERM
    tail: bool = True


@attrs.frozen(eq=False)
class _Bind:
    name: str


@attrs.frozen(eq=False)
class _Unbind:
    count: int


@attrs.frozen(eq=False)
class _Restore:
    scope: Scope


class _Edge(enum.Enum):
    """Where the marked node starts or ends."""

    EDGE = "edge"


@attrs.frozen(eq=False)
class _Rest:
    """What follows in a chain of pairs or list cells."""

    name: str
    term: Term
    between: str
    end: str


Piece: TypeAlias = str | Mark | _Hole | _Rest | _Bind | _Unbind | _Restore | _Edge
_Form: TypeAlias = tuple[int, int, Callable[[bool], list[Piece]]]


class _Printer:
    """The text so far and the pieces that follow it, the next one last."""

    def __init__(
        self,
        style: _Style,
        usage: Usage,
        view: View = _PLAIN,
        reserved: Collection[str] = (),
    ) -> None:
        self.style = style
        self.usage = usage
        self.view = view
        self.reserved = reserved
        self.edges: list[int] = []
        self.scope = Scope(reserved)
        self.stack: list[Piece] = []
        self.lists: dict[int, bool] = {}  # by identity: whether it is a list up to nil

    def run(self, root: Term, limit: int | None, before: str = "", after: str = "") -> str:
        out: list[Any] = []
        length = 0
        self.stack += (after, _Hole(root), before)
        while self.stack and (limit is None or length <= limit):
            piece = self.stack.pop()
            if isinstance(piece, str):
                out.append(piece)
                length += len(piece)
            elif isinstance(piece, Mark):
                if self.style.lines:
                    out.append(piece)
                elif piece is Mark.SPACE:
                    out.append(" ")
                    length += 1
            elif isinstance(piece, _Hole):
                self.stack.extend(reversed(self.pieces(piece)))
            elif isinstance(piece, _Rest):
                self.stack.extend(reversed(self.rest(piece)))
            elif isinstance(piece, _Edge):
                self.edges.append(length)
            else:
                self.change_scope(piece)
        text = laid_out(out) if self.style.lines else "".join(out)
        if limit is None or len(text) <= limit:
            return text
        end = "..." if self.style.ascii else "…"
        return (text[: max(limit - len(end), 0)] + end)[: max(limit, 0)]

    def change_scope(self, piece: _Bind | _Unbind | _Restore) -> None:
        if isinstance(piece, _Bind):
            self.scope.bind(piece.name)
        elif isinstance(piece, _Unbind):
            self.scope.unbind(piece.count)
        else:
            self.scope = piece.scope

    def pieces(self, hole: _Hole) -> list[Piece]:
        term = hole.term
        text = self.view.texts.get(id(term))
        if text is not None:
            return [text]
        if term is self.view.marked:
            pieces = self.form_of(hole)
            outside = int(pieces[:2] == ["(", Mark.INDENT])  # its parentheses are not part of it
            first, last = pieces[:outside], pieces[len(pieces) - outside :]
            inner = pieces[outside : len(pieces) - outside]
            return [*first, _Edge.EDGE, *inner, _Edge.EDGE, *last]
        return self.form_of(hole)

    def form_of(self, hole: _Hole) -> list[Piece]:
        term = hole.term
        if type(term) is App:
            return self.application(term, hole)
        if type(term) is Lam:
            return _fitted(_BINDER, hole, lambda _tail: self.abstraction(term))
        return [self.leaf(term)]

    # --- variables and constants ---

    def leaf(self, term: Term) -> str:
        if type(term) is Var:
            return self.variable(term.index)
        if type(term) is Prim:
            return self.constant(term)
        return literal_text(term, ascii=self.style.ascii) if type(term) is Lit else "?"

    def constant(self, prim: Prim) -> str:
        return constant_text(prim, ascii=self.style.ascii, for_people=self.style.lines)

    def variable(self, index: int) -> str:
        names = self.scope.names
        if self.style.de_bruijn or not 0 <= index < len(names):
            return f"^{index}"
        return self.name(names[-1 - index])

    def name(self, text: str) -> str:
        return variable_name(text, ascii=self.style.ascii)

    # --- binders ---

    def abstraction(self, term: Lam) -> list[Piece]:
        restore: list[Piece] = []
        if id(term) in self.usage.closed:
            restore.append(_Restore(self.scope))
            self.scope = Scope(self.reserved)
        names = []
        body: Term = term
        while type(body) is Lam and id(body) not in self.view.texts:
            names.append(self.fresh(body))
            self.scope.bind(names[-1])
            body = body.body
        shown = " ".join(map(self.name, names))
        start = "\\" if self.style.ascii else "λ"
        return [f"{start}{shown}.", *self.block(body), _Unbind(len(names)), *restore]

    def block(self, term: Term) -> list[Piece]:
        """Return `term` at the end of a line, or as lines of its own if it is a block."""
        if not self.is_block(term):
            return [" ", _Hole(term)]
        return [Mark.OPEN, Mark.INDENT, Mark.SPACE, _Hole(term), Mark.DEDENT, Mark.CLOSE]

    def is_block(self, term: Term) -> bool:
        """Whether `term` is a ``let`` or an ``if``, which people write on lines of its own."""
        if type(term) is not App or not self.unmarked(term):
            return False
        head, args = self.spine(term)
        return self.form(head, args)[:2] in {(_BINDER, len(args)), (_LET, len(args))}

    def fresh(self, term: Lam) -> str:
        """Return a name for the variable of `term` that no binder around has."""
        wanted, ascii_only = term.name, self.style.ascii
        used = id(term) in self.usage.using
        if self.style.de_bruijn or (not used and wanted in {"_", ""}):
            return "_"
        if ascii_only:
            wanted = ascii_numbered(wanted)
        if wanted in {"_", ""} or (ascii_only and not wanted.isascii()):
            wanted = "x"
        return self.scope.fresh(wanted, ascii=ascii_only)

    def let(self, binder: Lam, value: Term) -> list[Piece]:
        name = self.fresh(binder)
        line = Mark.LINE if self.style.lines else " "
        rest: list[Piece] = [" in", line, _Bind(name), _Hole(binder.body), _Unbind(1)]
        return [f"let {self.name(name)} =", *self.block(value), *rest]

    def branches(self, condition: Term, then: Term, otherwise: Term) -> list[Piece]:
        pieces: list[Piece] = [Mark.OPEN, "if ", Mark.INDENT, _Hole(condition)]
        for word, thunk in (("then ", then), ("else ", otherwise)):
            assert type(thunk) is Lam
            pieces += [Mark.SPACE, word, Mark.INDENT, _Bind("_"), _Hole(thunk.body), _Unbind(1)]
            pieces.append(Mark.DEDENT)
        return [*pieces, Mark.DEDENT, Mark.CLOSE]

    def is_thunk(self, term: Term) -> bool:
        return type(term) is Lam and id(term) not in self.usage.using

    # --- applications ---

    def application(self, term: App, hole: _Hole) -> list[Piece]:
        if term.label is not None and self.style.labels:
            kind, name = (
                spelled(part, ascii=self.style.ascii)
                for part in (term.label.kind, term.label.name)
            )
            return [f"@{kind}.{name} ", _Hole(App(term.fun, term.arg), _ATOM, tail=False)]
        head, args = self.spine(term)
        own, consumed, build = self.form(head, args)
        if consumed == len(args):
            return _fitted(own, hole, build)
        rest = args[consumed:]

        def applied(tail: bool) -> list[Piece]:  # noqa: FBT001 - the one argument of a form
            first = _fitted(own, _Hole(head, _ATOM, tail=False), build)
            places: list[Piece] = [_Hole(arg, _ATOM, tail=False) for arg in rest[:-1]]
            last = _Hole(rest[-1], _LAST, tail=tail)
            others = [part for place in [*places, last] for part in (Mark.SPACE, place)]
            return [Mark.OPEN, *first, Mark.INDENT, *others, Mark.DEDENT, Mark.CLOSE]

        return _fitted(_APPLY, hole, applied)

    def spine(self, term: Term) -> tuple[Term, list[Term]]:
        """Return the head and the arguments of an application, up to a label further in."""
        args: list[Term] = []
        while type(term) is App and (not args or self.unmarked(term)):
            args.append(term.arg)
            term = term.fun
        return term, args[::-1]

    def unmarked(self, term: App) -> bool:
        if id(term) in self.view.texts or term is self.view.marked:
            return False
        return term.label is None or not self.style.labels

    def form(self, head: Term, args: list[Term]) -> _Form:
        """Return strength, number of operands and printer of the form that `head` starts."""
        named = id(head) in self.view.texts
        lets = self.view.lets and self.style.sugar and head is not self.view.marked
        if type(head) is Lam and lets and not (named and self.view.heads):
            return _LET, 1, lambda _tail: self.let(head, args[0])
        if type(head) is Prim and not named and head.name in _FORMS and len(args) >= takes(head):
            return _FORMS[head.name](self, head, args)
        level = _APPLY if head is self.view.marked else _ATOM
        return _ATOM, 0, lambda _tail: [_Hole(head, level, tail=False)]

    def form_pair(self, _head: Prim, args: list[Term]) -> _Form:
        opened, closed = ("(", ")") if self.style.ascii else ("⟨", "⟩")
        rest = _Rest("pair", args[1], ", ", closed)
        return _ATOM, 2, lambda _tail: [opened, _Hole(args[0]), rest]

    def form_cons(self, _head: Prim, args: list[Term]) -> _Form:
        first, last = args[:2]
        if self.is_list(last):
            return _ATOM, 2, lambda _tail: ["[", _Hole(first), _Rest("cons", last, ", ", "]")]

        def build(tail: bool) -> list[Piece]:  # noqa: FBT001
            return [_Hole(first, _CAT, tail=False), " :: ", _Hole(last, _CONS, tail=tail)]

        return _CONS, 2, build

    def form_site(self, head: Prim, args: list[Term]) -> _Form:
        both = self.link("pair", args[0])
        if not self.style.lines or head.params != (JOIN,) or both is None:
            return _ATOM, 0, lambda _tail: [self.constant(head)]
        left, right = both
        sign = "++ " if self.style.ascii else "⊕ "

        def build(tail: bool) -> list[Piece]:  # noqa: FBT001
            places = _Hole(left, _CAT, tail=False), _Hole(right, _APPLY, tail=tail)
            return [Mark.OPEN, places[0], Mark.SPACE, sign, places[1], Mark.CLOSE]

        return _CAT, 1, build

    def is_list(self, term: Term) -> bool:
        """Whether a chain of ``cons`` ends in ``nil``; each link is looked at once."""
        links = []
        while id(term) not in self.lists and (link := self.link("cons", term)) is not None:
            links.append(id(term))
            term = link[1]
        ends = type(term) is Prim and term.name == "nil" and not term.params
        result = self.lists.setdefault(id(term), ends)
        self.lists.update(dict.fromkeys(links, result))
        return result

    def rest(self, piece: "_Rest") -> list[Piece]:
        """Return one more item of a chain, or its end."""
        link = self.link(piece.name, piece.term)
        if link is not None:
            rest = _Rest(piece.name, link[1], piece.between, piece.end)
            return [piece.between, _Hole(link[0]), rest]
        if piece.name == "cons":
            return [piece.end]
        return [piece.between, _Hole(piece.term), piece.end]

    def link(self, name: str, term: Term) -> tuple[Term, Term] | None:
        """Return ``(a, b)`` if `term` is ``name a b``."""
        if type(term) is App and type(term.fun) is App:
            head = term.fun.fun
            is_named = type(head) is Prim and (head.name, head.params) == (name, ())
            if is_named and self.unmarked(term) and self.unmarked(term.fun):
                return term.fun.arg, term.arg
        return None

    def form_if(self, head: Prim, args: list[Term]) -> _Form:
        condition, then, otherwise = args[:3]
        if self.style.de_bruijn or not (self.is_thunk(then) and self.is_thunk(otherwise)):
            return _ATOM, 0, lambda _tail: [self.constant(head)]
        return _BINDER, 3, lambda _tail: self.branches(condition, then, otherwise)

    def form_case(self, head: Prim, args: list[Term]) -> _Form:
        labels = head.params[0]
        assert isinstance(labels, tuple)
        ascii_only = self.style.ascii
        start, between, end = _ARM_LINES if self.style.lines else _ARMS
        pieces: list[Piece] = ["case ", _Hole(args[0]), " of {", *start]
        for number, label in enumerate(labels):
            shown = "_" if label == "_" else data_text(label, ascii=ascii_only)
            arrow = "=>" if ascii_only else "⇒"
            pieces += [*(between if number else ()), f"{shown} {arrow} ", _Hole(args[1 + number])]
        return _APPLY, 1 + len(labels), lambda _tail: [*pieces, *end, "}"]


# What stands before the first arm of a case, between two arms, and after the last.
_Layout: TypeAlias = tuple[Sequence[Piece], Sequence[Piece], Sequence[Piece]]
_ARMS: _Layout = ((), (", ",), ())
_ARM_LINES: _Layout = ((Mark.INDENT, Mark.LINE), (",", Mark.LINE), (Mark.DEDENT, Mark.LINE))


def _fitted(own: int, hole: _Hole, build: Callable[[bool], list[Piece]]) -> list[Piece]:
    """Return a form of strength `own` with the parentheses that its place asks for."""
    is_binder = own in {_BINDER, _LET}
    if (hole.tail and hole.level != _ATOM) if is_binder else own >= hole.level:
        return build(hole.tail)
    inner = build(True)  # noqa: FBT003
    # The body of a `let` starts a line; other forms indent their own lines.
    inner = [*inner, Mark.DEDENT] if own == _LET else [Mark.DEDENT, *inner]
    return ["(", Mark.INDENT, *inner, ")"]


_FORMS: dict[str, Callable[[_Printer, Prim, list[Term]], _Form]] = {
    "pair": _Printer.form_pair,
    "cons": _Printer.form_cons,
    "if": _Printer.form_if,
    "case": _Printer.form_case,
    "site": _Printer.form_site,
}
