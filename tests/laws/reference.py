"""The meaning of core terms by substitution: leftmost call-by-value small steps.

Written from semantics.md §2–3.4 and §7 and not from the machine: no environment and no
continuation; each step finds the leftmost redex of the whole term and replaces it. What is running
is a term too:

    retry[r] f P h x y      a guard whose agent is running; `y` is what runs
    check[r] f P h x y b    a guard whose predicate is running
    forked[m] (λ_.t) …      a `par` whose branches run; m is the clock of the fork
    mapped[m] (λ_.t) …      the same for `pmap`
    fail e                  a thread that failed

Only the functions of host and store sites, and the decoding of answers are the
machine's.
"""

from collections.abc import Sequence
from typing import Any

import attrs

from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term
from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.walk import instantiate, shift
from lambdagent.machine.answers import decode_answer
from lambdagent.machine.cells import merge
from lambdagent.machine.link import Linked
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import Kind, Path
from lambdagent.machine.values import Noted, inject, list_value, pair, project, tagged
from tests.laws.observe import Oracle
from tests.laws.terms import spine

# With how many operands a constant has something to do; a value has fewer.
_FIRES = {
    "pair": 3, "cons": 3, "nil": 1, "tag": 2, "fix": 3, "guard": 4, "retry": 5, "check": 6,
    "fst": 1, "snd": 1, "if": 3, "pmap": 2, "site": 1, "catch": 2, "succ": 1, "fail": 2,
}  # fmt: skip
_THREADS = {"forked", "mapped"}


class StuckTermError(AssertionError):
    """No rule applies, which cannot happen to typed terms."""


def parts(term: Term) -> tuple[Term, list[Term]]:
    """Return the head of an application and its operands."""
    operands = []
    while isinstance(term, App):
        operands.append(term.arg)
        term = term.fun
    return term, operands[::-1]


def fires_at(head: Term) -> int:
    """Return with how many operands `head` has something to do."""
    if not isinstance(head, Prim):
        return 1
    if head.name in {"par", *_THREADS}:
        return int(str(head.params[-1]))
    if head.name == "case":
        labels = head.params[0]
        assert isinstance(labels, tuple)
        return 1 + len(labels)
    return _FIRES[head.name]


def is_value(root: Term) -> bool:
    """Whether nothing is left to do in a closed term."""
    stack = [root]
    while stack:
        head, operands = parts(stack.pop())
        if len(operands) >= fires_at(head):
            return False
        stack += operands
    return True


def is_done(thread: Term) -> bool:
    """Whether a branch, given as its thunk, has a value or has failed."""
    return is_value(body_of(thread))


def body_of(thunk: Term) -> Term:
    """Return what a lazy operand does when it is entered."""
    return instantiate(thunk.body, Lit(UNIT)) if isinstance(thunk, Lam) else App(thunk, Lit(UNIT))


def failure_of(term: Term) -> Lit | None:
    """Return the error of a failed thread."""
    match term:
        case App(Prim("fail"), Lit() as error):
            return error
    return None


@attrs.frozen
class Spot:
    """A redex, and the way to it.

    Attributes:
        redex: Head and operands.
        around: What stands around it, innermost last: (head, operands, which).
        path: The thread that it is in.
    """

    head: Prim | Lam | Lit
    operands: list[Term]
    around: list[tuple[Term, list[Term], int]]
    path: Path

    def plug(self, focus: Term, *, above: int = 0) -> Term:
        """Return the whole term with `focus` in place of the redex, or of an outer frame."""
        for head, operands, at in reversed(self.around[: len(self.around) - above]):
            if at < 0:
                focus = spine(focus, *operands)
                continue
            inner = Lam(shift(focus, 1), "_") if _is_lazy(head) else focus
            focus = spine(head, *operands[:at], inner, *operands[at + 1 :])
        return focus


def _is_lazy(head: Term) -> bool:
    return isinstance(head, Prim) and head.name in {"catch", "par", *_THREADS}


