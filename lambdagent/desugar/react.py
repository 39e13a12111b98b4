"""ReAct: a bounded fixpoint inside which the machine steps.

Loop(ReActStep(think, t₁ … tₖ), n) =
    λx. Yₙ(λself. λ⟨view, last⟩. let r = think view in case (do action r) {
              call tⱼ a ⇒ let o = tⱼ a in NEXT(tⱼ, o);
              invalid m ⇒ NEXT("tool call", m);
              terminate v ⇒ (λx. x) v;
              answer v ⇒ v },
           λ⟨view, last⟩. do thought last) ⟨x, ""⟩

NEXT(t, o) = self ⟨do next ⟨view, ⟨r, ⟨t, o⟩⟩⟩, r⟩

With an exit test the rounds are counted: ``last`` is ``⟨reply, i⟩``, and after a tool

NEXT(t, o) = if (do stop ⟨r, ⟨t, ⟨a, ⟨o, i⟩⟩⟩⟩) (do thought r) (self ⟨…, ⟨r, i + 1⟩⟩)
"""

from typing import NamedTuple

from lambdagent.desugar.model_call import lower_model_call
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
from lambdagent.desugar.tool import IDENTITY
from lambdagent.ir import surface
from lambdagent.ir.core import App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.labels import EARLY_STOP_NAMES, TERMINATE, action_labels
from lambdagent.messages import phrase

_OBSERVED = Label("action", "route")
_R = Var(0, "r")
_TERMINATE = Lam(App(IDENTITY, Var(0, "v"), Label("terminate", "terminate")), "v")
_ANSWER = Lam(Var(0, "v"), "v")


class _Sites(NamedTuple):
    """The sites of one round; `stop` is None where the step has no exit test."""

    think: Term
    action: Term
    next: Term
    thought: Term
    stop: Term | None


def lower_react(
    loop: surface.Loop, step: surface.ReActStep, tools: list[Term], table: SiteTable
) -> Term:
    """Return the core term of a ReAct loop.

    Args:
        loop: The loop, for its bound.
        step: Its body.
        tools: The lowered tools of `step`, ``terminate`` left out, in order.
        table: Receives the sites.
    """
    called = [tool for tool in step.tools if tool.name != TERMINATE]
    names = tuple(tool.name for tool in called)
    sites = _enter(step, called, names, table)
    choice = _choice(sites, names, tools)
    start: Term = Lit("")
    if sites.stop is None:
        last = _last(sites.thought)
    else:
        last = _last_counted(sites.thought)
        start = App(App(Prim("pair"), start), Lit(0))
    if loop.on_exhausted == "error":
        fail = table.failure(
            "MaxTurns", str(phrase("no answer after {count} rounds", count=loop.max_steps))
        )
        last = App(fail, last)
    return _loop(Prim("fix", (loop.max_steps,)), sites.think, choice, Lam(last, "q"), start)


def _enter(
    step: surface.ReActStep,
    called: list[surface.Tool],
    names: tuple[str, ...],
    table: SiteTable,
) -> _Sites:
    described = tuple(Record(name=t.name, description=t.description) for t in called)
    think = lower_model_call(
        step.think, table, shown_as="think", decoder="reply", extra=Record(tools=described)
    )
    conversation = isinstance(step.think, surface.ConversationLam)
    static = Record(conversation=conversation, observation=step.observation_enabled)
    action = table.add("action", step.name, Record(tools=names))
    next_ = table.add("next", step.name, static)
    thought = table.add("thought", step.name)
    stop = None
    if step.early_stop is not None:
        stop = table.stop(step.name, step.early_stop, EARLY_STOP_NAMES)
    return _Sites(think, action, next_, thought, stop)


def _choice(sites: _Sites, names: tuple[str, ...], tools: list[Term]) -> Term:
    """Return ``case (do action r) {…}``, which stands under `self`, `q` and `r`."""
    choice = App(Prim("case", (action_labels(names),)), App(sites.action, _R, _OBSERVED))
    for name, tool in zip(names, tools, strict=True):
        if sites.stop is None:
            call = _call(tool, Lit(name), sites.next)
        else:
            named = Lit(name), Lit(name)
            call = _tested_call(tool, *named, sites.stop, sites.thought, sites.next)
        choice = App(choice, call)
    invalid = _invalid if sites.stop is None else _invalid_counted
    return App(App(App(choice, invalid(sites.next)), _TERMINATE), _ANSWER)


@template()
def _loop(fix: Draft, think: Draft, choice: Draft, exhausted: Draft, start: Draft) -> Draft:
    def round_(q: Draft) -> Draft:
        return let("r", app(think, fst(q)), lambda _: choice)

    rounds = lam("self", lambda _: lam("q", round_))
    return lam("x", lambda x: app(app(app(fix, rounds), exhausted), pair(x, start)))


@template("q")
def _last(thought: Draft, q: Draft) -> Draft:
    return app(thought, snd(q))


@template("q")
def _last_counted(thought: Draft, q: Draft) -> Draft:
    return app(thought, fst(snd(q)))


@template("self", "q", "r")
def _call(tool: Draft, name: Draft, *round_: Draft) -> Draft:
    """``λa. let o = tool a in NEXT(name, o)``."""
    return lam("a", lambda a: let("o", app(tool, a), lambda o: _next(name, o, *round_)))


@template("self", "q", "r")
def _tested_call(
    tool: Draft, name: Draft, shown: Draft, stop: Draft, thought: Draft, *round_: Draft
) -> Draft:
    """``λa. let o = tool a in NEXT(name, o)`` with an exit test, which sees `shown` for a name."""
    *_, q, r = round_

    def after(a: Draft, o: Draft) -> Draft:
        seen = pair(r, pair(shown, pair(a, pair(o, snd(snd(q))))))
        return if_(app(stop, seen), app(thought, r), _next_counted(name, o, *round_))

    return lam("a", lambda a: let("o", app(tool, a), lambda o: after(a, o)))


@template("self", "q", "r")
def _invalid(*round_: Draft) -> Draft:
    """``λm. NEXT("tool call", m)``."""
    return lam("m", lambda m: _next(lit("tool call"), m, *round_))


@template("self", "q", "r")
def _invalid_counted(*round_: Draft) -> Draft:
    return lam("m", lambda m: _next_counted(lit("tool call"), m, *round_))


def _next(tool: Draft, observation: Draft, *round_: Draft) -> Draft:
    """``self ⟨do next ⟨view, ⟨r, ⟨tool, observation⟩⟩⟩, r⟩``."""
    *_, r = round_
    return _again(tool, observation, r, *round_)


def _next_counted(tool: Draft, observation: Draft, *round_: Draft) -> Draft:
    """The same with ``⟨r, i + 1⟩`` for the last ``r``."""
    *_, q, r = round_
    return _again(tool, observation, pair(r, prim("succ", snd(snd(q)))), *round_)


def _again(tool: Draft, observation: Draft, last: Draft, *round_: Draft) -> Draft:
    next_, self_, q, r = round_
    return app(self_, pair(app(next_, pair(fst(q), pair(r, pair(tool, observation)))), last))
