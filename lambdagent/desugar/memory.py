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
    close,
    closed,
    lam,
    let,
    pair,
    prim,
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
        return _around(
            agent, app(closed(recall), UNIT_DRAFT), lambda x, r: app(closed(remember), pair(x, r))
        )
    now = app(closed(table.add("now", memory.name)), UNIT_DRAFT)
    static = Record(
        cell=table.cell("mem", memory.name),
        size=memory.size,
        ttl=float(memory.ttl_s),
        initial=memory.initial,
    )
    read = closed(table.add("mem.read", memory.name, static))
    append = closed(table.add("mem.append", memory.name, static))
    return _around(agent, app(read, now), lambda x, r: app(append, pair(pair(x, r), now)))


def _around(agent: Term, recall: Draft, remember: Remember) -> Term:
    return close(
        lam(
            "x",
            lambda x: let(
                "m",
                prim("tag", recall, params=(MEMORY, 0)),
                lambda m: let(
                    "r",
                    app(closed(agent), pair(m, x)),
                    lambda r: let("_", remember(x, r), lambda _: r),
                ),
            ),
        )
    )
