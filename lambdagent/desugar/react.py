"""ReAct: a bounded fixpoint inside which the machine steps.

Loop(ReActStep(think, t₁ … tₖ), n) =
    λx. Yₙ(λself. λ⟨view, last⟩. let r = think view in case (do action r) {
              call tⱼ a ⇒ let o = tⱼ a in NEXT(⟨tⱼ, o⟩);
              invalid m ⇒ NEXT(⟨"tool call", m⟩);
              terminate v ⇒ (λx. x) v;
              answer v ⇒ v },
           λ⟨view, last⟩. do thought last) ⟨x, ""⟩

NEXT(os) = self ⟨do next ⟨view, ⟨r, os⟩⟩, r⟩

With an exit test the rounds are counted: ``last`` is ``⟨reply, i⟩``, and after a tool

NEXT(⟨t, o⟩) = if (do stop ⟨r, ⟨t, ⟨a, ⟨o, i⟩⟩⟩⟩) (do thought r) (self ⟨…, ⟨r, i + 1⟩⟩)

Where the provider has tool calls of its own, or m calls may be made at once, a reply may hold
several. Up to q of them are made. Both ends stay as they are, and in the place of the other
branches stands

              calls cs ⇒ let os = pmap[q, m] DISPATCH cs in NEXT(os)

DISPATCH = λ⟨t, c⟩. ⟨t, case c {call tⱼ a ⇒ tⱼ a; invalid m ⇒ m}⟩
NEXT(os) = if (do stop ⟨r, ⟨os, i⟩⟩) (do thought r) (self ⟨…, ⟨r, i + 1⟩⟩)
"""

from lambdagent.desugar.model_call import lower_model_call
from lambdagent.desugar.notation import Draft, app, fst, lam, let, pair, snd, template
from lambdagent.desugar.react_calls import several_choice
from lambdagent.desugar.react_round import Sites
from lambdagent.desugar.react_text import text_choice
from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import App, Lam, Lit, Prim, Term
from lambdagent.ir.data import Data, Record
from lambdagent.ir.labels import EARLY_STOP_NAMES, TERMINATE
from lambdagent.ir.model import Model
from lambdagent.ir.schema_references import inlined
from lambdagent.ir.services import SERVICES
from lambdagent.messages import phrase

_TEXT = Record(type="string")
# What tools take in a native call of which nothing more is known, and what ends the loop.
_ONE_TEXT = Record(type="object", properties=Record(input=_TEXT), required=("input",))
_ENDING = Record(type="object", properties=Record(answer=_TEXT), required=("answer",))
_END = "Give the final answer, when no more tools are needed."


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
    natively = _calls_natively(step.think.model)
    several = natively or step.max_concurrent > 1
    sites = _enter(step, called, table, natively=natively, several=several)
    if several:
        choice = several_choice(sites, names, tools, max(step.max_concurrent, 1))
    else:
        choice = text_choice(sites, names, tools)
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


def _calls_natively(model: Model | None) -> bool:
    """Whether tools are called as the provider does that, not by text."""
    if model is None or model.tool_calling == "text":
        return False
    service = SERVICES.get(model.provider)
    known = model.binding is None and service is not None and service.has_tools
    return known or model.tool_calling == "native"


def _enter(
    step: surface.ReActStep,
    called: list[surface.Tool],
    table: SiteTable,
    *,
    natively: bool,
    several: bool,
) -> Sites:
    more = Record(several=True) if several else Record()
    form = step.think.output_schema
    offered = [_offered(tool, form) for tool in step.tools] if natively else map(_told, called)
    asked = Record({"tools": tuple(offered), **({"native": True} if natively else more)})
    think = lower_model_call(
        step.think,
        table,
        shown_as="think",
        decoder="reply",
        extra=asked,
    )
    conversation = isinstance(step.think, surface.ConversationLam)
    schemas = {tool.name: tool.parameters for tool in called if tool.parameters is not None}
    known: dict[str, Data] = {"tools": tuple(tool.name for tool in called)}
    if schemas:
        known["parameters"] = Record(schemas)
    if form is not None:
        known["schema"] = form
    action = table.add("action", step.name, Record({**known, **more}))
    seen: dict[str, Data] = {"conversation": conversation, "observation": step.observation_enabled}
    static = Record({**seen, **more})
    next_ = table.add("next", step.name, static)
    thought = table.add("thought", step.name)
    stop = None
    if step.early_stop is not None:
        stop = table.stop(step.name, step.early_stop, EARLY_STOP_NAMES, more)
    return Sites(think, action, next_, thought, stop)


def _told(tool: surface.Tool) -> Record:
    """Return what the prompt says of `tool`."""
    told = Record(name=tool.name, description=tool.description)
    return told if tool.parameters is None else Record(told, parameters=tool.parameters)


def _offered(tool: surface.Tool, form: Record | None) -> Record:
    """Return what the provider is told of `tool`, where answers must fit `form`, if anything."""
    if tool.name == TERMINATE:
        alone = None if form is None else inlined(form)
        ending = _ENDING if alone is None else Record(_ENDING, properties=Record(answer=alone))
        return Record(name=TERMINATE, description=tool.description or _END, parameters=ending)
    return Record(
        name=tool.name, description=tool.description, parameters=tool.parameters or _ONE_TEXT
    )


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
