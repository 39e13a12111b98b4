"""Model calls.

Lam(s)               λx. do llm:s x
ConversationLam(s)   λx. let h = do conv.read:s () in let r = do llm:s ⟨h, x⟩ in
                         let _ = do conv.append:s ⟨x, r⟩ in r

With a schema for its answers a second call may follow; see `output_schema`.
With summary(n) something comes before the read; see `conversation`.
"""

from lambdagent.desugar.conversation import reading
from lambdagent.desugar.output_schema import lower_fitting_call, lower_fitting_turn
from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import App, Label, Lam, Prim, Term, Var
from lambdagent.ir.data import Record

# Written with indices: files of many agents spend most of their lowering here, and drafts took
# twice as long (bench compile, chain of 500).
_X = Var(0, "x")
_ASKED = App(App(Prim("pair"), Var(0, "h")), Var(1, "x"))
_EXCHANGE = App(App(Prim("pair"), Var(2, "x")), Var(0, "r"))
_ANSWER = Lam(Var(1, "r"), "_")


def lower_model_call(
    agent: surface.Lam,
    table: SiteTable,
    *,
    shown_as: str | None = None,
    decoder: str | None = None,
    extra: Record | None = None,
) -> Term:
    """Return the core term of a model call.

    Args:
        agent: A `Lam` or `ConversationLam`.
        table: Receives the sites.
        shown_as: Name in the macro trace; the agent's own by default.
        decoder: Overrides the agent's output parser.
        extra: More static data: the labels of a router, the tools of a ReAct loop.
    """
    name, model = agent.name, agent.model
    converses = isinstance(agent, surface.ConversationLam)
    static = Record(
        agent=name, prompt=agent.prompt, conversation=converses, model=table.model(model)
    )
    if agent.output_schema is not None:
        static = Record(static, schema=agent.output_schema)
    fits = agent.output_schema is not None and decoder is None
    llm = table.add(
        "llm",
        name,
        static if extra is None else Record(static, **extra),
        decoder=decoder or ("reply" if fits else agent.output_parser),
        timeout_s=None if model is None else model.timeout_s,
        binding=None if model is None else model.binding,
    )
    label = Label("llm", shown_as or name)
    if not isinstance(agent, surface.ConversationLam):
        if fits:
            return lower_fitting_call(llm, label, agent, table)
        return Lam(App(llm, _X, label), "x")
    history, append = reading(agent, table)
    if fits:
        return lower_fitting_turn(llm, label, agent, table, (history, append))
    answered = Lam(App(_ANSWER, App(append, _EXCHANGE)), "r")
    heard = Lam(App(answered, App(llm, _ASKED, label)), "h")
    return Lam(App(heard, history), "x")
