"""Parallel branches.

Par(f₁ … fₖ)   λx. par[k] (λ_. f₁ x) … (λ_. fₖ x)
Concat         the host site that joins the answers as text
"""

from collections.abc import Sequence

from lambdagent.desugar.notation import app, close, closed, lam, prim, thunk
from lambdagent.desugar.table import SiteTable
from lambdagent.ir.core import Term
from lambdagent.ir.data import Record


def lower_par(branches: Sequence[Term]) -> Term:
    """Return the core term that runs closed `branches` on one input."""
    return close(
        lam(
            "x",
            lambda x: prim(
                "par",
                *(thunk(app(closed(branch), x)) for branch in branches),
                params=(len(branches),),
            ),
        )
    )


def lower_concat(table: SiteTable, count: int | None) -> Term:
    """Return the host site that joins a tuple of `count` answers; None where that is not known."""
    return table.add("concat", "merge", Record(count=count))
