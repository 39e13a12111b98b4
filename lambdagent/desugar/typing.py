"""Types of what a program hands to its sites, for the border between pure λ and the machine.

Unification over the term; a definition that mentions no site may have many types. A type may
contain itself, so untyped recursion passes. What stays unknown is opaque data.

Numbers and lists that come from outside are encoded where the term takes them apart, by ``succ``
or ``pmap``, and are opaque elsewhere. Nothing in a core term takes a text apart.

Source: semantics.md §2 (types), §10 (ABI).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import attrs

from lambdagent.ir.abi import DATA, LARGEST_NUMERAL
from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import integer_text
from lambdagent.ir.labels import FITTING, OTHER, ROUND_LABELS, VERDICT, action_labels
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.ir.walk import children, nodes, reaches
from lambdagent.messages import phrase

# A literal that nothing counts with is written as a numeral up to here, as an atom beyond; all are
# atoms where they would be too large together.
_MOST_COUNTED = 1000
# Types of lowered programs are as deep as their tuples are long.
_DEEPEST, _LARGEST = 200, 10_000
# Most times that a definition gets another type; after that all its uses share one.
_MOST_INSTANCES = 20_000
# Types of which the world's values are atoms, unless the term takes them apart.
_CLOSED = {"nat", "text", "list"}
_BOOLEAN = {"predicate", "stop", "truth", "conv.over"}


class NoTypeError(ValueError):
    """A value is used as two different things, so its encoding cannot be told apart."""


class _Type:
    """A node of the graph of types: unknown, or ``(constructor, parts)``; `link` once merged.

    `opened` tells whether the term takes values of the type apart: numbers and lists.
    """

    __slots__ = ("head", "link", "opened", "parts")

    def __init__(self, head: Any = None, *parts: _Type, opened: bool = False) -> None:
        self.head = head
        self.parts = parts
        self.link: _Type | None = None
        self.opened = opened


def _find(kind: _Type) -> _Type:
    while kind.link is not None:
        if kind.link.link is not None:
            kind.link = kind.link.link
        kind = kind.link
    return kind


def _unify(left: _Type, right: _Type) -> None:
    stack = [(left, right)]
    while stack:
        a, b = map(_find, stack.pop())
        if a is b:
            continue
        if a.head is None:
            a.link = b
        elif b.head is None:
            b.link = a
        elif a.head == b.head:
            a.link = b
            b.opened |= a.opened
            stack.extend(zip(a.parts, b.parts, strict=True))
        else:
            what = phrase(
                "a value is {first} in one place and {second} in another",
                first=_shown(a),
                second=_shown(b),
            )
            raise NoTypeError(what)


def _shown(kind: _Type) -> str:
    return "a choice" if isinstance(kind.head, tuple) else f"a {kind.head}"


def _fun(*kinds: _Type) -> _Type:
    *given, result = kinds
    for kind in reversed(given):
        result = _Type("function", kind, result)
    return result


def _branch(result: _Type) -> _Type:
    """Return the type of a branch, which gets ``()`` when it is entered."""
    return _fun(_Type("unit"), result)


@attrs.frozen(eq=False)
class Types:
    """What was found.

    Attributes:
        input: The type of the program's argument, for encoding.
        answer: The type of its result, for decoding.
        encoded: Identities of the numbers and texts that are no atoms.
    """

    input: Data
    answer: Data
    encoded: frozenset[int]
    _sites: dict[str, tuple[_Type, _Type]]

    def arg(self, site: str) -> Data:
        """Return the type of the arguments of `site`, for decoding."""
        return _data(self._sites[site][0]) if site in self._sites else DATA

    def result(self, site: str) -> Data:
        """Return the type of the answers of `site`, for encoding."""
        return _data(self._sites[site][1], opened=True) if site in self._sites else DATA


def infer(program: Program) -> Types:
    """Return the types at the borders of `program`.

    Raises:
        NoTypeError: There are none.
    """
    inference = _Inference(program)
    given, answer = _Type(), _Type()
    inference.visit(program.term, _fun(given, answer))
    encoded = inference.settle()
    return Types(_data(given, opened=True), _data(answer), encoded, inference.sites)


class _Inference:
    def __init__(self, program: Program) -> None:
        self.table = program.sites
        self.sites: dict[str, tuple[_Type, _Type]] = {}
        self.literals: dict[int, _Type] = {}
        self.open: list[Lit] = []  # numbers and texts: atoms where another type is wanted

    def visit(  # noqa: C901, PLR0912 - one branch for each shape
        self, root: Term, kind: _Type
    ) -> None:
        closed, free = _closed(root)
        instances = 0
        seen: dict[tuple[int, int], _Type] = {}
        envs: list[Any] = [()]  # kept alive, since they are told apart by identity
        stack: list[tuple[Term, Any, _Type]] = [(root, envs[0], kind)]
        while stack:
            term, env, kind = stack.pop()
            if type(term) in {App, Lam}:
                instances += id(term) in free
                key = (id(term), 0 if id(term) in closed else id(env))
                if id(term) not in free or instances > _MOST_INSTANCES:
                    if key in seen:
                        _unify(seen[key], kind)
                        continue
                    seen[key] = kind
            if type(term) is App and type(term.fun) is Lam and _is_definition(term.arg, free):
                envs.append((term.arg, env))
                stack.append((term.fun.body, envs[-1], kind))
            elif type(term) is App:
                arg = _Type()
                stack += [(term.arg, env, arg), (term.fun, env, _fun(arg, kind))]
            elif type(term) is Lam:
                given, result = _Type(), _Type()
                _unify(kind, _fun(given, result))
                envs.append((given, env))
                stack.append((term.body, envs[-1], result))
            elif type(term) is Var:
                for _ in range(term.index):
                    env = env[1]
                if isinstance(env[0], _Type):
                    _unify(env[0], kind)
                else:
                    stack.append((env[0], (), kind))
            elif type(term) is Lit:
                _unify(self.literal(term), kind)
            elif type(term) is Prim:
                _unify(self.constant(term), kind)

    def literal(self, term: Lit) -> _Type:
        if id(term) not in self.literals:
            self.literals[id(term)] = _Type(_literal_head(term.value))
            if isinstance(term.value, str) or (type(term.value) is int and term.value >= 0):
                self.open.append(term)
        return self.literals[id(term)]

    def constant(self, term: Prim) -> _Type:
        name, params = term.name, term.params
        match name, params:
            case "site", (str(site),):
                return self.site(self.table[site])
            case "tag", (tuple(labels), int(index)):
                parts = [_Type() for _ in labels]
                return _fun(parts[index], _Type(("sum", *labels), *parts))
            case "case", (tuple(labels),):
                parts, result = [_Type() for _ in labels], _Type()
                branches = [_fun(part, result) for part in parts]
                return _fun(_Type(("sum", *labels), *parts), *branches, result)
            case "par", (int(count),):
                parts = [_Type() for _ in range(count)]
                result = parts[-1]
                for part in reversed(parts[:-1]):
                    result = _Type("pair", part, result)
                return _fun(*map(_branch, parts), result)
        return _SCHEMES[name]()

    def site(self, site: Site) -> _Type:
        if site.kind == "fail":
            if site.name not in self.sites:
                self.sites[site.name] = (_Type(), _Type())
            return _fun(self.sites[site.name][0], _Type())
        if site.name not in self.sites:
            self.sites[site.name] = (_Type(), _result(site))
        return _fun(*self.sites[site.name])

    def settle(self) -> frozenset[int]:
        """Return which literals are encoded, those whose type nothing else tells included.

        Raises:
            NoTypeError: A number is too large to count with.
        """
        encoded = set()
        small = _MOST_COUNTED if self._passed_along() <= LARGEST_NUMERAL else -1
        for term in self.open:
            kind, value = _find(self.literals[id(term)]), term.value
            if isinstance(value, str):
                own, fits = "text", True
            else:
                most = LARGEST_NUMERAL if kind.opened else small
                own, fits = "nat", cast("int", value) <= most
            if kind.head is None and fits:
                kind.head = own
            if kind.head == own and fits:
                encoded.add(id(term))
            elif kind.head == own and kind.opened:
                number = integer_text(cast("int", value))
                what = phrase(
                    "numerals end at {largest}, and it counts with {number}",
                    largest=f"{LARGEST_NUMERAL:,}",
                    number=number,
                )
                raise NoTypeError(what)
        return frozenset(encoded)

    def _passed_along(self) -> int:
        """Return the sum of the small numbers that nothing counts with."""
        numbers = (
            term.value
            for term in self.open
            if type(term.value) is int and not _find(self.literals[id(term)]).opened
        )
        return sum(number for number in numbers if number <= _MOST_COUNTED)


def _literal_head(value: object) -> str | None:
    if value is UNIT:
        return "unit"
    return "bool" if isinstance(value, bool) else None


def _result(site: Site) -> _Type:
    """Return the type of the answers of a site, which its kind tells."""
    if site.kind in _BOOLEAN:
        return _Type("bool")
    labels: tuple[Any, ...] = ()
    if site.kind == "action":
        tools = site.static["tools"]
        labels = action_labels(tuple(map(str, tools)) if isinstance(tools, tuple) else ())
        labels = ROUND_LABELS if site.static.get("several") else labels
    elif site.kind == "confirm":
        labels = VERDICT
    elif site.kind == "fits":
        labels = FITTING
    elif site.kind == "label":
        given = site.static["labels"]
        labels = (*given, OTHER) if isinstance(given, tuple) else ()
    return _Type(("sum", *labels), *(_Type() for _ in labels)) if labels else _Type()


def _pair_scheme() -> _Type:
    a, b = _Type(), _Type()
    return _fun(a, b, _Type("pair", a, b))


def _fst_scheme() -> _Type:
    a, b = _Type(), _Type()
    return _fun(_Type("pair", a, b), a)


def _snd_scheme() -> _Type:
    a, b = _Type(), _Type()
    return _fun(_Type("pair", a, b), b)


def _cons_scheme() -> _Type:
    a = _Type()
    items = _Type("list", a)
    return _fun(a, items, items)


def _if_scheme() -> _Type:
    a = _Type()
    return _fun(_Type("bool"), _branch(a), _branch(a), a)


def _fix_scheme() -> _Type:
    agent = _fun(_Type(), _Type())
    return _fun(_fun(agent, agent), agent, agent)


def _guard_scheme() -> _Type:
    a, b = _Type(), _Type()
    return _fun(_fun(a, b), _fun(b, _Type("bool")), _fun(b, b), a, b)


def _pmap_scheme() -> _Type:
    a, b = _Type(), _Type()
    return _fun(_fun(a, b), _Type("list", a, opened=True), _Type("list", b))


def _catch_scheme() -> _Type:
    a = _Type()
    return _fun(_branch(a), _fun(_Type(), a), a)


_SCHEMES: Mapping[str, Callable[[], _Type]] = {
    "pair": _pair_scheme,
    "fst": _fst_scheme,
    "snd": _snd_scheme,
    "nil": lambda: _Type("list", _Type()),
    "cons": _cons_scheme,
    "if": _if_scheme,
    "fix": _fix_scheme,
    "guard": _guard_scheme,
    "pmap": _pmap_scheme,
    "catch": _catch_scheme,
    "succ": lambda: _fun(_Type("nat", opened=True), _Type("nat")),
}


def _is_definition(term: Term, free: set[int]) -> bool:
    return type(term) is Lam and id(term) in free


def _closed(root: Term) -> tuple[set[int], set[int]]:
    """Return the identities of the closed nodes of `root`, and of those that mention no site."""
    asks: set[int] = set()
    for term in nodes(root):
        is_site = type(term) is Prim and term.name == "site"
        if is_site or any(id(child) in asks for child in children(term)):
            asks.add(id(term))
    closed = {number for number, most in reaches(root).items() if not most}
    return closed, closed - asks


def _data(kind: _Type, *, opened: bool = False) -> Data:
    """Return a type as data.

    Args:
        kind: A type.
        opened: Whether numbers, texts and lists that the term does not take apart are opaque.

    Raises:
        NoTypeError: It contains itself, or is too large.
    """
    left = _LARGEST

    def shown(kind: _Type, depth: int) -> Data:
        nonlocal left
        left -= 1
        if depth > _DEEPEST or left < 0:
            what = phrase("a value that crosses the border may contain values of its own type")
            raise NoTypeError(what)
        kind = _find(kind)
        if kind.head is None or kind.head == "function":
            return DATA
        if opened and kind.head in _CLOSED and not kind.opened:
            return DATA
        parts = [shown(part, depth + 1) for part in kind.parts]
        if isinstance(kind.head, tuple):
            return ("sum", Record(dict(zip(kind.head[1:], parts, strict=True))))
        return (kind.head, *parts) if parts else str(kind.head)

    return shown(kind, 0)
