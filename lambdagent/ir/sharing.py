"""Core term → how large its text is, and which of its parts a text defines once, by name.

A term is a graph: what occurs twice can be one object. As a tree, a graph of 60 nodes can be
larger than any disk. See Note [When a text has definitions].
"""

# Note [When a text has definitions]
#
# A tree of up to `READABLE` nodes is written as it is: people read it without looking up names.
# Of a larger one, each closed part that would be written twice is a definition before the term,
# if that makes the text less than half as long. Parts of less than `_SMALLEST` nodes are as short
# as a name. Parts under binders that they need cannot be defined: they are written each time. So
# are thunks, ``λ_. t``, whose bodies are defined instead: ``if`` has thunks as its branches.
#
# What is still too large is refused: `LARGEST` nodes, or `_GROWTH` times the nodes of the graph,
# whichever is more. So texts are linear in the graph, beyond that constant.
#
# How often a part would be written does not depend on what was one object in what was read, but
# for the definitions themselves: so a text that is read and printed again has the same ones.

from collections.abc import Collection, Mapping, Sequence

from lambdagent.ir.core import App, Lam, Term
from lambdagent.ir.usage import Usage
from lambdagent.ir.walk import children, nodes, reaches
from lambdagent.messages import phrase

READABLE = 10_000
LARGEST = 1_000_000
_SMALLEST = 8
_GROWTH = 4
_GAIN = 2
# Counts end here: exact ones double with each level, up to numbers of as many digits.
_MANY = 1 << 40


class TooLargeTextError(ValueError):
    """A text would be too large, because it has to write shared parts each time."""


def check_size(root: Term) -> None:
    """Refuse a term whose text as a tree is too large.

    Raises:
        TooLargeTextError: It is larger than the limit.
    """
    order = list(nodes(root))
    _limited(_sizes(order, ())[id(root)], order)


def definitions(root: Term, usage: Usage) -> Mapping[str, Term]:
    """Return the parts of `root` that its text should define, by name, each after those inside it.

    Linear in the distinct nodes.

    Args:
        root: Any term.
        usage: What is known of its abstractions.

    Raises:
        TooLargeTextError: Even with definitions the text would be too large.
    """
    order = list(nodes(root))
    whole = _sizes(order, ())
    if whole[id(root)] <= READABLE:
        return {}
    shared = _shared(order, whole, usage)
    named = {id(term) for term in shared}
    own = _sizes(order, named)
    with_names = own[id(root)] + sum(own[id(term)] for term in shared)
    if whole[id(root)] <= _GAIN * with_names:
        shared, with_names = [], whole[id(root)]
    _limited(with_names, order)
    return {f"t{number}": term for number, term in enumerate(shared, start=1)}


def _limited(size: int, order: Sequence[Term]) -> None:
    if size > max(LARGEST, _GROWTH * len(order)):
        what = phrase("the text would have more than {largest} nodes", largest=f"{LARGEST:,}")
        raise TooLargeTextError(what)


def _sizes(order: Sequence[Term], named: Collection[int]) -> dict[int, int]:
    """Return how many nodes each term has as a tree; inside, those that are `named` count as 1."""
    sizes: dict[int, int] = {}
    for term in order:
        size = 1
        for child in children(term):
            size += 1 if id(child) in named else sizes[id(child)]
        sizes[id(term)] = size if size < _MANY else _MANY  # noqa: FURB136 - a fifth faster
    return sizes


def _shared(order: Sequence[Term], sizes: Mapping[int, int], usage: Usage) -> list[Term]:
    """Return the parts that would be written more than once and can have a name."""
    root = order[-1]
    reach = reaches(root)
    times = dict.fromkeys(map(id, order), 0)
    times[id(root)] = 1
    found: list[Term] = []
    for term in reversed(order):
        count = times[id(term)]
        is_form = type(term) is App or (type(term) is Lam and id(term) in usage.using)
        if count > 1 and is_form and not reach[id(term)] and sizes[id(term)] >= _SMALLEST:
            found.append(term)
            count = 1
        for child in children(term):
            total = times[id(child)] + count
            times[id(child)] = total if total < _MANY else _MANY  # noqa: FURB136 - a fifth faster
    return found[::-1]
