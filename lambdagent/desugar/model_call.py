"""Model calls.

Lam(s)               λx. do llm:s x
ConversationLam(s)   λx. let h = do conv.read:s () in let r = do llm:s ⟨h, x⟩ in
                         let _ = do conv.append:s ⟨x, r⟩ in r
"""

from lambdagent.desugar.notation import UNIT_DRAFT, app, close, closed, lam, let, pair
from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import Label, Term
from lambdagent.ir.data import Data, Record


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
    llm = closed(_site(agent, table, decoder, extra))
    label = Label("llm", shown_as or agent.name)
    if not isinstance(agent, surface.ConversationLam):
        return close(lam("x", lambda x: app(llm, x, label)))
    static = Record(
        cell=table.cell("conv", agent.name),
        max_tokens=agent.max_history_tokens,
        recent_turns=agent.recent_turns,
    )
    read = closed(table.add("conv.read", agent.name, static))
    append = closed(table.add("conv.append", agent.name, static))
    return close(
        lam(
            "x",
            lambda x: let(
                "h",
                app(read, UNIT_DRAFT),
                lambda h: let(
                    "r",
                    app(llm, pair(h, x), label),
                    lambda r: let("_", app(append, pair(x, r)), lambda _: r),
                ),
            ),
        )
    )


def _site(agent: surface.Lam, table: SiteTable, decoder: str | None, extra: Record | None) -> Term:
    model = agent.model
    static: dict[str, Data] = {
        "agent": agent.name,
        "prompt": agent.prompt,
        "conversation": isinstance(agent, surface.ConversationLam),
        "model": None if model is None else model_row(model),
    }
    static.update(extra or {})
    return table.add(
        "llm",
        agent.name,
        Record(static),
        decoder=decoder or agent.output_parser,
        timeout_s=None if model is None else model.timeout_s,
        binding=None if model is None else model.binding,
    )


def model_row(model: surface.Model) -> Data:
    """Return the settings of `model` as data."""
    return Record(
        provider=model.provider,
        name=model.name,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        top_p=model.top_p,
        stop_sequences=model.stop_sequences,
        base_url=model.base_url,
        timeout_s=model.timeout_s,
        script=model.script,
    )
