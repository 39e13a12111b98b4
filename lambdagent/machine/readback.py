"""States → core terms: what a state stands for, with environments substituted.

`unload` plugs the focus of each thread into its continuation. A guard that is running reads as
``retry[r] f P h x □``, one that is checking as ``check[r] f P h x y □``; at the redex ``guard[r] f
P h v = retry[r] f P h v (f v)`` and ``retry[r] f P h x y = check[r] f P h x y (P y)``. Labels are
left out. Nothing here recurses: values and continuations may be 100,000 deep.

Source: semantics.md §4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from lambdagent.ir.codec import decode_nodes
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data
from lambdagent.ir.walk import rebuild
from lambdagent.machine.link import Linked
from lambdagent.machine.state import (
    AWAIT_ARG,
    AWAIT_FUN,
    AWAIT_FUN_OF_VALUE,
    AWAIT_OPERAND,
    CATCH,
    CLOSURE,
    CONS,
    FIXPOINT,
    GUARD_CHECK,
    GUARD_RUN,
    GUARDED,
    LABEL,
    NIL,
    OPAQUE,
    PAIR,
    PARTIAL,
    SITE,
    TAGGED,
    Env,
    Eval,
    Fail,
    Halt,
    Join,
    Kont,
    Machine,
    Path,
    Return,
    Suspend,
    Thread,
    Value,
)

# What a frame waits for, in its term.
HOLE = Prim("site", ("host:□",))


def spine(head: Term, *operands: Term) -> Term:
    """Return `head` applied to `operands`."""
    for operand in operands:
        head = App(head, operand)
    return head


@attrs.frozen(eq=False)
class Readback:
    """Reads states of one linked program back to terms.

    Attributes:
        nodes: The nodes of the program by id, without labels.
        free: Free variables of nodes that were asked about, by identity.
    """

    nodes: Sequence[Term] = attrs.field(repr=False)
    free: dict[int, frozenset[int]] = attrs.field(factory=dict, repr=False)

    @classmethod
    def of(cls, linked: Linked) -> Readback:
        """Return what reads the states of `linked`."""
        return cls(decode_nodes([unlabelled(row) for row in linked.rows]))

    def unload(self, machine: Machine) -> Term:
        """Return the closed term that `machine` stands for."""
        done: dict[Path, Term] = {}
        for path in sorted(machine.threads, key=len, reverse=True):
            done[path] = self._thread(machine.threads[path], done)
        return done[()]

    def _thread(self, thread: Thread, done: Mapping[Path, Term]) -> Term:
        return self.plug(self.focus(thread, done), thread.kont)

    def focus(self, thread: Thread, done: Mapping[Path, Term]) -> Term:
        """Return the term that a thread is at, without its continuation.

        Args:
            thread: Any thread.
            done: The terms of the children that it waits for, by path.
        """
        state = thread.state
        match state:
            case Eval(control, env):
                return self._in_env(control[1], env)
            case Return(value):
                return self.term(value)
            case Suspend(site, argument):
                return App(Prim("site", (site,)), self.term(argument))
            case Join():
                children_ = [done[(*thread.path, state.clock, i)] for i in range(state.count)]
                return _joined(state.form, children_)
            case Halt(value):
                return self.term(value)
            case Fail(error):
                return spine(Prim("fail"), Lit(error))

    def node(self, number: int) -> Term:
        """Return the node `number` of the program."""
        return self.nodes[number]

    def _in_env(self, node: int, env: Env) -> Term:
        """Return the node with its free variables replaced by the values of `env`."""
        term = self.node(node)
        values = {index: self.term(_at(env, index)) for index in self.free_of(term)}
        return _substituted(term, values)

    def free_of(self, root: Term) -> frozenset[int]:
        """Return how many binders outwards the free variables of a node are bound."""
        known = self.free.get(id(root))
        if known is None:
            found: set[int] = set()

            def note(var: Var, depth: int) -> Term:
                if var.index >= depth:
                    found.add(var.index - depth)
                return var

            rebuild(root, note)
            known = self.free[id(root)] = frozenset(found)
        return known

    def term(self, root: Value) -> Term:
        """Return the closed term of a value."""
        done: dict[int, Term] = {}
        stack: list[tuple[Value, bool]] = [(root, False)]
        while stack:
            value, ready = stack.pop()
            if id(value) in done:
                continue
            needed = self._parts(value)
            if ready or not needed:
                done[id(value)] = self._built(value, [done[id(part)] for part in needed])
            else:
                stack.append((value, True))
                stack.extend((part, False) for part in needed)
        return done[id(root)]

    def _parts(self, value: Value) -> list[Value]:
        """Return the values that `value` is made of."""
        if type(value) is not tuple:
            return []
        if value[0] == CLOSURE:
            free = self.free_of(self.node(value[1][1]))
            return [_at(value[2], index) for index in sorted(free)]
        return [value[at] for at in _PARTS[value[0]]] if value[0] != PARTIAL else list(value[2])

    def _built(self, value: Value, parts: list[Term]) -> Term:
        if type(value) is not tuple:
            return Lit(value)
        if value[0] == CLOSURE:
            node = self.node(value[1][1])
            return _substituted(node, dict(zip(sorted(self.free_of(node)), parts, strict=True)))
        if value[0] == PARTIAL:
            return spine(self.node(value[1][1]), *parts)
        return spine(_HEADS[value[0]](value), *parts)

    def plug(self, focus: Term, kont: Kont, end: Kont = ()) -> Term:
        """Return `focus` with the frames of `kont` around it, as far as the frame `end`."""
        while kont and kont is not end:
            focus = self._frame(focus, kont)
            kont = kont[1]
        return focus

    def stack(self, kont: Kont, most: int | None = None) -> list[Term]:
        """Return the frames of a continuation, the one that goes on first at the front.

        What a frame waits for is `HOLE`; labels, which wait for nothing, are left out.

        Args:
            kont: Any continuation.
            most: How many frames are wanted; all of them by default.
        """
        frames: list[Term] = []
        while kont and len(frames) != most:
            if kont[0] != LABEL:
                frames.append(self._frame(HOLE, kont))
            kont = kont[1]
        return frames

    def _frame(self, focus: Term, frame: Kont) -> Term:
        match _HOLES[frame[0]]:
            case "fun":
                return App(focus, self._in_env(frame[2][1], frame[3]))
            case "arg":
                return App(self.term(frame[2]), focus)
            case "fun of value":
                return App(focus, self.term(frame[2]))
            case "catch":
                return spine(Prim("catch"), Lam(focus, "_"), self.term(frame[2]))
            case "label":
                return focus
            case "operand":
                return self._around_operand(focus, frame)
        operands = [self.term(part) for part in frame[3:]]
        return spine(Prim(_HOLES[frame[0]], (frame[2],)), *operands, focus)

    def _around_operand(self, focus: Term, frame: Kont) -> Term:
        _, _, (_, _, constant, operands), args, env = frame
        done = [self.term(value) for value in args]
        rest = [self._in_env(operand[1], env) for operand in operands[len(args) + 1 :]]
        return spine(self.node(constant[1]), *done, focus, *rest)


def _at(env: Env, index: int) -> Value:
    for _ in range(index):
        env = env[1]
    return env[0]


def _substituted(term: Term, values: Mapping[int, Term]) -> Term:
    if not values:
        return term
    return rebuild(
        term, lambda var, depth: values[var.index - depth] if var.index >= depth else var
    )


def unlabelled(row: Data) -> Data:
    """Return a row of the flat table without its label."""
    return row[:3] if isinstance(row, tuple) and row[0] == "a" else row


def _joined(form: str, threads: list[Term]) -> Term:
    if form == "par":
        return spine(Prim("par", (len(threads),)), *(Lam(each, "_") for each in threads))
    result: Term = Prim("nil")
    for each in reversed(threads):
        result = spine(Prim("cons"), each, result)
    return result


_HOLES: Mapping[int, str] = {
    AWAIT_FUN: "fun",
    AWAIT_ARG: "arg",
    AWAIT_FUN_OF_VALUE: "fun of value",
    GUARD_RUN: "retry",
    GUARD_CHECK: "check",
    CATCH: "catch",
    LABEL: "label",
    AWAIT_OPERAND: "operand",
}
# Where the values stand in a compound value, and the constant that they are operands of.
_PARTS: Mapping[int, tuple[int, ...]] = {
    PAIR: (1, 2),
    CONS: (1, 2),
    NIL: (),
    TAGGED: (3,),
    FIXPOINT: (2, 3),
    GUARDED: (2, 3, 4),
    SITE: (),
    OPAQUE: (),
}
_HEADS: Mapping[int, Callable[[Any], Term]] = {
    PAIR: lambda _: Prim("pair"),
    CONS: lambda _: Prim("cons"),
    NIL: lambda _: Prim("nil"),
    TAGGED: lambda value: Prim("tag", (value[1], value[2])),
    FIXPOINT: lambda value: Prim("fix", (value[1],)),
    GUARDED: lambda value: Prim("guard", (value[1],)),
    SITE: lambda value: Prim("site", (value[1],)),
    OPAQUE: lambda value: Lit(value[1]),
}
