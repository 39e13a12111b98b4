"""Guards.

Guard(f, P, r, h)   guard[r] f P h
h   error = λy. do fail ValidationError(y);  empty = λy. "";  last = λy. y;  other text c = λy. c
"""

from lambdagent.desugar.table import SiteTable
from lambdagent.desugar.tool import IDENTITY
from lambdagent.ir import surface
from lambdagent.ir.core import App, Lam, Lit, Prim, Term
from lambdagent.messages import phrase


def lower_guard(guard: surface.Guard, agent: Term, predicate: Term, table: SiteTable) -> Term:
    """Return the core term of a guard around a lowered `agent`."""
    fallback = _fallback(guard, table)
    return App(App(App(Prim("guard", (guard.retry,)), agent), predicate), fallback)


def _fallback(guard: surface.Guard, table: SiteTable) -> Term:
    match guard.fallback:
        case "error":
            rule = (
                guard.validator
                if isinstance(guard.validator, str)
                else str(phrase("the validator"))
            )
            # Data of the program, so never in the language of a reader.
            return table.failure(
                "ValidationError", str(phrase("it must satisfy {rule}", rule=rule))
            )
        case "last":
            return IDENTITY
        case "empty":
            return Lam(Lit(""), "y")
    return Lam(Lit(guard.fallback), "y")
