"""How a round goes on whose reply is a text: it calls one tool, or none."""

from lambdagent.desugar.notation import Draft, app, if_, lam, let, lit, pair, snd, template
from lambdagent.desugar.react_round import (
    ANSWERED,
    OBSERVED,
    REPLY,
    TERMINATED,
    Sites,
    again,
    again_counted,
)
from lambdagent.ir.core import App, Lit, Prim, Term
from lambdagent.ir.labels import NO_TOOL, action_labels


def text_choice(sites: Sites, names: tuple[str, ...], tools: list[Term]) -> Term:
    """Return ``case (do action r) {…}``, which stands under `self`, `q` and `r`."""
    choice = App(Prim("case", (action_labels(names),)), App(sites.action, REPLY, OBSERVED))
    for name, tool in zip(names, tools, strict=True):
        if sites.stop is None:
            call = _call(tool, Lit(name), sites.next)
        else:
            named = Lit(name), Lit(name)
            call = _tested_call(tool, *named, sites.stop, sites.thought, sites.next)
        choice = App(choice, call)
    invalid = _invalid if sites.stop is None else _invalid_counted
    return App(App(App(choice, invalid(sites.next)), TERMINATED), ANSWERED)


@template("self", "q", "r")
def _call(tool: Draft, name: Draft, *round_: Draft) -> Draft:
    """``λa. let o = tool a in NEXT(name, o)``."""
    return lam("a", lambda a: let("o", app(tool, a), lambda o: again(pair(name, o), *round_)))


@template("self", "q", "r")
def _tested_call(
    tool: Draft, name: Draft, shown: Draft, stop: Draft, thought: Draft, *round_: Draft
) -> Draft:
    """``λa. let o = tool a in NEXT(name, o)`` with an exit test, which sees `shown` for a name."""
    *_, q, r = round_

    def after(a: Draft, o: Draft) -> Draft:
        seen = pair(r, pair(shown, pair(a, pair(o, snd(snd(q))))))
        on = again_counted(pair(name, o), *round_)
        return if_(app(stop, seen), app(thought, r), on)

    return lam("a", lambda a: let("o", app(tool, a), lambda o: after(a, o)))


@template("self", "q", "r")
def _invalid(*round_: Draft) -> Draft:
    """``λm. NEXT("tool call", m)``."""
    return lam("m", lambda m: again(pair(lit(NO_TOOL), m), *round_))


@template("self", "q", "r")
def _invalid_counted(*round_: Draft) -> Draft:
    return lam("m", lambda m: again_counted(pair(lit(NO_TOOL), m), *round_))
