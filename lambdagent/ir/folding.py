"""Known terms, found again in other terms by α-equality: ``TRUE``, ``church[3]``, definitions.

Each node gets a number that it shares with exactly the nodes that are α-equal to it, labels aside;
numbers stay the same from term to term, so a whole reduction needs one table.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias

from lambdagent.ir.abi import LARGEST_NUMERAL
from lambdagent.ir.core import App, Lam, Prim, Term, Unit, Var
from lambdagent.ir.data_text import data_text
from lambdagent.ir.spelling import variable_name
from lambdagent.ir.walk import free_reach, nodes

_NUMERAL = ("f", "x")
# Data that is equal where its text is.
_PLAIN = frozenset({int, str, bool})


Key: TypeAlias = tuple[Any, ...]


def alpha_key(term: Term, known: Mapping[int, int]) -> Key:
    """Return what tells `term` from all that are not α-equal, by the numbers of its children."""
    if type(term) is Var:
        return ("var", term.index)
    if type(term) is Lam:
        return ("lam", known[id(term.body)])
    if type(term) is App:
        return ("app", known[id(term.fun)], known[id(term.arg)])
    if type(term) is Prim:
        return ("prim", term.name, data_text(term.params) if term.params else "")
    value = term.value  # type: ignore[union-attr]
    if type(value) in _PLAIN:
        return ("lit", type(value), value)
    if isinstance(value, Unit):
        return ("unit",)
    return ("lit", type(value).__name__, data_text(value))


class Numbering:
    """The numbers given out so far."""

    def __init__(self, key: Callable[[Term, Mapping[int, int]], Key] = alpha_key) -> None:
        """Give nodes with the same `key` the same number."""
        self._key = key
        self._numbers: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, root: Term) -> int:
        """Return the number of `root`."""
        return self.numbers(root)[id(root)]

    def numbers(self, root: Term) -> dict[int, int]:
        """Return the number of each node of `root`, by identity; linear in its nodes."""
        return self.numbered(nodes(root))

    def numbered(self, terms: Iterable[Term], marked: Term | None = None) -> dict[int, int]:
        """Return the number of each of `terms`, by identity.

        Args:
            terms: Some nodes, children before parents.
            marked: Like no other that is not marked.
        """
        known: dict[int, int] = {}
        for term in terms:
            key = self._key(term, known)
            if term is marked:
                key = ("marked", *key)
            known[id(term)] = self._numbers.setdefault(key, len(self._numbers))
        return known


class Folding:
    """The names of known terms."""

    def __init__(self, known: Mapping[str, Term]) -> None:
        """Know `known`; a single constant, or a term with free variables, gets no name.

        Where two are α-equal, the names of the outer variables tell, else the last one wins.
        """
        self.names = tuple(known)
        self._numbering = Numbering()
        self._known: dict[int, dict[tuple[str, ...], str]] = {}
        for name, term in known.items():
            if type(term) in {Lam, App} and free_reach(term) == 0:
                alike = self._known.setdefault(self._numbering.number(term), {})
                alike.pop(_binders(term), None)
                alike[_binders(term)] = variable_name(name)

    def folded(self, root: Term, kept: Collection[int]) -> dict[int, str]:
        """Return the texts of the nodes of `root` that are known terms, by identity.

        Args:
            root: Any term.
            kept: The nodes, by identity, that are to be shown as they are.
        """
        terms = list(nodes(root))
        numbers = self._numbering.numbered(terms)
        numerals = _numerals(terms)
        texts: dict[int, str] = {}
        for term in terms:
            alike = self._known.get(numbers[id(term)])
            numeral = numerals.get(id(term))
            if id(term) in kept or (alike is None and numeral is None):
                continue
            named = (alike or {}).get(_binders(term))
            if named is None and alike and (numeral is None or _binders(term) != _NUMERAL):
                named = [*alike.values()][-1]
            texts[id(term)] = f"church[{numeral}]" if named is None else named
        return texts


def _numerals(terms: Iterable[Term]) -> dict[int, int]:
    """Return n for each of `terms` that is ``λf x. fⁿ x``, by identity."""
    counts: dict[int, int] = {}
    found: dict[int, int] = {}
    for term in terms:
        if type(term) is Var and term.index == 0:
            counts[id(term)] = 0
        elif type(term) is App and type(term.fun) is Var and term.fun.index == 1:
            if id(term.arg) in counts:
                counts[id(term)] = counts[id(term.arg)] + 1
        elif type(term) is Lam and type(term.body) is Lam and id(term.body.body) in counts:
            number = counts[id(term.body.body)]
            if number <= LARGEST_NUMERAL:
                found[id(term)] = number
    return found


def _binders(term: Term) -> tuple[str, ...]:
    """Return the names of the variables of ``λx y z. …``."""
    names = []
    while type(term) is Lam:
        names.append(term.name)
        term = term.body
    return tuple(names)
