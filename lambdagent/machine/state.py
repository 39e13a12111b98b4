"""What a machine state is made of.

Everything is plain data: compound values, frames and environments are tuples whose first item is a
tag from the tables below, linked by reference, so that states share what they have in common and
an encoder can write them down (see `SHAPES`).

    environment   (value, outer) or ()             de Bruijn: item 0 is the innermost variable
    continuation  (tag, next frame, …) or ()       a frame is named after its hole

Source: semantics.md §3; design.md §6 on tuples against classes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import attrs

from lambdagent.ir.data import Record

Value: TypeAlias = Any
Env: TypeAlias = tuple[Any, ...]
Kont: TypeAlias = tuple[Any, ...]
Code: TypeAlias = tuple[Any, ...]
Path: TypeAlias = tuple[int, ...]
Store: TypeAlias = Mapping[str, Value]
Cell: TypeAlias = Value | None
StoreFunction: TypeAlias = Callable[[Cell, Value], tuple[Value, Cell]]

# Values: (tag, …).
PAIR: Final = 0
CONS: Final = 1
NIL: Final = 2
TAGGED: Final = 3
CLOSURE: Final = 4
PARTIAL: Final = 5
FIXPOINT: Final = 6
GUARDED: Final = 7
SITE: Final = 8
OPAQUE: Final = 9

# Frames: (tag, next, …).
AWAIT_FUN: Final = 20
AWAIT_ARG: Final = 21
AWAIT_FUN_OF_VALUE: Final = 22
GUARD_RUN: Final = 23
GUARD_CHECK: Final = 24
CATCH: Final = 25
LABEL: Final = 26
AWAIT_OPERAND: Final = 27

# Code: (opcode, node id, …), see `link`.
VAR: Final = 40
CONST: Final = 41
LAM: Final = 42
APP: Final = 43
LABELLED: Final = 44
SATURATED: Final = 45

NIL_VALUE: Final[Value] = (NIL,)

# What the items after the tag of a value or frame are: how to encode them, how to show them.
SHAPES: Final[dict[int, tuple[str, ...]]] = {
    PAIR: ("value", "value"),
    CONS: ("value", "value"),
    NIL: (),
    TAGGED: ("data", "data", "value"),  # labels, index, payload
    CLOSURE: ("code", "env"),
    PARTIAL: ("code", "args"),
    FIXPOINT: ("data", "value", "value"),  # n, body, exhaustion
    GUARDED: ("data", "value", "value", "value"),  # r, agent, predicate, fallback
    SITE: ("data",),
    OPAQUE: ("data",),
    AWAIT_FUN: ("kont", "code", "env"),  # (□ N)
    AWAIT_ARG: ("kont", "value"),  # (v □)
    AWAIT_FUN_OF_VALUE: ("kont", "value"),  # (□ v)
    GUARD_RUN: ("kont", "data", "value", "value", "value", "value"),  # r f P h x
    GUARD_CHECK: ("kont", "data", "value", "value", "value", "value", "value"),  # r f P h x y
    CATCH: ("kont", "value"),
    LABEL: ("kont", "data", "data", "data"),  # kind, name, clock at the start
    AWAIT_OPERAND: ("kont", "code", "args", "env"),  # (c v₁ … vᵢ □ tᵢ₊₂ …)
}


class Kind(enum.IntEnum):
    """The kinds of reductions, in the order of the counters; the rest is administrative."""

    BETA = 0
    DELTA = 1
    MU = 2
    GAMMA = 3
    EPSILON = 4
    PI = 5


# The same as plain numbers, which the machine counts with: an enum member costs 40 ns a look-up.
BETA, DELTA, MU, GAMMA, EPSILON, PI = (kind.value for kind in Kind)
ADMINISTRATIVE: Final = 6


@attrs.define(eq=False, repr=False)
class Eval:
    """``ev t``: evaluate `control` in `env`, then go on with `kont`."""

    control: Code
    env: Env
    kont: Kont


@attrs.define(eq=False, repr=False)
class Return:
    """``ret v``: give `value` to the topmost frame of `kont`."""

    value: Value
    kont: Kont


@attrs.define(eq=False, repr=False)
class Suspend:
    """``susp(s, v, κ)``: wait until the world answers `argument` at `site`."""

    site: str
    argument: Value
    kont: Kont


@attrs.define(eq=False, repr=False)
class Join:
    """``join(T₁…Tₖ)``: wait for `pending` of the `count` children forked at `clock`.

    Of those that have not ended the first `at_once` may ask the world something; None for all.
    """

    form: str
    clock: int
    count: int
    pending: int
    kont: Kont
    at_once: int | None = None


@attrs.define(eq=False, repr=False)
class Halt:
    """``done v``."""

    value: Value


@attrs.define(eq=False, repr=False)
class Fail:
    """``fail e``: nothing caught the error `error` {kind, message, site, key, data}."""

    error: Record


ThreadState: TypeAlias = Eval | Return | Suspend | Join | Halt | Fail


@attrs.define(eq=False, repr=False)
class Thread:
    """One branch of a run.

    Attributes:
        path: Where it was forked: () for the root, ``(m, i)`` for branch `i` of the fork at clock
        m. clock: Effects and forks so far in this thread. store: The cells as this thread sees
        them.
    """

    path: Path
    clock: int
    store: Store
    state: ThreadState

    @property
    def kont(self) -> Kont:
        """The continuation; that of a thread that has ended is empty."""
        kont: Kont = getattr(self.state, "kont", ())
        return kont


@attrs.define(eq=False, repr=False)
class Machine:
    """A whole state: never changed, only succeeded.

    Attributes:
        threads: Every live thread by path; a join refers to its children by their paths.
        counters: Reductions so far, indexed by `Kind`.
        transitions: Transitions so far, administrative ones included.
    """

    threads: Mapping[Path, Thread]
    counters: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    transitions: int = 0

    @property
    def root(self) -> Thread:
        """The thread that answers for the run."""
        return self.threads[()]


class Event(NamedTuple):
    """Something that a macro trace shows.

    Attributes:
        key: Thread path and clock, which order the events of a run whatever its schedule.
        kind: The label's kind, or ``guard`` for a failed check, ``note`` for a remark, ``exit``
            for why a ReAct loop ends, ``loop`` for what other loops do, ``memory`` for a memory
            that was written.
        name: The label's name.
        value: What the labelled term returned.
        started: Clock of the thread when the labelled term began; for ``guard`` the retries left.
        transition: Number of the transition at which it ended.
    """

    key: Path
    kind: str
    name: str
    value: Value
    started: int
    transition: int
