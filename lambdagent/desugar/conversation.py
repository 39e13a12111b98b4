"""Conversations: what is read of them, and summaries that a model writes.

ConversationLam(s) with summary(n) reads its conversation after

    if (do conv.over:s x)
       (let z = do llm:s.summary (do conv.old:s x) in let _ = do conv.fold:s ⟨x, z⟩ in ())
       ()

which puts what a model wrote in the place of the turns before the last n messages.
"""

from typing import Final

from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Record
from lambdagent.ir.strategies import MANAGED, SUMMARY, parse_strategy, summariser

SUMMARY_PROMPT: Final = """\
You are given a conversation between a user and an assistant. Write notes of it for the \
assistant, which will go on with the conversation and see nothing of this part but your notes.
Keep what the user wants, what was decided, facts, names, numbers and results of tools as they \
were given, and what is still open. Leave out courtesies and what no longer matters. If it begins \
with a summary, carry over what still matters.
Answer with the notes alone, in the language of the conversation, in at most {words} words."""

_MOST_WORDS = 400
_X, _X_LATER, _X_LAST = (Var(index, "x") for index in range(3))
_Z = Var(0, "z")
_NOTHING = Lit(UNIT)
_THEN_NOTHING = Lam(_NOTHING, "_")
_FOLDED = App(App(Prim("pair"), _X_LAST), _Z)


def reading(agent: surface.ConversationLam, table: SiteTable) -> tuple[Term, Term]:
    """Return the term that is what was said, under the input `x`, and the site that adds to it.

    Args:
        agent: Who converses.
        table: Receives the sites.
    """
    name = agent.name
    summarises = parse_strategy(agent.strategy).name == SUMMARY
    static = Record(
        cell=table.cell("conv", name),
        max_tokens=_readable(agent) if summarises else agent.max_history_tokens,
        recent_turns=agent.recent_turns,
    )
    if agent.strategy != MANAGED:
        static = Record(static, strategy=agent.strategy)
    read = table.add("conv.read", name, static)
    append = table.add("conv.append", name, static)
    before = _summarised(agent, static, table) if summarises else _NOTHING
    return App(read, before), append


def _readable(agent: surface.ConversationLam) -> int:
    """Return how much of a conversation is sent, at most what fits beside the longest answer."""
    model, most = agent.model, agent.max_history_tokens
    if model is None:
        return most
    return max(0, min(most, model.context_window - (model.max_tokens or 0)))


def _summarised(agent: surface.ConversationLam, static: Record, table: SiteTable) -> Term:
    name, model = agent.name, agent.model
    over, old, fold = (table.add(f"conv.{kind}", name, static) for kind in ("over", "old", "fold"))
    writer = summariser(name)
    words = max(1, min(_MOST_WORDS, _readable(agent) // 8))
    prompt = SUMMARY_PROMPT.format(words=words)
    ask = table.add(
        "llm",
        writer,
        Record(agent=writer, prompt=prompt, conversation=False, model=table.model(model)),
        decoder="text",
        timeout_s=None if model is None else model.timeout_s,
        binding=None if model is None else model.binding,
    )
    written = App(ask, App(old, _X_LATER), Label("llm", writer))
    folding = Lam(App(_THEN_NOTHING, App(fold, _FOLDED)), "z")
    condition = App(Prim("if"), App(over, _X))
    return App(App(condition, Lam(App(folding, written), "_")), _THEN_NOTHING)
