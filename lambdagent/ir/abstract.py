"""Abstract execution of core terms: what a run can call, without running it.

In: a closed term. Out: an `Outcome`, the costs of its paths. Functions are followed: they flow
through variables, pairs and arguments as they do in the machine. Everything that is no function
is `DATA`, so both branches of each choice count. What is not known is called an unknown function,
which may call anything any number of times.

Values and environments are made once for each content, so an application of the same function to
the same argument is worked out once, and equality is identity. Nothing here recurses: rules are
generators that yield what they need to `_Executor.run`.

Source: semantics.md §9.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, Final, TypeAlias, cast

import attrs

from lambdagent.ir.core import App, Lam, Prim, Term, Var, arity
from lambdagent.ir.costs import (
    FAILS,
    FREE,
    NEVER,
    Count,
    Outcome,
    Self,
    beside,
    calls_self,
    caught,
    either,
    many_beside,
    repeated,
    retried,
    settled,
    then,
)
from lambdagent.ir.walk import children, nodes, reaches
from lambdagent.messages import phrase

# What else a choice between functions can be is unknown.
_MOST_CHOICES: Final = 16
# Applications before the analysis gives up: a start, and so many for each node.
_FIRST_APPLICATIONS: Final = 20_000
_MORE_APPLICATIONS: Final = 10


@attrs.frozen(eq=False)
class Value:
    """An abstract value or environment: `parts` are values, or what stands in the program."""

    kind: str
    parts: tuple[Any, ...] = ()


DATA: Final = Value("data")
UNKNOWN: Final = Value("unknown")
_EMPTY: Final = Value("environment")

# What evaluating or applying comes to.
Found: TypeAlias = "tuple[Value, Outcome]"
# A rule in progress: it yields another, or what needs no rule, and is sent what was found.
Rule: TypeAlias = "Generator[Needed, Found, Found]"
Needed: TypeAlias = "Rule | Found"


@attrs.frozen
class LoopProfile:
    """How often the body of one fixpoint calls ``self``: the least and the most on a path."""

    bound: int
    least: Count
    most: Count


def execute(
    root: Term, cost_of: Callable[[str], Outcome], unknown: Outcome
) -> tuple[Outcome, Sequence[str], Sequence[LoopProfile]]:
    """Return what the function `root` costs on any data, why bounds may be missing, and its loops.

    Args:
        root: A closed term.
        cost_of: What one call of a site costs.
        unknown: What an unknown function costs.
    """
    executor = _Executor(root, cost_of, unknown)
    function, first = executor.run(executor.evaluate(root, _EMPTY))
    _, second = executor.run(executor.apply(function, DATA))
    return settled(then(first, second)), tuple(executor.reasons), tuple(executor.loops.values())


class _Executor:
    """What is known so far.

    Attributes:
        reasons: Why something is not known, in the order of discovery; a dict for its order.
        loops: The fixpoints that are applied, by the identity of their bodies.
    """

    def __init__(self, root: Term, cost_of: Callable[[str], Outcome], unknown: Outcome) -> None:
        self.reasons: dict[str, None] = {}
        self.loops: dict[int, LoopProfile] = {}
        self._cost_of = cost_of
        self._unknown = unknown
        self._made: dict[tuple[object, ...], Value] = {}
        self._known: dict[tuple[int, int], Found | None] = {}
        self._loops: dict[int, _Loop] = {}
        self._reach = reaches(root)
        self._shared = _shared(root)
        self._evaluated: dict[tuple[int, int], Found] = {}
        self._left = _FIRST_APPLICATIONS + _MORE_APPLICATIONS * len(self._reach)

    def run(self, rule: Needed) -> Found:
        """Run `rule` and all that it needs, on a stack of our own."""
        if isinstance(rule, tuple):
            return rule
        stack = [rule]
        found: Found | None = None
        while stack:
            try:
                needed = next(stack[-1]) if found is None else stack[-1].send(found)
            except StopIteration as end:
                stack.pop()
                found = end.value
            else:
                found = None
                if isinstance(needed, tuple):
                    found = needed
                else:
                    stack.append(needed)
        assert found is not None
        return found

    # --- values ----------------------------------------------------------------------------------

    def make(self, kind: str, *parts: Any) -> Value:
        """Return the one value of this content."""
        key = (kind, *map(id, parts))
        if key not in self._made:
            self._made[key] = Value(kind, parts)
        return self._made[key]

    def pair(self, left: Value, right: Value) -> Value:
        return DATA if left is right is DATA else self.make("pair", left, right)

    def join(self, values: Iterable[Value]) -> Value:
        """Return a value that may be any of `values`."""
        members: dict[int, Value] = {}
        for value in values:
            for each in value.parts if value.kind == "choice" else (value,):
                members[id(each)] = each
        if id(UNKNOWN) in members or len(members) > _MOST_CHOICES:
            return UNKNOWN
        if len(members) == 1:
            return next(iter(members.values()))
        return self.make("choice", *(members[key] for key in sorted(members)))

    def half(self, value: Value, which: int) -> Value:
        """Return a component of a pair."""
        if value.kind == "choice":
            return self.join([self.half(each, which) for each in value.parts])
        if value.kind == "pair":
            half: Value = value.parts[which]
            return half
        return value if value is UNKNOWN else DATA

    def give_up(self, reason: str) -> Found:
        self.reasons[reason] = None
        return UNKNOWN, self._unknown

    # --- terms -----------------------------------------------------------------------------------

    def evaluate(self, term: Term, scope: Value) -> Needed:
        """Evaluate; what is shared, once for each scope."""
        if type(term) is not App:
            return self.atom(term, scope), FREE
        shared = id(term) in self._shared
        return self.evaluate_once(term, scope) if shared else self.evaluate_spine(term, scope)

    def evaluate_once(self, term: Term, scope: Value) -> Rule:
        key = (id(term), id(scope if self._reach[id(term)] else _EMPTY))
        if key not in self._evaluated:
            found = yield self.evaluate_spine(term, scope)
            self._evaluated[key] = found[0], settled(found[1])
        return self._evaluated[key]

    def evaluate_spine(self, term: Term, scope: Value) -> Rule:
        operands: list[Term] = []
        while type(term) is App:
            operands.append(term.arg)
            term = term.fun
        outcome = FREE
        if type(term) is Lam and id(term) not in self._shared:
            # ``let``: nobody else applies this function.
            inner = scope if self._reach[id(term)] else _EMPTY
            while operands and type(term) is Lam and id(term) not in self._shared:
                needed = self.evaluate(operands.pop(), scope)
                argument, more = needed if isinstance(needed, tuple) else (yield needed)
                outcome = then(outcome, more)
                inner, term = self.make("environment", argument, inner), term.body
            needed = self.evaluate(term, inner) if self.may_apply() else self.too_complex()
            value, more = needed if isinstance(needed, tuple) else (yield needed)
            outcome = then(outcome, more)
        elif type(term) is Prim and len(operands) == arity(term):
            values = []
            for operand in reversed(operands):
                needed = self.evaluate(operand, scope)
                found, more = needed if isinstance(needed, tuple) else (yield needed)
                values.append(found)
                outcome = then(outcome, more)
            needed = _FIRE[term.name](self, term, tuple(values))
            value, more = needed if isinstance(needed, tuple) else (yield needed)
            return value, then(outcome, more)
        else:
            value = self.atom(term, scope)
        while operands:
            needed = self.evaluate(operands.pop(), scope)
            argument, more = needed if isinstance(needed, tuple) else (yield needed)
            outcome = then(outcome, more)
            needed = self.apply(value, argument)
            value, more = needed if isinstance(needed, tuple) else (yield needed)
            outcome = then(outcome, more)
        return value, outcome

    def atom(self, term: Term, scope: Value) -> Value:
        if type(term) is Var:
            for _ in range(term.index):
                scope = scope.parts[1]
            bound: Value = scope.parts[0]
            return bound
        if type(term) is Lam:
            return self.make("closure", term, scope if self._reach[id(term)] else _EMPTY)
        if type(term) is Prim and arity(term):
            return self.make("constant", term)
        return DATA

    # --- applications ----------------------------------------------------------------------------

    def apply(self, function: Value, argument: Value) -> Needed:
        """Apply, once for each function and argument."""
        key = (id(function), id(argument))
        if key in self._known:
            known = self._known[key]
            if known is None:
                return self.give_up(phrase("a function applies itself"))
            return known[0], settled(known[1])
        if not self.may_apply():
            return self.too_complex()
        self._known[key] = None
        needed = _APPLY[function.kind](self, function, argument)
        if isinstance(needed, tuple):
            self._known[key] = needed
            return needed
        return self.remembered(key, needed)

    def may_apply(self) -> bool:
        """Count an application, and say whether there is time for it."""
        self._left -= 1
        return self._left >= 0

    def too_complex(self) -> Found:
        return self.give_up(phrase("the program is too complex to be analysed"))

    def remembered(self, key: tuple[int, int], rule: Rule) -> Rule:
        """Run a rule, and keep what it finds."""
        found = yield rule
        self._known[key] = found
        return found

    def apply_unknown(self, _function: Value, _argument: Value) -> Found:
        return self.give_up(phrase("a function is called that is not known before the run"))

    def apply_data(self, _function: Value, _argument: Value) -> Found:
        return DATA, FAILS

    def apply_choice(self, function: Value, argument: Value) -> Rule:
        return self.any_of([(each, argument) for each in function.parts])

    def apply_closure(self, function: Value, argument: Value) -> Needed:
        lam, scope = function.parts
        return self.evaluate(lam.body, self.make("environment", argument, scope))

    def apply_constant(self, function: Value, argument: Value) -> Needed:
        prim, *operands = function.parts
        if len(operands) + 1 == arity(prim):
            return _FIRE[prim.name](self, prim, (*operands, argument))
        return self.make("constant", prim, *operands, argument), FREE

    def apply_guard(self, function: Value, argument: Value) -> Rule:
        prim, agent, predicate, fallback = function.parts
        answer, run = yield self.apply(agent, argument)
        _, check = yield self.apply(predicate, answer)
        other, instead = yield self.apply(fallback, answer)
        return self.join([answer, other]), retried(then(run, check), instead, prim.params[0])

    def apply_fix(self, function: Value, argument: Value) -> Rule:
        """Work out one unfolding, with what ``self`` takes and gives assumed to be data.

        Where that does not hold both may be any function.
        """
        loop = self._loops.setdefault(id(function), _Loop(self.make("self", function), Self()))
        prim, body, exhausted = function.parts
        while True:
            loop.holds = True
            assumed = loop.is_data = loop.is_data and argument is DATA
            if not assumed:
                loop.function = self.make("self", function, UNKNOWN)
            taken = DATA if assumed else UNKNOWN
            unfolded, first = yield self.apply(body, loop.function)
            given, second = yield self.apply(unfolded, taken)
            last, end = yield self.apply(exhausted, taken)
            if not assumed or (loop.holds and given is last is DATA):
                break
            loop.is_data = False
        self.loops[id(body)] = _profile(prim.params[0], loop.calls, then(first, second))
        return taken, repeated(prim.params[0], loop.calls, then(first, second), end)

    def apply_self(self, function: Value, argument: Value) -> Found:
        loop = self._loops[id(function.parts[0])]
        assumed = len(function.parts) == 1
        if assumed and argument is not DATA:
            loop.holds = False
        return (DATA if assumed else UNKNOWN), calls_self(loop.calls)

    # --- constants -------------------------------------------------------------------------------

    def any_of(self, applications: Sequence[tuple[Value, Value]]) -> Rule:
        """Apply one of several functions."""
        found = []
        for application in applications:
            one = yield self.apply(*application)
            found.append(one)
        return self.join(value for value, _ in found), either(cost for _, cost in found)

    def fire_pair(self, _prim: Prim, operands: tuple[Value, ...]) -> Found:
        return self.pair(*operands), FREE

    def fire_half(self, prim: Prim, operands: tuple[Value, ...]) -> Found:
        return self.half(operands[0], 0 if prim.name == "fst" else 1), FREE

    def fire_join(self, _prim: Prim, operands: tuple[Value, ...]) -> Found:
        """Lists are like any of their items, tagged values like their payloads."""
        return self.join(operands), FREE

    def fire_succ(self, _prim: Prim, _operands: tuple[Value, ...]) -> Found:
        return DATA, FREE

    def fire_if(self, _prim: Prim, operands: tuple[Value, ...]) -> Rule:
        return self.any_of([(branch, DATA) for branch in operands[1:]])

    def fire_case(self, _prim: Prim, operands: tuple[Value, ...]) -> Rule:
        payload = operands[0]
        return self.any_of([(branch, payload) for branch in operands[1:]])

    def fire_function(self, prim: Prim, operands: tuple[Value, ...]) -> Found:
        return self.make(prim.name, prim, *operands), FREE

    def fire_par(self, _prim: Prim, operands: tuple[Value, ...]) -> Rule:
        found = []
        for branch in operands:
            one = yield self.apply(branch, DATA)
            found.append(one)
        values = [value for value, _ in reversed(found)]
        pairs = reduce(lambda right, left: self.pair(left, right), values)
        return pairs, reduce(beside, [cost for _, cost in found])

    def fire_pmap(self, prim: Prim, operands: tuple[Value, ...]) -> Rule:
        function, items = operands
        value, cost = yield self.apply(function, items)
        if prim.params:
            return self.join([value, DATA]), many_beside(cost, cast("int", prim.params[0]))
        if cost is not FREE:
            self.reasons[phrase("`pmap` runs a function once for each item of a list")] = None
        return self.join([value, DATA]), many_beside(cost)

    def fire_catch(self, _prim: Prim, operands: tuple[Value, ...]) -> Rule:
        body, handler = operands
        value, cost = yield self.apply(body, DATA)
        other, instead = yield self.apply(handler, DATA)
        return self.join([value, other]), caught(cost, instead)

    def fire_site(self, prim: Prim, _operands: tuple[Value, ...]) -> Found:
        return DATA, self._cost_of(str(prim.params[0]))


@attrs.define(eq=False)
class _Loop:
    """What is assumed of one fixpoint: ``self`` takes and gives data."""

    function: Value
    calls: Self
    is_data: bool = True
    holds: bool = True


def _profile(bound: int, one: Self, body: Outcome) -> LoopProfile:
    again = [dict(path.selves).get(one, NEVER) for path in body] or [NEVER]
    least, most = min(each.least for each in again), max(each.most for each in again)
    return LoopProfile(bound, least, most)


def _shared(root: Term) -> set[int]:
    """Return the applications and functions that occur more than once, by identity."""
    once: set[int] = set()
    more: set[int] = set()
    for term in nodes(root):
        for child in children(term):
            if type(child) in {App, Lam}:
                (more if id(child) in once else once).add(id(child))
    return more


_Apply: TypeAlias = "Callable[[_Executor, Value, Value], Needed]"
_Fire: TypeAlias = "Callable[[_Executor, Prim, tuple[Value, ...]], Needed]"

_APPLY: Mapping[str, _Apply] = {
    "data": _Executor.apply_data,
    "pair": _Executor.apply_data,
    "unknown": _Executor.apply_unknown,
    "choice": _Executor.apply_choice,
    "closure": _Executor.apply_closure,
    "constant": _Executor.apply_constant,
    "guard": _Executor.apply_guard,
    "fix": _Executor.apply_fix,
    "self": _Executor.apply_self,
}

_FIRE: Mapping[str, _Fire] = {
    "pair": _Executor.fire_pair,
    "fst": _Executor.fire_half,
    "snd": _Executor.fire_half,
    "cons": _Executor.fire_join,
    "tag": _Executor.fire_join,
    "succ": _Executor.fire_succ,
    "if": _Executor.fire_if,
    "case": _Executor.fire_case,
    "fix": _Executor.fire_function,
    "guard": _Executor.fire_function,
    "par": _Executor.fire_par,
    "pmap": _Executor.fire_pmap,
    "catch": _Executor.fire_catch,
    "site": _Executor.fire_site,
}
