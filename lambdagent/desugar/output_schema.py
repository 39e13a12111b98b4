"""Answers that must fit a schema: a look at them, and one repair.

Lam(s)              λx. let r = do llm:s x in SEEN r (λq. q) (λv. λa. v)
ConversationLam(s)  λx. let h = do conv.read:s () in let r = do llm:s ⟨h, x⟩ in
                        SEEN r (λq. ⟨h, q⟩) (λv. λa. let _ = do conv.append:s ⟨x, a⟩ in v)
Loop(ReActStep)     λx. let r = REACT x in SEEN r (λq. q) (λv. λa. v)

SEEN r ASK END = case (do fits:s r) {
    fits v ⇒ END v r;
    misfit w ⇒ let a = do llm:s.repair (ASK ⟨x, ⟨r, w⟩⟩) in
        case (do fits:s a) {fits v ⇒ END v a; misfit w ⇒ do fail OutputError(w)}}

What a conversation remembers is the answer that fits. ASK and END are written out in the term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lambdagent.desugar.notation import Draft, app, close, closed, lam, let, pair, prim
from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import Label, Prim, Term
from lambdagent.ir.data import Record
from lambdagent.ir.labels import FITTING

# Makes the argument of a call of what is asked.
_Asking = Callable[[Draft], Draft]
# Makes the answer of a value and the reply that it was read from.
_Ending = Callable[[Draft, Draft], Draft]


class _Sites(NamedTuple):
    fits: Term
    repair: Term
    repaired: Label
    fail: Term


def lower_fitting_call(llm: Prim, label: Label, agent: surface.Lam, table: SiteTable) -> Term:
    """Return the term of the model call of `agent` at `llm`, whose answer must fit its schema."""
    sites = _enter(agent, _static(llm, table), table)
    return close(
        lam(
            "x",
            lambda x: let("r", app(closed(llm), x, label), lambda r: _seen(sites, x, r)),
        )
    )


def lower_fitting_turn(
    llm: Prim, label: Label, agent: surface.Lam, table: SiteTable, heard: tuple[Term, Term]
) -> Term:
    """Return the same for a turn of a conversation.

    Args:
        llm: The site.
        label: What its calls are shown as.
        agent: Who converses.
        table: Receives the sites.
        heard: What was said, right under the binder of the input, and what remembers a turn.
    """
    sites = _enter(agent, _static(llm, table), table)
    history, append = heard

    def answered(x: Draft, h: Draft) -> Draft:
        def remembered(value: Draft, reply: Draft) -> Draft:
            return let("_", app(closed(append), pair(x, reply)), lambda _: value)

        return let(
            "r",
            app(closed(llm), pair(h, x), label),
            lambda r: _seen(sites, x, r, lambda asked: pair(h, asked), remembered),
        )

    return close(lam("x", lambda x: let("h", lambda _depth: history, lambda h: answered(x, h))))


def lower_fitting_answer(agent: Term, think: surface.Lam, table: SiteTable) -> Term:
    """Return `agent` with answers that fit the schema of its model call `think`, or are repaired.

    The repair sees the question and the answer, and neither the tools nor what they said.
    """
    static = Record(
        agent=think.name,
        prompt=think.prompt,
        conversation=False,
        model=table.model(think.model),
        schema=think.output_schema,
    )
    sites = _enter(think, static, table)
    return close(lam("x", lambda x: let("r", app(closed(agent), x), lambda r: _seen(sites, x, r))))


def _static(llm: Prim, table: SiteTable) -> Record:
    (name,) = llm.params
    return table.sites[str(name)].static


def _enter(agent: surface.Lam, static: Record, table: SiteTable) -> _Sites:
    """Enter what looks at answers of `agent`, and what repairs them, configured by `static`."""
    model, name = agent.model, repairer(agent.name)
    repair = table.add(
        "llm",
        name,
        Record(static, repair=True),
        decoder="reply",
        timeout_s=None if model is None else model.timeout_s,
        binding=None if model is None else model.binding,
    )
    fits = table.add("fits", agent.name, Record(schema=static["schema"]))
    fail = table.failure("OutputError", "it must fit the schema")
    return _Sites(fits, repair, Label("llm", name), fail)


def repairer(agent: str) -> str:
    """Return what the call is shown as in which `agent` repairs an answer."""
    return f"{agent}.repair"


def _same(asked: Draft) -> Draft:
    return asked


def _value(value: Draft, _reply: Draft) -> Draft:
    return value


def _seen(
    sites: _Sites, x: Draft, r: Draft, asking: _Asking = _same, ending: _Ending = _value
) -> Draft:
    """Return what comes of the reply `r` to `x`."""

    def looked_at(reply: Draft, otherwise: Callable[[Draft], Draft]) -> Draft:
        return prim(
            "case",
            app(closed(sites.fits), reply),
            lam("v", lambda value: ending(value, reply)),
            lam("w", otherwise),
            params=(FITTING,),
        )

    def repaired(why: Draft) -> Draft:
        return let(
            "a",
            app(closed(sites.repair), asking(pair(x, pair(r, why))), sites.repaired),
            lambda a: looked_at(a, lambda still: app(closed(sites.fail), still)),
        )

    return looked_at(r, repaired)
