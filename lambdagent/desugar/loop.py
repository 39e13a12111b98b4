"""Loops.

Loop(b, c, n)   λx. Yₙ(λself. λ⟨q, i⟩. let r = b q in if (c ⟨r, i⟩) r (self ⟨r, i + 1⟩), e) ⟨x, 0⟩
                e = λ⟨q, i⟩. q        or, with on_exhausted="error", λ⟨q, i⟩. do fail MaxTurns(q)

Labels mark where it begins, each test of its condition, and where its rounds run out: listeners
are told of them, and no trace shows them.
"""

from lambdagent.desugar.notation import (
    Draft,
    app,
    fst,
    if_,
    lam,
    let,
    lit,
    pair,
    prim,
    snd,
    template,
)
from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import Label, Prim, Term
from lambdagent.ir.labels import LOOP, LOOP_ENTERED, LOOP_EXHAUSTED, LOOP_TESTED
from lambdagent.messages import phrase

_ENTERED = Label(LOOP, LOOP_ENTERED)
_TESTED = Label(LOOP, LOOP_TESTED)
_EXHAUSTED = Label(LOOP, LOOP_EXHAUSTED)


def lower_loop(loop: surface.Loop, body: Term, condition: Term, table: SiteTable) -> Term:
    """Return the core term of a loop whose `body` and `condition` are lowered."""
    fix = Prim("fix", (loop.max_steps,))
    if loop.on_exhausted == "error":
        fail = table.failure(
            "MaxTurns",
            str(phrase("the condition was not met in {count} rounds", count=loop.max_steps)),
        )
        return _failing(fix, body, condition, fail)
    return _loop(fix, body, condition)


@template()
def _loop(fix: Draft, body: Draft, condition: Draft) -> Draft:
    return _rounds(fix, body, condition, lam("q", _last))


@template()
def _failing(fix: Draft, body: Draft, condition: Draft, fail: Draft) -> Draft:
    return _rounds(fix, body, condition, lam("q", lambda q: app(fail, _last(q))))


def _last(q: Draft) -> Draft:
    return app(prim("fst"), q, _EXHAUSTED)


def _rounds(fix: Draft, body: Draft, condition: Draft, exhausted: Draft) -> Draft:
    def round_(self_: Draft, q: Draft) -> Draft:
        return let(
            "r",
            app(body, fst(q)),
            lambda r: if_(
                app(condition, pair(r, snd(q)), _TESTED),
                r,
                app(self_, pair(r, prim("succ", snd(q)))),
            ),
        )

    rounds = lam("self", lambda self_: lam("q", lambda q: round_(self_, q)))

    def started(x: Draft) -> Draft:
        return app(prim("pair", x), lit(0), _ENTERED)

    return lam("x", lambda x: app(app(app(fix, rounds), exhausted), started(x)))
