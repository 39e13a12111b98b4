"""A notation for open core terms in which variables are Python names.

A `Draft` is a core term that still asks how many binders stand around it, so variables need no
counting by hand: ``lam("x", lambda x: app(f, x))`` is ``λx. f x``. Lowered agents are closed;
`closed` quotes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Unit, Var
from lambdagent.ir.data import Data

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
        def variable(depth: int) -> Term:
            return Var(depth - level - 1, name)

        return Lam(body(variable)(level + 1), name)

    return draft


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


def case(subject: Draft, labels: tuple[str, ...], branches: Sequence[Draft]) -> Draft:
    """``case subject {lᵢ ⇒ branchᵢ}``; a branch is a function of the payload."""
    return prim("case", subject, *branches, params=(labels,))
