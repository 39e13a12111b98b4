"""The rules of the machine beyond variables, lambdas and application.

Rule 1. A rule gets values and the continuation, and returns the next registers and the kind of the
        transition: (control, focus, kont, kind). `control` is code to evaluate in the environment
        `focus`, or None when the value `focus` is returned to `kont`.
Rule 2. A rule that does not fit its operands raises `Misfit`: the machine is stuck there.

The tables at the end are the machine's; docs/machine.md lists them. Source: semantics.md §3.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from lambdagent.ir.core import UNIT
from lambdagent.machine.state import (
    ADMINISTRATIVE,
    AWAIT_ARG,
    AWAIT_FUN_OF_VALUE,
    CATCH,
    CLOSURE,
    CONS,
    DELTA,
    FIXPOINT,
    GAMMA,
    GUARD_CHECK,
    GUARD_RUN,
    GUARDED,
    MU,
    PAIR,
    TAGGED,
    Code,
    Kont,
    Value,
)
from lambdagent.machine.values import sketch

Registers: TypeAlias = tuple[Code | None, Any, Kont, int]


class Misfit(Exception):  # noqa: N818 - it never leaves the machine; the state becomes `fail Stuck`
    """No rule applies to these operands; its text, if any, says more."""


def enter(thunk: Value, argument: Value, kont: Kont, kind: int) -> Registers:
    """Enter a lazy operand: part of its form's rule, no β of its own."""
    if type(thunk) is tuple and thunk[0] == CLOSURE:
        return thunk[1][2], (argument, thunk[2]), kont, kind
    return None, argument, (AWAIT_ARG, kont, thunk), kind


def fire_pair(_params: Any, args: list[Value], kont: Kont) -> Registers:
    """``pair a b ⟶ ⟨a, b⟩``."""
    return None, (PAIR, args[0], args[1]), kont, ADMINISTRATIVE


def fire_fst(_params: Any, args: list[Value], kont: Kont) -> Registers:
    """``fst ⟨a, b⟩ ⟶ a`` (δ)."""
    return None, _pair(args[0])[1], kont, DELTA


def fire_snd(_params: Any, args: list[Value], kont: Kont) -> Registers:
    """``snd ⟨a, b⟩ ⟶ b`` (δ)."""
    return None, _pair(args[0])[2], kont, DELTA


def _pair(value: Value) -> Value:
    if type(value) is tuple and value[0] == PAIR:
        return value
    raise Misfit


def fire_cons(_params: Any, args: list[Value], kont: Kont) -> Registers:
    """``cons h t ⟶ h :: t``."""
    return None, (CONS, args[0], args[1]), kont, ADMINISTRATIVE


def fire_tag(params: Any, args: list[Value], kont: Kont) -> Registers:
    """``tag[L, l] v ⟶ l⟨v⟩``."""
    return None, (TAGGED, params[0], params[1], args[0]), kont, ADMINISTRATIVE


def fire_if(_params: Any, args: list[Value], kont: Kont) -> Registers:
    """``if true (λ_.a) (λ_.b) ⟶ a``, and ``b`` for false (δ)."""
    condition, then, otherwise = args
    if condition is True:
        return enter(then, UNIT, kont, DELTA)
    if condition is False:
        return enter(otherwise, UNIT, kont, DELTA)
    raise Misfit


def fire_case(params: Any, args: list[Value], kont: Kont) -> Registers:
    """``case[L] l⟨v⟩ … (λx. t_l) … ⟶ t_l[x := v]`` (δ)."""
    subject = args[0]
    if type(subject) is not tuple or subject[0] != TAGGED or subject[1] != params[0]:
        raise Misfit
    return enter(args[1 + subject[2]], subject[3], kont, DELTA)


def fire_fix(params: Any, args: list[Value], kont: Kont) -> Registers:
    """``fix[n] g e ⟶ fix_n(g, e)``."""
    return None, (FIXPOINT, params[0], args[0], args[1]), kont, ADMINISTRATIVE


