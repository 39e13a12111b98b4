"""A state → the rule of its next reduction, by the calculus and not by the machine that steps it.

Source: semantics.md §3.2. Variables, constants and closures are read where they stand, with no
transition of their own (docs/machine.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from lambdagent.machine.link import Linked
from lambdagent.machine.state import (
    APP,
    AWAIT_ARG,
    AWAIT_FUN,
    AWAIT_FUN_OF_VALUE,
    AWAIT_OPERAND,
    CLOSURE,
    CONST,
    FIXPOINT,
    GUARD_CHECK,
    LABELLED,
    LAM,
    PARTIAL,
    SATURATED,
    SITE,
    VAR,
    Code,
    Env,
    Eval,
    Kont,
    Return,
    Suspend,
    ThreadState,
    Value,
)

_ATOMS = {VAR, CONST, LAM}
_FORKS = {"par", "pmap"}
_DELTAS = {"fst", "snd", "if", "case", "succ"}


def reduction_of(linked: Linked, state: ThreadState) -> str:
    """Return the name of the rule in `rulebook.RULES` by which `state` is reduced.

    Empty where the next transition is administrative. A state that is stuck has the rule that
    does not fit.
    """
    match state:
        case Suspend():
            return "answer"
        case Return(value, kont):
            return _returned(linked, value, kont) if kont else ""
        case Eval(control, env):
            return _evaluated(linked, control, env)
    return ""


def _evaluated(linked: Linked, control: Code, env: Env) -> str:
    while control[0] == LABELLED:
        control = control[2]
    if control[0] == APP and _are_atoms(control[2:4]):
        return _applied(linked, _atom(control[2], env))
    if control[0] == SATURATED and _are_atoms(control[3]):
        return _fired(control[2])
    return ""


def _returned(linked: Linked, value: Value, frame: Kont) -> str:
    """Return what `value` does to the topmost frame."""
    tag = frame[0]
    if tag == AWAIT_ARG:
        return _applied(linked, frame[2])
    if tag == AWAIT_FUN_OF_VALUE or (tag == AWAIT_FUN and _are_atoms([frame[2]])):
        return _applied(linked, value)
    if tag == AWAIT_OPERAND and _are_atoms(frame[2][3][len(frame[3]) + 1 :]):
        return _fired(frame[2][2])
    if tag == GUARD_CHECK:
        return "accept" if value is True else "retry" if frame[2] else "fall back"
    return ""


def _applied(linked: Linked, fun: Value) -> str:
    """Return what the application of `fun` to a value does."""
    tag = fun[0] if type(fun) is tuple else None
    if tag == CLOSURE:
        return "beta"
    if tag == FIXPOINT:
        return "unroll" if fun[1] else "exhausted"
    if tag == SITE:
        site = linked.sites[fun[1]]
        return "host" if site.host is not None else "store" if site.store is not None else ""
    if tag == PARTIAL and len(fun[2]) + 1 == fun[1][4]:
        return _fired(fun[1])
    return ""


def _fired(constant: Code) -> str:
    """Return what a constant does that has all its operands."""
    name: str = constant[3]
    return "fork" if name in _FORKS else name if name in _DELTAS else ""


def _are_atoms(codes: Sequence[Code]) -> bool:
    return all(code[0] in _ATOMS for code in codes)


def _atom(code: Code, env: Env) -> Value:
    """Return the value of an atom; of a closure as much as tells that it is one."""
    if code[0] == CONST:
        return code[2]
    if code[0] == LAM:
        return (CLOSURE, code, env)
    for _ in range(code[2]):
        env = env[1]
    return env[0]
