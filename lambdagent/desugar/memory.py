"""Memory.

    Memory(f, s)   λx. let m = memory⟨do mem.read:s (do now ())⟩ in let r = f ⟨m, x⟩ in
                       let _ = do mem.append:s ⟨⟨x, r⟩, do now ()⟩ in r
    what others can change, too:   do recall:s ()  and  do remember:s ⟨x, r⟩  in their places
    with a summary g:              let z = g ⟨x, r⟩ in  before, and z in the place of r

Others can change what outlives the session or is not the machine's own store. Times are effects,
so that a replay sees the same ages.
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
from lambdagent.ir.data import Data, Record
from lambdagent.ir.labels import MEMORY

Remember = Callable[[Draft, Draft], Draft]


def lower_memory(
    memory: surface.Memory, agent: Term, summary: Term | None, table: SiteTable
) -> Term:
    """Return the core term of a memory around a lowered `agent`; `summary` is lowered, too."""
    name = memory.name
    kept = {"size": memory.size, "ttl": float(memory.ttl_s)}
    summarized = {} if summary is None else {"summarized": True}
    if memory.strategy != "local" or memory.scope != "session" or memory.binding is not None:
        static = Record({"name": name, **kept, **_store(memory), **summarized})
        more = {"binding": memory.binding}
        recall = table.add("recall", name, static, **more)
        remember = table.add("remember", name, static, idempotent="store" in static, **more)
        forms = _stored, _stored_summary
        operands: tuple[Term, ...] = (recall, remember)
    else:
        now, cell = table.add("now", name), table.cell("mem", name)
        static = Record({"cell": cell, **kept, "initial": memory.initial, **summarized})
        read, append = (table.add(kind, name, static) for kind in ("mem.read", "mem.append"))
        forms = _local, _local_summary
        operands = (now, read, append)
    if summary is None:
        return forms[0](agent, *operands)
    return forms[1](agent, summary, *operands)


def _store(memory: surface.Memory) -> dict[str, Data]:
    """Return what the sites of a store have besides; nothing where an object is to come."""
    found: dict[str, Data] = {"initial": memory.initial} if memory.initial else {}
    if memory.binding is None and (memory.strategy != "custom" or memory.place is not None):
        found["store"] = Record(
            strategy=memory.strategy,
            scope=memory.scope,
            place=memory.place,
            settings=memory.settings,
        )
    return found


@template()
def _local(agent: Draft, now: Draft, read: Draft, append: Draft) -> Draft:
    time = app(now, UNIT_DRAFT)
    return _around(agent, app(read, time), lambda x, r: app(append, pair(pair(x, r), time)))


@template()
def _local_summary(agent: Draft, summary: Draft, now: Draft, read: Draft, append: Draft) -> Draft:
    time = app(now, UNIT_DRAFT)
    remember = _summing(summary, lambda x, z: app(append, pair(pair(x, z), time)))
    return _around(agent, app(read, time), remember)


@template()
def _stored(agent: Draft, recall: Draft, remember: Draft) -> Draft:
    return _around(agent, app(recall, UNIT_DRAFT), lambda x, r: app(remember, pair(x, r)))


@template()
def _stored_summary(agent: Draft, summary: Draft, recall: Draft, remember: Draft) -> Draft:
    told = _summing(summary, lambda x, z: app(remember, pair(x, z)))
    return _around(agent, app(recall, UNIT_DRAFT), told)


def _summing(summary: Draft, remember: Remember) -> Remember:
    return lambda x, r: let("z", app(summary, pair(x, r)), lambda z: remember(x, z))


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