def find(root: Term, *, unforked: bool = True) -> Spot | None:
    """Return the leftmost redex of a closed term under call-by-value; None for a value.

    Args:
        root: A closed term.
        unforked: Whether a `par` without the mark of a fork may be running; else it is a redex.
    """
    term, path = root, ()
    around: list[tuple[Term, list[Term], int]] = []
    while True:
        head, operands = parts(term)
        count = fires_at(head)
        at = next((i for i, each in enumerate(operands[:count]) if not is_value(each)), None)
        if at is not None:
            around.append((head, operands, at))
            term = operands[at]
            continue
        if len(operands) < count:
            return None
        if len(operands) > count:
            around.append((head, operands[count:], -1))
            operands = operands[:count]
        waits = isinstance(head, Prim) and head.name == "par" and not unforked
        inside = None if waits else _running(head, operands)
        if inside is None:
            assert isinstance(head, Prim | Lam | Lit)
            return Spot(head, operands, around, path)
        if isinstance(head, Prim) and head.name in _THREADS:
            path = (*path, int(str(head.params[0])), inside)
        around.append((head, operands, inside))
        term = body_of(operands[inside])


def _running(head: Term, operands: list[Term]) -> int | None:
    """Return which lazy operand is under way, if one is."""
    if not isinstance(head, Prim):
        return None
    if head.name == "catch":
        return None if is_done(operands[0]) else 0
    if head.name in {"par", *_THREADS}:
        return next((i for i, each in enumerate(operands) if not is_done(each)), None)
    return None


# --- equations -----------------------------------------------------------------------------------


def shown(root: Term) -> Term:
    """Return a running term without the marks of forks, as `Readback.unload` shows it."""
    spot, marked = None, root
    # From the outside in: the marks lie on the way to the redex only.
    while True:
        spot = _marked(marked)
        if spot is None:
            return marked
        marked = spot


def _marked(root: Term) -> Term | None:
    """Return `root` with its outermost mark replaced."""
    term = root
    around: list[tuple[Term, list[Term], int]] = []
    while True:
        head, operands = parts(term)
        if isinstance(head, Prim) and head.name in _THREADS:
            new: Term = spine(Prim("par", (head.params[1],)), *operands)
            if head.name == "mapped":
                new = Prim("nil")
                for each in reversed(operands):
                    new = spine(Prim("cons"), body_of(each), new)
            return Spot(Lit(None), [], [*around], ()).plug(new)
        at = next((i for i, each in enumerate(operands) if not is_value(each)), None)
        if at is None and isinstance(head, Prim) and head.name in {"catch", "par"}:
            at = _running(head, operands)
        if at is None:
            return None
        around.append((head, operands, at))
        term = body_of(operands[at]) if _is_lazy(head) and is_value(operands[at]) else operands[at]


def settled(term: Term) -> Term:
    """Return `term` after the equations that administrative transitions may use, at its redex.

    guard[r] f P h v = retry[r] f P h v (f v)       retry[r] f P h x y = check[r] f P h x y (P y)
    catch (λ_. v) h = v                                par[k] (λ_. v₁) … = ⟨v₁, …⟩
    catch (λu. t) h = catch (λ_. t[u := ()]) h
    """
    while (spot := find(term)) is not None:
        after = _equal(spot)
        if after is None:
            return spot.plug(spine(spot.head, *spot.operands))
        term = spot.plug(after)
    return term


def _equal(spot: Spot) -> Term | None:
    """Return what the equations make of the redex."""
    match spot.head, spot.operands:
        case Prim("guard", params), [f, p, h, v]:
            return spine(Prim("retry", params), f, p, h, v, App(f, v))
        case Prim("retry", params), [f, p, h, x, y]:
            return spine(Prim("check", params), f, p, h, x, y, App(p, y))
        case Prim("catch"), [thunk, _] if is_done(thunk):
            return body_of(thunk)
        case Prim("par" | "forked" | "mapped" as name), threads if all(map(is_done, threads)):
            bodies = [body_of(each) for each in threads]
            if any(failure_of(each) for each in bodies):
                return None
            return _list(bodies) if name == "mapped" else _tuple(bodies)
    return None


def _tuple(items: Sequence[Term]) -> Term:
    result = items[-1]
    for item in reversed(items[:-1]):
        result = spine(Prim("pair"), item, result)
    return result


