"""Memory.

    Memory(f, s)   λx. let m = memory⟨do mem.read:s (do now ())⟩ in let r = f ⟨m, x⟩ in
                       let _ = do mem.append:s ⟨⟨x, r⟩, do now ()⟩ in r
    a store object of the user's:  do recall:s ()  and  do remember:s ⟨x, r⟩  in their places

Times are effects, so that a replay sees the same ages.
"""

from collections.abc import Callable

from lambdagent.desugar.notation import (
    UNIT_DRAFT,
    Draft,
    app,
    lam,
    let,
    pair,
    prim,
    template,
)
from lambdagent.desugar.table import SiteTable
from lambdagent.ir import surface
from lambdagent.ir.core import Term
from lambdagent.ir.data import Record
from lambdagent.ir.labels import MEMORY

Remember = Callable[[Draft, Draft], Draft]


def lower_memory(memory: surface.Memory, agent: Term, table: SiteTable) -> Term:
    """Return the core term of a memory around a lowered `agent`."""
    if memory.binding is not None:
        static = Record(name=memory.name, size=memory.size, ttl=float(memory.ttl_s))
        recall = table.add("recall", memory.name, static, binding=memory.binding)
        remember = table.add(
            "remember", memory.name, static, binding=memory.binding, idempotent=False
        )
        return _bound(agent, recall, remember)
    now = table.add("now", memory.name)
    static = Record(
        cell=table.cell("mem", memory.name),
        size=memory.size,
        ttl=float(memory.ttl_s),
        initial=memory.initial,
    )
    read = table.add("mem.read", memory.name, static)
    append = table.add("mem.append", memory.name, static)
    return _local(agent, now, read, append)


@template()
def _local(agent: Draft, now: Draft, read: Draft, append: Draft) -> Draft:
    time = app(now, UNIT_DRAFT)
    return _around(agent, app(read, time), lambda x, r: app(append, pair(pair(x, r), time)))


@template()
def _bound(agent: Draft, recall: Draft, remember: Draft) -> Draft:
    return _around(agent, app(recall, UNIT_DRAFT), lambda x, r: app(remember, pair(x, r)))


def _around(agent: Draft, recall: Draft, remember: Remember) -> Draft:
    return lam(
        "x",
        lambda x: let(
            "m",
            prim("tag", recall, params=(MEMORY, 0)),
            lambda m: let(
                "r", app(agent, pair(m, x)), lambda r: let("_", remember(x, r), lambda _: r)
            ),
        ),
    )