def fire_guard(params: Any, args: list[Value], kont: Kont) -> Registers:
    """``guard[r] f P h ⟶ guard_r(f, P, h)``."""
    return None, (GUARDED, params[0], *args), kont, ADMINISTRATIVE


def fire_catch(_params: Any, args: list[Value], kont: Kont) -> Registers:
    """``catch (λ_.t) h``: evaluate ``t`` under the handler ``h``."""
    return enter(args[0], UNIT, (CATCH, kont, args[1]), ADMINISTRATIVE)


def fire_succ(_params: Any, args: list[Value], kont: Kont) -> Registers:
    """``succ i ⟶ i + 1`` on naturals (δ)."""
    if type(args[0]) is not int or args[0] < 0:
        raise Misfit
    return None, args[0] + 1, kont, DELTA


def apply_fixpoint(fun: Value, value: Value, kont: Kont) -> Registers:
    """``fix_0(g, e) v ⟶ e v``;  ``fix_{n+1}(g, e) v ⟶ g (fix_n(g, e)) v`` (μ)."""
    _, n, body, exhaustion = fun
    if n == 0:
        return None, value, (AWAIT_ARG, kont, exhaustion), MU
    then = (AWAIT_ARG, (AWAIT_FUN_OF_VALUE, kont, value), body)
    return None, (FIXPOINT, n - 1, body, exhaustion), then, MU


def apply_guarded(fun: Value, value: Value, kont: Kont) -> Registers:
    """``guard_r(f, P, h) x``: run ``f x``, then check what it answers."""
    _, retries, agent, predicate, fallback = fun
    run = (GUARD_RUN, kont, retries, agent, predicate, fallback, value)
    return None, value, (AWAIT_ARG, run, agent), ADMINISTRATIVE


def return_to_guard_run(value: Value, frame: Kont) -> Registers:
    """``y``: check ``P y``."""
    check = (GUARD_CHECK, frame[1], *frame[2:], value)
    return None, value, (AWAIT_ARG, check, frame[4]), ADMINISTRATIVE


def return_to_guard_check(value: Value, frame: Kont) -> Registers:
    """``true`` ⟶ ``y``; ``false`` ⟶ run again while retries are left, else ``h y`` (γ)."""
    _, kont, retries, agent, predicate, fallback, argument, answer = frame
    if value is True:
        return None, answer, kont, GAMMA
    if value is not False:
        what = f"the check of a guard answered {sketch(value)}"
        raise Misfit(what)
    if retries == 0:
        return None, answer, (AWAIT_ARG, kont, fallback), GAMMA
    run = (GUARD_RUN, kont, retries - 1, agent, predicate, fallback, argument)
    return None, argument, (AWAIT_ARG, run, agent), GAMMA


def return_to_catch(value: Value, frame: Kont) -> Registers:
    """``v`` to a handler: nothing failed."""
    return None, value, frame[1], ADMINISTRATIVE


FIRE: Mapping[str, Callable[[Any, list[Value], Kont], Registers]] = {
    "pair": fire_pair,
    "fst": fire_fst,
    "snd": fire_snd,
    "cons": fire_cons,
    "tag": fire_tag,
    "if": fire_if,
    "case": fire_case,
    "fix": fire_fix,
    "guard": fire_guard,
    "catch": fire_catch,
    "succ": fire_succ,
}

APPLY: Mapping[int, Callable[[Value, Value, Kont], Registers]] = {
    FIXPOINT: apply_fixpoint,
    GUARDED: apply_guarded,
}

RETURN: Mapping[int, Callable[[Value, Kont], Registers]] = {
    GUARD_RUN: return_to_guard_run,
    GUARD_CHECK: return_to_guard_check,
    CATCH: return_to_catch,
}

# `par[k]` and `pmap` have no rule here: they fork (π); see `threads.fork`.
