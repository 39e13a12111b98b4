"""How often something is called: intervals, paths by their self counts, the recurrence of Yₙ.

An `Outcome` says what the paths through a term cost. Paths are told apart by how they end and by
how often they call each ``self`` in scope; paths alike in that are one, with the least and the
most of their costs. All numbers are exact; ∞ is `INFINITY`.

Source: semantics.md §9.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple, TypeAlias

import attrs

INFINITY: Final = inf
Count: TypeAlias = int | float  # the only float is INFINITY

# Larger bounds are given as ∞: numbers of more bits take longer than the answer is worth, and so
# do fixpoints that settle to no growth that is known in so many rounds.
MOST_BITS: Final = 1 << 15
MOST_ROUNDS: Final = 1 << 15
# With more kinds of paths than this, those that end alike become one.
_MOST_PATHS: Final = 32
_UNREADABLE: Final = 10**15
# As often as this, copies of a path are counted one by one.
_EXACT_COPIES: Final = 16


def plus(a: Count, b: Count) -> Count:
    """Return ``a + b``; numbers too large for a float meet ∞ safely."""
    # The only float is ∞.
    return INFINITY if type(a) is float or type(b) is float else a + b


def times(n: Count, a: Count) -> Count:
    """Return ``n · a``, where ``0 · ∞ = 0``: never calling costs nothing."""
    if not n or not a:
        return 0
    return INFINITY if type(n) is float or type(a) is float else n * a


class Interval(NamedTuple):
    """How often something is called.

    Attributes:
        least: On every run that ends with an answer.
        most: On every prefix of every run.
        failing: How many of these calls, of a ``self``, can fail in one run: one ends what stands
            after it, but branches of a fork all run to their end.
    """

    least: Count
    most: Count
    failing: Count = 1

    def __str__(self) -> str:
        """``[least, most]``."""
        return f"[{count_text(self.least, round_up=False)}, {count_text(self.most)}]"


NEVER: Final = Interval(0, 0)
ONCE: Final = Interval(1, 1)


def count_text(value: Count, *, round_up: bool = True) -> str:
    """Return a number for people: ∞, and numbers of many digits as a power of two.

    >>> count_text(12), count_text(INFINITY), count_text(2**99 + 1)
    ('12', '∞', '2^100')
    """
    if not isinstance(value, int):
        return "∞"
    if value < _UNREADABLE:
        return str(value)
    return f"2^{value.bit_length() if round_up else value.bit_length() - 1}"


class Self:
    """Stands for the calls of the ``self`` of one fixpoint."""


# Costs of the paths of one kind, by what is called. What is not in it is never called.
Cost: TypeAlias = Mapping[Hashable, Interval]


class Path(NamedTuple):
    """What tells paths apart.

    Attributes:
        returns: It ends with a value, and not with a failure.
        selves: Each ``self`` that is called, and how often.
    """

    returns: bool = True
    selves: frozenset[tuple[Hashable, Interval]] = frozenset()


Outcome: TypeAlias = Mapping[Path, Cost]

_PLAIN: Final = Path()
FREE: Final[Outcome] = {_PLAIN: {}}
FAILS: Final[Outcome] = {Path(returns=False): {}}


def calls_self(one: Self) -> Outcome:
    """Return one call of the ``self`` of a fixpoint."""
    return {Path(selves=frozenset([(one, ONCE)])): {}}


def then(first: Outcome, second: Outcome) -> Outcome:
    """Return `first; second`."""
    if first is FREE or second is FREE:
        return second if first is FREE else first
    return _Series(first, second)


def settled(outcome: Outcome) -> Outcome:
    """Return `outcome` worked out: who looks at it twice need not do so twice."""
    return outcome.sum() if isinstance(outcome, _Series) else outcome


def beside(first: Outcome, second: Outcome) -> Outcome:
    """Return what branches of a fork cost: each runs to its end, even where another fails."""
    if first is FREE or second is FREE:
        return second if first is FREE else first
    return _collected(
        [
            (_joined(p, q, fork=True), _sum(cost, more))
            for p, cost in first.items()
            for q, more in second.items()
        ]
    )


def many_beside(outcome: Outcome, most: Count = INFINITY) -> Outcome:
    """Return what up to `most` copies cost as branches of a fork."""
    if outcome is FREE:
        return FREE
    costs = {returns: _one_of(outcome, returns=returns) for returns in (True, False)}
    paths = [_path(_up_to(most, costs[True] or {}), returns=True)]
    if costs[False] is not None:
        every = _union([cost for cost in costs.values() if cost is not None])
        paths.append(_path(_up_to(most, every), returns=False))
    return _collected(paths)


def _up_to(most: Count, cost: Cost) -> Cost:
    return {
        key: Interval(0, times(most, each.most), times(most, each.failing))
        for key, each in cost.items()
    }


def either(outcomes: Iterable[Outcome]) -> Outcome:
    """Return one outcome or another."""
    return _collected([item for outcome in outcomes for item in outcome.items()])


def copies(outcome: Outcome, least: Count, most: Count) -> Outcome:
    """Return `least` to `most` copies, one after the other."""
    if outcome is FREE:
        return FREE
    returning = _one_of(outcome, returns=True)
    failing = _one_of(outcome, returns=False)
    paths: list[tuple[Path, Cost]] = []
    if returning is not None:
        repeated = _scaled(returning, least, most)
        paths.append(_path(repeated, returns=True))
    elif least == 0:
        paths.append((_PLAIN, {}))
    if failing is not None and most > 0:
        before = max(plus(most, -1), 0) if returning is not None else 0
        paths.append(_path(_sum(_scaled(returning or {}, 0, before), failing), returns=False))
    return _collected(paths)


def retried(attempt: Outcome, fallback: Outcome, retries: int) -> Outcome:
    """Return what a guard costs: up to ``retries + 1`` attempts, or all and then the fallback."""
    if retries >= _EXACT_COPIES or all(not path.selves for path in attempt):
        every = copies(attempt, retries + 1, retries + 1)
        return either([copies(attempt, 1, retries + 1), then(every, fallback)])
    runs, one = [attempt], attempt
    for _ in range(retries):
        one = then(one, attempt)
        runs.append(one)
    return either([*runs, then(one, fallback)])


def caught(body: Outcome, handler: Outcome) -> Outcome:
    """Return what `body` costs if its failures are handled; it may fail at any of its effects."""
    begun = either(dict([_prefix(path, cost)]) for path, cost in body.items())
    whole = {path: cost for path, cost in body.items() if path.returns}
    return either([whole, then(begun, handler)])


def repeated(n: int, one: Self, body: Outcome, exhausted: Outcome) -> Outcome:
    """Return what ``Yₙ`` costs: ``M₀ = exhausted``, ``Mₖ₊₁ =`` the union over `body`'s paths.

    Args:
        n: The bound.
        one: The ``self`` of the body.
        body: Costs of one unfolding, with calls of `one`.
        exhausted: Costs of what runs when the bound is used up.
    """
    rounds = []
    for path, cost in body.items():
        selves = dict(path.selves)
        again = selves.pop(one, NEVER)
        rounds.append((path.returns, again, {**cost, **selves}))
    last = {returns: _one_of(exhausted, returns=returns) for returns in (True, False)}
    keys = {key for _, _, cost in rounds for key in cost}
    keys |= {key for cost in last.values() for key in cost or ()}
    ends: dict[bool, dict[Hashable, Interval]] = {True: {}, False: {}}
    # Whether some run returns, or fails, is the same for all keys; this one costs nothing.
    nothing = object()
    known: dict[object, _Ends] = {}
    for key in (*keys, nothing):
        steps = [_Round(returns, again, cost.get(key, NEVER)) for returns, again, cost in rounds]
        begin = [None if cost is None else cost.get(key, NEVER) for cost in last.values()]
        numbers = (*steps, *begin)
        if numbers not in known:
            known[numbers] = _iterate(n, steps, (begin[0], begin[1]))
        for returns, found in zip((True, False), known[numbers], strict=True):
            if found is not None:
                ends[returns][key] = found
    return _collected(
        [
            _path({k: v for k, v in cost.items() if k is not nothing}, returns=returns)
            for returns, cost in ends.items()
            if nothing in cost
        ]
    )


def whole(outcome: Outcome, key: Hashable) -> Interval:
    """Return how often `key` is called on all paths; the least is 0 if none ends with a value."""
    found = [(path.returns, cost.get(key, NEVER)) for path, cost in outcome.items()]
    least = min((cost.least for returns, cost in found if returns), default=0)
    return Interval(least, max((cost.most for _, cost in found), default=0))


# --- one number of a fixpoint --------------------------------------------------------------------


@attrs.frozen
class _Round:
    """The paths of one kind through a body: how often they call self, and what else they cost."""

    returns: bool
    again: Interval
    cost: Interval


# What a fixpoint costs if it returns, and if it fails; None if it never does.
_Ends: TypeAlias = "tuple[Interval | None, Interval | None]"


def _iterate(n: int, rounds: Sequence[_Round], ends: _Ends) -> _Ends:
    # Slopes of at most 1: from the second unfolding on, what is added is the same each time.
    straight = all(each.again.most <= 1 for each in rounds)
    # At most one call fails: where returning has settled, failing adds the same each time.
    single = all(min(each.again.most, each.again.failing) <= 1 for each in rounds)
    for done in range(n):
        if straight and done == 2:
            return _extended(n - done, rounds, ends)
        before, ends = ends, _unfold(rounds, ends)
        if ends == before:
            break
        if single and ends[0] == before[0]:
            return ends[0], _failing_longer(n - done - 1, rounds, ends)
        if _is_huge(ends) or done == MOST_ROUNDS:
            return (_unbounded(ends[0]), _unbounded(ends[1]))
    return ends


def _unfold(rounds: Sequence[_Round], ends: _Ends) -> _Ends:
    """Return ``Mₖ₊₁`` for ``Mₖ``."""
    returned, failed = ends
    inner = returned or NEVER
    sums: dict[bool, list[Interval]] = {True: [], False: []}
    for each in rounds:
        least, most = each.again.least, each.again.most
        if returned is not None or least == 0:
            sums[each.returns].append(
                Interval(
                    plus(each.cost.least, times(least, inner.least)),
                    plus(each.cost.most, times(most, inner.most)),
                )
            )
        if failed is not None and most > 0:
            failing = min(most, each.again.failing)
            calls = plus(
                times(plus(most, -failing) if most != INFINITY else most, inner.most),
                times(plus(failing, -1), max(inner.most, failed.most)),
            )
            sums[False].append(Interval(0, plus(each.cost.most, plus(calls, failed.most))))
    return _hull(sums[True]), _hull(sums[False])


def _failing_longer(more: int, rounds: Sequence[_Round], ends: _Ends) -> Interval | None:
    """Return the failing end after `more` unfoldings that cost the same when they return."""
    returned, failed = ends
    if failed is None:
        return None
    inner = returned or NEVER
    added = [
        plus(each.cost.most, times(plus(each.again.most, -1), inner.most))
        for each in rounds
        if each.again.most > 0
    ]
    return Interval(0, plus(failed.most, times(more, max(added, default=0))))


def _extended(more: int, rounds: Sequence[_Round], ends: _Ends) -> _Ends:
    """Return the ends after `more` unfoldings that call self at most once, from the second on."""
    again = [each for each in rounds if each.again.most >= 1]
    returning = [each.cost.most for each in again if each.returns]
    growth = times(more, max(returning, default=0))
    failing = times(more, max((each.cost.most for each in again), default=0))
    returned, failed = ends
    if returned is not None:
        surely = [each.cost.least for each in rounds if each.returns and each.again.least >= 1]
        stops = [each.cost.least for each in rounds if each.returns and each.again.least == 0]
        least = plus(returned.least, times(more, min(surely))) if surely else returned.least
        least = min([least, *stops])
        returned = Interval(least, plus(returned.most, growth))
    if failed is not None:
        failed = Interval(0, plus(failed.most, failing))
    return returned, failed


def _hull(intervals: Sequence[Interval]) -> Interval | None:
    if not intervals:
        return None
    return Interval(min(i.least for i in intervals), max(i.most for i in intervals))


def _is_huge(ends: _Ends) -> bool:
    return any(
        end is not None and (not isinstance(end.most, int) or end.most.bit_length() > MOST_BITS)
        for end in ends
    )


def _unbounded(end: Interval | None) -> Interval | None:
    return None if end is None else Interval(end.least, INFINITY)


# --- one after the other -------------------------------------------------------------------------


class _Series(Mapping[Path, Cost]):
    """``first; second``, worked out when it is looked at.

    `then` is associative. So what follows each other is added up in pairs, these again in pairs,
    and so on: a chain of n stages takes n log n, not n², though each calls something else.
    """

    def __init__(self, first: Outcome, second: Outcome) -> None:
        self.parts: tuple[Outcome, ...] = (first, second)

    def __getitem__(self, path: Path) -> Cost:
        return self.sum()[path]

    def __iter__(self) -> Iterator[Path]:
        return iter(self.sum())

    def __len__(self) -> int:
        return len(self.sum())

    def sum(self) -> Outcome:
        """Return the sum of all parts."""
        if len(self.parts) > 1:
            parts = self._flat()
            while len(parts) > 1:
                odd = parts[-1:] if len(parts) % 2 else []
                parts = [*map(_followed, parts[::2], parts[1::2]), *odd]
            self.parts = tuple(parts)
        return self.parts[0]

    def _flat(self) -> list[Outcome]:
        """Return the parts, and those of parts that are not worked out, in order."""
        flat: list[Outcome] = []
        stack: list[Outcome] = [self]
        while stack:
            part = stack.pop()
            if isinstance(part, _Series):
                stack += reversed(part.parts)
            else:
                flat.append(part)
        return flat


def _followed(first: Outcome, second: Outcome) -> Outcome:
    """Return pairwise sums. A path that fails goes no further."""
    paths: list[tuple[Path, Cost]] = []
    for path, cost in first.items():
        if path.returns:
            paths += [(_joined(path, p), _sum(cost, c)) for p, c in second.items()]
        else:
            paths.append((path, cost))
    return _collected(paths)


# --- paths ---------------------------------------------------------------------------------------


def _joined(first: Path, second: Path, *, fork: bool = False) -> Path:
    returns = first.returns and second.returns
    if not (first.selves and second.selves):
        return Path(returns, first.selves or second.selves)
    a, b = dict(first.selves), dict(second.selves)
    selves = dict(_sum(a, b))
    if fork:
        for one in a.keys() & b.keys():
            failing = plus(a[one].failing, b[one].failing)
            selves[one] = selves[one]._replace(failing=failing)
    return Path(returns, frozenset(selves.items()))


def _sum(a: Cost, b: Cost) -> Cost:
    if not (a and b):
        return a or b
    small, large = (a, b) if len(a) < len(b) else (b, a)
    found = dict(large)
    for key, cost in small.items():
        other = found.get(key, NEVER)
        failing = max(cost.failing, other.failing)
        found[key] = Interval(plus(cost.least, other.least), plus(cost.most, other.most), failing)
    return found


def _scaled(cost: Cost, least: Count, most: Count) -> Cost:
    return {
        key: Interval(times(least, each.least), times(most, each.most), each.failing)
        for key, each in cost.items()
    }


def _union(costs: Sequence[Cost]) -> Cost:
    if len(costs) == 1:
        return costs[0]
    found = dict(costs[0])
    times = dict.fromkeys(found, 1)  # in how many of `costs` each is
    for cost in costs[1:]:
        for key, each in cost.items():
            known = found.get(key)
            times[key] = times.get(key, 0) + 1
            if known is None:
                found[key] = each
            elif known is not each:
                found[key] = Interval(
                    min(known.least, each.least),
                    max(known.most, each.most),
                    max(known.failing, each.failing),
                )
    return {k: i if times[k] == len(costs) else _perhaps(i) for k, i in found.items()}


def _perhaps(interval: Interval) -> Interval:
    return interval._replace(least=0) if interval.least else interval


def _collected(paths: Sequence[tuple[Path, Cost]]) -> Outcome:
    """Return the union of `paths`, those of one kind as one."""
    found: dict[Path, list[Cost]] = {}
    for path, cost in paths:
        found.setdefault(path, []).append(cost)
    outcome = {path: _union(costs) for path, costs in found.items()}
    if len(outcome) <= _MOST_PATHS:
        return FREE if outcome == FREE else outcome
    merged = ((returns, _one_of(outcome, returns=returns)) for returns in (True, False))
    return dict(_path(cost, returns=returns) for returns, cost in merged if cost is not None)


def _one_of(outcome: Outcome, *, returns: bool) -> Cost | None:
    """Return all paths that end in one way as one cost, in which selves are called like sites."""
    costs = [{**cost, **dict(p.selves)} for p, cost in outcome.items() if p.returns is returns]
    return _union(costs) if costs else None


def _path(cost: Cost, *, returns: bool) -> tuple[Path, Cost]:
    """Undo `_one_of`: a ``self`` is whatever is a `Self`."""
    selves = frozenset((key, each) for key, each in cost.items() if isinstance(key, Self))
    rest = {key: each for key, each in cost.items() if not isinstance(key, Self)}
    return Path(returns, selves), rest


def _prefix(path: Path, cost: Cost) -> tuple[Path, Cost]:
    """Return what a path can have cost when it fails somewhere."""
    every = {**cost, **dict(path.selves)}
    return _path({key: _perhaps(each) for key, each in every.items()}, returns=True)
