"""Composition and pairs.

Compose(f₁ … fₖ)   λx. fₖ(…(f₁ x))          Compose() = λx. x
Pair(f, g)         λx. ⟨f x, g x⟩
Fst, Snd           λp. fst p,  λp. snd p
"""

from collections.abc import Sequence

from lambdagent.desugar.notation import app, close, closed, fst, lam, pair, snd
from lambdagent.ir.core import App, Lam, Term, Var


def lower_compose(stages: Sequence[Term]) -> Term:
    """Return the composition of closed `stages`, the first one first."""
    body: Term = Var(0, "x")
    for stage in stages:
        body = App(stage, body)
    return Lam(body, "x")


def lower_pair(left: Term, right: Term) -> Term:
    """Return ``λx. ⟨left x, right x⟩``."""
    return close(lam("x", lambda x: pair(app(closed(left), x), app(closed(right), x))))


def lower_fst() -> Term:
    """Return ``λp. fst p``."""
    return close(lam("p", fst))


def lower_snd() -> Term:
    """Return ``λp. snd p``."""
    return close(lam("p", snd))
