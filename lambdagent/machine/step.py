"""The machine: `start`, `step`, `run` until nothing can move, `resume` with an answer.

One loop, `_advance`, is both the single step and the fast run: it moves one thread by at most a
given number of transitions. Operands that are variables, constants or lambdas are read in place,
so one transition may evaluate atoms and contract a redex; never two redexes.

Source: semantics.md §3.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from lambdagent.ir.core import Unit
from lambdagent.ir.data import Data
from lambdagent.ir.exchange import Failure
from lambdagent.machine.answers import decode_answer, error_record, throw
from lambdagent.machine.crowd import (
    MOVING,
    asking,
    editable,
    first_moving,
    is_alone,
    moving,
    shared,
)
from lambdagent.machine.link import Linked, LinkedSite
from lambdagent.machine.rules import APPLY, RETURN, Misfit
from lambdagent.machine.state import (
    ADMINISTRATIVE,
    APP,
    AWAIT_ARG,
    AWAIT_FUN,
    AWAIT_FUN_OF_VALUE,
    AWAIT_OPERAND,
    BETA,
    CLOSURE,
    CONST,
    DELTA,
    EPSILON,
    GUARD_CHECK,
    LABEL,
    LAM,
    PARTIAL,
    PI,
    SATURATED,
    SITE,
    VAR,
    Eval,
    Event,
    Fail,
    Halt,
    Machine,
    Path,
    Return,
    Store,
    Suspend,
    Thread,
    ThreadState,
)
from lambdagent.machine.store import REMEMBERS
from lambdagent.machine.threads import due, fork, settle
from lambdagent.machine.values import Noted, inject, project, sketch

UNBOUNDED = 1 << 62

_ENDED = frozenset({Halt, Fail})


def start(linked: Linked, value: Data | Unit, store: Store | None = None) -> Machine:
    """Return the state in which the program is about to be applied to `value`."""
    kont = (AWAIT_FUN_OF_VALUE, (), inject(value))
    return Machine({(): Thread((), 0, store or {}, Eval(linked.codes[-1], (), kont))})


def runnable(machine: Machine) -> list[Path]:
    """Return the paths of the threads that can move, lowest first."""
    threads = machine.threads
    if is_alone(threads):
        return [()] if type(threads[()].state) in MOVING else []
    return list(moving(threads))


def lowest(machine: Machine) -> Path | None:
    """Return the first of the paths that `runnable` returns, None if there is none."""
    threads = machine.threads
    if is_alone(threads):
        return () if type(threads[()].state) in MOVING else None
    return first_moving(threads)


def requests(machine: Machine) -> list[tuple[Path, Suspend]]:
    """Return what the world is asked, by key, lowest first.

    What more branches of a fork would ask than may do so at once is not among it.
    """
    if is_alone(machine.threads):
        root = machine.root
        return [((root.clock,), root.state)] if type(root.state) is Suspend else []
    return due(machine.threads, list(asking(machine.threads)))


def step(
    linked: Linked, machine: Machine, path: Path | None = None, events: list[Event] | None = None
) -> Machine:
    """Return the state one transition later.

    Args:
        linked: The program.
        machine: A state in which some thread can move.
        path: Which thread moves; the lowest by default.
        events: Collects macro events.
    """
    if path is None:
        path = runnable(machine)[0]
    threads, done = machine.threads, machine.transitions
    counts = [*machine.counters, 0]
    moved, done = _advance(linked, threads[path], (done, done + 1), counts, events)
    return Machine(_after(threads, moved), tuple(counts[:ADMINISTRATIVE]), done)


def run(
    linked: Linked,
    machine: Machine,
    *,
    budget: int = UNBOUNDED,
    events: list[Event] | None = None,
) -> Machine:
    """Return the state in which no thread can move, or the one after `budget` transitions."""
    ready = runnable(machine)
    counts = [*machine.counters, 0]
    done, end = machine.transitions, machine.transitions + budget
    while ready and done < end and is_alone(machine.threads):
        moved, done = _advance(linked, machine.root, (done, end), counts, events)
        threads = _after(machine.threads, moved)
        machine = Machine(threads, tuple(counts[:ADMINISTRATIVE]), done)
        ready = runnable(machine)
    if not ready or done >= end:
        return machine
    edited = editable(machine.threads)
    while ready and done < end:
        path = ready.pop(0)
        moved, done = _advance(linked, edited[path], (done, end), counts, events)
        for awake in _place(edited, moved):
            insort(ready, awake)
    return Machine(shared(edited), tuple(counts[:ADMINISTRATIVE]), done)


def _after(threads: Mapping[Path, Thread], moved: Sequence[Thread]) -> Mapping[Path, Thread]:
    """Return the threads of a state after some of `threads` moved."""
    if len(moved) == 1 and is_alone(threads):
        return {moved[0].path: moved[0]}
    edited = editable(threads)
    _place(edited, moved)
    return shared(edited)


def _place(threads: MutableMapping[Path, Thread], moved: Sequence[Thread]) -> list[Path]:
    """Enter threads that moved, and tell joins of those that ended; return who can move."""
    awake = []
    for thread in moved:
        threads[thread.path] = thread
        if type(thread.state) in MOVING:
            awake.append(thread.path)
        elif type(thread.state) in _ENDED:
            woken = settle(threads, thread.path)
            if woken is not None:
                awake.append(woken)
    return awake


def resume(linked: Linked, machine: Machine, key: Path, answer: Data | Failure) -> Machine:
    """Return the state after the request `key` was answered (ε).

    Raises:
        KeyError: No thread waits for `key`.
    """
    thread = machine.threads.get(key[:-1])
    if thread is None or not isinstance(thread.state, Suspend) or thread.clock != key[-1]:
        raise KeyError(key)
    request = thread.state
    value = decode_answer(linked.sites[request.site].site, answer)
    state: ThreadState
    if isinstance(value, Failure):
        state = throw(error_record(value, request.site, key), request.kont)
    else:
        state = Return(value, request.kont)
    moved = Thread(thread.path, thread.clock + 1, thread.store, state)
    counters = list(machine.counters)
    counters[EPSILON] += 1
    threads = _after(machine.threads, [moved])
    return Machine(threads, tuple(counters), machine.transitions + 1)


def _advance(  # noqa: C901, PLR0912, PLR0915 - the flat loop; a call per rule halves its speed
    linked: Linked,
    thread: Thread,
    span: tuple[int, int],
    counts: list[int],
    events: list[Event] | None,
) -> tuple[Sequence[Thread], int]:
    """Step `thread` until it halts, fails, suspends or forks, or the transitions are used up.

    Args:
        linked: The program.
        thread: A thread that can move.
        span: Number of transitions so far, and the number at which to stop.
        counts: Counters by kind, changed in place.
        events: Collects macro events.

    Returns:
        The thread and the children that it forked, and the number of transitions then.
    """
    path, store, clock = thread.path, thread.store, thread.clock
    done, end = span
    control: Any
    focus: Any
    state: Any = thread.state
    control, focus = (state.control, state.env) if type(state) is Eval else (None, state.value)
    kont = state.kont
    fun = value = pending = spec = None
    args: Any = ()
    beta = 0
    try:
        while done < end:
            done += 1
            if control is None:
                # v returns to the topmost frame
                if not kont:
                    return [Thread(path, clock, store, Halt(focus))], done
                op = kont[0]
                if op == AWAIT_ARG:
                    # v, (f □) : K
                    _, kont, fun = kont
                    value = focus
                elif op == AWAIT_FUN_OF_VALUE:
                    # f, (□ v) : K
                    _, kont, value = kont
                    fun = focus
                elif op == AWAIT_FUN:
                    # f, (□ N)ρ : K
                    _, kont, control, env = kont
                    fun, op = focus, control[0]
                    if op == VAR:
                        index = control[2]
                        while index:
                            env = env[1]
                            index -= 1
                        value = env[0]
                    elif op == CONST:
                        value = control[2]
                    elif op == LAM:
                        value = (CLOSURE, control, env)
                    else:
                        kont = (AWAIT_ARG, kont, fun)
                        focus = env
                        continue
                elif op == AWAIT_OPERAND:
                    # v, (c v₁ … vᵢ □ tᵢ₊₂ …)ρ : K
                    _, kont, pending, args, env = kont
                    args = [*args, focus]
                elif op == LABEL:
                    _, kont, kind, name, began = kont
                    if events is not None:
                        events.append(Event((*path, clock), kind, name, focus, began, done))
                    continue
                else:
                    if op == GUARD_CHECK and focus is False and events is not None:
                        key = (*path, clock)
                        events.append(Event(key, "guard", "", kont[7], kont[2], done))
                    control, focus, kont, kind = RETURN[op](focus, kont)
                    counts[kind] += 1
                    continue
            else:
                # evaluate the control in the environment `focus`
                op = control[0]
                if op == APP:
                    fun, env = control[2], focus
                    op = fun[0]
                    if op == VAR:
                        index = fun[2]
                        while index:
                            env = env[1]
                            index -= 1
                        fun, env = env[0], focus
                    elif op == CONST:
                        fun = fun[2]
                    elif op == LAM:
                        fun = (CLOSURE, fun, env)
                    else:
                        kont = (AWAIT_FUN, kont, control[3], env)
                        control = fun
                        continue
                    control = control[3]
                    op = control[0]
                    if op == VAR:
                        index = control[2]
                        while index:
                            env = env[1]
                            index -= 1
                        value = env[0]
                    elif op == CONST:
                        value = control[2]
                    elif op == LAM:
                        value = (CLOSURE, control, env)
                    else:
                        kont = (AWAIT_ARG, kont, fun)
                        continue
                elif op == SATURATED:
                    pending, args, env = control, [], focus
                elif op == VAR:
                    index = control[2]
                    while index:
                        focus = focus[1]
                        index -= 1
                    focus = focus[0]
                    control = None
                    continue
                elif op == LAM:
                    focus = (CLOSURE, control, focus)
                    control = None
                    continue
                elif op == CONST:
                    focus = control[2]
                    control = None
                    continue
                else:
                    # LABELLED: no transition of its own, so that no state rests on the inner App
                    kont = (LABEL, kont, control[3], control[4], clock)
                    control = control[2]
                    done -= 1
                    continue
            if pending is not None:
                # c v₁ … vᵢ tᵢ₊₁ …: evaluate the operands from the left
                for operand in pending[3][len(args) :]:
                    op = operand[0]
                    if op == VAR:
                        index, scope = operand[2], env
                        while index:
                            scope = scope[1]
                            index -= 1
                        args.append(scope[0])
                    elif op == CONST:
                        args.append(operand[2])
                    elif op == LAM:
                        args.append((CLOSURE, operand, env))
                    else:
                        kont = (AWAIT_OPERAND, kont, pending, tuple(args), env)
                        control, focus = operand, env
                        break
                else:
                    control = pending
                spec, complete = pending[2], control is pending
                pending = None
                if not complete:
                    continue
            else:
                # f v
                spec = None
                if type(fun) is not tuple:
                    raise Misfit  # noqa: TRY301 - one way out of the loop for every rule
                op = fun[0]
                if op == CLOSURE:
                    beta += 1
                    control = fun[1][2]
                    focus = (value, fun[2])
                    continue
                if op == SITE:
                    linked_site = linked.sites[fun[1]]
                    if linked_site.host is not None:
                        focus = linked_site.host(value)
                        counts[DELTA] += 1
                        control = None
                        if type(focus) is Noted:
                            if events is not None:
                                key = (*path, clock)
                                kind, note = focus.kind, focus.note
                                events.append(Event(key, kind, fun[1], note, clock, done))
                            focus = focus.value
                    elif linked_site.store is not None:
                        cell = linked_site.cell
                        before = store.get(cell)
                        focus, after = linked_site.store(before, value)
                        counts[EPSILON] += 1
                        control = None
                        if after is not before:
                            store = {**store, cell: after}
                            if linked_site.site.kind == REMEMBERS and events is not None:
                                key = (*path, clock)
                                events.append(Event(key, "memory", fun[1], None, clock, done))
                    else:
                        state = _leave(linked_site, value, kont, (*path, clock))
                        if type(state) is not Return:
                            return [Thread(path, clock, store, state)], done
                        control, focus, kont = None, state.value, state.kont
                    continue
                if op != PARTIAL:
                    rule = APPLY.get(op)
                    if rule is None:
                        raise Misfit  # noqa: TRY301
                    control, focus, kont, kind = rule(fun, value, kont)
                    counts[kind] += 1
                    continue
                spec, args = fun[1], [*fun[2], value]
                if len(args) < spec[4]:
                    control, focus = None, (PARTIAL, spec, tuple(args))
                    continue
            # the constant has all its operands
            if spec[6] is None:
                parent = Thread(path, clock, store, state)
                moved = fork(parent, spec[3], spec[5], args, kont)
                counts[PI] += 1
                return moved, done
            control, focus, kont, kind = spec[6](spec[5], args, kont)
            counts[kind] += 1
    except Misfit as misfit:
        what = str(misfit) or _misfit(fun, value, spec, args)
        state = throw(error_record(Failure("Stuck", what), "", (*path, clock)), kont)
        return [Thread(path, clock, store, state)], done
    finally:
        counts[BETA] += beta
    state = Return(focus, kont) if control is None else Eval(control, focus, kont)
    return [Thread(path, clock, store, state)], done


def _leave(linked_site: LinkedSite, value: Any, kont: Any, key: Path) -> ThreadState:
    """Return the state after a site that neither a host function nor the store answers."""
    site = linked_site.site
    if site.kind != "fail":
        return Suspend(site.name, value, kont)
    failure = Failure(str(site.static["error"]), str(site.static["message"]), project(value))
    return throw(error_record(failure, site.name, key), kont)


def _misfit(fun: Any, value: Any, spec: Any, args: Sequence[Any]) -> str:
    """Return what no rule fits: ``spec args``, or else ``fun value``."""
    if spec is None:
        return f"{sketch(fun)} applied to {sketch(value)}"
    return f"{spec[3]} applied to {', '.join(map(sketch, args))}"
