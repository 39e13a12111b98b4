"""Loops.

Loop(b, c, n)   λx. Yₙ(λself. λ⟨q, i⟩. let r = b q in if (c ⟨r, i⟩) r (self ⟨r, i + 1⟩), e) ⟨x, 0⟩
                e = λ⟨q, i⟩. q        or, with on_exhausted="error", λ⟨q, i⟩. do fail MaxTurns(q)
"""

from lambdagent.desugar.notation import (
    Draft,
    app,
    close,
    closed,
    fst,
    if_,
    lam,
    let,
    lit,
    pair,
    prim,
    snd,
)
from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import Term


def lower_loop(loop: surface.Loop, body: Term, condition: Term, table: SiteTable) -> Term:
    """Return the core term of a loop whose `body` and `condition` are lowered."""
    run, test = closed(body), closed(condition)

    def round_(self_: Draft, q: Draft) -> Draft:
        return let(
            "r",
            app(run, fst(q)),
            lambda r: if_(
                app(test, pair(r, snd(q))),
                r,
                app(self_, pair(r, prim("succ", snd(q)))),
            ),
        )

    exhausted: Draft = lam("q", fst)
    if loop.on_exhausted == "error":
        fail = table.failure("MaxTurns", f"the condition was not met in {loop.max_steps} rounds")
        exhausted = lam("q", lambda q: app(closed(fail), fst(q)))
    fix = prim(
        "fix",
        lam("self", lambda self_: lam("q", lambda q: round_(self_, q))),
        exhausted,
        params=(loop.max_steps,),
    )
    return close(lam("x", lambda x: app(fix, pair(x, lit(0)))))
