"""Fork and join.

``par(t₁, …, tₖ)`` starts child ``i`` at path ``p·(m, i)`` with an empty continuation and the store
of the fork; the join waits for all of them.

Source: semantics.md §3.3.
"""

from collections.abc import MutableMapping, Sequence
from typing import cast

from lambdagent.ir.core import UNIT
from lambdagent.machine.answers import throw
from lambdagent.machine.cells import merge
from lambdagent.machine.rules import Misfit, enter
from lambdagent.machine.state import (
    AWAIT_ARG,
    CONS,
    NIL,
    PAIR,
    PI,
    Eval,
    Fail,
    Halt,
    Join,
    Kont,
    Path,
    Return,
    Thread,
    ThreadState,
    Value,
)
from lambdagent.machine.values import list_value


def fork(thread: Thread, form: str, args: Sequence[Value], kont: Kont) -> list[Thread]:
    """Return the parent, waiting, and its children after ``par[k] t₁ … tₖ`` or ``pmap f xs`` (π).

    Raises:
        Misfit: The operand of ``pmap`` is no list.
    """
    starts = _pmap_starts(args) if form == "pmap" else [_thunk_start(thunk) for thunk in args]
    clock, count = thread.clock, len(starts)
    state: ThreadState = Join(form, clock, count, count, kont)
    if count == 0:
        state = Return(list_value([]), kont)
    parent = Thread(thread.path, clock + 1, thread.store, state)
    children = [
        Thread((*thread.path, clock, i), 0, thread.store, start) for i, start in enumerate(starts)
    ]
    return [parent, *children]


def _thunk_start(thunk: Value) -> ThreadState:
    control, focus, kont, _ = enter(thunk, UNIT, (), PI)
    return Return(focus, kont) if control is None else Eval(control, focus, kont)


def _pmap_starts(args: Sequence[Value]) -> list[ThreadState]:
    fun, items = args
    starts: list[ThreadState] = []
    while type(items) is tuple and items[0] == CONS:
        starts.append(Return(items[1], (AWAIT_ARG, (), fun)))
        items = items[2]
    if type(items) is not tuple or items[0] != NIL:
        raise Misfit
    return starts


def parent_of(path: Path) -> Path:
    """Return the path of the thread that forked the one at `path`."""
    return path[:-2]


def settle(threads: MutableMapping[Path, Thread], path: Path) -> Path | None:
    """Tell the parents of the finished thread at `path`, changing `threads` in place.

    Returns:
        The path of the thread that can go on, or None when its join still waits or all is over.
    """
    while path:
        parent = threads[parent_of(path)]
        join = cast(Join, parent.state)
        if join.pending > 1:
            state = Join(join.form, join.clock, join.count, join.pending - 1, join.kont)
            threads[parent.path] = Thread(parent.path, parent.clock, parent.store, state)
            return None
        finished = _finish(threads, parent, join)
        threads[parent.path] = finished
        if not isinstance(finished.state, Fail):
            return finished.path
        path = finished.path
    return None


def _finish(threads: MutableMapping[Path, Thread], parent: Thread, join: Join) -> Thread:
    children = [threads.pop((*parent.path, join.clock, i)) for i in range(join.count)]
    store = merge(parent.store, [child.store for child in children])
    error = next((c.state.error for c in children if isinstance(c.state, Fail)), None)
    if error is not None:
        return Thread(parent.path, parent.clock, store, throw(error, join.kont))
    values = [cast(Halt, child.state).value for child in children]
    result = list_value(values) if join.form == "pmap" else _nest(values)
    return Thread(parent.path, parent.clock, store, Return(result, join.kont))


def _nest(values: list[Value]) -> Value:
    """Return ``⟨v₁, ⟨v₂, … vₖ⟩⟩``."""
    result = values[-1]
    for value in reversed(values[:-1]):
        result = (PAIR, value, result)
    return result
