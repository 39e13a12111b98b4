"""Routes.

Route(c, {l: f}, d)   λx. case (do label (c x)) {l _ ⇒ f_l x; …; _ w ⇒ d x}
                      without default: _ w ⇒ do fail RouteError(w)
                      another label has the branch of _
"""

from collections.abc import Sequence

from lambdagent.desugar.notation import Draft, app, case, close, closed, lam, thunk
from lambdagent.desugar.table import SiteTable
from lambdagent.ir.core import Label, Term
from lambdagent.ir.data import Record
from lambdagent.ir.labels import OTHER


def lower_route(
    classifier: Term,
    routes: Sequence[tuple[str, Term | None]],
    default: Term | None,
    table: SiteTable,
) -> Term:
    """Return the core term of a route; its label decoder is a reduction of its own."""
    names = tuple(name for name, _ in routes)
    decode = closed(table.add("label", "route", Record(labels=names)))
    otherwise = closed(default or table.failure("RouteError", "no route fits this label"))

    def body(x: Draft) -> Draft:
        subject = app(decode, app(closed(classifier), x), Label("route", "route"))
        rest = lam("w", lambda w: app(otherwise, w if default is None else x))
        branches = [rest if agent is None else thunk(app(closed(agent), x)) for _, agent in routes]
        return case(subject, (*names, OTHER), [*branches, rest])

    return close(lam("x", body))
