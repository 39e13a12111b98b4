"""How a round goes on whose reply holds calls: each is answered, several at once.

q is how many calls of one reply are made at most, m how many of them at once (`maxConcurrent`).
"""

from lambdagent.desugar.notation import Draft, app, if_, lam, let, pair, snd, template
from lambdagent.desugar.react_round import (
    ANSWERED,
    OBSERVED,
    REPLY,
    TERMINATED,
    Sites,
    again,
    again_counted,
)
from lambdagent.ir.core import App, Lam, Prim, Term, Var
from lambdagent.ir.labels import MOST_CALLS, ROUND_LABELS, call_labels

_REFUSED = Lam(Var(0, "m"), "m")


def several_choice(sites: Sites, names: tuple[str, ...], tools: list[Term], at_once: int) -> Term:
    """Return ``case (do action r) {…}``, which stands under `self`, `q` and `r`."""
    choice = App(Prim("case", (ROUND_LABELS,)), App(sites.action, REPLY, OBSERVED))
    dispatch: Term = App(Prim("case", (call_labels(names),)), App(Prim("snd"), Var(0, "c")))
    for tool in tools:
        dispatch = App(dispatch, tool)
    mapped = App(Prim("pmap", (MOST_CALLS, at_once)), _named(App(dispatch, _REFUSED)))
    if sites.stop is None:
        made = _calls(mapped, sites.next)
    else:
        made = _tested_calls(mapped, sites.stop, sites.thought, sites.next)
    return App(App(App(choice, made), TERMINATED), ANSWERED)


def _named(dispatched: Term) -> Term:
    """``λc. ⟨fst c, dispatched⟩``."""
    named = App(Prim("pair"), App(Prim("fst"), Var(0, "c")))
    return Lam(App(named, dispatched), "c")


@template("self", "q", "r")
def _calls(mapped: Draft, *round_: Draft) -> Draft:
    """``λcs. let os = pmap DISPATCH cs in NEXT(os)``."""
    return lam("cs", lambda cs: let("os", app(mapped, cs), lambda os: again(os, *round_)))


@template("self", "q", "r")
def _tested_calls(mapped: Draft, stop: Draft, thought: Draft, *round_: Draft) -> Draft:
    """The same with an exit test after all of the tools."""
    *_, q, r = round_

    def after(os: Draft) -> Draft:
        seen = pair(r, pair(os, snd(snd(q))))
        return if_(app(stop, seen), app(thought, r), again_counted(os, *round_))

    return lam("cs", lambda cs: let("os", app(mapped, cs), after))
