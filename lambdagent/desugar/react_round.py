"""What rounds of a ReAct loop have in common, whichever way tools are called."""

from typing import NamedTuple

from lambdagent.desugar.notation import Draft, app, fst, pair, prim, snd
from lambdagent.desugar.tool import IDENTITY
from lambdagent.ir.core import App, Label, Lam, Term, Var

OBSERVED = Label("action", "route")
REPLY = Var(0, "r")
TERMINATED = Lam(App(IDENTITY, Var(0, "v"), Label("terminate", "terminate")), "v")
ANSWERED = Lam(Var(0, "v"), "v")


class Sites(NamedTuple):
    """The sites of one round; `stop` is None where the step has no exit test."""

    think: Term
    action: Term
    next: Term
    thought: Term
    stop: Term | None


def again(seen: Draft, *round_: Draft) -> Draft:
    """``self ⟨do next ⟨view, ⟨r, seen⟩⟩, r⟩``."""
    *_, r = round_
    return _on(seen, r, *round_)


def again_counted(seen: Draft, *round_: Draft) -> Draft:
    """The same with ``⟨r, i + 1⟩`` for the last ``r``."""
    *_, q, r = round_
    return _on(seen, pair(r, prim("succ", snd(snd(q)))), *round_)


def _on(seen: Draft, last: Draft, *round_: Draft) -> Draft:
    next_, self_, q, r = round_
    return app(self_, pair(app(next_, pair(fst(q), pair(r, seen))), last))
