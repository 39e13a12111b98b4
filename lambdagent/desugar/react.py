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

from lambdagent.desugar.model_call import lower_model_call
from lambdagent.desugar.notation import (
    Draft,
    app,
    case,
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
from lambdagent.desugar.tool import IDENTITY
from lambdagent.ir import surface
from lambdagent.ir.core import Label, Term
from lambdagent.ir.data import Record
from lambdagent.ir.labels import TERMINATE, action_labels

_STOP_NAMES = (
    "x",
    "content",
    "turn",
    "finish_reason",
    "tool_calls",
    "tool_results",
    "observation",
)


class _Round:
    """The sites of one round, and the drafts that every branch of it needs."""

    def __init__(self, step: surface.ReActStep, table: SiteTable) -> None:
        self.tools = [t for t in step.tools if t.name != TERMINATE]
        self.names = tuple(tool.name for tool in self.tools)
        described = tuple(Record(name=t.name, description=t.description) for t in self.tools)
        self.think = closed(
            lower_model_call(
                step.think,
                table,
                shown_as="think",
                decoder="reply",
                extra=Record(tools=described),
            )
        )
        name = step.name
        conversation = isinstance(step.think, surface.ConversationLam)
        static = Record(conversation=conversation, observation=step.observation_enabled)
        self.action = closed(table.add("action", name, Record(tools=self.names)))
        self.next = closed(table.add("next", name, static))
        self.thought = closed(table.add("thought", name))
        self.stop: Draft | None = None
        if step.early_stop is not None:
            self.stop = closed(table.stop(name, step.early_stop, _STOP_NAMES))


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
    parts = _Round(step, table)
    labels = action_labels(parts.names)

    def body(self_: Draft, q: Draft) -> Draft:
        return let(
            "r",
            app(parts.think, fst(q)),
            lambda r: case(
                app(parts.action, r, Label("action", "route")),
                labels,
                _branches(parts, tools, self_, q, r),
            ),
        )

    def last_thought(q: Draft) -> Draft:
        return app(parts.thought, snd(q) if parts.stop is None else fst(snd(q)))

    exhausted: Draft = lam("q", last_thought)
    if loop.on_exhausted == "error":
        fail = table.failure("MaxTurns", f"no answer after {loop.max_steps} rounds")
        exhausted = lam("q", lambda q: app(closed(fail), last_thought(q)))
    fix = prim(
        "fix",
        lam("self", lambda self_: lam("q", lambda q: body(self_, q))),
        exhausted,
        params=(loop.max_steps,),
    )
    nothing = lit("") if parts.stop is None else pair(lit(""), lit(0))
    return close(lam("x", lambda x: app(fix, pair(x, nothing))))


def _branches(parts: _Round, tools: list[Term], self_: Draft, q: Draft, r: Draft) -> list[Draft]:
    def again(tool: Draft, observation: Draft) -> Draft:
        view = app(parts.next, pair(fst(q), pair(r, pair(tool, observation))))
        last = r if parts.stop is None else pair(r, prim("succ", snd(snd(q))))
        return app(self_, pair(view, last))

    def call(name: str, tool: Term) -> Draft:
        def after(a: Draft, o: Draft) -> Draft:
            if parts.stop is None:
                return again(lit(name), o)
            done = snd(snd(q))
            seen = pair(r, pair(lit(name), pair(a, pair(o, done))))
            return if_(app(parts.stop, seen), app(parts.thought, r), again(lit(name), o))

        return lam("a", lambda a: let("o", app(closed(tool), a), lambda o: after(a, o)))

    calls = [call(name, tool) for name, tool in zip(parts.names, tools, strict=True)]
    terminate = Label("terminate", "terminate")
    return [
        *calls,
        lam("m", lambda m: again(lit("tool call"), m)),
        lam("v", lambda v: app(closed(IDENTITY), v, terminate)),
        lam("v", lambda v: v),
    ]
