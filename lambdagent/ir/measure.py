"""Surface term → what can be said before it runs: its constructs, and how often models are asked.

Every loop has a bound and only `Lam`s ask models, so intervals suffice. Source: semantics.md §9.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, TypeAlias

import attrs

from lambdagent.ir import surface

_ORDER = (
    *("Lam", "Compose", "Loop", "Route", "Par", "Pair", "Fst", "Snd", "If", "Guard"),
    *("Concat", "Tool", "Memory"),
)


def constructs(root: surface.Term) -> dict[str, int]:
    """Return how often each construct occurs in `root`.

    A ReAct step is a model call, a route over what the model chose, and its tools.
    """
    counts = dict.fromkeys(_ORDER, 0)
    for term in surface.subterms(root):
        name = _construct(term)
        counts[name] = counts.get(name, 0) + 1
    return {name: count for name, count in counts.items() if count}


def _construct(term: surface.Term) -> str:
    if isinstance(term, surface.ReActStep):
        return "Route"
    for known in (surface.Lam, surface.Tool):
        if isinstance(term, known):
            return known.__name__
    return type(term).__name__


@attrs.frozen
class Calls:
    """An interval of model calls.

    Attributes:
        least: On every run that ends with an answer.
        most: On every run.
    """

    least: int
    most: int

    def then(self, other: "Calls") -> "Calls":
        """Return the calls of one run after another."""
        return Calls(self.least + other.least, self.most + other.most)

    def either(self, other: "Calls") -> "Calls":
        """Return the calls of one run or another."""
        return Calls(min(self.least, other.least), max(self.most, other.most))

    def repeated(self, least: int, most: int) -> "Calls":
        """Return the calls of `least` to `most` runs."""
        return Calls(self.least * max(least, 0), self.most * max(most, 0))


NO_CALLS = Calls(0, 0)
Of: TypeAlias = Callable[[surface.Term], Calls]


def model_calls(root: surface.Term) -> Calls:
    """Return how often `root` asks models, transport retries not counted.

    Tools are taken to ask none: what they do is not of the program.
    """
    done: dict[int, Calls] = {}
    stack = [(root, False)]
    while stack:
        term, ready = stack.pop()
        if id(term) in done:
            continue
        if ready:
            rule = _RULES.get(type(term))
            done[id(term)] = NO_CALLS if rule is None else rule(term, lambda part: done[id(part)])
        else:
            stack.append((term, True))
            stack.extend((part, False) for part in surface.parts(term))
    return done[id(root)]


def rounds(root: surface.Term) -> int | None:
    """Return the most rounds of the loop that `root` is, under its guards and memories.

    None if it is no loop.
    """
    times = 1
    while True:
        match root:
            case surface.Memory(agent):
                root = agent
            case surface.Guard(agent, _, retry):
                times *= 1 + retry
                root = agent
            case surface.Loop(_, _, max_steps):
                return times * max(max_steps, 0)
            case surface.ReActStep():
                return times
            case _:
                return None


def _sequence(parts: list[Calls]) -> Calls:
    return reduce(Calls.then, parts, NO_CALLS)


def _condition(condition: str | surface.Term, of: Of) -> Calls:
    return of(condition) if isinstance(condition, surface.Term) else NO_CALLS


def _loop(term: surface.Loop, of: Of) -> Calls:
    one = of(term.body).then(_condition(term.condition, of))
    return one.repeated(min(term.max_steps, 1), term.max_steps)


def _guard(term: surface.Guard, of: Of) -> Calls:
    return of(term.agent).then(_condition(term.validator, of)).repeated(1, 1 + term.retry)


def _if(term: surface.If, of: Of) -> Calls:
    return _condition(term.condition, of).then(of(term.then).either(of(term.otherwise)))


def _route(term: surface.Route, of: Of) -> Calls:
    # Without default a label that fits no route is an error: such a run has no answer.
    ends = [of(agent) for agent in surface.parts(term)[1:]]
    return of(term.classifier).then(reduce(Calls.either, ends) if ends else NO_CALLS)


_RULES: Mapping[type[surface.Term], Callable[[Any, Of], Calls]] = {
    surface.Lam: lambda _term, _of: Calls(1, 1),
    surface.ConversationLam: lambda _term, _of: Calls(1, 1),
    surface.ReActStep: lambda term, of: of(term.think),
    surface.Compose: lambda term, of: _sequence([of(part) for part in term.stages]),
    surface.Par: lambda term, of: _sequence([of(part) for part in term.branches]),
    surface.Pair: lambda term, of: of(term.left).then(of(term.right)),
    surface.Memory: lambda term, of: of(term.agent),
    surface.Loop: _loop,
    surface.Guard: _guard,
    surface.If: _if,
    surface.Route: _route,
}
