"""Conditions.

    If(c, f, g)   λx. if (c x) (f x) (g x)

A condition is a host predicate compiled from an expression, or an agent whose answer a host site
reads as true or false.
"""

from lambdagent.desugar.notation import Draft, app, if_, lam, template


@template()
def lower_if(condition: Draft, then: Draft, otherwise: Draft) -> Draft:
    """``λx. if (condition x) (then x) (otherwise x)``, of closed terms."""
    return lam("x", lambda x: if_(app(condition, x), app(then, x), app(otherwise, x)))