def _list(items: Sequence[Term]) -> Term:
    result: Term = Prim("nil")
    for item in reversed(items):
        result = spine(Prim("cons"), item, result)
    return result


# --- values --------------------------------------------------------------------------------------


def to_machine(root: Term) -> Any:
    """Return a first-order value as the machine writes it; functions become a mark."""
    done: dict[int, Any] = {}
    stack = [(root, False)]
    while stack:
        term, ready = stack.pop()
        head, operands = parts(term)
        if not ready:
            stack.append((term, True))
            stack += [(each, False) for each in operands]
        else:
            done[id(term)] = _machine_value(head, [done[id(each)] for each in operands])
    return done[id(root)]


def _machine_value(head: Term, items: list[Any]) -> Any:
    match head, items:
        case Lit(value), []:
            return inject(value)
        case Prim("pair"), [left, right]:
            return pair(left, right)
        case Prim("cons"), [first, (1 | 2, *_) as rest]:
            return (1, first, rest)
        case Prim("nil"), []:
            return list_value([])
        case Prim("tag", (labels, index)), [payload]:
            return tagged(labels, index, payload)
    return (4,)  # a closure: projects to `<function>`


# --- evaluation ----------------------------------------------------------------------------------


class Evaluation:
    """A run by substitution, one contraction at a time."""

    def __init__(self, linked: Linked, value: Data, oracle: Oracle) -> None:
        self.term: Term = App(linked.program.term, Lit(value))
        self.counters = [0] * len(Kind)
        self.log: list[tuple[Path, str, Data]] = []
        self._linked = linked
        self._oracle = oracle
        self._reader = Readback.of(linked)
        self._clocks: dict[Path, int] = {(): 0}
        self.stores: dict[Path, Any] = {(): {}}

    def contract(self) -> Kind | None:
        """Contract the leftmost redex.

        Returns:
            Its kind; None for a step of no kind: an equation was used or an error raised. At the
            end nothing happens.
        """
        spot = find(self.term, unforked=False)
        if spot is None:
            return None
        kind, new = self._contracted(spot)
        self.term = new
        if kind is not None:
            self.counters[kind] += 1
        return kind

    @property
    def finished(self) -> bool:
        return find(self.term, unforked=False) is None

    def _contracted(self, spot: Spot) -> tuple[Kind | None, Term]:
        pure = _pure_contraction(spot)
        if pure is not None:
            return pure[0], spot.plug(pure[1])
        match spot.head, spot.operands:
            case Prim("par"), thunks:
                return Kind.PI, spot.plug(self._fork(spot.path, "forked", thunks))
            case Prim("pmap"), [function, items]:
                thunks = [Lam(shift(App(function, each), 1), "_") for each in _items(items)]
                return Kind.PI, spot.plug(self._fork(spot.path, "mapped", thunks))
            case Prim("site", (str(name),)), [argument]:
                return self._effect(spot, name, argument)
        if isinstance(spot.head, Prim) and spot.head.name in _THREADS:
            return None, self._join(spot)
        after = _equal(spot)
        if after is None:
            raise StuckTermError(spot.head, spot.operands)
        return None, spot.plug(after)

    # sites

    def _effect(self, spot: Spot, name: str, argument: Term) -> tuple[Kind | None, Term]:
        linked, path = self._linked.sites[name], spot.path
        key = (*path, self._clocks[path])
        value = to_machine(argument)
        if linked.host is not None:
            found = linked.host(value)
            found = found.value if isinstance(found, Noted) else found
            return Kind.DELTA, spot.plug(self._reader.term(found))
        if linked.store is not None:
            cells = self.stores[path]
            answer, after = linked.store(cells.get(linked.cell), value)
            if after is not cells.get(linked.cell):
                self.stores[path] = {**cells, linked.cell: after}
            return Kind.EPSILON, spot.plug(self._reader.term(answer))
        static = linked.site.static
        if linked.site.kind == "fail":
            failure = Failure(str(static["error"]), str(static["message"]), project(value))
            return None, self._raise(spot, _error(failure, name, key))
        answer = self._oracle(key, name, project(value))
        self.log.append((key, name, project(value)))
        self._clocks[path] += 1
        decoded = decode_answer(linked.site, answer)
        if isinstance(decoded, Failure):
            return Kind.EPSILON, self._raise(spot, _error(decoded, name, key))
        return Kind.EPSILON, spot.plug(self._reader.term(decoded))

    def _raise(self, spot: Spot, error: Lit) -> Term:
        """``fail e, K[catch □ h] ⟶ h e, K`` inside one thread; else the thread is ``fail e``."""
        for above, (head, operands, _) in enumerate(reversed(spot.around), start=1):
            if isinstance(head, Prim) and head.name == "catch" and len(operands) == 2:
                return spot.plug(App(operands[1], error), above=above)
            if isinstance(head, Prim) and head.name in _THREADS:
                return spot.plug(App(Prim("fail"), error), above=above - 1)
        return App(Prim("fail"), error)

    # threads

    def _fork(self, path: Path, name: str, thunks: Sequence[Term]) -> Term:
        clock = self._clocks[path]
        self._clocks[path] += 1
        for i in range(len(thunks)):
            self._clocks[*path, clock, i] = 0
            self.stores[*path, clock, i] = self.stores[path]
        branches = (Lam(shift(body_of(each), 1), "_") for each in thunks)
        return spine(Prim(name, (clock, len(thunks))), *branches)

    def _join(self, spot: Spot) -> Term:
        assert isinstance(spot.head, Prim)
        clock = int(str(spot.head.params[0]))
        paths = [(*spot.path, clock, i) for i in range(len(spot.operands))]
        stores = [self.stores.pop(each) for each in paths]
        self.stores[spot.path] = merge(self.stores[spot.path], stores)
        after = _equal(spot)
        if after is not None:
            return spot.plug(after)
        errors = filter(None, (failure_of(body_of(each)) for each in spot.operands))
        return self._raise(spot, next(errors))


