"""Surface term → what can be said before it runs: its constructs, and the rounds of its loop."""

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
