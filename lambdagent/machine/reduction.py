"""Pure core terms, reduced step by step for people: call by value, normal order, call by need.

In: a term without effects. Out: the terms it goes through, each with the place of its next redex.
The machines run programs; this one rewrites terms, so that each step can be printed.
See Note [The strategies].
"""

# Note [The strategies]
#
# cbv     leftmost innermost, never under a lambda: the order of the machine.
# normal  leftmost outermost, everywhere: it finds the normal form where there is one.
# need    normal order down to the value at the head, but an argument is evaluated once, after
#         Ariola and Felleisen. ``let x = M in t`` is ``(λx. t) M``, a binding that stays:
#             deref   let x = v in E[x]         ⟶ let x = v in E[v]
#             lift    (let x = M in t) u        ⟶ let x = M in t u,  also out of an argument of P
#             assoc   let x = (let y = M in t) in E[x] ⟶ let y = M in let x = t in E[x]
#             drop    let x = M in t            ⟶ t, where x is unused; once, at the end
#         Constants are strict: their arguments are evaluated first.
#
# Each step looks for its redex from the root: linear in the term, as is printing it.

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import ClassVar, NamedTuple, TypeAlias

import attrs

from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var, arity
from lambdagent.ir.walk import children, instantiate, nodes, rebuild, shift
from lambdagent.machine.delta import RULES, fired, operands_of

STRATEGIES = ("cbv", "normal", "need")
FUN, ARG, BODY = "fun", "arg", "body"
# Larger terms, counted as trees, are no sight for people.
LARGEST = 1_000_000

_BUILDERS = {"pair", "nil", "cons", "tag"}
_PURE = _BUILDERS | RULES.keys()


class Place(NamedTuple):
    """A subterm: `outer` is the place around it, `side` which child it is; None at the root."""

    term: Term
    outer: Place | None
    side: str


@attrs.frozen(eq=False)
class Redex:
    """Where the next step happens.

    Attributes:
        place: The subterm that is rewritten.
        rule: β, δ or μ; of call by need also deref, lift, assoc and drop.
        contractum: What it becomes.
    """

    place: Place = attrs.field(repr=False)
    rule: str
    contractum: Term = attrs.field(repr=False)

    def path(self) -> tuple[str, ...]:
        """Return the way from the root to the redex: ``fun``, ``arg`` and ``body``."""
        return tuple(place.side for place in _outwards(self.place) if place.side)[::-1]


@attrs.frozen(eq=False)
class Step:
    """A term on the way.

    Attributes:
        number: How many steps led here.
        rule: The rule of the last one; empty at the start.
        term: The term. Its redex is a node that occurs in it once.
        redex: The next redex; None where no rule applies.
        stuck: The first subterm that can never have a value, such as ``fst 1``.
        size: The number of nodes of the term as a tree; beyond `LARGEST` nobody looks further.
    """

    number: int
    rule: str
    term: Term = attrs.field(repr=False)
    redex: Redex | None
    stuck: Term | None = attrs.field(repr=False)
    size: int


def impure(root: Term) -> Prim | None:
    """Return a constant of `root` that is not for terms alone: a site, or control of effects."""
    prims = (term for term in nodes(root) if type(term) is Prim)
    return next((prim for prim in prims if prim.name not in _PURE), None)


def reduction(root: Term, strategy: str = "cbv") -> Iterator[Step]:
    """Yield `root` and each term it reduces to; the last has no redex, if there is a last.

    Args:
        root: A pure term; see `impure`.
        strategy: One of `STRATEGIES`.
    """
    term, number, rule = root, 0, ""
    while True:
        size = tree_size(term)
        search = _SEARCHES[strategy](Place(term, None, ""))
        found = search.run() if size <= LARGEST else None
        if found is None:
            yield Step(number, rule, term, None, search.misfit, size)
            return
        alone = _alone(found)
        whole = _whole(alone.place)
        yield Step(number, rule, whole, alone, None, size)
        number, rule = number + 1, alone.rule
        term = plug(alone.place, alone.contractum)


def plug(place: Place, term: Term) -> Term:
    """Return the whole term with `term` in `place`."""
    while place.outer is not None:
        outer = place.outer.term
        if type(outer) is Lam:
            term = Lam(term, outer.name)
        elif type(outer) is App:
            left, right = (term, outer.arg) if place.side == FUN else (outer.fun, term)
            term = App(left, right, outer.label)
        place = place.outer
    return term


def tree_size(root: Term) -> int:
    """Return the number of nodes of `root`, shared ones counted each time."""
    sizes: dict[int, int] = {}
    for term in nodes(root):
        sizes[id(term)] = 1 + sum(sizes[id(child)] for child in children(term))
    return sizes[id(root)]