def _pure_contraction(spot: Spot) -> tuple[Kind, Term] | None:
    match spot.head, spot.operands:
        case Lam(body), [value]:
            return Kind.BETA, instantiate(body, value)
        case Prim("fst"), [App(App(Prim("pair"), left), _)]:
            return Kind.DELTA, left
        case Prim("snd"), [App(App(Prim("pair"), _), right)]:
            return Kind.DELTA, right
        case Prim("if"), [Lit(bool(condition)), then, otherwise]:
            return Kind.DELTA, body_of(then if condition else otherwise)
        case Prim("case", (labels,)), [App(Prim("tag", (others, int(i))), payload), *branches]:
            assert labels == others
            branch = branches[i]
            entered = isinstance(branch, Lam)
            return Kind.DELTA, (
                instantiate(branch.body, payload) if entered else App(branch, payload)
            )
        case Prim("succ"), [Lit(int(number))]:
            return Kind.DELTA, Lit(number + 1)
    return _bounded_contraction(spot)


def _bounded_contraction(spot: Spot) -> tuple[Kind, Term] | None:
    match spot.head, spot.operands:
        case Prim("fix", (0,)), [_, exhausted, value]:
            return Kind.MU, App(exhausted, value)
        case Prim("fix", (int(n),)), [body, exhausted, value]:
            return Kind.MU, spine(body, spine(Prim("fix", (n - 1,)), body, exhausted), value)
        case Prim("check"), [_, _, _, _, answer, Lit(True)]:
            return Kind.GAMMA, answer
        case Prim("check", (0,)), [_, _, h, _, answer, Lit(False)]:
            return Kind.GAMMA, App(h, answer)
        case Prim("check", (int(r),)), [f, p, h, x, _, Lit(False)]:
            return Kind.GAMMA, spine(Prim("retry", (r - 1,)), f, p, h, x, App(f, x))
    return None


def _items(term: Term) -> list[Term]:
    items = []
    while isinstance(term, App):
        assert isinstance(term.fun, App)
        items.append(term.fun.arg)
        term = term.arg
    return items


def _error(failure: Failure, site: str, key: Path) -> Lit:
    return Lit(
        Record(kind=failure.kind, message=failure.message, site=site, key=key, data=failure.data)
    )
