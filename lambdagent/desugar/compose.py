"""Composition and pairs.

Compose(f₁ … fₖ)   λx. fₖ(…(f₁ x))          Compose() = λx. x
Pair(f, g)         λx. ⟨f x, g x⟩
Fst, Snd           λp. fst p,  λp. snd p
"""

from collections.abc import Sequence

from lambdagent.desugar.notation import Draft, app, fst, lam, pair, snd, template
from lambdagent.ir.core import App, Lam, Term, Var


def lower_compose(stages: Sequence[Term]) -> Term:
    """Return the composition of closed `stages`, the first one first."""
    body: Term = Var(0, "x")
    for stage in stages:
        body = App(stage, body)
    return Lam(body, "x")


@template()
def lower_pair(left: Draft, right: Draft) -> Draft:
    """``λx. ⟨left x, right x⟩``, of closed terms."""
    return lam("x", lambda x: pair(app(left, x), app(right, x)))


@template()
def lower_fst() -> Draft:
    """``λp. fst p``."""
    return lam("p", fst)


@template()
def lower_snd() -> Draft:
    """``λp. snd p``."""
    return lam("p", snd)
