"""Constants applied to terms: the δ and μ rules of `reduction`.

In: a constant and its operands as terms. Out: the term they become, or None where they do not fit.
"""

from collections.abc import Callable

from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, arity
from lambdagent.ir.walk import instantiate


def operands_of(prim: Prim) -> int:
    """Return how many arguments a constant takes until something can happen."""
    return 3 if prim.name == "fix" else arity(prim)


def _parts(term: Term, name: str, count: int) -> list[Term] | None:
    """Return the arguments if `term` is the constant `name` applied to `count` of them."""
    arguments: list[Term] = []
    while type(term) is App and len(arguments) < count:
        arguments.append(term.arg)
        term = term.fun
    fits = type(term) is Prim and term.name == name and len(arguments) == count
    return [*reversed(arguments), term] if fits else None


def fired(prim: Prim, args: list[Term], *, shared: bool) -> tuple[str, Term] | None:
    """Return rule and result of a constant with all its operands; None where they do not fit."""
    rule = RULES.get(prim.name)
    result = rule(prim, args) if rule else None
    if result is None:
        return None
    if not shared and prim.name in {"if", "case"}:
        result = _entered(result)
    return ("μ" if prim.name == "fix" else "δ"), result


def _entered(term: Term) -> Term:
    if type(term) is App and type(term.fun) is Lam:
        return instantiate(term.fun.body, term.arg)
    return term


def _fst(_prim: Prim, args: list[Term]) -> Term | None:
    parts = _parts(args[0], "pair", 2)
    return parts[0] if parts else None


def _snd(_prim: Prim, args: list[Term]) -> Term | None:
    parts = _parts(args[0], "pair", 2)
    return parts[1] if parts else None


def _if(_prim: Prim, args: list[Term]) -> Term | None:
    condition = args[0]
    if type(condition) is not Lit or not isinstance(condition.value, bool):
        return None
    thunk = args[1] if condition.value else args[2]
    return _entered(App(thunk, Lit(UNIT)))


def _case(prim: Prim, args: list[Term]) -> Term | None:
    parts = _parts(args[0], "tag", 1)
    if parts is None:
        return None
    payload, tag = parts
    assert type(tag) is Prim
    labels, index = tag.params
    fits = labels == prim.params[0] and isinstance(index, int)
    return App(args[1 + index], payload) if fits and isinstance(index, int) else None


def _fix(prim: Prim, args: list[Term]) -> Term | None:
    body, exhausted, value = args
    rounds = prim.params[0]
    if not isinstance(rounds, int) or rounds == 0:
        return App(exhausted, value)
    again = App(App(Prim("fix", (rounds - 1,)), body), exhausted)
    return App(App(body, again), value)


def _succ(_prim: Prim, args: list[Term]) -> Term | None:
    number = args[0]
    fits = type(number) is Lit and type(number.value) is int and number.value >= 0
    return Lit(number.value + 1) if fits else None  # type: ignore[union-attr,operator]


RULES: dict[str, Callable[[Prim, list[Term]], Term | None]] = {
    "fst": _fst,
    "snd": _snd,
    "if": _if,
    "case": _case,
    "fix": _fix,
    "succ": _succ,
}
