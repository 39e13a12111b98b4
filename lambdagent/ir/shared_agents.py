"""Which agents inside an agent occur more than once, and what their definitions are called.

An agent that occurs twice as the same object is one agent with one conversation.
"""

from collections.abc import Mapping, Sequence

from lambdagent.ir import surface
from lambdagent.ir.labels import TERMINATE
from lambdagent.ir.spelling import spelled, variable_name

# Agents of up to so many agents, counted as a tree, are shown to people without definitions.
READABLE = 1_000
# Names that mean something in the forms around agents, or are bound there.
_WORDS = frozenset(
    {"x", "p", "self", "state", "t", "obs", "history", "step", "classify", "format", "MaxTurns"}
)


def is_readable(root: surface.Term) -> bool:
    """Whether `root` is small enough to be shown as a tree, with what is shared at each place."""
    sizes: dict[int, int] = {}
    stack = [(root, False)]
    while stack:
        term, ready = stack.pop()
        if id(term) in sizes:
            continue
        below = surface.parts(term)
        if ready:
            total = 1 + sum(sizes[id(part)] for part in below)
            sizes[id(term)] = min(total, READABLE + 1)
        else:
            stack.append((term, True))
            stack.extend((part, False) for part in below)
    return sizes[id(root)] <= READABLE


def definitions(root: surface.Term, reserved: str = "") -> Mapping[str, surface.Term]:
    """Return the agents that occur more than once in `root`, by name, each after those inside it.

    Linear in the distinct agents. None is called `reserved`.
    """
    taken = {*_WORDS, reserved}
    return {_unused(term, taken): term for term in _shared(root)}


def is_identity(term: surface.Term) -> bool:
    """Whether `term` is the tool ``terminate``, which is the identity whatever a file says."""
    return isinstance(term, surface.Tool) and term.name == TERMINATE


def _shared(root: surface.Term) -> Sequence[surface.Term]:
    uses: dict[int, int] = {}
    order: list[surface.Term] = []
    stack = [(root, False)]
    while stack:
        term, ready = stack.pop()
        if ready:
            order.append(term)
            continue
        uses[id(term)] = uses.get(id(term), 0) + 1
        if uses[id(term)] == 1:
            stack.append((term, True))
            stack.extend((part, False) for part in reversed(_printed(term)))
    return [term for term in order if uses[id(term)] > 1 and _matters(term)]


def _matters(term: surface.Term) -> bool:
    """Whether it matters that two uses of `term` are one object."""
    empty = isinstance(term, surface.Compose) and not term.stages
    return not (empty or is_identity(term) or isinstance(term, surface.Fst | surface.Snd))


def _printed(term: surface.Term) -> list[surface.Term]:
    """Return the agents inside `term` that can be shared, as they are printed.

    The model call of a ReAct loop and that of a router are parts of their construct.
    """
    if isinstance(term, surface.Loop) and isinstance(term.body, surface.ReActStep):
        return list(term.body.tools)
    if isinstance(term, surface.ReActStep):
        return list(term.tools)
    if isinstance(term, surface.Route) and isinstance(term.classifier, surface.Lam):
        return surface.parts(term)[1:]
    return surface.parts(term)


def _unused(term: surface.Term, taken: set[str]) -> str:
    """Return a name for `term`, and take it."""
    named = isinstance(term, surface.Lam) or type(term) is surface.Tool
    wanted = str(getattr(term, "name", "")) if named else "agent"
    stem = wanted if wanted == spelled(wanted) == variable_name(wanted) else "agent"
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name
