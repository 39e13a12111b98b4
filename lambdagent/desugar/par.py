"""Parallel branches.

Par(f₁ … fₖ)   λx. par[k] (λ_. f₁ x) … (λ_. fₖ x)
Concat         the host site that joins the answers as text
"""

from collections.abc import Sequence

from lambdagent.desugar.table import SiteTable
from lambdagent.ir.core import App, Lam, Prim, Term, Var
from lambdagent.ir.data import Record

_X = Var(1, "x")  # seen from a branch, under its λ_


def lower_par(branches: Sequence[Term]) -> Term:
    """Return the core term that runs closed `branches` on one input."""
    body: Term = Prim("par", (len(branches),))
    for branch in branches:
        body = App(body, Lam(App(branch, _X), "_"))
    return Lam(body, "x")


def lower_concat(table: SiteTable, count: int | None) -> Term:
    """Return the host site that joins a tuple of `count` answers; None where that is not known."""
    return table.add("concat", "merge", Record(count=count))
