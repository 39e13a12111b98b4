"""Moves of a history → what a person looks at: rule, redex, result, and what is around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import attrs

from lambdagent.ir.core import App, Prim, Term
from lambdagent.ir.data import Record
from lambdagent.machine.brief import ELIDED
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import (
    AWAIT_ARG,
    AWAIT_FUN,
    AWAIT_FUN_OF_VALUE,
    AWAIT_OPERAND,
    CATCH,
    CONST,
    GUARD_RUN,
    LABEL,
    LAM,
    VAR,
    Eval,
    Fail,
    Halt,
    Join,
    Kind,
    Kont,
    Machine,
    Path,
    Return,
    Suspend,
    Thread,
)
from lambdagent.trace.rulebook import RULES, Rule

# A transition adds no more frames than these.
_CHANGED = 8
_OF_SITES = {"ask", "answer", "store", "host", "fail"}
SYMBOLS = "βδμγεπ"


class Move(NamedTuple):
    """One transition.

    Attributes:
        number: How many transitions there are with it; the state `before` has one less.
        path: Of the thread that moves.
    """

    number: int
    path: Path
    before: Machine
    after: Machine


@attrs.frozen(eq=False)
class Transition:
    """One transition.

    Attributes:
        number: How many transitions there are with it.
        path: Of the thread that moves.
        node: The node of the program that is evaluated; None where a value returns.
        redex: What is rewritten.
        result: What it becomes.
        around: The frames around both, the innermost first; the last one may be left out.
        counters: Reductions so far, by kind.
        site: The site that is asked, or that answers; empty where there is none.
    """

    number: int
    rule: Rule
    path: Path
    node: int | None
    redex: Term = attrs.field(repr=False)
    result: Term = attrs.field(repr=False)
    around: Kont = attrs.field(repr=False)
    counters: tuple[int, ...]
    site: str = ""


def transition_of(readback: Readback, move: Move) -> Transition:
    """Return what `move` does."""
    mover, kind = move.before.threads[move.path], _kind(move)
    joining = _join_ended(move)
    moved = mover if joining is None else joining
    after = move.after.threads[moved.path]
    around = common(moved.kont, after.kont)
    ended = {} if joining is None else _ended(readback, move, joining)
    redex = _plugged(readback, moved, ended, around)
    result = _plugged(readback, after, _started(readback, move, after), around)
    name = "join" if joining and not kind else _name(kind, redex, mover, after)
    control = getattr(moved.state, "control", None)
    node = None if control is None else control[1]
    site = _site(mover, redex) if name in _OF_SITES else ""
    counters = move.after.counters
    return Transition(
        move.number, RULES[name], moved.path, node, redex, result, around, counters, site
    )


def _site(mover: Thread, redex: Term) -> str:
    if isinstance(mover.state, Suspend):
        return mover.state.site
    head = _head(redex)
    return str(head.params[0]) if type(head) is Prim and head.name == "site" else ""


def _kind(move: Move) -> str:
    for kind in Kind:
        if move.after.counters[kind] != move.before.counters[kind]:
            return SYMBOLS[kind]
    return ""


def _plugged(
    readback: Readback, thread: Thread, children: Mapping[Path, Term], base: Kont
) -> Term:
    return readback.plug(readback.focus(thread, children), thread.kont, base)


def common(before: Kont, after: Kont) -> Kont:
    """Return the frames that both continuations end in."""
    tops: set[int] = set()
    while after and len(tops) < _CHANGED:
        tops.add(id(after))
        after = after[1]
    while before and id(before) not in tops:  # far only where an error has dropped frames
        before = before[1]
    return before


def removes(move: Move, frame: Kont) -> bool:
    """Whether a transition takes `frame`, which its thread has waiting, off the continuation."""
    before = move.before.threads[move.path].kont
    base = common(before, move.after.threads[move.path].kont)
    while before is not base:
        if before is frame:
            return True
        before = before[1]
    return False


def _join_ended(move: Move) -> Thread | None:
    """Return the thread whose branches all ended with `move`, before that; None if none did."""
    outer = move.path[:-2]
    waited = move.before.threads.get(outer)
    if not move.path or move.path in move.after.threads or waited is None:
        return None
    while outer and outer not in move.after.threads:
        outer = outer[:-2]
    return move.before.threads[outer]


def _ended(readback: Readback, move: Move, joining: Thread) -> dict[Path, Term]:
    """Return what the branches of `joining` came to."""
    state = joining.state
    assert isinstance(state, Join)
    done = {}
    for i in range(state.count):
        path = (*joining.path, state.clock, i)
        child = move.before.threads[path]
        known = not isinstance(child.state, Join)
        done[path] = readback.focus(child, {}) if known else ELIDED
    return done


def _started(readback: Readback, move: Move, thread: Thread) -> dict[Path, Term]:
    """Return the terms of the branches that `thread` waits for."""
    state = thread.state
    if not isinstance(state, Join):
        return {}
    paths = [(*thread.path, state.clock, i) for i in range(state.count)]
    children = {path: move.after.threads[path] for path in paths}
    return {
        path: ELIDED
        if isinstance(child.state, Join)
        else readback.plug(readback.focus(child, {}), child.kont)
        for path, child in children.items()
    }


def _name(kind: str, redex: Term, before: Thread, after: Thread) -> str:
    """Return the name of a rule other than ``join``."""
    match kind:
        case "β":
            return "beta"
        case "π":
            return "fork"
        case "δ":
            head = _head(redex)
            # Where an error drops frames the redex reaches out to its handler; a site failed.
            return "host" if type(head) is not Prim or head.name == "site" else head.name
        case "ε":
            return "answer" if isinstance(before.state, Suspend) else "store"
        case "μ":
            head = _head(redex)
            return "exhausted" if type(head) is Prim and head.params == (0,) else "unroll"
        case "γ":
            return _checked(before)
    return _administrative(before, after)


def _head(term: Term) -> Term:
    """Return what `term` applies."""
    while type(term) is App:
        term = term.fun
    return term


def _checked(before: Thread) -> str:
    state = before.state
    assert isinstance(state, Return)
    if state.value is True:
        return "accept"
    return "retry" if state.kont[2] else "fall back"


def _administrative(before: Thread, after: Thread) -> str:
    kont, then = before.kont, after.kont
    match after.state:
        case Suspend():
            return "ask"
        case Halt():
            return "done"
        case Fail(error):
            return _failed(error)
    if isinstance(before.state, Return) and kont[0] in _RETURNED:
        return _RETURNED[kont[0]]
    base = common(kont, then)
    if _drops(kont, base):
        assert isinstance(after.state, Return)
        return _failed(after.state.value)
    while then is not base and then[0] == LABEL:
        then = then[1]
    if then is not base:
        runs = then[1] is not base and then[1][0] == GUARD_RUN
        return "run guarded" if runs else _PUSHED[then[0]]
    if isinstance(before.state, Eval) and isinstance(after.state, Return):
        return _EVALUATED.get(before.state.control[0], "build")
    return "build"


def _failed(error: Record) -> str:
    return "stuck" if error["kind"] == "Stuck" else "fail"


def _drops(kont: Kont, base: Kont) -> bool:
    """Whether a handler stands between `kont` and `base`."""
    while kont is not base:
        if kont[0] == CATCH:
            return True
        kont = kont[1]
    return False


_RETURNED = {GUARD_RUN: "check", CATCH: "no error", LABEL: "label"}
_PUSHED = {
    AWAIT_FUN: "function",
    AWAIT_ARG: "argument",
    AWAIT_FUN_OF_VALUE: "function",
    AWAIT_OPERAND: "operand",
    CATCH: "catch",
}
_EVALUATED = {VAR: "variable", CONST: "constant", LAM: "closure"}