def _alone(redex: Redex) -> Redex:
    """Return `redex` in a term where its node, and all around it, occur once."""
    places = list(_outwards(redex.place))
    term = _copy(places[0].term)
    copies = [term]
    for inner, outer in pairwise(places):
        around = outer.term
        if type(around) is Lam:
            term = Lam(term, around.name)
        elif type(around) is App:
            left, right = (term, around.arg) if inner.side == FUN else (around.fun, term)
            term = App(left, right, around.label)
        copies.append(term)
    place: Place | None = None
    for copy, old in zip(reversed(copies), reversed(places), strict=True):
        place = Place(copy, place, old.side)
    assert place is not None
    return Redex(place, redex.rule, redex.contractum)


def _copy(term: Term) -> Term:
    if type(term) is App:
        return App(term.fun, term.arg, term.label)
    return Var(term.index, term.name) if type(term) is Var else term


def _whole(place: Place) -> Term:
    for outermost in _outwards(place):
        place = outermost
    return place.term


def _outwards(place: Place) -> Iterator[Place]:
    here: Place | None = place
    while here is not None:
        yield here
        here = here.outer


# --- the rules -----------------------------------------------------------------------------------


def _spine(place: Place) -> tuple[Place, list[Place]]:
    """Return the place of the head, and those of the applications, innermost first."""
    applications = []
    while type(place.term) is App:
        applications.append(place)
        place = Place(place.term.fun, place, FUN)
    return place, applications[::-1]


def _arguments(applications: list[Place]) -> list[Term]:
    return [place.term.arg for place in applications if type(place.term) is App]


# --- the search for the next redex ---------------------------------------------------------------

_Task: TypeAlias = Callable[[], Redex | None]


@attrs.frozen(eq=False)
class _Search:
    """What is still to be looked at, the next one last."""

    shared: ClassVar[bool] = False

    root: Place
    todo: list[_Task] = attrs.field(factory=list)
    misfits: list[Term] = attrs.field(factory=list)

    @property
    def misfit(self) -> Term | None:
        return self.misfits[0] if self.misfits else None

    def run(self) -> Redex | None:
        self.look(self.root)
        while self.todo:
            found = self.todo.pop()()
            if found is not None:
                return found
        return None

    def look(self, place: Place) -> None:
        self.todo.append(lambda: self.visit(place))

    def visit(self, place: Place) -> Redex | None:
        raise NotImplementedError

    def fire(self, head: Term, applications: list[Place]) -> Redex | None:
        """Return the redex that is the whole of `applications`, if it is one."""
        args = _arguments(applications)
        if not args:
            return None
        place = applications[-1]
        if type(head) is Lam and len(args) == 1:
            return Redex(place, "β", instantiate(head.body, args[0]))
        if type(head) is Lit:
            self.misfits.append(place.term)
        if type(head) is Prim and len(args) == operands_of(head):
            found = fired(head, args, shared=self.shared)
            if found:
                return Redex(place, *found)
        return None

    def note_misfit(self, head: Term, applications: list[Place]) -> None:
        """Remember a constant whose operand is a value that does not fit."""
        if type(head) is not Prim:
            return
        count = arity(head)
        if head.name in RULES and head.name != "fix" and len(applications) >= count:
            place = applications[count - 1]
            if _is_value(_arguments(applications)[0]):
                self.misfits.append(place.term)
        elif len(applications) > operands_of(head):
            self.misfits.append(applications[-1].term)


def _is_value(term: Term) -> bool:
    """Whether `term`, in which no redex is left, is a value: no variable is its head."""
    count = 0
    while type(term) is App:
        count, term = count + 1, term.fun
    if count == 0:
        return type(term) is not Var
    if type(term) is not Prim:
        return False
    if term.name in _BUILDERS or term.name == "fix":
        return count <= arity(term)
    return count < arity(term)


class _ByValue(_Search):
    """Leftmost innermost, not under lambdas."""

    def visit(self, place: Place) -> Redex | None:
        head, applications = _spine(place)
        operands = operands_of(head.term) if type(head.term) is Prim else 1
        for count in range(len(applications), 0, -1):
            application = applications[count - 1]
            assert type(application.term) is App
            if count in {1, operands, operands + 1}:  # elsewhere nothing happens
                self.todo.append(lambda n=count: self.fired(head.term, applications[:n]))  # type: ignore[misc]
            self.look(Place(application.term.arg, application, ARG))
        return None

    def fired(self, head: Term, applications: list[Place]) -> Redex | None:
        found = self.fire(head, applications)
        if found is None:
            self.note_misfit(head, applications)
            if self.misfits:
                self.todo.clear()
        return found


