"""A notation for open core terms in which variables are Python names.

A `Draft` is a core term that still asks how many binders stand around it, so variables need no
counting by hand: ``lam("x", lambda x: app(f, x))`` is ``λx. f x``. Lowered agents are closed;
`closed` quotes them. A form of fixed shape is a `template`: drawn once in this notation, then
filled with terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Unit, Var
from lambdagent.ir.data import Data
from lambdagent.ir.walk import children, nodes

Draft = Callable[[int], Term]


def close(draft: Draft) -> Term:
    """Return the closed core term that `draft` describes."""
    return draft(0)


def closed(term: Term) -> Draft:
    """Quote a closed core term."""
    return lambda _depth: term


def lit(value: Data | Unit) -> Draft:
    """Return a constant."""
    return closed(Lit(value))


UNIT_DRAFT = lit(UNIT)


def lam(name: str, body: Callable[[Draft], Draft]) -> Draft:
    """``λname. body``."""

    def draft(level: int) -> Term:
        return Lam(body(_variable(level, name))(level + 1), name)

    return draft


def _variable(level: int, name: str) -> Draft:
    return lambda depth: Var(depth - level - 1, name)


def thunk(body: Draft) -> Draft:
    """``λ_. body``: a lazy operand."""
    return lam("_", lambda _: body)


def app(fun: Draft, arg: Draft, label: Label | None = None) -> Draft:
    """``fun arg``."""
    return lambda depth: App(fun(depth), arg(depth), label)


def let(name: str, value: Draft, body: Callable[[Draft], Draft]) -> Draft:
    """``let name = value in body``."""
    return app(lam(name, body), value)


def prim(name: str, *operands: Draft, params: tuple[Data, ...] = ()) -> Draft:
    """``name[params] operands``."""

    def draft(depth: int) -> Term:
        term: Term = Prim(name, params)
        for operand in operands:
            term = App(term, operand(depth))
        return term

    return draft


def pair(left: Draft, right: Draft) -> Draft:
    """``⟨left, right⟩``."""
    return prim("pair", left, right)


def fst(value: Draft) -> Draft:
    """``fst value``."""
    return prim("fst", value)


def snd(value: Draft) -> Draft:
    """``snd value``."""
    return prim("snd", value)


def if_(condition: Draft, then: Draft, otherwise: Draft) -> Draft:
    """``if condition then otherwise``, both lazy."""
    return prim("if", condition, thunk(then), thunk(otherwise))


def template(*scope: str) -> Callable[[Callable[..., Draft]], Template]:
    """Make a drawing a template, for terms under the binders of `scope`, outermost first.

    The parameters of the drawing are its holes and, after them, the variables of `scope`.
    """
    return lambda drawing: Template(drawing, scope)


class Template:
    """A form of fixed shape.

    It is drawn when it is first filled, since drafts take five times as long as their nodes. Each
    filling makes the nodes above a hole, and the numbers and texts: in pure λ each of them is a
    numeral or an atom on its own. All other nodes are shared.
    """

    def __init__(self, drawing: Callable[..., Draft], scope: tuple[str, ...]) -> None:
        """Fill `drawing`, which stands under binders named `scope`."""
        self._drawing = drawing
        self._scope = scope
        self._drawn: _Drawn | None = None

    def __call__(self, *terms: Term) -> Term:
        """Return the term in which `terms` stand in the holes, in order.

        A term is closed, or stands under the binders that are around its hole.
        """
        drawn = self._drawn
        if drawn is None or drawn.holes != len(terms):
            drawn = self._drawn = self._draw(len(terms))
        made = [*terms, *drawn.shared]
        add = made.append
        for shape, first, second, rest in drawn.steps:
            if shape is App:
                add(App(made[first], made[second], rest))
            elif shape is Lam:
                add(Lam(made[first], rest))
            else:
                add(Lit(rest))
        return made[-1]

    def _draw(self, holes: int) -> _Drawn:
        marks = [Prim("hole") for _ in range(holes)]
        variables = [_variable(level, name) for level, name in enumerate(self._scope)]
        draft = self._drawing(*map(closed, marks), *variables)
        drawn = list(nodes(draft(len(self._scope))))
        varying = {id(mark) for mark in marks}
        for node in drawn:
            if _is_counted(node) or any(id(part) in varying for part in children(node)):
                varying.add(id(node))
        shared = [node for node in drawn if id(node) not in varying]
        numbers = {id(node): i for i, node in enumerate([*marks, *shared])}
        steps = []
        for node in drawn:
            if id(node) not in numbers:
                numbers[id(node)] = len(numbers)
                first, second, *_ = (*(numbers[id(part)] for part in children(node)), 0, 0)
                steps.append((type(node), first, second, _rest(node)))
        return _Drawn(holes, shared, steps)


class _Drawn(NamedTuple):
    """How to fill a template of so many holes.

    The terms in the holes have the first numbers, then come the `shared` nodes, then what the
    `steps` make: shape, numbers of the parts, and the label, name or value.
    """

    holes: int
    shared: list[Term]
    steps: list[tuple[type[Term], int, int, Any]]


def _is_counted(node: Term) -> bool:
    return type(node) is Lit and node.value is not UNIT


def _rest(node: Term) -> Any:
    match node:
        case App(label=rest) | Lam(name=rest) | Lit(rest):
            return rest
    raise AssertionError(node)
