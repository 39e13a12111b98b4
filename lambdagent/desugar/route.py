"""Routes.

Route(c, {l: f}, d)   λx. case (do label (c x)) {l _ ⇒ f_l x; …; _ w ⇒ d x}
                      without default: _ w ⇒ do fail RouteError(w)
                      another label has the branch of _
"""

from collections.abc import Sequence

from lambdagent.desugar.table import SiteTable
from lambdagent.ir.core import App, Label, Lam, Prim, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.labels import OTHER

# Written with indices, as model calls are: a route has a branch for each of its agents.
_X = Var(0, "x")
_X_IN_BRANCH = Var(1, "x")
_W = Var(0, "w")
_DECODED = Label("route", "route")


def lower_route(
    classifier: Term,
    routes: Sequence[tuple[str, Term | None]],
    default: Term | None,
    table: SiteTable,
) -> Term:
    """Return the core term of a route; its label decoder is a reduction of its own."""
    names = tuple(name for name, _ in routes)
    decode = table.add("label", "route", Record(labels=names))
    if default is None:
        rest = App(table.failure("RouteError", "no route fits this label"), _W)
    else:
        rest = App(default, _X_IN_BRANCH)
    body = App(Prim("case", ((*names, OTHER),)), App(decode, App(classifier, _X), _DECODED))
    for _, agent in routes:
        branch = Lam(rest, "w") if agent is None else Lam(App(agent, _X_IN_BRANCH), "_")
        body = App(body, branch)
    return Lam(App(body, Lam(rest, "w")), "x")