class _Normal(_Search):
    """Leftmost outermost, everywhere."""

    def visit(self, place: Place) -> Redex | None:
        if type(place.term) is Lam:
            self.look(Place(place.term.body, place, BODY))
            return None
        head, applications = _spine(place)
        if not applications:
            return None
        operands = operands_of(head.term) if type(head.term) is Prim else 1
        found = self.fire(head.term, applications[:operands])
        if found is None:
            self.todo.append(lambda: self.note_misfit(head.term, applications))
            for application in reversed(applications):
                assert type(application.term) is App
                self.look(Place(application.term.arg, application, ARG))
        return found


class _ByNeed(_Search):
    """To the value at the head; what is bound by a ``let`` is evaluated once, when demanded."""

    shared: ClassVar[bool] = True

    def run(self) -> Redex | None:
        return super().run() or self.drop()

    def visit(self, place: Place) -> Redex | None:
        head, applications = _spine(place)
        if type(head.term) is Lam and applications:
            if len(applications) > 1:
                return self.lift_head(head.term, applications)
            self.look(Place(head.term.body, head, BODY))
        elif type(head.term) is Var:
            self.demand(head)
        elif type(head.term) is Prim:
            self.operands(head.term, applications)
        elif applications:
            self.misfits.append(applications[0].term)
        return None

    def lift_head(self, head: Lam, applications: list[Place]) -> Redex:
        value, argument = _arguments(applications[:2])
        body = App(head.body, shift(argument, 1))
        return Redex(applications[1], "lift", App(Lam(body, head.name), value))

    def demand(self, place: Place) -> None:
        """Look for the value of the variable in `place`."""
        assert type(place.term) is Var
        index, binding = place.term.index, _binding(place)
        if binding is None:
            return  # free
        assert type(binding.term) is App
        value = Place(binding.term.arg, binding, ARG)
        self.todo.append(lambda: self.deref(place, value.term, index + 1))
        if _is_let(value.term):
            self.todo.append(lambda: _assoc(binding))
        else:
            self.look(value)

    def deref(self, place: Place, value: Term, depth: int) -> Redex | None:
        if _is_value(value) or type(value) is Var:
            return Redex(place, "deref", shift(value, depth))
        return None

    def operands(self, head: Prim, applications: list[Place]) -> None:
        operands = operands_of(head)
        strict = applications[: arity(head)]
        self.todo.append(lambda: self.constant(head, applications[:operands], applications))
        for count in range(len(strict), 0, -1):
            application = strict[count - 1]
            assert type(application.term) is App
            if _is_let(application.term.arg):
                self.todo.append(lambda here=application: _lift_argument(here))  # type: ignore[misc]
            else:
                self.look(Place(application.term.arg, application, ARG))

    def constant(self, head: Prim, fit: list[Place], applications: list[Place]) -> Redex | None:
        found = self.fire(head, fit) if fit else None
        if found is None:
            self.note_misfit(head, applications)
        return found

    def drop(self) -> Redex | None:
        """Return the step that removes all bindings that nothing uses."""
        term = self.root.term
        bindings: list[tuple[str, Term]] = []
        while type(term) is App and type(term.fun) is Lam:
            bindings.append((term.fun.name, term.arg))
            term = term.fun.body
        dropped = False
        for name, value in reversed(bindings):
            if _uses_innermost(term):
                term = App(Lam(term, name), value)
            else:
                term, dropped = shift(term, -1), True
        return Redex(self.root, "drop", term) if dropped else None


def _is_let(term: Term) -> bool:
    return type(term) is App and type(term.fun) is Lam


def _binding(place: Place) -> Place | None:
    """Return the ``let`` that binds the variable in `place`; None where it is free."""
    assert type(place.term) is Var
    left = place.term.index
    for here in _outwards(place):
        if here.side == BODY:
            if left == 0:
                return here.outer.outer if here.outer else None
            left -= 1
    return None


def _assoc(binding: Place) -> Redex:
    outer = binding.term
    assert type(outer) is App
    inner = outer.arg
    assert type(outer.fun) is Lam
    assert type(inner) is App
    assert type(inner.fun) is Lam
    # The body of the outer let moves under one more binder, outside of its own.
    user = shift(outer.fun, 1)
    body = App(user, inner.fun.body)
    return Redex(binding, "assoc", App(Lam(body, inner.fun.name), inner.arg))


def _lift_argument(application: Place) -> Redex:
    term = application.term
    assert type(term) is App
    inner = term.arg
    assert type(inner) is App
    assert type(inner.fun) is Lam
    body = App(shift(term.fun, 1), inner.fun.body)
    return Redex(application, "lift", App(Lam(body, inner.fun.name), inner.arg))


def _uses_innermost(body: Term) -> bool:
    found: list[Var] = []

    def look(var: Var, depth: int) -> Term:
        if var.index == depth:
            found.append(var)
        return var

    rebuild(body, look)
    return bool(found)


_SEARCHES: dict[str, Callable[[Place], _Search]] = {
    "cbv": _ByValue,
    "normal": _Normal,
    "need": _ByNeed,
}
