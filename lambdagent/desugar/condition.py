"""Conditions.

    If(c, f, g)   λx. if (c x) (f x) (g x)

A condition is a host predicate compiled from an expression, or an agent whose answer a host site
reads as true or false.
"""

from lambdagent.desugar.notation import app, close, closed, if_, lam
from lambdagent.ir.core import Term


def lower_if(condition: Term, then: Term, otherwise: Term) -> Term:
    """Return ``λx. if (condition x) (then x) (otherwise x)``."""
    test, yes, no = closed(condition), closed(then), closed(otherwise)
    return close(lam("x", lambda x: if_(app(test, x), app(yes, x), app(no, x))))
