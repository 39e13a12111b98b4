"""Fork and join.

``par(t₁, …, tₖ)`` starts child ``i`` at path ``p·(m, i)`` with an empty continuation and the store
of the fork; the join waits for all of them.

Source: semantics.md §3.3.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from math import inf
from typing import cast

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Data
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
    Suspend,
    Thread,
    ThreadState,
    Value,
)
from lambdagent.machine.values import list_value

_ENDED = frozenset({Halt, Fail})


def fork(
    thread: Thread, form: str, params: tuple[Data, ...], args: Sequence[Value], kont: Kont
) -> list[Thread]:
    """Return the parent, waiting, and its children after ``par[k] t₁ … tₖ`` or ``pmap f xs`` (π).

    Args:
        thread: The parent.
        form: ``par`` or ``pmap``.
        params: Of ``pmap[q, m]``, how long the list may be, and how many of its items may ask the
            world something at once.
        args: The operands.
        kont: The continuation of the parent.

    Raises:
        Misfit: The operand of ``pmap`` is no list, or a longer one.
    """
    at_once = None
    if form == "pmap":
        most, at_once = (*params, None, None)[:2]
        starts = _pmap_starts(args, inf if most is None else cast(int, most))
    else:
        starts = [_thunk_start(thunk) for thunk in args]
    clock, count = thread.clock, len(starts)
    state: ThreadState = Join(form, clock, count, count, kont, cast("int | None", at_once))
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


def _pmap_starts(args: Sequence[Value], most: float) -> list[ThreadState]:
    fun, items = args
    starts: list[ThreadState] = []
    while type(items) is tuple and items[0] == CONS and len(starts) < most:
        starts.append(Return(items[1], (AWAIT_ARG, (), fun)))
        items = items[2]
    if type(items) is not tuple or items[0] != NIL:
        raise Misfit
    return starts


def due(
    threads: Mapping[Path, Thread], asked: list[tuple[Path, Suspend]]
) -> list[tuple[Path, Suspend]]:
    """Return those of `asked` that branches may ask now, where only so many may do so at once."""
    parents = {key[:end] for key, _ in asked for end in range(0, len(key) - 1, 2)}
    joins = (threads[path] for path in parents if path in threads)
    held = {path for parent in joins for path in _held(threads, parent)}
    if not held:
        return asked
    return [
        each for each in asked if not any(each[0][:n] in held for n in range(2, len(each[0]), 2))
    ]


def _held(threads: Mapping[Path, Thread], parent: Thread) -> list[Path]:
    """Return the branches of `parent` that must wait until others have ended."""
    join = parent.state
    if type(join) is not Join or join.at_once is None:
        return []
    branches = ((*parent.path, join.clock, number) for number in range(join.count))
    live = [path for path in branches if type(threads[path].state) not in _ENDED]
    return live[join.at_once :]


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
            state = Join(
                join.form, join.clock, join.count, join.pending - 1, join.kont, join.at_once
            )
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
